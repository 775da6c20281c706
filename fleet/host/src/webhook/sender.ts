/**
 * Sends the messages of one webhook to its receiver, each at least once. While the receiver fails, one message at a
 * time finds out whether it is back. Frames never wait for a webhook.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database, Queries } from "boxwright-service/database";
import { messageOf } from "boxwright-service/errors";
import type { Logger } from "boxwright-service/log";
import type { Metrics } from "../core/metrics.ts";
import { type Webhook, placeOf } from "../core/webhooks.ts";
import type { StoredFrame } from "../store/frames.ts";
import {
  QUEUE_START,
  type QueuePlace,
  type QueuedMessage,
  markDropped,
  queueMessages,
  queuedMessages,
  releaseLease,
  removeMessages,
  takeLease,
} from "../store/webhook-queue.ts";
import { type Attempt, post } from "./attempt.ts";
import { messageOfFrame } from "./message.ts";

export interface SenderOptions {
  readonly db: Database;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly now: () => number;
  readonly limits?: Partial<SenderLimits>;
}

export interface SenderLimits {
  /** Messages that are sent at once. */
  readonly inFlight: number;
  /** Attempts of a message that the receiver refuses while it takes others. */
  readonly attempts: number;
  /** Milliseconds until the second attempt; each later one waits three times as long, up to `longestMs`. */
  readonly retryMs: number;
  readonly longestMs: number;
  /** Milliseconds in which the receiver has to answer. */
  readonly patienceMs: number;
  /** Milliseconds between two looks at an empty queue: hosts that share the database add to it. */
  readonly lookMs: number;
  /** Milliseconds of a lease. If the host that sends is killed, another one goes on so much later. */
  readonly leaseMs: number;
}

const LIMITS: SenderLimits = {
  ...{ inFlight: 4, attempts: 10, retryMs: 1000, longestMs: 5 * 60_000, patienceMs: 15_000 },
  ...{ lookMs: 1000, leaseMs: 5000 },
};
/** Messages that are read at once. */
const BATCH = 64;
/** Most cameras, and most failing messages, that are remembered. */
const MOST_REMEMBERED = 10_000;
/** Milliseconds between two log lines about dropped messages. */
const LOG_EVERY_MS = 60_000;

/** The tries of a message that failed, and when the next one may be. */
interface Failure {
  readonly attempts: number;
  /** Time of `performance.now()` before which it is not tried again. */
  readonly notBefore: number;
  /** Messages that the receiver had taken when this one failed first. */
  readonly takenBefore: number;
}

/** "done": the message leaves the queue. An object: it is kept as dropped. A number: milliseconds to wait at least. */
type Result = "done" | { readonly dropped: string } | number;

export class Sender {
  /** Name of the queue. */
  readonly name: string;
  readonly #hook: Webhook;
  readonly #options: SenderOptions;
  readonly #limits: SenderLimits;
  /** Names this host in leases. */
  readonly #holder = randomUUID();
  readonly #end = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** `performance.now()` of the last renewal of the lease; -Infinity without a lease. */
  #leasedAt = -Infinity;
  /** Aborted when messages were queued, which ends the wait for them. */
  #ring = new AbortController();
  /** `stored_at` of the frame of each camera that was queued last, if the webhook limits their rate. */
  readonly #queuedAt = new Map<string, number>();
  #chosen: readonly StoredFrame[] = [];
  readonly #failures = new Map<string, Failure>();
  #taken = 0;
  /** Attempts that failed since the receiver took a message. */
  #failed = 0;
  #dropped = 0;
  #loggedAt = -Infinity;
  #isGone = false;
  /** Why messages wait; null while the receiver takes them. */
  problem: string | null = null;

