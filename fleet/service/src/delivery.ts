/**
 * Delivers the messages of one queue to its receiver, each at least once. While the receiver fails, only one message at
 * a time is tried. Adding a message to the queue never waits for a receiver.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "./database.ts";
import { messageOf } from "./errors.ts";
import { releaseLease, takeLease } from "./lease.ts";
import type { Logger } from "./log.ts";
import { pauseAfter } from "./retry.ts";

export interface Message {
  /** Id that all attempts send, so that the receiver recognises a repeated message. */
  readonly id: string;
  readonly body: string;
}

/**
 * Result of an attempt. "gone": the receiver wants no more messages. "ended": the service stops, and the result is
 * unknown. An object: try again, not before `after` milliseconds if the receiver stated them.
 */
export type Attempt = "sent" | "gone" | "ended" | { readonly reason: string; readonly after: number | null };

export interface AttemptOptions {
  readonly now: () => number;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
  /** Milliseconds in which the receiver has to answer. */
  readonly patience: number;
}

export interface Queued<P> {
  /** Position of the message in the queue. */
  readonly place: P;
  /** The message. Null if the message is no longer needed. `lost`: reason why the message cannot be sent. */
  readonly message: Message | { readonly lost: string } | null;
}

/** The messages of one receiver, in the database. */
export interface DeliveryQueue<P> {
  /** Name of the queue and of its lease. Among several processes, only the holder of the lease sends. */
  readonly name: string;
  /** Returns the next messages after a position, or from the start if the position is undefined. */
  next(after: P | undefined, most: number): Promise<readonly Queued<P>[]>;
  remove(places: readonly P[]): Promise<void>;
  /** Marks a message as dropped, and keeps it. */
  drop(place: P, why: { readonly at: number; readonly reason: string }): Promise<void>;
  /** Returns a unique text for a position. */
  keyOf(place: P): string;
}

export interface DeliveryOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly now: () => number;
  /** Makes one attempt to send a message. */
  readonly attempt: (message: Message, options: AttemptOptions) => Promise<Attempt>;
  readonly onOutcome: (outcome: "sent" | "failed" | "dropped") => void;
  /** Identifies the receiver in the log, without a secret. */
  readonly about: object;
  readonly words: DeliveryWords;
  readonly limits?: Partial<DeliveryLimits>;
}

/** Words for log lines. */
export interface DeliveryWords {
  /** The receiver: "webhook". */
  readonly receiver: string;
  readonly gone: string;
  readonly dropped: string;
}

export interface DeliveryLimits {
  /** Largest number of messages that are sent at the same time. */
  readonly inFlight: number;
  /** Number of attempts after which a message is dropped, if the receiver accepted others meanwhile. */
  readonly attempts: number;
  /** Milliseconds before the second attempt. Each later wait doubles, up to `longestMs`. */
  readonly retryMs: number;
  readonly longestMs: number;
  /** Milliseconds in which the receiver has to answer. */
  readonly patienceMs: number;
  /** Milliseconds between two checks of an empty queue, to which other processes may add messages. */
  readonly lookMs: number;
  /** Duration of a lease in milliseconds. If its process dies, another process takes over when the lease ends. */
  readonly leaseMs: number;
}

const LIMITS: DeliveryLimits = {
  ...{ inFlight: 4, attempts: 10, retryMs: 1000, longestMs: 5 * 60_000, patienceMs: 15_000 },
  ...{ lookMs: 1000, leaseMs: 5000 },
};
/** Largest number of messages to read at once. */
const BATCH = 64;
/** Largest number of failing messages to remember. */
const MOST_REMEMBERED = 10_000;
/** Milliseconds between two log lines about dropped messages. */
const LOG_EVERY_MS = 60_000;

/** Number of failed attempts of a message, and the time of the next attempt. */
interface Failure {
  readonly attempts: number;
  /** Earliest `performance.now()` for another attempt. */
  readonly notBefore: number;
  /** Value of `#taken` when this message first failed. */
  readonly takenBefore: number;
}

