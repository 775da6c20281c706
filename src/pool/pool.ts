/** `createPool` makes a pool: decoders on worker threads. */
import { availableParallelism } from "node:os";
import { createHistogram } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import { mismatch } from "../core/errors.ts";
import { show } from "../core/tensor.ts";
import type { Frame } from "../decode/frame.ts";
import type { Outputs } from "../decode/inputs.ts";
import { MAX_CRASHES, PoolError, causeOf, crashError, isOutOfMemory, wrongFileError } from "./errors.ts";
import {
  MAX_THREADS,
  type PoolOptions,
  checkAbout,
  checkNetwork,
  checkPool,
  checkStream,
} from "./options.ts";
import {
  type PoolNetwork,
  type Reply,
  type Request,
  SERVING,
  arraysOf,
  errorOf,
  faultOf,
  transferable,
} from "./protocol.ts";
import { type PoolResult, detectionsFrom } from "./result.ts";
import { type PoolStats, percentiles } from "./stats.ts";
import { type Job, Streams } from "./streams.ts";
import { checkMemory, owned, uncloned, workOf } from "./work.ts";

/** Count of frames that a thread holds: the frame that it decodes, and the next. */
const DEPTH = 2;
/**
 * Milliseconds within which a thread must become ready. The right file takes 10 ms. A wrong file never sends the
 * expected first message.
 */
const MAX_START = 30_000;

/** A network and its index in every thread. The index of a refused network stays unused. */
interface Entry {
  readonly network: PoolNetwork;
  readonly index: number;
}

interface Added {
  readonly resolve: (hash: string | null) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly worker: Worker;
  /** Ends the thread if it is not ready in time. */
  readonly timer: NodeJS.Timeout;
  isServing: boolean;
  readonly jobs: Map<number, Job<PoolResult>>;
  /** Requests to add a network that the thread has not answered yet, by request id. */
  readonly added: Map<number, Added>;
  /** Labels in the thread's last answer, per network. */
  readonly labels: (readonly string[] | null)[];
}

/**
 * Decoders on worker threads. Made by `createPool`.
 *
 * The memory of arrays is transferred to a thread and back, or shared, but never cloned. After `decode(stream, bytes)`,
 * the bytes belong to the pool until the result arrives. A view of a part of a buffer is copied once, and counted in
 * `stats.copied`.
 */
export class DecoderPool {
  readonly #queue: number;
  readonly #isLive: boolean;
  readonly #options: PoolOptions;
  readonly #file: URL;
  readonly #networks: Entry[] = [];
  /** Networks that are being added: some thread has not answered yet. */
  readonly #adding = new Set<Entry>();
  readonly #threads: Thread[] = [];
  readonly #streams = new Streams<PoolResult>();
  readonly #counts = { in: 0, out: 0, dropped: 0, failed: 0, waiting: 0, running: 0, copied: 0, restarts: 0 };
  readonly #decode = createHistogram();
  readonly #latency = createHistogram();
  #nextId = 0;
  #nextIndex = 0;
  #crashes = 0;
  /** True once a thread is ready, which shows that the worker file is right. */
  #hasServed = false;
  #closed: Promise<void> | null = null;
  /** Message of errors after the pool has closed. */
  #reason = "the pool is closed. Make another with createPool.";
  #whenEmpty: (() => void) | null = null;

