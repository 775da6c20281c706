/** `createPool`: decoders over worker threads. */
import { createHistogram } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import { mismatch } from "../core/errors.ts";
import { type TensorInput, show } from "../core/tensor.ts";
import { Detections, extend, setLength, withoutMasks } from "../decode/detections.ts";
import type { Frame } from "../decode/frame.ts";
import type { Outputs } from "../decode/inputs.ts";
import { ORIENTED_ROWS } from "../tasks/oriented/rows.ts";
import { POSE_ROWS } from "../tasks/pose/rows.ts";
import { type PoolOptions, checkAbout, checkNetwork, settingsOf } from "./options.ts";
import {
  type ReplyColumns,
  type PoolNetwork,
  type Reply,
  type Request,
  arraysOf,
  errorOf,
  faultOf,
  transferable,
} from "./protocol.ts";
import { type PoolStats, percentiles } from "./stats.ts";
import { type Job, Streams } from "./streams.ts";
import { checkMemory, owned, uncloned, workOf } from "./work.ts";

/** Reason of a refusal. `"full"`: the stream's queue is full. `"crashed"`: the thread that had the frame died. */
export type PoolErrorKind = "full" | "closed" | "crashed";

/** The pool did not take a frame, or lost it. */
export class PoolError extends Error {
  static override readonly name = "PoolError";
  override readonly name = "PoolError";
  readonly kind: PoolErrorKind;