/**
 * Result for a message. "done": the message leaves the queue. An object: the message is kept as dropped. A number:
 * smallest number of milliseconds until the next attempt.
 */
type Result = "done" | { readonly dropped: string } | number;

export class Delivery<P> {
  readonly #queue: DeliveryQueue<P>;
  readonly #options: DeliveryOptions;
  readonly #limits: DeliveryLimits;
  /** Identifies this delivery in leases. */
  readonly #owner = randomUUID();
  readonly #end = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** `performance.now()` of the last renewal of the lease; -Infinity without a lease. */
  #leasedAt = -Infinity;
  /** Controller that ends the wait for messages when some are queued or the service stops. */
  #ring = new AbortController();
  readonly #failures = new Map<string, Failure>();
  /** Number of messages that the receiver accepted. */
  #taken = 0;
  /** Number of failed attempts since the receiver last accepted a message. */
  #failed = 0;
  #dropped = 0;
  #loggedAt = -Infinity;
  #isGone = false;
  /** Why messages wait; null while the receiver accepts them. */
  problem: string | null = null;

  constructor(queue: DeliveryQueue<P>, options: DeliveryOptions) {
    this.#queue = queue;
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
  }

  /** True if the receiver wants no more messages. */
  get isGone(): boolean {
    return this.#isGone;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Ends the wait for messages. Call this once new messages are durable. */
  wake(): void {
    this.#ring.abort();
  }

  /** Ends the running attempts. Undelivered messages stay in the database. */
  async stop(): Promise<void> {
    this.#end.abort();
    this.#ring.abort();
    await this.#running;
    // Ignore errors: if the database is unreachable, other processes wait until the lease ends.
    if (this.#leasedAt > 0) await releaseLease(this.#options.db, this.#queue.name, this.#owner).catch(() => undefined);
  }

  /** Goes through the queue from start to end, repeatedly. */
  async #run(): Promise<void> {
    let after: P | undefined;
    while (!this.#end.signal.aborted)
      try {
        const batch = await this.#queue.next(after, BATCH);
        if (batch.length > 0) await this.#sendAll(batch);
        else await this.#waitForMore();
        after = batch.at(-1)?.place;
      } catch (error) {
        this.#note(`database: ${messageOf(error)}`);
        await this.#pause(this.#limits.lookMs);
      }
  }

  /** Takes the lease, or renews it after a third of its duration. Returns true if this process holds the lease. */
  async #takeLease(): Promise<boolean> {
    const { db, now } = this.#options;
    const { leaseMs } = this.#limits;
    if (performance.now() - this.#leasedAt < leaseMs / 3) return true;
    const hasLease = await takeLease(db, this.#queue.name, this.#owner, { now: now(), milliseconds: leaseMs });
    this.#leasedAt = hasLease ? performance.now() : -Infinity;
    return hasLease;
  }

  /** Renews the lease until the work ends. */
  async #renewingLease<T>(work: Promise<T>): Promise<T> {
    // Ignore errors: if the lease ends, another process sends the same messages, and receivers recognise them by id.
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

  /** Tries to send each message that is due, once. */
  async #sendAll(batch: readonly Queued<P>[]): Promise<void> {
    const now = performance.now();
    const due = batch.filter(({ place }) => (this.#failureOf(place)?.notBefore ?? 0) <= now);
    while (due.length > 0 && !this.#end.signal.aborted) {
      if (!(await this.#takeLease())) return this.#pause(this.#limits.lookMs);
      const group = due.splice(0, this.#failed > 0 ? 1 : this.#limits.inFlight);
      const results = await this.#renewingLease(Promise.all(group.map((message) => this.#send(message))));
      const done = group.filter((_, i) => results[i] === "done").map(({ place }) => place);
      if (done.length > 0) await this.#queue.remove(done);
      for (const [i, result] of results.entries())
        if (typeof result === "object")
          await this.#queue.drop(group[i]!.place, { at: this.#options.now(), reason: result.dropped });
      const waits = results.filter((result) => typeof result === "number");
      if (waits.length > 0) await this.#pause(Math.max(this.#delay(this.#failed), ...waits));
    }
  }

  /** Tries to send a message. Returns the result for its position in the queue. */
  async #send({ place, message }: Queued<P>): Promise<Result> {
    if (this.#isGone) return this.#lose("the receiver wants no more messages");
    if (message === null) return "done";
    if ("lost" in message) return this.#lose(message.lost);
    const { now, attempt } = this.#options;
    const result = await attempt(message, { now, signal: this.#end.signal, patience: this.#limits.patienceMs });
    if (result === "ended") return 0;
    if (result === "sent") {
      this.#failures.delete(this.#queue.keyOf(place));
      this.#succeed();
      return "done";
    }
    if (result === "gone") return this.#stopForGood();
    return this.#fail(place, result);
  }

  #failureOf(place: P): Failure | undefined {
    return this.#failures.get(this.#queue.keyOf(place));
  }

  #succeed(): void {
    const { log, about, words, onOutcome } = this.#options;
    onOutcome("sent");
    this.#taken++;
    this.#failed = 0;
    if (this.problem !== null) log.info(about, `the ${words.receiver} takes messages again`);
    this.problem = null;
  }

  #fail(place: P, { reason, after }: Exclude<Attempt, string>): Result {
    const { attempts: most, longestMs } = this.#limits;
    this.#options.onOutcome("failed");
    this.#failed++;
    this.#note(reason);
    const key = this.#queue.keyOf(place);
    const before = this.#failures.get(key);
    const attempts = (before?.attempts ?? 0) + 1;
    const takenBefore = before?.takenBefore ?? this.#taken;
    this.#failures.delete(key);
    // Drop the message only if the receiver has accepted others meanwhile. Otherwise, the receiver itself is at fault.
    if (attempts >= most && this.#taken > takenBefore) {
      const dropped = `${attempts} attempts failed while others were taken, the last: ${reason}`;
      this.#countDropped(dropped, this.#options.words.dropped);
      return { dropped };
    }
    if (this.#failures.size >= MOST_REMEMBERED) this.#failures.clear();
    this.#failures.set(key, { attempts, takenBefore, notBefore: performance.now() + this.#delay(attempts) });
    return Math.min(after ?? 0, longestMs);
  }

  #delay(failures: number): number {
    const { retryMs, longestMs } = this.#limits;
    return failures === 0 ? 0 : pauseAfter(failures, { first: retryMs, most: longestMs });
  }

  #note(reason: string): void {
    if (this.#end.signal.aborted) return;
    const { log, about, words } = this.#options;
    if (this.problem === null) log.warn({ ...about, reason }, `the ${words.receiver} takes no messages, trying again`);
    this.problem = reason;
  }

  /** Stops sending until the service starts again: the receiver answered 410. */
  #stopForGood(): "done" {
    this.#options.onOutcome("dropped");
    if (this.#isGone) return "done";
    this.#isGone = true;
    this.problem = "status 410: the receiver wants no more messages";
    this.#options.log.error(this.#options.about, this.#options.words.gone);
    return "done";
  }

  /** Counts a lost message. */
  #lose(reason: string): "done" {
    this.#countDropped(reason, `messages of a ${this.#options.words.receiver} are lost`);
    return "done";
  }

  /** Counts a lost or dropped message. Logs at most once a minute, and never after a 410. */
  #countDropped(reason: string, text: string): void {
    this.#options.onOutcome("dropped");
    this.#dropped++;
    const now = performance.now();
    if (this.#isGone || now - this.#loggedAt < LOG_EVERY_MS) return;
    this.#options.log.error({ ...this.#options.about, dropped: this.#dropped, reason }, text);
    this.#loggedAt = now;
  }
}