  /** @internal */
  constructor(options: PoolOptions) {
    const byDefault = Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1));
    const { threads = byDefault, queue = 4, policy, worker } = options;
    this.#options = options;
    this.#queue = queue;
    this.#isLive = policy === "drop-oldest";
    // Avoid `new URL(name, import.meta.url)`: bundlers would copy the file as an asset.
    this.#file = worker ?? new URL(import.meta.url.replace(/[^/]*$/, "pool-worker.mjs"));
    for (let i = 0; i < threads; i++) this.#threads.push(this.#start());
  }

  /** Count of threads. */
  get threads(): number {
    return this.#threads.length;
  }

  /** The current counters. */
  get stats(): PoolStats {
    return { ...this.#counts, decode: percentiles(this.#decode), latency: percentiles(this.#latency) };
  }

  /**
   * Adds a network: every thread makes a decoder for the network.
   * @returns the hash of the network's config, by which packets name the network
   * @throws ConfigError, TensorError as `createDecoder`; RangeError for an argument other than `{config, options}`
   */
  async add(network: PoolNetwork): Promise<string | null> {
    this.#checkOpen();
    checkNetwork("network", network);
    const entry = { network, index: this.#nextIndex++ };
    this.#adding.add(entry);
    try {
      const hashes = await Promise.all(this.#threads.map((thread) => this.#ask(thread, entry)));
      this.#networks.push(entry);
      return hashes[0];
    } catch (error) {
      // Remove the network from the threads that accepted it: they would decode packets that name its config.
      for (const { worker } of this.#threads) worker.postMessage({ forget: entry.index } satisfies Request);
      throw error;
    } finally {
      this.#adding.delete(entry);
    }
  }

  /**
   * Decodes a frame. Results of a stream come in the order of its frames.
   * @param stream name of the camera, or of another source of consecutive frames
   * @param frame bytes of a packet, or the outputs of a network as `decode` takes them
   * @param about for outputs: `{frame, network}`, the size of the original image and the index of the network
   * @returns the result; null if the queue dropped the frame
   * @throws PoolError if the queue is full, the pool is closed or the thread died; PacketError, TensorError, RangeError
   * as `decoder.receive` and `decoder.decode`
   */
  decode(
    stream: string,
    frame: Uint8Array | Outputs,
    about: { readonly frame?: Frame; readonly network?: number } = {},
  ): Promise<PoolResult | null> {
    return new Promise((resolve, reject) => {
      this.#checkOpen();
      checkStream(stream);
      const { network = 0, frame: size } = checkAbout(about);
      if (!Object.hasOwn(this.#networks, network) || typeof network !== "number")
        throw new RangeError(
          `network: ${mismatch(show(network), `an index below ${this.#networks.length}`)}`,
        );
      const work = workOf(frame, size);
      if (this.#streams.waitingOf(stream) >= this.#queue) this.#makeRoom(stream);
      this.#counts.in++;
      this.#counts.waiting++;
      const settle = { resolve, reject };
      this.#streams.push({
        stream: this.#streams.get(stream),
        work,
        network: this.#networks[network].index,
        start: performance.now(),
        settle,
      });
      this.#dispatch();
    });
  }

  /** Resolves when a stream's queue has room for a frame, or when the pool closes. Serves callers in their order. */
  async room(stream: string): Promise<void> {
    checkStream(stream);
    const isFull = (): boolean => !this.#closed && this.#streams.waitingOf(stream) >= this.#queue;
    let hasWaited = false;
    for (; isFull(); hasWaited = true)
      await new Promise<void>((resolve) => {
        const { callers } = this.#streams.get(stream);
        // If another frame took the room of this caller, the caller is the next to be served again.
        if (hasWaited) callers.unshift(resolve);
        else callers.push(resolve);
      });
    // Wake the next caller if there is still room because this caller sent no frame.
    if (hasWaited) setImmediate(() => isFull() || this.#streams.wakeNext(stream));
  }

  /** Finishes every accepted frame, then ends the threads. Refuses later frames and networks. */
  close(): Promise<void> {
    this.#closed ??= this.#finish();
    this.#streams.wakeCallers();
    return this.#closed;
  }

  async #finish(): Promise<void> {
    if (this.#counts.waiting + this.#counts.running > 0)
      await new Promise<void>((resolve) => (this.#whenEmpty = resolve));
    const error = new PoolError("closed", this.#reason);
    await Promise.all(this.#threads.splice(0).map((thread) => this.#endThread(thread, error)));
  }

  #checkOpen(): void {
    if (this.#closed) throw new PoolError("closed", this.#reason);
  }

  /** Drops the oldest waiting frame if the policy allows, else refuses the new frame. */
  #makeRoom(name: string): void {
    if (!this.#isLive)
      throw new PoolError(
        "full",
        `stream "${name}": got one frame more than the ${this.#queue} that may wait. Await pool.room("${name}") first.`,
      );
    const oldest = this.#streams.drop(this.#streams.get(name));
    this.#counts.waiting--;
    this.#counts.dropped++;
    oldest?.settle.resolve(null);
  }

  /** Gives waiting frames to threads that have room. */
  #dispatch(): void {
    for (;;) {
      const [thread] = [...this.#threads].sort((a, b) => a.jobs.size - b.jobs.size);
      if (thread === undefined || thread.jobs.size >= DEPTH) return;
      const job = this.#streams.next();
      if (!job) return;
      this.#counts.waiting--;
      this.#counts.running++;
      this.#send(thread, job);
    }
  }

  #send(thread: Thread, job: Job<PoolResult>): void {
    const id = this.#nextId++;
    thread.jobs.set(id, job);
    thread.worker.ref();
    try {
      // Check the memory again: while the frame waited, the caller may have transferred it with another frame.
      const { work, copied } = owned(checkMemory(job.work));
      post(thread, { id, work, index: job.network }, transferable(arraysOf(work)));
      this.#counts.copied += copied ? 1 : 0;
    } catch (error) {
      this.#fail(thread, id, uncloned("frame", error as Error));
    }
  }

  #ask(thread: Thread, { network, index }: Entry): Promise<string | null> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      thread.added.set(id, { resolve, reject });
      thread.worker.ref();
      try {
        post(thread, { id, network, index }, []);
      } catch (error) {
        this.#receive(thread, { id, fault: faultOf(uncloned("network", error as Error)) });
      }
    });
  }

  #start(): Thread {
    const { resourceLimits } = this.#options;
    const worker = new Worker(this.#file, resourceLimits ? { resourceLimits } : {});
    const replace = (why: string | Error): void => this.#replace(thread, why);
    const check = (): void => void (thread.isServing || replace(`it was silent for ${MAX_START / 1000} s`));
    // Check after pending messages, since a busy main thread may not have read the thread's first message yet.
    const timer = setTimeout(() => setImmediate(check), MAX_START).unref();
    const thread: Thread = {
      worker,
      timer,
      isServing: false,
      jobs: new Map(),
      added: new Map(),
      labels: [],
    };
    worker.on("message", (message: Reply | typeof SERVING) => {
      if (message === SERVING) this.#begin(thread);
      else if (thread.isServing) this.#receive(thread, message);
      else replace(`it sent ${show(message)}`);
    });
    worker.on("error", replace);
    // Replace the thread if its answer is unreadable: its frame is unknown, and would wait forever.
    worker.on("messageerror", replace);
    // Also replace a thread that ended without an error, by process.exit().
    worker.on("exit", (code) => replace(`it ended with exit code ${code}`));
    return thread;
  }

  #begin(thread: Thread): void {
    clearTimeout(thread.timer);
    thread.isServing = this.#hasServed = true;
  }

  #receive(thread: Thread, reply: Reply): void {
    const { id } = reply;
    if (thread.jobs.size + thread.added.size <= 1) thread.worker.unref();
    if ("hash" in reply) takeAdded(thread, id)?.resolve(reply.hash);
    else if ("fault" in reply) this.#fail(thread, id, errorOf(reply.fault));
    else this.#succeed(thread, reply);
  }

  #succeed(
    thread: Thread,
    { id, columns, index, milliseconds, work }: Extract<Reply, { work: unknown }>,
  ): void {
    this.#crashes = 0;
    if (columns.labels !== undefined) thread.labels[index] = Object.freeze(columns.labels);
    const detections = detectionsFrom(columns, thread.labels[index]);
    this.#decode.record(Math.max(1, Math.round(milliseconds * 1000)));
    const bytes = "bytes" in work ? work.bytes : null;
    const tensors = "tensors" in work ? work.tensors : null;
    this.#end(thread, id, "out", ({ settle }) =>
      settle.resolve({ detections, milliseconds, bytes, tensors }),
    );
  }

  #fail(thread: Thread, id: number, error: Error): void {
    const added = takeAdded(thread, id);
    if (added) added.reject(error);
    else this.#end(thread, id, "failed", ({ settle }) => settle.reject(error));
  }

  /** Counts a frame that a thread has finished, and delivers its result in order. */
  #end(thread: Thread, id: number, count: "out" | "failed", deliver: (job: Job<PoolResult>) => void): void {
    const job = thread.jobs.get(id);
    if (!job) return;
    thread.jobs.delete(id);
    this.#counts.running--;
    this.#counts[count]++;
    this.#latency.record(Math.max(1, Math.round((performance.now() - job.start) * 1000)));
    this.#streams.finish(job, () => deliver(job));
    this.#dispatch();
    if (this.#counts.waiting + this.#counts.running === 0) this.#whenEmpty?.();
  }

  /** Replaces a thread that died or sent a wrong message. The frames of the thread are lost. */
  #replace(thread: Thread, why: string | Error): void {
    const at = this.#threads.indexOf(thread);
    if (at < 0) return;
    const cause = causeOf(why);
    if (!this.#hasServed && !isOutOfMemory(why))
      return this.#endPool(thread, wrongFileError(this.#file, cause));
    if (++this.#crashes > MAX_CRASHES) return this.#endPool(thread, crashError(cause, true));
    this.#counts.restarts++;
    const next = (this.#threads[at] = this.#start());
    for (const entry of [...this.#networks, ...this.#adding]) this.#ask(next, entry).catch(() => undefined);
    void this.#endThread(thread, crashError(cause, false));
  }

  /** Ends the pool after the death of a thread. Refuses all waiting frames. */
  #endPool(thread: Thread, error: Error): void {
    this.#reason = error.message;
    // Frames of the dead thread get its error, and other frames get the error of a closed pool. An error about a wrong
    // file goes to all frames.
    const closed = error instanceof PoolError ? new PoolError("closed", error.message) : error;
    const ended = this.#threads.splice(0).map((t) => this.#endThread(t, t === thread ? error : closed));
    this.#closed ??= Promise.all(ended).then(() => undefined);
    for (let job = this.#streams.next(); job; job = this.#streams.next()) {
      this.#counts.waiting--;
      this.#counts.failed++;
      const { settle } = job;
      this.#streams.finish(job, () => settle.reject(closed));
    }
    this.#streams.wakeCallers();
    this.#whenEmpty?.();
  }

  /** Ends a thread. Refuses the frames and networks that it has not answered. */
  #endThread(thread: Thread, error: Error): Promise<number> {
    clearTimeout(thread.timer);
    for (const id of [...thread.added.keys(), ...thread.jobs.keys()]) this.#fail(thread, id, error);
    return thread.worker.terminate();
  }
}

/** Removes and returns a request to add a network, whose answer has arrived. */
function takeAdded({ added }: Thread, id: number): Added | undefined {
  const known = added.get(id);
  added.delete(id);
  return known;
}

const post = ({ worker }: Thread, request: Request, transfer: ArrayBuffer[]): void => {
  worker.postMessage(request, transfer);
};

/**
 * Makes a pool: starts the threads, and makes a decoder for each network in each thread.
 *
 * A pool is worth its cost if receiving and decoding frames compete for the main thread, or if a decode takes
 * milliseconds. A pool is not worth its cost for one stream of boxes: docs/pool.md has the figures. Threads can decode
 * networks of every task.
 * @throws ConfigError, TensorError as `createDecoder`; RangeError for a wrong option
 * @example
 * import { createDecoderSync, toPacket } from "boxwright";
 * import { createPool } from "boxwright/pool";
 *
 * const config = { family: "yolov8", classes: 1, inputSize: [64, 64] };
 * const pool = await createPool({ networks: [{ config }], threads: 1 });
 * const data = new Float32Array(5 * 84);
 * data.set([32, 20, 10, 8, 0.9].flatMap((value) => [value, ...Array(83).fill(0)]));
 * const outputs = { output0: { data, dims: [1, 5, 84] } };
 * const bytes = toPacket(createDecoderSync(config), outputs, null, { id: "1", source: "/devices/7" });
 *
 * const result = await pool.decode("front door", bytes);
 * console.log(result?.detections.length, pool.stats.out); // 1 1
 * await pool.close();
 */
export async function createPool(options: PoolOptions): Promise<DecoderPool> {
  const checked = checkPool(options);
  const pool = new DecoderPool(checked);
  try {
    for (const network of checked.networks) await pool.add(network);
  } catch (error) {
    await pool.close();
    throw error;
  }
  return pool;
}
