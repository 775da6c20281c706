/** Notices when the broker's JetStream hangs. Consumers would only see that no packets come. */
import type { JetStreamClient } from "@nats-io/jetstream";
import { STUCK_BROKER, isTimeout } from "boxwright-service/broker";
import type { Logger } from "boxwright-service/log";
import { isBrokerThere } from "./connect.ts";
import { STREAM } from "./stream.ts";

const LOOK_MS = 5000;

export class StorageWatch {
  /** Why the broker stores nothing; null if it answers. */
  problem: string | null = null;
  readonly #address: string;
  readonly #client: JetStreamClient;
  readonly #log: Logger;
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | null = null;

  constructor(address: string, client: JetStreamClient, log: Logger) {
    this.#address = address;
    this.#client = client;
    this.#log = log;
    this.#timer = setInterval(() => void (this.#looking ??= this.#look()), LOOK_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    const problem = await this.#ask();
    if (problem !== null && this.problem === null) this.#log.error(`cannot take packets: ${problem}`);
    if (problem === null && this.problem !== null) this.#log.info("JetStream of the broker answers again");
    this.problem = problem;
    this.#looking = null;
  }

  async #ask(): Promise<string | null> {
    try {
      // The client waits 5 s for the answer.
      await (await this.#client.jetstreamManager(false)).streams.info(STREAM);
      return null;
    } catch (error) {
      // Consumers report every other error.
      return isTimeout(error) && (await isBrokerThere(this.#address)) ? STUCK_BROKER : null;
    }
  }
}
