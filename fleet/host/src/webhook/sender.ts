/**
 * Sends detections of stored frames to an outside address. Frames never wait for it: messages wait in memory, and the
 * oldest go when there are too many. Each loss is counted and logged.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "boxwright-service/log";
import { connectionProblem } from "boxwright-service/errors";
import type { Metrics } from "../core/metrics.ts";
import { type Webhook, placeOf } from "../core/webhooks.ts";
import type { StoredFrame } from "../store/frames.ts";
import { type Message, headersOfMessage, messageOfFrame } from "./message.ts";

export interface SenderOptions {
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly now: () => number;
  readonly limits?: Partial<SenderLimits>;
}

export interface SenderLimits {
  /** Most messages that wait, and most characters of their bodies. */
  readonly messages: number;
  readonly characters: number;
  /** Messages that are sent at once. */
  readonly inFlight: number;
  /** Attempts of a message. */
  readonly attempts: number;
  /** Milliseconds until the second attempt; each later one waits three times as long, up to `longestMs`. */
  readonly retryMs: number;
  readonly longestMs: number;
  /** Milliseconds in which the receiver has to answer. */
  readonly patienceMs: number;
}

/** The attempts of a message extend over an hour and a quarter. */
const LIMITS: SenderLimits = {
  ...{ messages: 1000, characters: 16 * 2 ** 20, inFlight: 4 },
  ...{ attempts: 10, retryMs: 1000, longestMs: 20 * 60_000, patienceMs: 15_000 },
};
const MOST_CAMERAS = 10_000;
/** Milliseconds between two log lines about lost messages. */
const LOG_EVERY_MS = 60_000;

/** Result of an attempt: the message is done, or has to be sent again, perhaps after so many milliseconds. */
type Attempt = "sent" | "gone" | { readonly reason: string; readonly after: number | null };

export class Sender {
  readonly #hook: Webhook;
  readonly #options: SenderOptions;
  readonly #limits: SenderLimits;
  readonly #waiting: Message[] = [];
  #characters = 0;
  readonly #working = new Set<Promise<void>>();
  readonly #end = new AbortController();
  /** Time of the last message of each camera. */
  readonly #told = new Map<string, number>();
  #lost = 0;
  #loggedAt = -Infinity;
  /** Why messages wait; null while the receiver takes them. */
  problem: string | null = null;
  #isGone = false;

  constructor(hook: Webhook, options: SenderOptions) {
    this.#hook = hook;
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
  }

  /** Takes a stored frame. Returns at once. */
  take(frame: StoredFrame): void {
    if (this.#isGone || this.#end.signal.aborted || this.#isTooSoon(frame)) return;
    const message = messageOfFrame(this.#hook, frame);
    if (!message) return;
    this.#remember(frame);
    this.#waiting.push(message);
    this.#characters += message.body.length;
    while (this.#waiting.length > this.#limits.messages || this.#characters > this.#limits.characters) {
      this.#next();
      this.#lose("too many wait");
    }
    this.#start();
  }

  /** Ends. Messages that wait are lost, and counted. */
  async stop(): Promise<void> {
    this.#end.abort();
    await Promise.all(this.#working);
    while (this.#next()) this.#count("dropped");
  }

  #start(): void {
    while (this.#working.size < this.#limits.inFlight && this.#waiting.length > 0 && !this.#end.signal.aborted) {
      const work = this.#deliver(this.#next()!).finally(() => {
        this.#working.delete(work);
        this.#start();
      });
      this.#working.add(work);
    }
  }

  #next(): Message | undefined {
    const message = this.#waiting.shift();
    this.#characters -= message?.body.length ?? 0;
    return message;
  }

