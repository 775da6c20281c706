/** Sends messages about frames to one webhook: selects frames, queues their messages, and delivers the queue. */
import type { Database, Queries } from "boxwright-service/database";
import { Delivery, type DeliveryLimits, type DeliveryQueue } from "boxwright-service/delivery";
import type { Logger } from "boxwright-service/log";
import { originOf, postMessage } from "boxwright-service/webhook";
import type { Metrics } from "../core/metrics.ts";
import type { Webhook } from "../core/webhooks.ts";
import type { StoredFrame } from "../store/frames.ts";
import {
  QUEUE_START,
  type QueuePlace,
  markDropped,
  queueMessages,
  queuedMessages,
  removeMessages,
} from "../store/webhook-queue.ts";
import { messageOfFrame } from "./message.ts";

export type SenderLimits = DeliveryLimits;

export interface SenderOptions {
  readonly db: Database;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly now: () => number;
  readonly limits?: Partial<SenderLimits>;
}

/** Largest number of entries in `#queuedAt`. */
const MOST_REMEMBERED = 10_000;
const LOST = { lost: "their frames were deleted before the receiver took them" };
const WORDS = {
  receiver: "webhook",
  gone: "the webhook is gone (410), and gets no more messages: take it out of the config, or restart the host",
  dropped: "messages of a webhook were dropped: /v1/webhooks lists them",
};

export class Sender {
  /** Name of the queue. */
  readonly name: string;
  readonly #hook: Webhook;
  readonly #delivery: Delivery<QueuePlace>;
  /** `stored_at` of each camera's last queued frame, if the webhook limits their rate. */
  readonly #queuedAt = new Map<string, number>();
  #chosen: readonly StoredFrame[] = [];

  constructor(name: string, hook: Webhook, { db, metrics, log, now, limits }: SenderOptions) {
    this.name = name;
    this.#hook = hook;
    this.#delivery = new Delivery(queueOf(name, hook, db), {
      ...{ db, log, now, words: WORDS, about: { webhook: originOf(hook) } },
      attempt: (message, options) => postMessage(hook, message, options),
      onOutcome: (outcome) => metrics.webhooks.inc({ outcome }),
      ...(limits && { limits }),
    });
  }

  /** Reason why messages wait. Null while the receiver accepts messages. */
  get problem(): string | null {
    return this.#delivery.problem;
  }

  start(): void {
    this.#delivery.start();
  }

  /** Queues messages about new frames, in the transaction that stores them. */
  async queue(tx: Queries, frames: readonly StoredFrame[]): Promise<void> {
    this.#chosen = this.#delivery.isGone ? [] : this.#choose(frames);
    await queueMessages(tx, this.name, this.#chosen);
  }

  /** Makes the sender check its queue. Call this once the frames of the last `queue` call are durable. */
  wake(): void {
    if (this.#chosen.length === 0) return;
    if (this.#queuedAt.size >= MOST_REMEMBERED) this.#queuedAt.clear();
    if (this.#hook.every > 0) for (const frame of this.#chosen) this.#queuedAt.set(cameraOf(frame), frame.stored_at);
    this.#chosen = [];
    this.#delivery.wake();
  }

  /** Ends running attempts. Undelivered messages stay in the database. */
  stop(): Promise<void> {
    return this.#delivery.stop();
  }

  /** Returns the frames that the webhook wants. Has no side effects, since a transaction may run more than once. */
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
}

/** Returns a webhook's queue. A message is made when it is sent, with the filters that the config has then. */
function queueOf(name: string, hook: Webhook, db: Database): DeliveryQueue<QueuePlace> {
  return {
    name,
    next: async (after = QUEUE_START, most) =>
      (await queuedMessages(db, name, after, most)).map(({ place, frame }) => ({
        place,
        message: frame === null ? LOST : messageOfFrame(hook, frame),
      })),
    remove: (places) => removeMessages(db, name, places),
    drop: (place, why) => markDropped(db, name, place, why),
    keyOf: ({ stored_at, source, id }) => `${stored_at}\n${source}\n${id}`,
  };
}

const cameraOf = ({ source, subject }: StoredFrame): string => `${source}\n${subject}`;
