/**
 * Takes packets from a broker of MQTT 5. The broker keeps a session for this host: what comes while the host is away
 * waits there. A packet is acknowledged once its frame is durable. What was not acknowledged comes again with the next
 * connection.
 *
 * Hosts of a group share one subscription, and have no sessions: a broker would go on to give an absent host its share.
 * mosquitto throws away what a host had when its connection ends. Agents get no answer then, and send the packet again.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { IPublishPacket } from "mqtt";
import { connectionProblem } from "boxwright-service/errors";
import {
  type MqttAddress,
  type MqttAnswer,
  type MqttConnection,
  MQTT_ENVELOPE_BYTES,
  connectMqtt,
  readMqttAddress,
} from "boxwright-service/mqtt";
import { Backoff } from "boxwright-service/retry";
import type { Config } from "../core/config.ts";
import type { Metrics } from "../core/metrics.ts";
import type { Registry } from "../decode/registry.ts";
import { refusalOf } from "../intake/intake.ts";
import { type TakeOptions, takePacket } from "../intake/take.ts";
import { type Previews, readAttributes } from "../live/previews.ts";
import { KeptConfigs } from "./configs.ts";
import { headersOf } from "./properties.ts";

export interface MqttOptions extends TakeOptions {
  readonly config: Config;
  readonly registry: Registry;
  readonly previews: Previews;
  readonly metrics: Metrics;
}

/** Seconds for which the broker keeps what comes while this host is away. */
const SESSION_SECONDS = 30 * 86_400;
/** Longest pause between two attempts to connect, in milliseconds. */
const LONGEST_PAUSE_MS = 15_000;
/**
 * Count of tries of a packet with an unknown config, within two minutes. Few, since packets behind it wait, and agents
 * publish the config first.
 */
const MOST_TRIES = 8;
const MOST_HOPELESS = 1024;

