/** Sends packets from the spool to one sink, until the sink has acknowledged or refused each. */
import type { Logger } from "pino";
import { messageOf } from "../core/errors.ts";
import { Backoff, wait } from "../core/wait.ts";
import type { Reader } from "../spool/reader.ts";
import type { Spooled } from "../spool/segment.ts";
import type { RefusedFolder } from "./refused.ts";
import type { Outcome, Sink } from "./sink.ts";

/** Counts of a delivery. The delivery updates the object in place. */
export interface DeliveryStats {
  stored: number;
  /** Count of the stored packets that the receiver had already. */
  duplicate: number;
  refused: number;
  /** Count of failed attempts, each of which is repeated. */
  later: number;
}

export class Delivery {
  readonly sink: Sink;
  readonly stats: DeliveryStats = { stored: 0, duplicate: 0, refused: 0, later: 0 };
  /** Reason why the receiver takes no packets now; null if it does. */
  waitsFor: string | null = null;
  /** Reason of the last permanent refusal. */
  lastRefusal: string | null = null;
  readonly #reader: Reader;
  readonly #refused: RefusedFolder;
  readonly #log: Logger;
  readonly #backoff: Backoff;
  /** Resolves when sending may go on; null while the receiver is reachable. */
  #pause: Promise<void> | null = null;

  constructor(sink: Sink, reader: Reader, refused: RefusedFolder, log: Logger, backoff = new Backoff()) {
    this.sink = sink;
    this.#reader = reader;
    this.#refused = refused;
    this.#log = log;
    this.#backoff = backoff;
  }

  /** Delivers until the signal aborts. Packets without an answer at that time are sent again at the next start. */
  async run(signal: AbortSignal): Promise<void> {
    const underWay = new Set<Promise<void>>();
    while (!signal.aborted) {
      const packet = await this.#reader.next(signal);
      if (!packet) break;
      const one: Promise<void> = this.#deliver(packet, signal).finally(() => underWay.delete(one));
      underWay.add(one);
      if (underWay.size >= this.sink.inFlight) await Promise.race(underWay);
    }
    await Promise.all(underWay);
  }

  async #deliver({ index, bytes }: Spooled, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#pause;
      // Skip a packet that the spool dropped while it waited here: it is already counted as dropped.
      if (signal.aborted || this.#reader.isBehind(index)) return;
      const outcome = await this.sink.send(bytes, signal);
      if (signal.aborted && outcome.kind === "later") return;
      this.stats[outcome.kind]++;
      if (outcome.kind === "later") {
        this.#wait(outcome, signal);
        continue;
      }
      this.#backoff.reset();
      if (this.waitsFor !== null) this.#log.info({ sink: this.sink.name }, "receiver is back");
      this.waitsFor = null;
      if (outcome.kind === "refused") this.#refuse(bytes, outcome.reason);
      else if (outcome.isDuplicate) this.stats.duplicate++;
      this.#reader.acknowledge(index);
      return;
    }
  }

  /** Holds all packets back for a while, so that only one packet at a time tests a receiver that is away. */
  #wait({ reason, milliseconds }: Extract<Outcome, { kind: "later" }>, signal: AbortSignal): void {
    if (this.waitsFor === null) this.#log.warn({ sink: this.sink.name }, `packets wait: ${reason}`);
    this.waitsFor = reason;
    this.#pause ??= wait(milliseconds ?? this.#backoff.next(), signal).finally(() => (this.#pause = null));
  }

  #refuse(bytes: Uint8Array, reason: string): void {
    this.lastRefusal = reason;
    this.#log.error({ sink: this.sink.name }, `packet refused for good: ${reason}`);
    try {
      this.#refused.store(bytes, this.sink.name, reason);
    } catch (error) {
      this.#log.error({ sink: this.sink.name }, `refused packet cannot be kept: ${messageOf(error)}`);
    }
  }
}
