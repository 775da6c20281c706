/**
 * Delivers the messages of one queue to its receiver, each at least once. While the receiver fails, one message at a
 * time finds out whether it is back. Whoever queues messages never waits for a receiver.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "./database.ts";
import { messageOf } from "./errors.ts";
import { releaseLease, takeLease } from "./lease.ts";
import type { Logger } from "./log.ts";

export interface Message {
  /** The same in all attempts. By it the receiver recognises a message that comes twice. */
  readonly id: string;
  readonly body: string;
}

/**
 * Result of an attempt. "gone": the receiver wants no more messages. "ended": the service stops, and the result is
 * unknown. An object: send again, not before `after` milliseconds if the receiver stated them.
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
  /** Where it stands in the queue. */
  readonly place: P;
  /** null: nobody wants it any more. `lost`: why it cannot be sent. */
  readonly message: Message | { readonly lost: string } | null;
}

/** The messages of one receiver, in the database. */
export interface DeliveryQueue<P> {
  /** Name of the queue, and of the lease of those that share it. */
  readonly name: string;
  /** Returns the next messages behind a place; undefined: from the start. */
  next(after: P | undefined, most: number): Promise<readonly Queued<P>[]>;
  remove(places: readonly P[]): Promise<void>;
  /** Keeps a message as dropped. */
  drop(place: P, why: { readonly at: number; readonly reason: string }): Promise<void>;
  /** Returns a text that names a place. */
  keyOf(place: P): string;
}

export interface DeliveryOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly now: () => number;
  /** Tries a message once. */
  readonly attempt: (message: Message, options: AttemptOptions) => Promise<Attempt>;
  readonly onOutcome: (outcome: "sent" | "failed" | "dropped") => void;
  /** Names the receiver in the log, without a secret. */
  readonly about: object;
  readonly words: DeliveryWords;
  readonly limits?: Partial<DeliveryLimits>;
}

/** Lines of the log. */
export interface DeliveryWords {
  /** The receiver: "webhook". */
  readonly receiver: string;
  readonly gone: string;
  readonly dropped: string;
}

export interface DeliveryLimits {
  /** Messages that are sent at once. */
  readonly inFlight: number;
  /** Attempts of a message that the receiver refuses while it takes others. */
  readonly attempts: number;
  /** Milliseconds until the second attempt; each later one waits three times as long, up to `longestMs`. */
  readonly retryMs: number;
  readonly longestMs: number;
  /** Milliseconds in which the receiver has to answer. */
  readonly patienceMs: number;
  /** Milliseconds between two looks at an empty queue: processes that share the database add to it. */
  readonly lookMs: number;
  /** Milliseconds of a lease. If the process that sends is killed, another one goes on so much later. */
  readonly leaseMs: number;
}

const LIMITS: DeliveryLimits = {
  ...{ inFlight: 4, attempts: 10, retryMs: 1000, longestMs: 5 * 60_000, patienceMs: 15_000 },
  ...{ lookMs: 1000, leaseMs: 5000 },
};
/** Messages that are read at once. */
const BATCH = 64;
/** Most failing messages that are remembered. */
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

export class Delivery<P> {
  readonly #queue: DeliveryQueue<P>;
  readonly #options: DeliveryOptions;
  readonly #limits: DeliveryLimits;
  /** Names this process in leases. */
  readonly #owner = randomUUID();
  readonly #end = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** `performance.now()` of the last renewal of the lease; -Infinity without a lease. */
  #leasedAt = -Infinity;
  /** Aborted when messages were queued, which ends the wait for them. */
  #ring = new AbortController();
  readonly #failures = new Map<string, Failure>();
  #taken = 0;
  /** Attempts that failed since the receiver took a message. */
  #failed = 0;
  #dropped = 0;
  #loggedAt = -Infinity;
  #isGone = false;
  /** Why messages wait; null while the receiver takes them. */
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

  /** Lets it look at the queue now. Call this once the new messages are durable. */
  wake(): void {
    this.#ring.abort();
  }

  /** Ends attempts under way. The database keeps what is not delivered. */
  async stop(): Promise<void> {
    this.#end.abort();
    this.#ring.abort();
    await this.#running;
    // If the database is away, others wait until the lease runs out.
    if (this.#leasedAt > 0) await releaseLease(this.#options.db, this.#queue.name, this.#owner).catch(() => undefined);
  }

  /** Goes through the queue from its start to its end, again and again. */
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

  /** Takes the lease, or renews it if a third of its time is over. Returns true if this process has it. */
  async #takeLease(): Promise<boolean> {
    const { db, now } = this.#options;
    const { leaseMs } = this.#limits;
    if (performance.now() - this.#leasedAt < leaseMs / 3) return true;
    const hasLease = await takeLease(db, this.#queue.name, this.#owner, { now: now(), milliseconds: leaseMs });
    this.#leasedAt = hasLease ? performance.now() : -Infinity;
    return hasLease;
  }

  /** Renews the lease while some work lasts. */
  async #renewingLease<T>(work: Promise<T>): Promise<T> {
    // If the database is away, the lease may run out and another process send the same. Receivers know the ids.
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

  /** Tries a message. */
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
    // While the receiver takes nothing, the fault is not in the message.
    if (attempts >= most && this.#taken > takenBefore) {
      const dropped = `${attempts} attempts failed while others were taken, the last: ${reason}`;
      this.#countDropped(dropped, this.#options.words.dropped);
      return { dropped };
    }
    if (this.#failures.size >= MOST_REMEMBERED) this.#failures.clear();
    this.#failures.set(key, { attempts, takenBefore, notBefore: performance.now() + this.#delay(attempts) });
    return Math.min(after ?? 0, longestMs);
  }

  /** Returns the milliseconds to wait after so many failures. Varies by 10 %: processes do not come back together. */
  #delay(failures: number): number {
    if (failures === 0) return 0;
    const { retryMs, longestMs } = this.#limits;
    return Math.min(retryMs * 3 ** (failures - 1), longestMs) * (0.9 + 0.2 * Math.random());
  }

  #note(reason: string): void {
    if (this.#end.signal.aborted) return;
    const { log, about, words } = this.#options;
    if (this.problem === null) log.warn({ ...about, reason }, `the ${words.receiver} takes no messages, trying again`);
    this.problem = reason;
  }

  /** Stops sending until the next start: the receiver answered 410. */
  #stopForGood(): "done" {
    this.#options.onOutcome("dropped");
    if (this.#isGone) return "done";
    this.#isGone = true;
    this.problem = "status 410: the receiver wants no more messages";
    this.#options.log.error(this.#options.about, this.#options.words.gone);
    return "done";
  }

  /** Counts a message that is lost for good. */
  #lose(reason: string): "done" {
    this.#countDropped(reason, `messages of a ${this.#options.words.receiver} are lost`);
    return "done";
  }

  /** Counts a message that is lost, or kept as dropped. Logs once a minute. */
  #countDropped(reason: string, text: string): void {
    this.#options.onOutcome("dropped");
    this.#dropped++;
    const now = performance.now();
    if (this.#isGone || now - this.#loggedAt < LOG_EVERY_MS) return;
    this.#options.log.error({ ...this.#options.about, dropped: this.#dropped, reason }, text);
    this.#loggedAt = now;
  }
}
