/** Delivers queued messages about alerts. Each channel with queued messages has its own loop. */
import type { Database } from "boxwright-service/database";
import { Delivery, type AttemptOptions, type DeliveryLimits, type DeliveryQueue } from "boxwright-service/delivery";
import type { Attempt, Message } from "boxwright-service/delivery";
import { lookUpPublic } from "boxwright-service/public-address";
import { parseWebhookSecret, postMessage } from "boxwright-service/webhook";
import type { Services } from "../http/services.ts";
import { findChannel, shownAddress, type AlertChannel } from "../nouns/alert-channel.ts";
import { sendMail } from "./mail.ts";

type Needs = Pick<Services, "db" | "log" | "now" | "config" | "metrics">;
type Channel = AlertChannel & { readonly secret: string | null };

/** Position of a message in the queue of its channel. */
interface Place {
  readonly at: number;
  readonly id: string;
}

export class Deliveries {
  readonly #needs: Needs;
  readonly #limits: Partial<DeliveryLimits>;
  readonly #running = new Map<string, { readonly delivery: Delivery<Place>; problem: string | null }>();

  constructor(needs: Needs, limits: Partial<DeliveryLimits> = {}) {
    this.#needs = needs;
    this.#limits = limits;
  }

  /** Starts a delivery for each channel with queued messages, and ends the deliveries of channels without messages. */
  async look(): Promise<void> {
    const { db } = this.#needs;
    const rows = await db.all<{ id: string }>(
      "SELECT DISTINCT channel_id AS id FROM alert_messages WHERE dropped_at IS NULL",
    );
    const waiting = new Set(rows.map(({ id }) => id));
    for (const id of waiting) {
      if (this.#running.has(id)) continue;
      const channel = await findChannel(db, id);
      if (channel !== undefined) this.#start(channel);
    }
    for (const [id, entry] of this.#running) {
      const { problem } = entry.delivery;
      if (problem !== entry.problem) await this.#note(id, (entry.problem = problem));
      if (waiting.has(id)) continue;
      this.#running.delete(id);
      await entry.delivery.stop();
    }
  }

  async stop(): Promise<void> {
    const all = [...this.#running.values()];
    this.#running.clear();
    await Promise.all(all.map(({ delivery }) => delivery.stop()));
  }

  /** Stores the reason why messages of a channel wait. The pages of all hub processes show the reason. */
  async #note(id: string, problem: string | null): Promise<void> {
    await this.#needs.db.write((tx) => tx.all("UPDATE alert_channels SET problem = ? WHERE id = ?", [problem, id]));
  }

  #start(channel: Channel): void {
    const { db, log, now, metrics } = this.#needs;
    const receiver = channel.kind === "webhook" ? "webhook of alerts" : "mail server";
    const delivery = new Delivery(queueOf(db, channel.id), {
      ...{ db, log, now, about: { channel: channel.id, team: channel.team_id, address: shownAddress(channel) } },
      attempt: (message, options) => this.#attempt(channel, message, options),
      onOutcome: (outcome) => metrics.alertMessages.inc({ outcome }),
      words: {
        receiver,
        gone: "a webhook of alerts is gone (410): its team has to delete the channel",
        dropped: "messages about alerts were dropped: the page of alerts sends them again",
      },
      limits: this.#limits,
    });
    this.#running.set(channel.id, { delivery, problem: channel.problem });
    delivery.start();
  }

  async #attempt({ kind, address, secret }: Channel, message: Message, options: AttemptOptions): Promise<Attempt> {
    const { smtpUrl, mailFrom, webhookAddresses } = this.#needs.config;
    if (kind === "webhook") {
      const lookup = webhookAddresses === "any" ? undefined : lookUpPublic;
      return postMessage({ url: address, key: parseWebhookSecret(secret) }, message, { ...options, lookup });
    }
    if (smtpUrl === undefined || mailFrom === undefined)
      return { reason: "this hub has no mail server any more (HUB_SMTP_URL)", after: null };
    return sendMail({ url: smtpUrl, from: mailFrom }, address, message, options);
  }
}

function queueOf(db: Database, channelId: string): DeliveryQueue<Place> {
  const one = "channel_id = ? AND at = ? AND id = ?";
  return {
    name: `alerts ${channelId}`,
    async next(after = { at: -1, id: "" }, most) {
      const rows = await db.all<Place & { body: string }>(
        "SELECT at, id, body FROM alert_messages WHERE channel_id = ? AND dropped_at IS NULL AND (at, id) > (?, ?) ORDER BY at, id LIMIT ?",
        [channelId, after.at, after.id, most],
      );
      return rows.map(({ at, id, body }) => ({ place: { at, id }, message: { id, body } }));
    },
    async remove(places) {
      await db.write(async (tx) => {
        for (const { at, id } of places) await tx.all(`DELETE FROM alert_messages WHERE ${one}`, [channelId, at, id]);
      });
    },
    async drop({ at, id }, why) {
      await db.write((tx) =>
        tx.all(`UPDATE alert_messages SET dropped_at = ?, reason = ? WHERE ${one}`, [
          ...[why.at, why.reason, channelId, at, id],
        ]),
      );
    },
    keyOf: ({ at, id }) => `${at} ${id}`,
  };
}