  async #deliver(message: Message): Promise<void> {
    const { attempts, retryMs, longestMs } = this.#limits;
    const { signal } = this.#end;
    for (let attempt = 1; ; attempt++) {
      if (this.#isGone || signal.aborted) return this.#count("dropped");
      const result = await this.#attempt(message);
      if (result === "sent") return this.#succeed();
      if (result === "gone") return this.#stopForGood();
      this.#count("failed");
      this.#note(result.reason);
      if (attempt === attempts) return this.#lose(`${attempts} attempts failed, the last: ${result.reason}`);
      const plain = Math.min(retryMs * 3 ** (attempt - 1), longestMs);
      // Vary by 10 % either way: messages that failed together do not come together again.
      const pause = Math.max(plain * (0.9 + 0.2 * Math.random()), Math.min(result.after ?? 0, longestMs));
      await sleep(pause, undefined, { signal }).catch(() => undefined);
    }
  }

  async #attempt(message: Message): Promise<Attempt> {
    const { now } = this.#options;
    const end = new AbortController();
    const abort = (): void => end.abort();
    // The timer holds the controller: a signal of AbortSignal.any can be collected before it fires.
    const timer = setTimeout(abort, this.#limits.patienceMs);
    this.#end.signal.addEventListener("abort", abort);
    try {
      const response = await fetch(this.#hook.url, {
        method: "POST",
        headers: headersOfMessage(this.#hook, message, now()),
        body: message.body,
        // A redirect would send detections to an address that nobody chose.
        redirect: "manual",
        signal: end.signal,
      });
      await response.body?.cancel();
      if (response.ok) return "sent";
      if (response.status === 410) return "gone";
      return { reason: `status ${response.status}`, after: waitOf(response.headers.get("retry-after"), now()) };
    } catch (error) {
      const isLate = end.signal.aborted && !this.#end.signal.aborted;
      const reason = isLate ? `no answer within ${this.#limits.patienceMs / 1000} s` : connectionProblem(error);
      return { reason, after: null };
    } finally {
      clearTimeout(timer);
      this.#end.signal.removeEventListener("abort", abort);
    }
  }

  #succeed(): void {
    this.#count("sent");
    if (this.problem !== null)
      this.#options.log.info({ webhook: placeOf(this.#hook) }, "the webhook takes messages again");
    this.problem = null;
  }

  #note(reason: string): void {
    if (this.#end.signal.aborted) return;
    if (this.problem === null)
      this.#options.log.warn({ webhook: placeOf(this.#hook), reason }, "the webhook takes no messages, trying again");
    this.problem = reason;
  }

  /** The receiver answered 410: it wants no more messages. */
  #stopForGood(): void {
    this.#count("dropped");
    if (this.#isGone) return;
    this.#isGone = true;
    this.problem = "status 410: the receiver wants no more messages";
    while (this.#next()) this.#count("dropped");
    const advice =
      "the webhook is gone (410), and gets no more messages: take it out of the config, or restart the host";
    this.#options.log.error({ webhook: placeOf(this.#hook) }, advice);
  }

  /** Counts a lost message, and logs losses once a minute. */
  #lose(reason: string): void {
    this.#count("dropped");
    this.#lost++;
    const now = performance.now();
    if (now - this.#loggedAt < LOG_EVERY_MS) return;
    this.#options.log.error(
      { webhook: placeOf(this.#hook), lost: this.#lost, reason },
      "messages of a webhook are lost",
    );
    this.#loggedAt = now;
  }

  #count(outcome: "sent" | "failed" | "dropped"): void {
    this.#options.metrics.webhooks.inc({ outcome });
  }

  #isTooSoon({ source, subject }: StoredFrame): boolean {
    const last = this.#told.get(`${source}\n${subject}`) ?? -Infinity;
    return this.#hook.every > 0 && performance.now() - last < this.#hook.every * 1000;
  }

  #remember({ source, subject }: StoredFrame): void {
    if (this.#hook.every === 0) return;
    if (this.#told.size >= MOST_CAMERAS) this.#told.clear();
    this.#told.set(`${source}\n${subject}`, performance.now());
  }
}

/** Returns the milliseconds that a Retry-After header asks for, in seconds or as a date; null: none. */
function waitOf(text: string | null, now: number): number | null {
  if (text === null) return null;
  const milliseconds = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return milliseconds >= 0 ? milliseconds : null;
}
