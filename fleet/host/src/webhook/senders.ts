/** The senders of all webhooks of a host. */
import { createHash } from "node:crypto";
import type { Queries } from "boxwright-service/database";
import type { Webhook } from "../core/webhooks.ts";
import type { StoredFrame } from "../store/frames.ts";
import { removeMessagesOfDeletedFrames } from "../store/webhook-queue.ts";
import { Sender, type SenderOptions } from "./sender.ts";

export class Senders {
  readonly #senders: readonly Sender[];
  readonly #options: SenderOptions;

  constructor(hooks: readonly Webhook[], options: SenderOptions) {
    this.#options = options;
    const names = namesOf(hooks);
    this.#senders = hooks.map((hook, i) => new Sender(names[i]!, hook, options));
  }

  /** Returns for each webhook "ok" or why its messages wait. */
  get states(): string[] {
    return this.#senders.map(({ problem }) => problem ?? "ok");
  }

  start(): void {
    for (const sender of this.#senders) sender.start();
  }

  /** Queues messages about new frames, in the transaction that stores them. */
  async queue(tx: Queries, frames: readonly StoredFrame[]): Promise<void> {
    for (const sender of this.#senders) await sender.queue(tx, frames);
  }

  /** Lets the senders look at their queues. Call this once the frames of the last `queue` are durable. */
  wake(): void {
    for (const sender of this.#senders) sender.wake();
  }

  /** Counts and logs the messages whose frames were deleted before a receiver took them. */
  async countDeleted(): Promise<void> {
    const { db, metrics, log } = this.#options;
    const lost = await removeMessagesOfDeletedFrames(db);
    if (lost === 0) return;
    metrics.webhooks.inc({ outcome: "dropped" }, lost);
    log.error({ lost }, "messages of webhooks are lost: their frames were deleted before the receiver took them");
  }

  /** Ends attempts under way. The database keeps what is not delivered. */
  async stop(): Promise<void> {
    await Promise.all(this.#senders.map((sender) => sender.stop()));
  }
}

/**
 * Returns the name of each webhook's queue. A name depends on the address alone: a webhook whose filters change keeps
 * its queue. The address is hashed, since it may hold a key.
 */
export function namesOf(hooks: readonly Webhook[]): string[] {
  const counts = new Map<string, number>();
  return hooks.map(({ url }) => {
    const count = counts.get(url) ?? 0;
    counts.set(url, count + 1);
    return createHash("sha256").update(`${url}\n${count}`).digest("hex").slice(0, 32);
  });
}
