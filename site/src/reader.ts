/** The page's side of the thread that computes: `reader.ask("decode", ...)` runs a job of `worker/jobs.ts`. */
import type { jobs } from "./worker/jobs.ts";
import type { Answered, Asked } from "./worker/worker.ts";

type Jobs = typeof jobs;
interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** Runs jobs in a thread, which begins with the first of them. */
export class Reader {
  #worker: Worker | null = null;
  #asked = 0;
  readonly #waiting = new Map<number, Waiting>();

  /** Runs a job. Throws what the job threw, with the same message. */
  ask<N extends keyof Jobs>(name: N, ...given: Parameters<Jobs[N]>): Promise<Awaited<ReturnType<Jobs[N]>>> {
    this.#worker ??= this.#start();
    const id = ++this.#asked;
    this.#worker.postMessage({ id, name, given } satisfies Asked);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  /** Ends the thread. */
  close(): void {
    this.#worker?.terminate();
    this.#worker = null;
  }

  #start(): Worker {
    const worker = new Worker(new URL("./worker/worker.ts", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<Answered>) => {
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if ("error" in data) waiting?.reject(new Error(data.error));
      else waiting?.resolve(data.result as never);
    });
    worker.addEventListener("error", () => {
      const error = new Error("The program that decodes cannot be loaded. Reload the page.");
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    });
    return worker;
  }
}
