/** The playground's side of its worker: every job that it asks for ends. */
import { expect, test } from "vitest";
import { type JobAnswer, type JobRequest, Thread, type WorkerPort } from "../../site/src/thread.ts";

/** A worker that answers when the test says so. */
class FakeWorker implements WorkerPort {
  readonly requests: JobRequest[] = [];
  isTerminated = false;
  readonly #listeners = new Map<string, (event: { readonly data: JobAnswer }) => void>();

  postMessage(request: JobRequest): void {
    if (request.given.some((value) => typeof value === "function"))
      throw new Error("a function cannot be cloned");
    this.requests.push(request);
  }

  terminate(): void {
    this.isTerminated = true;
  }

  addEventListener(type: string, listener: (event: never) => void): void {
    this.#listeners.set(type, listener as never);
  }

  answer(data: JobAnswer): void {
    this.#listeners.get("message")?.({ data });
  }

  fail(): void {
    this.#listeners.get("error")?.(undefined as never);
  }
}

type Jobs = { readonly double: (value: number) => number; readonly call: (given: () => void) => void };

/** Returns a thread and the workers that it has started. */
function openThread(): { thread: Thread<Jobs>; workers: FakeWorker[] } {
  const workers: FakeWorker[] = [];
  const thread = new Thread<Jobs>(() => {
    workers.push(new FakeWorker());
    return workers.at(-1)!;
  });
  return { thread, workers };
}

test("each answer reaches the job that asked for it, in any order", async () => {
  const { thread, workers } = openThread();
  expect(workers).toHaveLength(0);
  const jobs = [thread.run("double", 1), thread.run("double", 2)];
  const [worker] = workers;
  expect(worker.requests.map(({ name, given }) => [name, ...given])).toEqual([
    ["double", 1],
    ["double", 2],
  ]);
  const [first, second] = worker.requests;
  worker.answer({ id: second.id, error: "no such number" });
  worker.answer({ id: first.id, result: 2 });
  await expect(jobs[0]).resolves.toBe(2);
  await expect(jobs[1]).rejects.toThrow("no such number");
});

test("close fails jobs under way, ends the worker, and refuses later jobs", async () => {
  const { thread, workers } = openThread();
  const jobs = [thread.run("double", 1), thread.run("double", 2)];
  thread.close();
  for (const job of jobs) await expect(job).rejects.toThrow("the playground was closed while it ran");
  expect(workers[0].isTerminated).toBe(true);
  await expect(thread.run("double", 3)).rejects.toThrow('"double" cannot start: the playground is closed');
  expect(workers).toHaveLength(1);
});

test("a worker that cannot be loaded fails its jobs, and a later job starts another worker", async () => {
  const { thread, workers } = openThread();
  const job = thread.run("double", 1);
  workers[0].fail();
  await expect(job).rejects.toThrow("cannot be loaded. Reload the page");
  const later = thread.run("double", 2);
  workers[0].fail();
  workers[1].answer({ id: workers[1].requests[0].id, result: 4 });
  await expect(later).resolves.toBe(4);
});

test("a job whose arguments cannot be sent fails, and the jobs beside it go on", async () => {
  const { thread, workers } = openThread();
  const job = thread.run("double", 1);
  await expect(thread.run("call", () => undefined)).rejects.toThrow("cannot be cloned");
  workers[0].answer({ id: workers[0].requests[0].id, result: 2 });
  await expect(job).resolves.toBe(2);
});