export class MqttSource {
  readonly #options: MqttOptions;
  readonly #address: MqttAddress;
  readonly #configs = new KeptConfigs();
  readonly #end = new AbortController();
  readonly #stopped = new Promise<string>((resolve) => {
    this.#end.signal.addEventListener("abort", () => resolve("stopped"));
  });
  /** Hashes of configs for which a packet has waited in vain. */
  readonly #hopeless = new Set<string>();
  readonly #clientId: string;
  #isUnansweredTold = false;
  #working: Promise<void> = Promise.resolve();
  /** Why no packets can be taken; null while they can. */
  problem: string | null = "not connected yet";
  readonly #loop: Promise<void>;

  constructor(options: MqttOptions) {
    this.#options = options;
    this.#address = readMqttAddress(options.config.mqtt!)!;
    const { mqttClient, mqttGroup } = options.config;
    // Without a session the id is irrelevant, so hosts of a group need no distinct one from the operator.
    this.#clientId = mqttGroup === undefined ? mqttClient : `${mqttClient}-${randomBytes(6).toString("hex")}`;
    options.registry.shared.set("mqtt", this.#configs);
    this.#loop = this.#run();
  }

  /** Stops taking packets, finishes the current one, and disconnects. The broker keeps the others. */
  async stop(): Promise<void> {
    this.#end.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { log } = this.#options;
    const { signal } = this.#end;
    const backoff = new Backoff(500, LONGEST_PAUSE_MS);
    while (!signal.aborted) {
      let reason: string;
      try {
        reason = await this.#consume(() => backoff.reset());
      } catch (error) {
        reason = connectionProblem(error);
      }
      if (signal.aborted) return;
      if (reason !== this.problem)
        log.error({ broker: this.#place, error: reason }, "cannot take packets over MQTT, trying again");
      this.problem = reason;
      await sleep(backoff.next(), undefined, { signal }).catch(() => undefined);
    }
  }

  /** Address without user and password, for the log. */
  get #place(): string {
    return `${this.#address.host}:${this.#address.port}`;
  }

  /** Connects, and takes packets until a connection ends. Returns the reason. */
  async #consume(onConnected: () => void): Promise<string> {
    const { config, log } = this.#options;
    const { mqttTopic: topic, mqttGroup: group, maxPacketBytes, inFlight } = config;
    const clientId = this.#clientId;
    // Use a separate connection for configs: the library passes on one message at a time, and a packet with an unknown
    // config would block the config behind it.
    const control = await connectMqtt(this.#address, {
      clientId: `${clientId}-configs`,
      maximumPacketSize: limitOf(config.maxPreviewBytes),
      onMessage: (message, done) => {
        this.#takeControl(message);
        done();
      },
    });
    try {
      await control.subscribe(`${topic}/configs/+`, `${topic}/previews/#`);
      const life = new AbortController();
      // Answer over the connection `control`: packets may arrive before `connectMqtt` has returned the other one.
      const answer = (message: IPublishPacket, given: MqttAnswer): void => this.#answer(control, message, given);
      const packets = await connectMqtt(this.#address, {
        clientId,
        sessionSeconds: group === undefined ? SESSION_SECONDS : 0,
        receiveMaximum: inFlight,
        maximumPacketSize: limitOf(maxPacketBytes),
        onMessage: (message, done) => {
          this.#working = this.#take(message, done, life.signal, answer);
        },
      });
      try {
        await packets.subscribe(`${group === undefined ? "" : `$share/${group}/`}${topic}/packets/#`);
        log.info({ broker: this.#place, clientId, group, hasSession: packets.hasSession }, "taking packets over MQTT");
        this.problem = null;
        onConnected();
        return await Promise.race([this.#stopped, packets.ended, control.ended]);
      } finally {
        life.abort();
        await this.#working;
        await packets.close();
      }
    } finally {
      await control.close();
    }
  }

  /**
   * Takes one packet.
   * @param answer tells the agent what became of the packet
   * @param signal ends the wait for another try: the broker then delivers the packet over the next connection
   */
  async #take(
    message: IPublishPacket,
    done: () => void,
    signal: AbortSignal,
    answer: (message: IPublishPacket, given: MqttAnswer) => void,
  ): Promise<void> {
    const { metrics } = this.#options;
    if (message.dup) metrics.redelivered.inc();
    this.#warnOfUnanswered(message);
    const header = headersOf(message);
    const config = header("ce-config") ?? "";
    const mostTries = this.#hopeless.has(config) ? 1 : MOST_TRIES;
    for (let deliveries = 1; !signal.aborted; deliveries++) {
      // Copy the bytes, since they are part of the library's memory and each try gives them away.
      const bytes = Uint8Array.from(message.payload as Buffer);
      const onRefused = (refused: string): void => answer(message, { refused });
      const packet = { way: "mqtt", bytes, place: message.topic, deliveries, mostTries, header, onRefused } as const;
      const verdict = await takePacket(this.#options, packet);
      if (typeof verdict === "string") {
        if (verdict === "stored") answer(message, {});
        if (deliveries === MOST_TRIES) this.#giveUp(config);
        return done();
      }
      await sleep(verdict, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Answers an agent that asks for it. Ignores response topics outside of `answers/`: a packet may name any topic. */
  #answer(connection: MqttConnection, { properties }: IPublishPacket, given: MqttAnswer): void {
    const { responseTopic, correlationData } = properties ?? {};
    if (!responseTopic?.startsWith(`${this.#options.config.mqttTopic}/answers/`) || !correlationData) return;
    const message = { topic: responseTopic, payload: JSON.stringify(given), qos: 0, correlationData } as const;
    // Ignore errors: without the answer the agent sends the packet again.
    connection.publish(message).catch(() => undefined);
  }

  /** Warns once about a sender in a group that asks for no answer, since it cannot know what a dying host had. */
  #warnOfUnanswered({ topic, properties }: IPublishPacket): void {
    const { config, log } = this.#options;
    if (config.mqttGroup === undefined || this.#isUnansweredTold || properties?.responseTopic !== undefined) return;
    this.#isUnansweredTold = true;
    const advice = "set confirmSeconds of its sink, or give it a host without mqttGroup";
    log.warn({ topic }, `a sender asks for no answer: what a host of a group has when it ends is lost; ${advice}`);
  }

  /** Remembers a config that nobody has, so that its packets do not block others. */
  #giveUp(config: string): void {
    if (this.#hopeless.size >= MOST_HOPELESS) this.#hopeless.clear();
    this.#hopeless.add(config);
  }

  /** Takes a config or a preview. */
  #takeControl(message: IPublishPacket): void {
    const { config, previews, metrics } = this.#options;
    const payload = message.payload as Buffer;
    if (message.topic.startsWith(`${config.mqttTopic}/configs/`)) return this.#configs.take(message.topic, payload);
    try {
      previews.take(readAttributes(headersOf(message)), Uint8Array.from(payload));
    } catch (error) {
      metrics.countRefusal(refusalOf(error), "mqtt");
    }
  }
}

/**
 * Returns the largest message in bytes that the broker may send. It silently drops larger ones. Twice the host's limit,
 * so that slightly too large packets can be recorded.
 */
const limitOf = (bytes: number): number => Math.max(2 * bytes, 2 ** 20) + MQTT_ENVELOPE_BYTES;
