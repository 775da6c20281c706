import type { Logger } from "pino";
import { messageOf } from "boxwright-service/errors";
import { Backoff } from "boxwright-service/retry";
import { Turns, wait } from "../core/wait.ts";
import type { Reader } from "../spool/reader.ts";
import type { Spooled } from "../spool/segment.ts";
import type { RefusedFolder } from "./refused.ts";
import type { Outcome, Sink } from "./sink.ts";

/** Milliseconds that packets being sent may still take after the signal aborts. */
const SEND_GRACE = 2000;

/** Counts of a delivery. The delivery updates the object in place. */
export interface DeliveryStats {
  stored: number;
  /** Number of delivered packets that the receiver already had. `stored` counts them, too. */
  duplicate: number;
  refused: number;
  /** Number of attempts that must be repeated. */
  later: number;
}

export class Delivery {
  readonly sink: Sink;
  readonly stats: DeliveryStats = { stored: 0, duplicate: 0, refused: 0, later: 0 };
  /** Reason why the last attempt must be repeated; null after a receiver has accepted or refused a packet. */
  waitsFor: string | null = null;
  /** True if only an operator can fix the problem in `waitsFor`. */
  needsOperator = false;
  /** Reason of the last permanent refusal. */
  lastRefusal: string | null = null;
  readonly #reader: Reader;
  readonly #refused: RefusedFolder;
  readonly #log: Logger;
  readonly #backoff: Backoff;
  /** The pause after a failed attempt, which resolves when sending may continue; null if there is none. */
  #pause: Promise<void> | null = null;
  /** Queue that lets one packet at a time test a receiver that does not answer. */
  readonly #probes = new Turns();
  readonly #grace: number;

  /** @param grace milliseconds from the signal until packets being sent are aborted */
  constructor(
    sink: Sink,
    reader: Reader,
    refused: RefusedFolder,
    log: Logger,
    backoff = new Backoff(),
    grace = SEND_GRACE,
  ) {
    this.sink = sink;
    this.#reader = reader;
    this.#refused = refused;
    this.#log = log;
    this.#backoff = backoff;
    this.#grace = grace;
  }

  /**
   * Delivers until the signal aborts. Packets being sent may be acknowledged for a short time after that. Other packets
   * stay in the spool for the next start.
   */
  async run(signal: AbortSignal): Promise<void> {
    const sends = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    signal.addEventListener("abort", () => (timer = setTimeout(() => sends.abort(), this.#grace)));
    const underWay = new Set<Promise<void>>();
    while (!signal.aborted) {
      const packet = await this.#reader.next(signal);
      if (!packet) break;
      const one: Promise<void> = this.#deliver(packet, signal, sends.signal).finally(() => underWay.delete(one));
      underWay.add(one);
      if (underWay.size >= this.sink.inFlight) await Promise.race(underWay);
    }
    await Promise.all(underWay);
    clearTimeout(timer);
  }

  async #deliver(packet: Spooled, signal: AbortSignal, sends: AbortSignal): Promise<void> {
    for (let isDone = false; !isDone && !signal.aborted;) {
      await this.#pause;
      isDone =
        this.waitsFor === null
          ? await this.#attempt(packet, signal, sends)
          : await this.#probes.take(() => this.#probe(packet, signal, sends));
    }
  }

  /** Tests the receiver with a packet, after earlier attempts failed. Returns true if the packet is done. */
  async #probe(packet: Spooled, signal: AbortSignal, sends: AbortSignal): Promise<boolean> {
    await this.#pause;
    // End this turn if another packet has reached the receiver: packets are then sent in parallel again.
    return this.waitsFor !== null && this.#attempt(packet, signal, sends);
  }

  /** Sends a packet once. Returns true if the packet is done, false if it must be sent again. */
  async #attempt({ index, bytes }: Spooled, signal: AbortSignal, sends: AbortSignal): Promise<boolean> {
    // Skip a packet that the spool dropped while it waited here. The spool has already counted it.
    if (signal.aborted || this.#reader.isPast(index)) return true;
    const outcome = await this.sink.send(bytes, sends);
    if (signal.aborted && outcome.kind === "later") return true;
    this.stats[outcome.kind]++;
    if (outcome.kind === "later") {
      this.#wait(outcome, signal);
      return false;
    }
    this.#backoff.reset();
    if (this.waitsFor !== null) this.#log.info({ sink: this.sink.name }, "receiver is back");
    this.waitsFor = null;
    this.needsOperator = false;
    if (outcome.kind === "refused") this.#refuse(bytes, outcome.reason);
    else if (outcome.isDuplicate) this.stats.duplicate++;
    this.#reader.acknowledge(index);
    return true;
  }

  /**
   * Pauses all packets. After the pause, packets test the receiver one at a time, in turn, since the receiver may delay
   * one packet and accept others.
   */
  #wait(
    { reason, milliseconds, needsOperator = false }: Extract<Outcome, { kind: "later" }>,
    signal: AbortSignal,
  ): void {
    if (needsOperator && !this.needsOperator) this.#log.error({ sink: this.sink.name }, `packets wait: ${reason}`);
    else if (this.waitsFor === null) this.#log.warn({ sink: this.sink.name }, `packets wait: ${reason}`);
    this.needsOperator = needsOperator;
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
