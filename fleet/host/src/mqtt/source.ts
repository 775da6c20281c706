/**
 * Takes packets from a broker of MQTT 5. The broker keeps a session for this host, in which packets wait while the host
 * does not run. A packet is acknowledged once its frame is durable. The next connection brings unacknowledged packets
 * again.
 *
 * Hosts of a group share one subscription, and have no sessions: with a session, an absent host would keep its share.
 * mosquitto drops the unacknowledged packets of such a host when its connection ends. Agents then get no answer, and
 * send these packets again.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { IPublishPacket } from "mqtt";
import {
  type MqttAddress,
  type MqttAnswer,
  type MqttConnection,
  MQTT_ENVELOPE_BYTES,
  connectMqtt,
  readMqttAddress,
} from "boxwright-service/mqtt";
import type { Config } from "../core/config.ts";
import type { Metrics } from "../core/metrics.ts";
import type { Registry } from "../decode/registry.ts";
import { refusalOf } from "../intake/intake.ts";
import { type TakeOptions, takePacket } from "../intake/take.ts";
import { type Previews, readAttributes } from "../live/previews.ts";
import { KeptConfigs } from "./configs.ts";
import { headersOf } from "./properties.ts";
import { stayConnected } from "./reconnect.ts";

export interface MqttOptions extends TakeOptions {
  readonly config: Config;
  readonly registry: Registry;
  readonly previews: Previews;
  readonly metrics: Metrics;
}

/** Seconds for which the broker keeps packets while this host does not run. */
const SESSION_SECONDS = 30 * 86_400;
/**
 * Number of tries of a packet with an unknown config, within two minutes. Few tries suffice, since agents publish the
 * config first. More tries would delay the packets behind this one.
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
  /** Hashes of configs that never came, although a packet waited for them. */
  readonly #hopeless = new Set<string>();
  readonly #clientId: string;
  #isUnansweredLogged = false;
  #working: Promise<void> = Promise.resolve();
  /** Why no packets arrive; null while they do. */
  problem: string | null = "not connected yet";
  readonly #loop: Promise<void>;

  constructor(options: MqttOptions) {
    this.#options = options;
    this.#address = readMqttAddress(options.config.mqtt!)!;
    const { mqttClient, mqttGroup } = options.config;
    // Add a random part to the client id in a group: the broker keeps no session by this id, but it must be unique.
    this.#clientId = mqttGroup === undefined ? mqttClient : `${mqttClient}-${randomBytes(6).toString("hex")}`;
    options.registry.shared.set("mqtt", this.#configs);
    const onEnd = (reason: string): void => {
      if (reason !== this.problem)
        options.log.error({ broker: this.#place, error: reason }, "cannot take packets over MQTT, trying again");
      this.problem = reason;
    };
    this.#loop = stayConnected(this.#end.signal, (onOpen) => this.#consume(onOpen), onEnd);
  }

  /** Stops taking packets, finishes the current one, and disconnects. The broker keeps the others. */
  async stop(): Promise<void> {
    this.#end.abort();
    await this.#loop;
  }

  /** Address without user and password, for the log. */
  get #place(): string {
    return `${this.#address.host}:${this.#address.port}`;
  }

  /** Connects, and takes packets until the connection ends. Returns the reason for the end. */
  async #consume(onOpen: () => void): Promise<string> {
    const { config, log } = this.#options;
    const { mqttTopic: topic, mqttGroup: group, maxPacketBytes, inFlight } = config;
    const clientId = this.#clientId;
    // Use a separate connection for configs: the library passes on one message at a time, so a packet with an unknown
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
      // Answer over `control`: packets may arrive before the `connectMqtt` call for the other connection has returned.
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
        onOpen();
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
   * @param answer reports to the agent whether the packet was stored or refused
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
      // Copy the bytes, which belong to the library: each try transfers its copy to a thread.
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

  /**
   * Answers an agent that asks for an answer. Ignores response topics outside of `answers/`, since a packet may name
   * any topic.
   */
  #answer(connection: MqttConnection, { properties }: IPublishPacket, given: MqttAnswer): void {
    const { responseTopic, correlationData } = properties ?? {};
    if (!responseTopic?.startsWith(`${this.#options.config.mqttTopic}/answers/`) || !correlationData) return;
    const message = { topic: responseTopic, payload: JSON.stringify(given), qos: 0, correlationData } as const;
    // Ignore errors: an agent without an answer sends the packet again.
    connection.publish(message).catch(() => undefined);
  }

  /**
   * Warns once about a sender in a group that asks for no answer: packets of such a sender are lost when a host stops.
   */
  #warnOfUnanswered({ topic, properties }: IPublishPacket): void {
    const { config, log } = this.#options;
    if (config.mqttGroup === undefined || this.#isUnansweredLogged || properties?.responseTopic !== undefined) return;
    this.#isUnansweredLogged = true;
    const advice = "set confirmSeconds of its sink, or give it a host without mqttGroup";
    log.warn({ topic }, `a sender asks for no answer: what a host of a group has when it ends is lost; ${advice}`);
  }

  /** Records that a config cannot be found, so that its packets do not block others. */
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
 * Returns the largest number of bytes of a message that the broker may send. The broker silently drops larger messages.
 * The number is twice the host's limit, so that the host can record packets slightly above its limit.
 */
const limitOf = (bytes: number): number => Math.max(2 * bytes, 2 ** 20) + MQTT_ENVELOPE_BYTES;
