/** Decodes raw packets in a pool of threads, which is started with the first network. */
import { type DecoderPool, type PoolResult, type PoolStats, PoolError, createPool } from "boxwright/pool";
import { Refusal, messageOf } from "../core/errors.ts";
import type { Logger } from "../core/log.ts";
import type { Network } from "./networks.ts";
// Networks for keypoints, masks and oriented boxes are read by these imports.
import "boxwright/masks";
import "boxwright/oriented";
import "boxwright/pose";

export interface DecodingOptions {
  readonly threads: number | undefined;
  /** Raw frames of a camera that may wait. */
  readonly queue: number;
  readonly log: Logger;
}

/** A frame that killed its thread so often is refused for good. */
const MOST_CRASHES = 3;
const MOST_SUSPECTS = 1024;

export class Decoding {
  readonly #options: DecodingOptions;
  readonly #networks = new Map<string, Network>();
  /** Frames whose thread died, and how often. */
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

  /** Adds a network, which was checked before. */
  async add(hash: string, network: Network): Promise<void> {
    if (this.#pool) await (await this.#pool).add(network);
    this.#networks.set(hash, network);
    if (!this.#pool) await this.#start();
  }

  /**
   * Decodes a packet by its config.
   * @param stream name of the camera
   * @param hash config to decode with: known, and named by the packet unless that names none
   * @param mayWait waits for room in the camera's queue; else a full queue is a Refusal
   * @param frame name of the frame
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
    // A pool that lost too many threads is closed. Start another one.
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
