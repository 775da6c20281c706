/** Runs the senders of all webhooks of a host. */
import { createHash } from "node:crypto";
import type { Queries } from "boxwright-service/database";
import { messageOf } from "boxwright-service/errors";
import { originOf } from "boxwright-service/webhook";
import type { Webhook } from "../core/webhooks.ts";
import type { StoredFrame } from "../store/frames.ts";
import { droppedMessages, queueCounts, removeMessagesOfDeletedFrames, requeueDropped } from "../store/webhook-queue.ts";
import { Sender, type SenderOptions } from "./sender.ts";

/** The queue of a webhook. */
export interface QueueState {
  /** Address without path and query; null if this host's config has no webhook for the queue. */
  readonly webhook: string | null;
  /** "ok", or why messages wait. */
  readonly state: string;
  readonly waiting: number;
  readonly dropped: number;
}

export interface DroppedState {
  readonly webhook: string | null;
  readonly source: string;
  readonly id: string;
  readonly storedAt: string;
  readonly droppedAt: string;
  readonly reason: string;
}

export class Senders {
  readonly #senders: readonly Sender[];
  /** Addresses to show, by queue name. */
  readonly #places: ReadonlyMap<string, string>;
  readonly #options: SenderOptions;

  constructor(hooks: readonly Webhook[], options: SenderOptions) {
    this.#options = options;
    const names = namesOf(hooks);
    this.#senders = hooks.map((hook, i) => new Sender(names[i]!, hook, options));
    this.#places = new Map(hooks.map((hook, i) => [names[i]!, originOf(hook)]));
  }

  /** Returns for each webhook "ok" or why its messages wait. */
  get states(): string[] {
    return this.#senders.map(({ problem }) => problem ?? "ok");
  }

  start(): void {
    for (const sender of this.#senders) sender.start();
    this.#warnOfStranded().catch((error: unknown) =>
      this.#options.log.warn({ error: messageOf(error) }, "cannot count the messages of webhooks"),
    );
  }

  /** Counts the messages of each queue. */
  async queues(): Promise<QueueState[]> {
    const counts = await queueCounts(this.#options.db);
    const countsOf = (name: string) => counts.find(({ hook }) => hook === name) ?? { waiting: 0, dropped: 0 };
    const configured = this.#senders.map(({ name, problem }) => {
      const { waiting, dropped } = countsOf(name);
      return { webhook: this.#places.get(name)!, state: problem ?? "ok", waiting, dropped };
    });
    const others = counts.filter(({ hook }) => !this.#places.has(hook));
    const state = "not in the config of this host";
    return [...configured, ...others.map(({ waiting, dropped }) => ({ webhook: null, state, waiting, dropped }))];
  }

  /** Returns the last dropped messages. */
  async dropped(limit: number): Promise<DroppedState[]> {
    const rows = await droppedMessages(this.#options.db, limit);
    return rows.map(({ hook, stored_at, dropped_at, ...row }) => ({
      webhook: this.#places.get(hook) ?? null,
      ...row,
      storedAt: new Date(stored_at).toISOString(),
      droppedAt: new Date(dropped_at).toISOString(),
    }));
  }

  /** Queues all dropped messages again. Returns the number of these messages. */
  sendDropped(): Promise<number> {
    return requeueDropped(this.#options.db);
  }

  /**
   * Warns about messages that this host does not send, because the webhook's address changed or because another host
   * sends them.
   */
  async #warnOfStranded(): Promise<void> {
    const stranded = (await this.queues()).filter(({ webhook, waiting }) => webhook === null && waiting > 0);
    const waiting = stranded.reduce((sum, one) => sum + one.waiting, 0);
    if (waiting > 0)
      this.#options.log.warn(
        { waiting },
        "messages wait for webhooks that this config does not name: name the old url or name again to have them sent",
      );
  }

  /** Queues messages about new frames, in the transaction that stores them. */
  async queue(tx: Queries, frames: readonly StoredFrame[]): Promise<void> {
    for (const sender of this.#senders) await sender.queue(tx, frames);
  }

  /** Makes the senders check their queues. Call this once the frames of the last `queue` call are durable. */
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

  /** Ends running attempts. Undelivered messages stay in the database. */
  async stop(): Promise<void> {
    await Promise.all(this.#senders.map((sender) => sender.stop()));
  }
}

/**
 * Returns the name of each webhook's queue. The name comes from the webhook's own name or its address, so that a
 * webhook keeps its queue when its filters change. The address is hashed, since it may contain a key.
 */
export function namesOf(hooks: readonly Webhook[]): string[] {
  const counts = new Map<string, number>();
  return hooks.map(({ name, url }) => {
    const key = name ?? url;
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return createHash("sha256").update(`${key}\n${count}`).digest("hex").slice(0, 32);
  });
}
