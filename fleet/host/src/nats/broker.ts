/** Connects to the broker, and starts the parts that take packets, configs and previews. */
import { jetstream } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Config } from "../core/config.ts";
import type { Logger } from "boxwright-service/log";
import type { Metrics } from "../core/metrics.ts";
import type { Registry } from "../decode/registry.ts";
import type { Intake } from "../intake/intake.ts";
import type { Previews } from "../live/previews.ts";
import { STUCK_BROKER, isTimeout } from "boxwright-service/broker";
import type { Database } from "boxwright-service/database";
import { sharedConfigs } from "./configs.ts";
import { connectTo, isBrokerThere, watch } from "./connect.ts";
import { Consumption } from "./consume.ts";
import { StorageWatch } from "./storage.ts";
import { Sweeper } from "./sweep.ts";
import { takePreviews } from "./previews.ts";

export interface BrokerOptions {
  readonly config: Config;
  readonly intake: Intake;
  readonly registry: Registry;
  readonly previews: Previews;
  readonly db: Database;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly now: () => number;
}

export class Broker {
  readonly #connection: NatsConnection;
  readonly #consumptions: readonly Consumption[];
  readonly #sweeper: Sweeper;
  readonly #storage: StorageWatch;

  private constructor(
    connection: NatsConnection,
    consumptions: readonly Consumption[],
    sweeper: Sweeper,
    storage: StorageWatch,
  ) {
    this.#connection = connection;
    this.#consumptions = consumptions;
    this.#sweeper = sweeper;
    this.#storage = storage;
  }

  /**
   * Connects and starts taking packets.
   * @throws an error if the broker cannot be reached, or its JetStream is missing or hangs
   */
  static async start(address: string, options: BrokerOptions): Promise<Broker> {
    const { config, registry, previews, metrics, log } = options;
    const connection = await connectTo(address, log);
    const shared = await sharedConfigs(connection).catch(async (error: unknown) => {
      const isStuck = isTimeout(error) && (await isBrokerThere(address));
      await connection.close();
      throw isStuck ? new Error(STUCK_BROKER) : error;
    });
    registry.shared.set("nats", shared);
    takePreviews(connection, previews, metrics);
    const client = jetstream(connection);
    const partitions = config.consume ?? Array.from({ length: config.partitions }, (_, i) => i);
    // Divide inFlight among the partitions, since the broker disconnects a client with more than max_pending waiting
    // bytes (64 MB by default).
    const inFlight = Math.max(1, Math.floor(config.inFlight / partitions.length));
    const consumptions = partitions.map(
      (partition) => new Consumption({ ...options, connection, client, settings: config, inFlight, partition }),
    );
    void watch(connection, log, () => consumptions.forEach((consumption) => consumption.end()));
    const sweeper = new Sweeper(client, config.ackWait, options);
    return new Broker(connection, consumptions, sweeper, new StorageWatch(address, client, log));
  }

  /** Returns why the broker delivers nothing, or "ok" if it does. */
  async state(): Promise<string> {
    if (this.#connection.isClosed()) return "away";
    if (this.#storage.problem !== null) return this.#storage.problem;
    const late = new Promise<string>((resolve) => setTimeout(resolve, 1000, "away").unref());
    const answer = this.#connection.rtt().then(
      () => this.#consumptions.find(({ problem }) => problem !== null)?.problem ?? "ok",
      () => "away",
    );
    return Promise.race([answer, late]);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#consumptions, this.#sweeper, this.#storage].map((taker) => taker.stop()));
    // Drain instead of closing, since some acknowledgements may not be sent yet.
    await this.#connection.drain();
  }
}
