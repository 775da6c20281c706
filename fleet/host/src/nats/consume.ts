/** Takes packets of one partition from the stream. Each packet goes to one of the hosts that share the consumer. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ConsumerMessages, JetStreamClient, JsMsg } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { messageOf } from "boxwright-service/errors";
import { decodeHeader } from "../core/headers.ts";
import type { Metrics } from "../core/metrics.ts";
import { STREAM, type StreamSettings, consumerOf, ensureConsumer, ensureStream } from "./stream.ts";
import { type TakeOptions, takePacket } from "../intake/take.ts";

export interface ConsumeOptions extends TakeOptions {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly settings: StreamSettings;
  readonly partition: number;
  /** Largest number of packets of this partition that the host processes at once. */
  readonly inFlight: number;
  readonly metrics: Metrics;
}

/** Takes packets until `stop`. Starts a new consumption whenever one ends. */
export class Consumption {
  readonly #options: ConsumeOptions;
  readonly #working = new Set<Promise<void>>();
  #messages: ConsumerMessages | null = null;
  /** True if the current consumption must end. */
  #isEnding = false;
  #isStopped = false;
  /** Why no packets arrive; null while they do. */
  problem: string | null = null;
  readonly #loop: Promise<void>;

  constructor(options: ConsumeOptions) {
    this.#options = options;
    this.#loop = this.#run();
  }

  /**
   * Ends this consumption, and starts another once the broker is reachable. Call this when the connection is lost. The
   * library checks its consumer after reconnecting, and waits 15 to 45 s if the broker crashes during that check.
   */
  end(): void {
    this.#isEnding = true;
    this.#messages?.stop();
  }

  /** Stops taking packets, and finishes those that have arrived. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.end();
    await this.#loop;
    await Promise.all(this.#working);
  }

  async #run(): Promise<void> {
    const { connection, client, settings, partition, log } = this.#options;
    while (!this.#isStopped) {
      this.#isEnding = false;
      try {
        // Fail at once if the connection is lost. A request would wait 5 s.
        await connection.rtt();
        const manager = await client.jetstreamManager();
        await ensureStream(manager, settings, log);
        await ensureConsumer(manager, partition, settings);
        await this.#consume();
      } catch (error) {
        const problem = messageOf(error);
        if (problem !== this.problem)
          log.warn({ partition, error: problem }, "cannot take packets from the broker, trying again");
        this.problem = problem;
      }
      if (!this.#isStopped) await sleep(1000);
    }
  }

  async #consume(): Promise<void> {
    const { client, partition, inFlight, log } = this.#options;
    const consumer = await client.consumers.get(STREAM, consumerOf(partition));
    // Request few packets at a time: if this host crashes, the broker waits for ackWait before it delivers the packets
    // to other hosts.
    const messages = await consumer.consume({ max_messages: inFlight, abort_on_missing_resource: true });
    this.#messages = messages;
    if (this.#isEnding) messages.stop();
    this.problem = null;
    log.info({ partition }, "taking packets");
    for await (const message of messages) {
      const work = this.#handle(message).finally(() => this.#working.delete(work));
      this.#working.add(work);
      if (this.#working.size >= inFlight) await Promise.race(this.#working);
    }
  }

  async #handle(message: JsMsg): Promise<void> {
    const { metrics, settings } = this.#options;
    if (message.redelivered) metrics.redelivered.inc();
    // Report regularly that this host works on the packet. Otherwise, the broker would deliver it to another host.
    const alive = setInterval(() => message.working(), (settings.ackWait * 1000) / 3);
    const { data: bytes, subject, seq, info } = message;
    const header = (name: string): string | undefined => decodeHeader(message.headers?.get(name) ?? "");
    const place = `${subject} ${seq}`;
    const packet = { way: "nats", bytes, place, deliveries: info.deliveryCount, header } as const;
    const verdict = await takePacket(this.#options, packet).finally(() => clearInterval(alive));
    if (verdict === "stored") message.ack();
    else if (verdict === "refused") message.term();
    else message.nak(verdict);
  }
}
