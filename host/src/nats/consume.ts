/** Takes packets of one partition from the stream. Hosts that share a consumer compete for them. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ConsumerMessages, JetStreamClient, JsMsg } from "@nats-io/jetstream";
import { Refusal, messageOf } from "../core/errors.ts";
import type { Logger } from "../core/log.ts";
import type { Metrics } from "../core/metrics.ts";
import type { Intake } from "../intake/intake.ts";
import { refusalOf } from "../intake/intake.ts";
import type { Database } from "../store/database.ts";
import { recordRefused } from "../store/refused.ts";
import { STREAM, type StreamSettings, consumerOf, ensureConsumer, ensureStream } from "./stream.ts";

export interface ConsumeOptions {
  readonly client: JetStreamClient;
  readonly settings: StreamSettings;
  readonly partition: number;
  /** Packets that this host works on at once. */
  readonly inFlight: number;
  readonly intake: Intake;
  readonly db: Database;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly now: () => number;
}

/** A packet of an unknown config is tried so often, over about an hour, before it is recorded as refused. */
const MOST_TRIES = 64;
const LONGEST_DELAY_MS = 60_000;

/** Takes packets until it is stopped, and begins anew whenever the broker ends it. */
export class Consumption {
  readonly #options: ConsumeOptions;
  readonly #working = new Set<Promise<void>>();
  #messages: ConsumerMessages | null = null;
  #isStopped = false;
  readonly #loop: Promise<void>;

  constructor(options: ConsumeOptions) {
    this.#options = options;
    this.#loop = this.#run();
  }

  /** Stops taking packets, and finishes those at hand. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#messages?.stop();
    await this.#loop;
    await Promise.all(this.#working);
  }

  async #run(): Promise<void> {
    const { client, settings, partition, log } = this.#options;
    while (!this.#isStopped) {
      try {
        const manager = await client.jetstreamManager();
        await ensureStream(manager, settings, log);
        await ensureConsumer(manager, partition, settings);
        await this.#consume();
      } catch (error) {
        log.warn({ partition, error: messageOf(error) }, "cannot take packets from the broker, trying again");
      }
      if (!this.#isStopped) await sleep(1000);
    }
  }

  async #consume(): Promise<void> {
    const { client, partition, inFlight, log } = this.#options;
    const consumer = await client.consumers.get(STREAM, consumerOf(partition));
    // A client of its own for each pull: a host that dies leaves this many packets to be delivered again.
    const messages = await consumer.consume({ max_messages: inFlight, abort_on_missing_resource: true });
    this.#messages = messages;
    if (this.#isStopped) messages.stop();
    log.info({ partition }, "taking packets");
    for await (const message of messages) {
      const work = this.#handle(message).finally(() => this.#working.delete(work));
      this.#working.add(work);
      if (this.#working.size >= inFlight) await Promise.race(this.#working);
    }
  }

  async #handle(message: JsMsg): Promise<void> {
    const { intake, metrics, settings, log } = this.#options;
    if (message.redelivered) metrics.redelivered.inc();
    // A packet that waits for its turn is not lost: say so before the broker gives it to another host.
    const alive = setInterval(() => message.working(), (settings.ackWait * 1000) / 3);
    try {
      await intake.receive(message.data, "nats", true);
      message.ack();
    } catch (error) {
      await this.#refuse(message, refusalOf(error)).catch((failure: unknown) => {
        // The record could not be written. The packet stays, and comes again.
        log.error({ error: messageOf(failure) }, "cannot record a refused packet");
        message.nak(5000);
      });
    } finally {
      clearInterval(alive);
    }
  }

  async #refuse(message: JsMsg, refusal: Refusal): Promise<void> {
    const { db, log, now } = this.#options;
    const { deliveryCount } = message.info;
    const isHopeless = refusal.reason === "unknown config" && deliveryCount >= MOST_TRIES;
    if (refusal.cause !== undefined) log.error({ error: messageOf(refusal.cause) }, "packet failed");
    if (!refusal.isForGood && !isHopeless)
      return message.nak(Math.min(1000 * Math.max(refusal.retryAfter ?? 1, deliveryCount), LONGEST_DELAY_MS));
    const place = `${message.subject} ${message.seq}`;
    log.warn({ place, reason: refusal.reason, message: refusal.message.slice(0, 300) }, "packet refused for good");
    const names = namesBeside(message);
    await recordRefused(
      db,
      { way: "nats", place, bytes: message.data, ...names, reason: refusal.reason, message: refusal.message },
      now(),
    );
    message.term();
  }
}

/** Returns the names that the headers of a raw packet state. They may be wrong: the packet was refused. */
function namesBeside({ headers }: JsMsg): { source: string | null; id: string | null } {
  const read = (name: string): string | null => headers?.get(name)?.slice(0, 512) || null;
  return { source: read("ce-source"), id: read("ce-id") };
}
