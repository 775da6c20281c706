/** Decodes raw packets in a pool of threads. The pool starts with the first network. */
import { type DecoderPool, type PoolResult, type PoolStats, PoolError, createPool } from "boxwright/pool";
import { messageOf } from "boxwright-service/errors";
import { Refusal } from "../core/errors.ts";
import type { Logger } from "boxwright-service/log";
import type { Network } from "./networks.ts";

export interface DecodingOptions {
  readonly threads: number | undefined;
  /** Largest number of raw frames of one camera that wait for a thread. */
  readonly queue: number;
  readonly log: Logger;
}

/** Number of threads that a frame may crash before the host refuses the frame permanently. */
const MOST_CRASHES = 3;
const MOST_SUSPECTS = 1024;

export class Decoding {
  readonly #options: DecodingOptions;
  readonly #networks = new Map<string, Network>();
  /** Number of crashed threads, by frame id. */
  readonly #suspects = new Map<string, number>();
  #pool: Promise<DecoderPool> | null = null;
  #running: DecoderPool | null = null;

  constructor(options: DecodingOptions) {
    this.#options = options;
  }

  /** Counters of the pool; null before the first network. */
  get stats(): PoolStats | null {
    return this.#running?.stats ?? null;
  }

  /** Adds a network that `checkNetwork` has accepted. */
  async add(hash: string, network: Network): Promise<void> {
    if (this.#pool) await (await this.#pool).add(network);
    this.#networks.set(hash, network);
    if (!this.#pool) await this.#start();
  }

  /**
   * Decodes a packet with its config.
   * @param stream name of the camera
   * @param hash of a registered config: the packet's own, or the fallback if the packet names none
   * @param mayWait true: waits for room in the camera's queue. False: refuses if the queue is full
   * @param frame name of the frame, for counting its crashes
   */
  async decode(
    stream: string,
    bytes: Uint8Array,
    { hash, mayWait, frame }: { readonly hash: string; readonly mayWait: boolean; readonly frame: string },
  ): Promise<PoolResult> {
    const pool = await (this.#pool ?? this.#start());
    const network = [...this.#networks.keys()].indexOf(hash);
    for (;;) {
      try {
        const result = await pool.decode(stream, bytes, { network });
        if (result === null) throw new Refusal("busy", "the frame was dropped");
        return result;
      } catch (error) {
        if (!(error instanceof PoolError)) throw error;
        if (error.kind === "full" && mayWait) await pool.room(stream);
        else throw this.#refusalOf(error, frame, pool);
      }
    }
  }

  async close(): Promise<void> {
    await (await this.#pool)?.close();
  }

  #refusalOf(error: PoolError, frame: string, pool: DecoderPool): Refusal {
    if (error.kind === "full")
      return new Refusal("busy", `the camera's queue is full: ${this.#options.queue} frames wait`);
    // Forget a pool that closed because too many threads crashed. The next packet starts another pool.
    if (error.kind === "closed" && this.#running === pool) this.#pool = this.#running = null;
    if (error.kind === "closed") return new Refusal("unavailable", error.message);
    const crashes = (this.#suspects.get(frame) ?? 0) + 1;
    if (this.#suspects.size >= MOST_SUSPECTS) this.#suspects.clear();
    this.#suspects.set(frame, crashes);
    this.#options.log.error({ crashes, error: messageOf(error) }, "a thread that decodes died");
    return crashes < MOST_CRASHES
      ? new Refusal("unavailable", error.message)
      : new Refusal("tensors", `the thread that decoded this frame died ${crashes} times`);
  }

  #start(): Promise<DecoderPool> {
    const { threads, queue } = this.#options;
    const networks = [...this.#networks.values()];
    const starting = createPool({ networks, queue, policy: "block", ...(threads === undefined ? {} : { threads }) });
    this.#pool = starting;
    starting.then(
      (pool) => (this.#running = pool),
      () => (this.#pool = null),
    );
    return starting;
  }
}
