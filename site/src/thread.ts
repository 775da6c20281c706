/** The page's side of a worker: `thread.run("decode", ...)` runs a job from `worker/jobs.ts` in the worker. */

/** A request for a job. */
export interface JobRequest {
  readonly id: number;
  readonly name: string;
  readonly given: readonly unknown[];
}

/** The answer to a job. */
export type JobAnswer =
  { readonly id: number; readonly result: unknown } | { readonly id: number; readonly error: string };

/** The members of Worker that a thread uses. */
export interface WorkerPort {
  postMessage(request: JobRequest): void;
  terminate(): void;
  addEventListener(type: "message", listener: (event: { readonly data: JobAnswer }) => void): void;
  addEventListener(type: "error", listener: () => void): void;
}

type Jobs = { readonly [name: string]: (...given: never[]) => unknown };

/** Runs a job and returns its result. */
export type Run<J extends Jobs> = <N extends keyof J & string>(
  name: N,
  ...given: Parameters<J[N]>
) => Promise<Awaited<ReturnType<J[N]>>>;

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** Runs jobs in a worker, which starts with the first job. */
export class Thread<J extends Jobs> {
  readonly #start: () => WorkerPort;
  readonly #waiting = new Map<number, Waiting>();
  #worker: WorkerPort | null = null;
  #isClosed = false;
  #lastId = 0;

  constructor(start: () => WorkerPort) {
    this.#start = start;
  }

  /** Runs a job. If the job throws, throws an error with the same message. */
  readonly run: Run<J> = (name, ...given) =>
    new Promise((resolve, reject) => {
      if (this.#isClosed) throw new Error(`The job "${name}" cannot start: the playground is closed.`);
      this.#worker ??= this.#open();
      const id = ++this.#lastId;
      this.#worker.postMessage({ id, name, given });
      this.#waiting.set(id, { resolve, reject });
    });

  /** Ends the worker. Current and later jobs fail. */
  close(): void {
    this.#isClosed = true;
    this.#end(new Error("This job has no result: the playground was closed while it ran."));
  }

  #open(): WorkerPort {
    const worker = this.#start();
    worker.addEventListener("message", ({ data }) => {
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if ("error" in data) waiting?.reject(new Error(data.error));
      else waiting?.resolve(data.result as never);
    });
    worker.addEventListener("error", () => {
      if (worker === this.#worker)
        this.#end(new Error("The program that decodes cannot be loaded. Reload the page."));
    });
    return worker;
  }

  /** Ends the worker, and fails the jobs that wait for it. A later job starts a new worker. */
  #end(reason: Error): void {
    this.#worker?.terminate();
    this.#worker = null;
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
  }
}
