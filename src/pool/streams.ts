/**
 * Holds the frames of a pool by stream. Streams with waiting frames take turns, and results come in the order of the
 * frames.
 */
import type { Work } from "./protocol.ts";

/** A frame, from the call of `decode` until its result is delivered. */
export interface Job<R> {
  readonly stream: Stream<R>;
  readonly work: Work;
  /** Index of the network for a frame that names no network. */
  readonly network: number;
  /** Time of the call, by `performance.now()`. */
  readonly start: number;
  readonly settle: { readonly resolve: (result: R | null) => void; readonly reject: (error: Error) => void };
  /** Delivers the result. Absent until the thread has answered. */
  deliver?: () => void;
}

export interface Stream<R> {
  readonly name: string;
  readonly waiting: Job<R>[];
  /** Frames inside a thread, and results that wait for earlier frames. */
  readonly running: Job<R>[];
  /** Calls of `room` that wait. */
  readonly callers: (() => void)[];
}

/** The streams of a pool. A stream without frames is removed, so that names that are used only once take no memory. */
export class Streams<R> {
  readonly #all = new Map<string, Stream<R>>();
  /** Streams with waiting frames, in the order of their turns. */
  readonly #turns: Stream<R>[] = [];

  get(name: string): Stream<R> {
    let stream = this.#all.get(name);
    if (!stream) this.#all.set(name, (stream = { name, waiting: [], running: [], callers: [] }));
    return stream;
  }

  /** Returns how many frames of a stream wait. */
  waitingOf(name: string): number {
    return this.#all.get(name)?.waiting.length ?? 0;
  }

  push(job: Job<R>): void {
    job.stream.waiting.push(job);
    if (job.stream.waiting.length === 1) this.#turns.push(job.stream);
  }

  /** Takes the oldest frame of the stream whose turn it is. */
  next(): Job<R> | undefined {
    const stream = this.#turns.shift();
    const job = stream?.waiting.shift();
    if (!stream || !job) return undefined;
    stream.running.push(job);
    if (stream.waiting.length > 0) this.#turns.push(stream);
    stream.callers.shift()?.();
    return job;
  }

  /** Wakes the next call of `room` of a stream. */
  wakeNext(name: string): void {
    this.#all.get(name)?.callers.shift()?.();
  }

  /** Wakes every call of `room`. */
  wakeCallers(): void {
    for (const { callers } of this.#all.values()) for (const wake of callers.splice(0)) wake();
  }

  /** Drops the oldest waiting frame of a stream. */
  drop(stream: Stream<R>): Job<R> | undefined {
    const job = stream.waiting.shift();
    if (stream.waiting.length === 0) this.#turns.splice(this.#turns.indexOf(stream), 1);
    return job;
  }

  /** Delivers the result of a frame, once the results of the stream's earlier frames are delivered. */
  finish(job: Job<R>, deliver: () => void): void {
    job.deliver = deliver;
    const { running, waiting, callers, name } = job.stream;
    while (running[0]?.deliver) running.shift()?.deliver?.();
    if (running.length + waiting.length + callers.length === 0) this.#all.delete(name);
  }
}