  constructor(name: string, hook: Webhook, options: SenderOptions) {
    this.name = name;
    this.#hook = hook;
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Queues messages about new frames, in the transaction that stores them. */
  async queue(tx: Queries, frames: readonly StoredFrame[]): Promise<void> {
    this.#chosen = this.#isGone ? [] : this.#choose(frames);
    await queueMessages(tx, this.name, this.#chosen);
  }

  /** Lets the sender look at the queue. Call this once the frames of the last `queue` are durable. */
  wake(): void {
    if (this.#chosen.length === 0) return;
    if (this.#queuedAt.size >= MOST_REMEMBERED) this.#queuedAt.clear();
    if (this.#hook.every > 0) for (const frame of this.#chosen) this.#queuedAt.set(cameraOf(frame), frame.stored_at);
    this.#chosen = [];
    this.#ring.abort();
  }

  /** Ends attempts under way. The database keeps what is not delivered. */
  async stop(): Promise<void> {
    this.#end.abort();
    this.#ring.abort();
    await this.#running;
    // If the database is away, other hosts wait until the lease runs out.
    if (this.#leasedAt > 0) await releaseLease(this.#options.db, this.name, this.#holder).catch(() => undefined);
  }

  /** Returns the frames that the webhook wants. Changes nothing: a transaction may run more than once. */
  #choose(frames: readonly StoredFrame[]): StoredFrame[] {
    const last = new Map<string, number>();
    return frames.filter((frame) => {
      const camera = cameraOf(frame);
      const before = last.get(camera) ?? this.#queuedAt.get(camera) ?? -Infinity;
      const isTooSoon = Math.abs(frame.stored_at - before) < this.#hook.every * 1000;
      if (isTooSoon || !messageOfFrame(this.#hook, frame)) return false;
      last.set(camera, frame.stored_at);
      return true;
    });
  }

  /** Goes through the queue from its start to its end, again and again. */
  async #run(): Promise<void> {
    let after = QUEUE_START;
    while (!this.#end.signal.aborted)
      try {
        const batch = await queuedMessages(this.#options.db, this.name, after, BATCH);
        if (batch.length > 0) await this.#sendAll(batch);
        else await this.#waitForMore();
        after = batch.at(-1)?.place ?? QUEUE_START;
      } catch (error) {
        this.#note(`database: ${messageOf(error)}`);
        await this.#pause(this.#limits.lookMs);
      }
  }

  /** Takes the lease, or renews it if a third of its time is over. Returns true if this host has it. */
  async #takeLease(): Promise<boolean> {
    const { db, now } = this.#options;
    const { leaseMs } = this.#limits;
    if (performance.now() - this.#leasedAt < leaseMs / 3) return true;
    const hasLease = await takeLease(db, this.name, this.#holder, { now: now(), milliseconds: leaseMs });
    this.#leasedAt = hasLease ? performance.now() : -Infinity;
    return hasLease;
  }

  /** Renews the lease while some work lasts. */
  async #renewingLease<T>(work: Promise<T>): Promise<T> {
    // If the database is away, the lease may run out and another host send the same messages. Receivers know their ids.
    const renewal = setInterval(() => void this.#takeLease().catch(() => undefined), this.#limits.leaseMs / 2);
    try {
      return await work;
    } finally {
      clearInterval(renewal);
    }
  }

  async #waitForMore(): Promise<void> {
    await sleep(this.#limits.lookMs, undefined, { signal: this.#ring.signal }).catch(() => undefined);
    this.#ring = new AbortController();
  }

  async #pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.#end.signal }).catch(() => undefined);
  }

  /** Tries each message that is due once. */
  async #sendAll(batch: readonly QueuedMessage[]): Promise<void> {
    const now = performance.now();
    const due = batch.filter(({ place }) => (this.#failures.get(keyOf(place))?.notBefore ?? 0) <= now);
    while (due.length > 0 && !this.#end.signal.aborted) {
      if (!(await this.#takeLease())) return this.#pause(this.#limits.lookMs);
      const group = due.splice(0, this.#failed > 0 ? 1 : this.#limits.inFlight);
      const results = await this.#renewingLease(Promise.all(group.map((message) => this.#send(message))));
      const { db } = this.#options;
      const done = group.filter((_, i) => results[i] === "done").map(({ place }) => place);
      if (done.length > 0) await removeMessages(db, this.name, done);
      for (const [i, result] of results.entries())
        if (typeof result === "object")
          await markDropped(db, this.name, group[i]!.place, {
            at: this.#options.now(),
            reason: result.dropped,
          });
      const waits = results.filter((result) => typeof result === "number");
      if (waits.length > 0) await this.#pause(Math.max(this.#delay(this.#failed), ...waits));
    }
  }

  /** Tries a message. */
  async #send({ place, frame }: QueuedMessage): Promise<Result> {
    if (this.#isGone) return this.#lose("the receiver wants no more messages");
    if (frame === null) return this.#lose("their frames were deleted before the receiver took them");
    // The config may have other filters by now.
    const message = messageOfFrame(this.#hook, frame);
    if (!message) return "done";
    const { now } = this.#options;
    const attempt = await post(this.#hook, message, {
      now,
      signal: this.#end.signal,
      patience: this.#limits.patienceMs,
    });
    if (attempt === "ended") return 0;
    if (attempt === "sent") {
      this.#failures.delete(keyOf(place));
      this.#succeed();
      return "done";
    }
    if (attempt === "gone") return this.#stopForGood();
    return this.#fail(place, attempt);
  }

  #succeed(): void {
    this.#count("sent");
    this.#taken++;
    this.#failed = 0;
    if (this.problem !== null)
      this.#options.log.info({ webhook: placeOf(this.#hook) }, "the webhook takes messages again");
    this.problem = null;
  }

  #fail(place: QueuePlace, { reason, after }: Exclude<Attempt, string>): Result {
    const { attempts: most, longestMs } = this.#limits;
    this.#count("failed");
    this.#failed++;
    this.#note(reason);
    const key = keyOf(place);
    const before = this.#failures.get(key);
    const attempts = (before?.attempts ?? 0) + 1;
    const takenBefore = before?.takenBefore ?? this.#taken;
    this.#failures.delete(key);
    // While the receiver takes nothing, the fault is not in the message.
    if (attempts >= most && this.#taken > takenBefore) {
      const dropped = `${attempts} attempts failed while others were taken, the last: ${reason}`;
      this.#countDropped(dropped, "messages of a webhook were dropped: /v1/webhooks lists them");
      return { dropped };
    }
    if (this.#failures.size >= MOST_REMEMBERED) this.#failures.clear();
    this.#failures.set(key, { attempts, takenBefore, notBefore: performance.now() + this.#delay(attempts) });
    return Math.min(after ?? 0, longestMs);
  }

  /** Returns the milliseconds to wait after so many failures. Varies by 10 %: hosts do not come back together. */
  #delay(failures: number): number {
    if (failures === 0) return 0;
    const { retryMs, longestMs } = this.#limits;
    return Math.min(retryMs * 3 ** (failures - 1), longestMs) * (0.9 + 0.2 * Math.random());
  }

  #note(reason: string): void {
    if (this.#end.signal.aborted) return;
    if (this.problem === null)
      this.#options.log.warn({ webhook: placeOf(this.#hook), reason }, "the webhook takes no messages, trying again");
    this.problem = reason;
  }

  /** Stops sending until the host restarts: the receiver answered 410. */
  #stopForGood(): "done" {
    this.#count("dropped");
    if (this.#isGone) return "done";
    this.#isGone = true;
    this.problem = "status 410: the receiver wants no more messages";
    const advice =
      "the webhook is gone (410), and gets no more messages: take it out of the config, or restart the host";
    this.#options.log.error({ webhook: placeOf(this.#hook) }, advice);
    return "done";
  }

  /** Counts a message that is lost for good. */
  #lose(reason: string): "done" {
    this.#countDropped(reason, "messages of a webhook are lost");
    return "done";
  }

  /** Counts a message that is lost, or kept as dropped. Logs once a minute. */
  #countDropped(reason: string, text: string): void {
    this.#count("dropped");
    this.#dropped++;
    const now = performance.now();
    if (this.#isGone || now - this.#loggedAt < LOG_EVERY_MS) return;
    this.#options.log.error({ webhook: placeOf(this.#hook), dropped: this.#dropped, reason }, text);
    this.#loggedAt = now;
  }

  #count(outcome: "sent" | "failed" | "dropped"): void {
    this.#options.metrics.webhooks.inc({ outcome });
  }
}

const cameraOf = ({ source, subject }: StoredFrame): string => `${source}\n${subject}`;
const keyOf = ({ stored_at, source, id }: QueuePlace): string => `${stored_at}\n${source}\n${id}`;
