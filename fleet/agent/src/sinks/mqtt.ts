/** The sink "mqtt": publishes packets to a broker of MQTT 5, which passes them on to a host. */
import { fromPacket, packetHeaders } from "boxwright";
import { UserError, connectionProblem } from "boxwright-service/errors";
import { levelOf } from "boxwright-service/level";
import {
  type MqttAnswer,
  type MqttConnection,
  MQTT_CODE,
  MQTT_ENVELOPE_BYTES,
  type MqttMessage,
  connectMqtt,
  mqttCodeOf,
} from "boxwright-service/mqtt";
import { runWithin } from "boxwright-service/patience";
import { sha256 } from "../core/ids.ts";
import { Reopened, wait } from "../core/wait.ts";
import type { MqttSettings } from "../settings/sinks.ts";
import { type FindConfig, type Headers, type Outcome, type Preview, type Sink, previewHeaders } from "./sink.ts";

/** Milliseconds within which the broker must acknowledge a packet. */
const PATIENCE = 30_000;
/** Reason codes for packets that the broker will never accept. */
const NEVER: ReadonlySet<number> = new Set([MQTT_CODE.tooLarge, MQTT_CODE.format]);
/** Reason codes for problems that only an operator can fix. */
const OPERATOR_CODES: ReadonlySet<number> = new Set([MQTT_CODE.denied, MQTT_CODE.topic]);

/** Advice for the operator if no host receives the packets. */
const START_HOST = "start a host whose option mqtt names this broker, and whose mqttTopic is the topic of this sink";

/** A connection, with the messages that were sent over it. */
interface Open {
  readonly connection: MqttConnection;
  /** Configs that were published over this connection, by hash. */
  readonly published: Map<string, Promise<void>>;
  /** Callbacks for the answers of hosts, by correlation data. They are called with null if no answer can come. */
  readonly asked: Map<string, (answer: MqttAnswer | null) => void>;
}

export class MqttSink implements Sink {
  readonly name: string;
  readonly inFlight: number;
  readonly #settings: MqttSettings;
  readonly #findConfig: FindConfig;
  readonly #clientId: string;
  readonly #patience: number;
  readonly #broker = new Reopened((lose) => this.#connect(lose));
  #count = 0;

  /**
   * @param device id of this device, unique among all devices
   * @param patience milliseconds within which the broker must acknowledge a packet
   */
  constructor(settings: MqttSettings, findConfig: FindConfig, device: string, patience = PATIENCE) {
    this.name = settings.name;
    this.inFlight = settings.inFlight;
    this.#settings = settings;
    this.#findConfig = findConfig;
    this.#clientId = `boxwright-${device}-${sha256(settings.name).slice(0, 6)}`;
    this.#patience = patience;
  }

  async send(packet: Uint8Array, signal: AbortSignal, more?: Headers): Promise<Outcome> {
    try {
      const { source, subject, config, kind } = fromPacket(packet);
      const open = await this.#broker.get();
      const limit = Math.min(this.#settings.maxPacketBytes, open.connection.maxBytes - MQTT_ENVELOPE_BYTES);
      if (packet.length > limit) return { kind: "refused", reason: tooLarge(packet.length, limit) };
      if (config !== null) {
        const record = this.#findConfig(config);
        if (record) await this.#within(signal, open, () => this.#publishConfig(open, record.hash, record.json));
        // Refuse the packet: this agent has lost the config, which no other program publishes, so no host can decode
        // the packet.
        else if (kind === "raw")
          return { kind: "refused", reason: `config ${config}: this agent has it no more, so no host could decode` };
      }
      const topic = `${this.#settings.topic}/packets/${levelOf(source ?? "")}/${levelOf(subject ?? "")}`;
      const message = {
        topic,
        payload: packet,
        qos: 1,
        ...propertiesOf({ ...packetHeaders(packet), ...more }),
      } as const;
      return await this.#publish(open, message, signal);
    } catch (error) {
      return outcomeOf(error);
    }
  }

  /**
   * Publishes a packet, and waits for the broker's acknowledgement. If the settings require it, also waits for a host's
   * answer.
   */
  async #publish(open: Open, message: MqttMessage, signal: AbortSignal): Promise<Outcome> {
    const { topic, confirmSeconds } = this.#settings;
    const key = String(this.#count++);
    const answer = new Promise<MqttAnswer | null>((resolve) => open.asked.set(key, resolve));
    const asking = {
      responseTopic: this.#answers,
      correlationData: Buffer.from(key),
      // Let the broker drop the message after this time: the agent sends it again, and copies would fill the queue of
      // an absent host.
      expirySeconds: confirmSeconds + 1,
    };
    try {
      const asked = confirmSeconds > 0 ? { ...message, ...asking } : message;
      const code = await this.#within(signal, open, () => open.connection.publish(asked));
      if (code === MQTT_CODE.nobody)
        // Nobody has subscribed, so the broker has dropped the packet.
        return { kind: "later", reason: `nobody has subscribed to ${topic}/packets/# at the broker: ${START_HOST}` };
      if (confirmSeconds === 0) return { kind: "stored" };
      const end = new AbortController();
      const late = wait(confirmSeconds * 1000, end.signal).then(() => null);
      const abort = (): void => end.abort();
      signal.addEventListener("abort", abort);
      const given = await Promise.race([answer, late]);
      signal.removeEventListener("abort", abort);
      abort();
      if (given === null)
        return { kind: "later", reason: `no host has stored the packet within ${confirmSeconds} s: ${START_HOST}` };
      return given.refused === undefined ? { kind: "stored" } : { kind: "refused", reason: given.refused };
    } finally {
      open.asked.delete(key);
    }
  }

  /** Topic on which hosts answer this sink. */
  get #answers(): string {
    return `${this.#settings.topic}/answers/${this.#clientId}`;
  }