  constructor(kind: PoolErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Detections of one frame. */
export interface PoolResult {
  /** The result stands in memory of its own: the next frame leaves it alone. */
  readonly detections: Detections;
  /** Time that the decode took in its thread. */
  readonly milliseconds: number;
  /** The packet that was given, in memory that is the caller's again. Null for tensors. */
  readonly bytes: Uint8Array | null;
  /** The tensors that were given, likewise. Null for a packet. */
  readonly tensors: readonly TensorInput[] | null;
}

/** Frames in a thread's hands: one that is decoded, and one that arrives meanwhile. */
const DEPTH = 2;
/** A pool gives up after so many threads have died one after the other without a result. */
const MAX_CRASHES = 3;

interface Added {
  readonly resolve: (hash: string | null) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly worker: Worker;
  readonly jobs: Map<number, Job<PoolResult>>;
  /** Networks that the thread has not answered for yet. */
  readonly added: Map<number, Added>;
  /** Labels of the last answer of each network. */
  readonly labels: (readonly string[] | null)[];
}

/**
 * Decoders over worker threads. Made by `createPool`.
 *
 * Memory of arrays is transferred to a thread and back, or shared; it is never cloned. After `decode(stream, bytes)`
 * the bytes belong to the pool until the result is there. A part of larger memory is copied once, and counted.
 */
export class DecoderPool {
  readonly #queue: number;
  readonly #isLive: boolean;
  readonly #options: PoolOptions;
  readonly #networks: PoolNetwork[] = [];
  readonly #threads: Thread[] = [];
  readonly #streams = new Streams<PoolResult>();
  readonly #counts = { in: 0, out: 0, dropped: 0, failed: 0, waiting: 0, running: 0, copied: 0, restarts: 0 };
  readonly #decode = createHistogram();
  readonly #latency = createHistogram();
  #nextId = 0;
  #crashes = 0;
  #closed: Promise<void> | null = null;
  #whenEmpty: (() => void) | null = null;

  /** @internal */
  constructor(options: PoolOptions) {
    const { queue, isLive, threads } = settingsOf(options);
    this.#options = options;
    this.#queue = queue;
    this.#isLive = isLive;
    for (let i = 0; i < threads; i++) this.#threads.push(this.#start());
  }

  /** Count of threads. */
  get threads(): number {
    return this.#threads.length;
  }

  /** The counters as they stand. */
  get stats(): PoolStats {
    return { ...this.#counts, decode: percentiles(this.#decode), latency: percentiles(this.#latency) };
  }

  /**
   * Adds a network: every thread makes its decoder.
   * @returns the hash of its config, which packets name
   * @throws ConfigError, TensorError as `createDecoder`; RangeError for what is no `{config, options}`
   */
  async add(network: PoolNetwork): Promise<string | null> {
    this.#checkOpen();
    checkNetwork("network", network);
    const hashes = await Promise.all(this.#threads.map((thread) => this.#ask(thread, network)));
    this.#networks.push(network);
    return hashes[0];
  }

  /**
   * Decodes a frame. Results of a stream come in the order of its frames.
   * @param stream name of the camera, or of whatever sends frames that belong together
   * @param frame bytes of a packet, or the outputs of a network as `decode` takes them
   * @param about of outputs: `{frame, network}`, the size of the original image and the index of the network
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
        network,
        start: performance.now(),
        settle,
      });
      this.#dispatch();
    });
  }

  /** Resolves when the queue of a stream has room for a frame. */
  async room(stream: string): Promise<void> {
    while (this.#streams.waitingOf(stream) >= this.#queue)
      await new Promise<void>((resolve) => this.#streams.get(stream).callers.push(resolve));
  }

  /** Finishes every frame that the pool has taken, then ends the threads. Frames that come later are refused. */
  close(): Promise<void> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  async #finish(): Promise<void> {
    if (this.#counts.waiting + this.#counts.running > 0)
      await new Promise<void>((resolve) => (this.#whenEmpty = resolve));
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()));
  }

  #checkOpen(): void {
    if (this.#closed) throw new PoolError("closed", "the pool is closed. Make another with createPool.");
  }

  /** Drops the oldest waiting frame of a full queue, or refuses the new one. */
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
      // The memory of a frame that waits is the caller's still: another frame may have taken it along.
      const { work, copied } = owned(checkMemory(job.work));
      post(thread, { id, work, index: job.network }, transferable(arraysOf(work)));
      this.#counts.copied += copied ? 1 : 0;
    } catch (error) {
      this.#fail(thread, id, uncloned("frame", error as Error));
    }
  }

  #ask(thread: Thread, network: PoolNetwork): Promise<string | null> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      thread.added.set(id, { resolve, reject });
      thread.worker.ref();
      try {
        post(thread, { id, network }, []);
      } catch (error) {
        this.#receive(thread, { id, fault: faultOf(uncloned("network", error as Error)) });
      }
    });
  }

  #start(): Thread {
    // Not `new URL(name, import.meta.url)`: bundlers take that for an asset to carry along.
    const file = this.#options.worker ?? new URL(import.meta.url.replace(/[^/]*$/, "pool-worker.mjs"));
    const { resourceLimits } = this.#options;
    const worker = new Worker(file, resourceLimits ? { resourceLimits } : {});
    const thread: Thread = { worker, jobs: new Map(), added: new Map(), labels: [] };
    worker.on("message", (reply: Reply) => this.#receive(thread, reply));
    worker.on("error", (error: Error) => this.#restart(thread, error));
    // An answer that cannot be read names no frame, so the thread's frames would wait forever.
    worker.on("messageerror", (error: Error) => {
      this.#restart(thread, error);
      void worker.terminate();
    });
    // A thread that ends without an error, by process.exit() in it.
    worker.on("exit", () => this.#restart(thread, new Error("the thread ended")));
    return thread;
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

  /** Counts a frame that a thread is done with, and delivers its result in turn. */
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

  /** Starts a thread anew that died. Its frames are lost. */
  #restart(thread: Thread, cause: Error): void {
    const at = this.#threads.indexOf(thread);
    if (at < 0 || (this.#closed && this.#counts.waiting + this.#counts.running === 0)) return;
    this.#counts.restarts++;
    const isHopeless = ++this.#crashes > MAX_CRASHES;
    const error = new PoolError(
      "crashed",
      `the thread died: ${cause.message}. Its frames are lost; send them again.`,
    );
    if (isHopeless) this.#threads.splice(at, 1);
    else {
      this.#threads[at] = this.#start();
      for (const network of this.#networks) this.#ask(this.#threads[at], network).catch(() => undefined);
    }
    for (const id of [...thread.added.keys(), ...thread.jobs.keys()]) this.#fail(thread, id, error);
    if (this.#threads.length > 0) return;
    // No thread is left: nothing that waits will be decoded.
    for (let job = this.#streams.next(); job; job = this.#streams.next()) {
      this.#counts.waiting--;
      this.#counts.failed++;
      const { settle } = job;
      this.#streams.finish(job, () => settle.reject(error));
    }
    this.#closed ??= Promise.resolve();
    this.#whenEmpty?.();
  }
}

/** Detections whose masks stayed in a thread. */
const WITHOUT_MASKS = withoutMasks(
  "detections of a pool, whose threads keep the prototypes",
  "those of a decoder in this thread: createDecoder(config).receive(packet), or decode(outputs)",
);

/** Makes detections of the columns that a thread sent. */
function detectionsFrom(columns: ReplyColumns, labels: readonly string[] | null): Detections {
  const { boxes, scores, classIds, sources, task, hasMasks } = columns;
  const detections = new Detections(boxes, scores, classIds, sources, labels);
  setLength(detections, scores.length);
  if (task) extend(detections, task, task.keypoints ? POSE_ROWS : ORIENTED_ROWS);
  else if (hasMasks) extend(detections, {}, WITHOUT_MASKS);
  return detections;
}

/** Takes what waits for the answer of a thread about a network. */
function takeAdded({ added }: Thread, id: number): Added | undefined {
  const known = added.get(id);
  added.delete(id);
  return known;
}

const post = ({ worker }: Thread, request: Request, transfer: ArrayBuffer[]): void => {
  worker.postMessage(request, transfer);
};

/**
 * Makes a pool: starts the threads, and a decoder for each network in each of them.
 *
 * A pool pays if receiving frames and decoding them compete for the main thread, or if a decode takes milliseconds. It
 * does not pay for one stream of boxes: docs/pool.md has the figures. Threads know every task.
 * @throws ConfigError, TensorError as `createDecoder`; RangeError for a setting that is none
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
  const pool = new DecoderPool(options);
  try {
    for (const network of options.networks) await pool.add(network);
  } catch (error) {
    await pool.close();
    throw error;
  }
  return pool;
}