  async preview(preview: Preview): Promise<void> {
    const { connection } = await this.#broker.get();
    const topic = `${this.#settings.topic}/previews/${levelOf(preview.source)}/${levelOf(preview.subject)}`;
    await connection.publish({ topic, payload: preview.jpeg, qos: 0, ...propertiesOf(previewHeaders(preview)) });
  }

  async close(): Promise<void> {
    await (await this.#broker.current())?.connection.close();
  }

  async #connect(lose: () => void): Promise<Open> {
    const asked: Open["asked"] = new Map();
    // Request no session: unacknowledged packets are in the spool and are sent again.
    const connection = await connectMqtt(this.#settings.address, {
      clientId: this.#clientId,
      onMessage: ({ payload, properties }, done) => {
        const answer = answerIn(String(payload));
        if (answer) asked.get(String(properties?.correlationData))?.(answer);
        done();
      },
    });
    const { receiveMaximum } = connection;
    if (receiveMaximum < this.inFlight) {
      connection.cut();
      throw new UserError(
        `got inFlight ${this.inFlight}, but the broker takes ${receiveMaximum} packets at once: ` +
          `set inFlight to ${receiveMaximum}`,
      );
    }
    void connection.ended.then(() => {
      lose();
      for (const resolve of asked.values()) resolve(null);
    });
    if (this.#settings.confirmSeconds > 0) await connection.subscribe(this.#answers);
    return { connection, published: new Map(), asked };
  }

  /**
   * Publishes a config on the topic to which hosts subscribe, once per connection. The broker keeps the config for
   * later hosts (retain), but may be replaced between two connections.
   */
  #publishConfig({ connection, published }: Open, hash: string, json: string): Promise<void> {
    let publishing = published.get(hash);
    if (!publishing) {
      const topic = `${this.#settings.topic}/configs/${hash}`;
      publishing = connection
        .publish({ topic, payload: json, qos: 1, retain: true, contentType: "application/json" })
        .then(() => undefined);
      published.set(hash, publishing);
      publishing.catch(() => published.delete(hash));
    }
    return publishing;
  }

  /** Waits for an acknowledgement. After a timeout, cuts the connection, since the broker hangs. */
  #within<R>(signal: AbortSignal, { connection }: Open, work: () => Promise<R>): Promise<R> {
    return runWithin(this.#patience, signal, (both) => {
      const cut = new Promise<never>((_, reject) => {
        both.addEventListener("abort", () => {
          reject(both.reason as Error);
          connection.cut();
        });
      });
      return Promise.race([work(), cut]);
    });
  }
}

/**
 * Converts HTTP headers to MQTT 5 properties. In CloudEvents' MQTT binding, names have no prefix, and values are not
 * escaped.
 */
function propertiesOf(headers: Readonly<Record<string, string>>): {
  readonly contentType?: string;
  readonly properties: Readonly<Record<string, string>>;
} {
  const { "content-type": contentType, ...rest } = headers;
  const named = Object.entries(rest).map(([name, value]) =>
    name.startsWith("ce-") ? [name.slice(3), decodeURIComponent(value)] : [name, value],
  );
  return {
    ...(contentType !== undefined && { contentType }),
    properties: Object.fromEntries(named) as Record<string, string>,
  };
}

/** Parses a host's answer. Returns null for other text. */
function answerIn(text: string): MqttAnswer | null {
  try {
    const { refused } = JSON.parse(text) as { refused?: unknown };
    return typeof refused === "string" ? { refused: refused.slice(0, 500) } : {};
  } catch {
    return null;
  }
}

const tooLarge = (size: number, limit: number): string =>
  `got ${size} bytes, expected at most ${limit}: raise maxPacketBytes of the sink and the broker's limit, or send f16 or i8`;

function outcomeOf(error: unknown): Outcome {
  const reason = connectionProblem(error);
  if (error instanceof UserError) return { kind: "later", reason, needsOperator: true };
  const code = mqttCodeOf(error);
  if (code !== undefined && NEVER.has(code)) return { kind: "refused", reason };
  return { kind: "later", reason, ...(code !== undefined && OPERATOR_CODES.has(code) && { needsOperator: true }) };
}
