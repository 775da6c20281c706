/**
 * One connection to an MQTT 5 broker. It never reconnects: when it ends, its owner opens another. An acknowledgement
 * can then never go out over another connection, where its packet id may mean another message.
 *
 * MQTT 5 is needed: its reason codes say that nobody listens to a topic, or that a client may not write to the topic.
 * Brokers of MQTT 3.1.1 acknowledge such a message, and throw the message away.
 */
import type { IClientOptions, IConnackPacket, IPublishPacket, MqttClient } from "mqtt";
import { UserError, connectionProblem, messageOf } from "./errors.ts";

/** Default first level of all topics. Agents and hosts must agree on it. */
export const MQTT_TOPIC = "boxwright";

/** A host's answer to a packet that names a response topic. */
export interface MqttAnswer {
  /** Why the host will never take the packet. Absent: its frame is stored. */
  readonly refused?: string;
}

/** A topic without wildcards, and without a slash at its ends. */
export const isTopic = (text: string): boolean => /^[^/+#\p{Cc}$][^+#\p{Cc}]{0,199}(?<!\/)$/u.test(text);
/** Most bytes of topic and properties of a message, besides its payload. */
export const MQTT_ENVELOPE_BYTES = 16 * 1024;

/** Reason codes of MQTT 5 that agents and hosts tell apart. */
export const MQTT_CODE = { nobody: 16, denied: 135, takenOver: 142, topic: 144, tooLarge: 149, format: 153 } as const;
/** Advice by reason code of a refused connection. Retrying does not help until an operator changes something. */
const MISTAKES: Readonly<Record<number, string>> = {
  1: "expected a broker that speaks MQTT 5",
  132: "expected a broker that speaks MQTT 5",
  2: "expected another client id",
  133: "expected another client id",
  4: "check user and password",
  5: "check user and password",
  134: "check user and password",
  135: "check user and password",
  138: "ask the operator of the broker",
};

/** Seconds between signs of life. A connection that is silent for 1.5 times as long is dead. */
const KEEPALIVE_SECONDS = 30;
/** Milliseconds after which an attempt to connect is given up. */
const CONNECT_MS = 10_000;
/** Milliseconds after which an orderly close is replaced by a cut. */
const CLOSE_MS = 2000;

export interface MqttAddress {
  readonly host: string;
  readonly port: number;
  readonly isEncrypted: boolean;
  readonly user: string | null;
  readonly password: string | null;
}

/** Parses an address such as mqtt://host:1883 or mqtts://user:password@host:8883. Returns null for other text. */
export function readMqttAddress(text: string): MqttAddress | null {
  if (!/^mqtts?:\/\//.test(text) || !URL.canParse(text)) return null;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
  if (hostname === "" || !["", "/"].includes(pathname) || search + hash !== "") return null;
  const isEncrypted = protocol === "mqtts:";
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port) || (isEncrypted ? 8883 : 1883),
    isEncrypted,
    user: decode(username),
    password: decode(password),
  };
}

function decode(text: string): string | null {
  try {
    return text === "" ? null : decodeURIComponent(text);
  } catch {
    return text;
  }
}

export interface MqttOptions {
  readonly clientId: string;
  /** Seconds for which the broker keeps subscriptions and messages while this client is away; 0: it keeps none. */
  readonly sessionSeconds?: number;
  /** Largest count of messages that the broker sends before it waits for acknowledgements. */
  readonly receiveMaximum?: number;
  /** Message that the broker publishes and keeps once this client is gone without a word. */
  readonly will?: { readonly topic: string; readonly payload: string };
  /** Largest message for this client in bytes. The broker drops larger ones. */
  readonly maximumPacketSize?: number;
  /**
   * Called with one message at a time. The next one comes after `done`, which acknowledges the message. `done` has no
   * effect once the connection has ended.
   */
  readonly onMessage?: (message: IPublishPacket, done: () => void) => void;
}

export interface MqttConnection {
  /** True if the broker knew this client and kept its messages. */
  readonly hasSession: boolean;
  /** Most bytes of a message, as the broker states. */
  readonly maxBytes: number;
  /** Most messages that may wait for the broker's acknowledgement. */
  readonly receiveMaximum: number;
  /** Resolves to the reason once the connection has ended. */
  readonly ended: Promise<string>;
  /** Subscribes with QoS 1. Resolves once the broker has granted it. */
  subscribe(...topics: readonly string[]): Promise<void>;
  /**
   * Publishes a message. Resolves once the broker has acknowledged it, with the reason code 0 or `nobody`; with QoS 0
   * once it is sent.
   * @throws an error whose `code` is the reason code of a refusal
   */
  publish(message: MqttMessage): Promise<number>;
  /** Acknowledges what `done` was called for, and disconnects. */
  close(): Promise<void>;
  /** Cuts the connection. */
  cut(): void;
}

export interface MqttMessage {
  readonly topic: string;
  readonly payload: Uint8Array | string;
  readonly qos: 0 | 1;
  /** True: the broker keeps the message for later subscribers, instead of the topic's last one. */
  readonly retain?: boolean;
  readonly contentType?: string;
  /** Topic at which the receiver answers. */
  readonly responseTopic?: string;
  /** Bytes that the answer has to carry, by which the sender recognises it. */
  readonly correlationData?: Buffer;
  /** Seconds after which the broker drops the message. */
  readonly expirySeconds?: number;
  readonly properties?: Readonly<Record<string, string>>;
}

/**
 * Connects once.
 * @throws UserError if the broker refuses this client; another error if it is away
 */
export async function connectMqtt(address: MqttAddress, options: MqttOptions): Promise<MqttConnection> {
  // Load the library here: it takes a third of the start of a process that has no broker.
  const { connect } = (await import("mqtt")).default;
  const client = connect(optionsOf(address, options));
  let isOpen = true;
  // mosquitto silently ends the older of two clients.
  let reason = "the broker closed the connection. If it runs, look for another client under the same client id";
  const ended = new Promise<string>((resolve) => {
    client.once("close", () => {
      isOpen = false;
      // Without this the library keeps timers and unacknowledged messages.
      client.end(true);
      resolve(reason);
    });
  });
  client.on("disconnect", ({ reasonCode = 0 }) => (reason = `the broker disconnected: ${wordsOf(reasonCode)}`));
  client.on("error", (error) => (reason = connectionProblem(error)));
  const { onMessage } = options;
  if (onMessage) client.handleMessage = (message, done) => onMessage(message, () => void (isOpen && done()));
  const { sessionPresent, properties } = await new Promise<IConnackPacket>((resolve, reject) => {
    client.once("connect", resolve);
    client.once("error", (error) => reject(refusalOf(error, address) ?? error));
    void ended.then((why) => reject(new Error(why)));
  });
  return {
    hasSession: sessionPresent,
    maxBytes: properties?.maximumPacketSize ?? Infinity,
    receiveMaximum: properties?.receiveMaximum ?? 65_535,
    ended,
    ...operationsOf(client, ended),
  };
}

function optionsOf(address: MqttAddress, options: MqttOptions): IClientOptions {
  const { clientId, sessionSeconds = 0, receiveMaximum, maximumPacketSize, will } = options;
  const { host, port, isEncrypted, user, password } = address;
  return {
    host,
    port,
    protocol: isEncrypted ? "mqtts" : "mqtt",
    protocolVersion: 5,
    clientId,
    clean: sessionSeconds === 0,
    keepalive: KEEPALIVE_SECONDS,
    connectTimeout: CONNECT_MS,
    reconnectPeriod: 0,
    timerVariant: "native",
    ...(user !== null && { username: user }),
    ...(password !== null && { password }),
    ...(will && { will: { topic: will.topic, payload: Buffer.from(will.payload), qos: 1 as const, retain: true } }),
    properties: {
      sessionExpiryInterval: sessionSeconds,
      ...(receiveMaximum !== undefined && { receiveMaximum }),
      ...(maximumPacketSize !== undefined && { maximumPacketSize }),
    },
  };
}

type Operations = Pick<MqttConnection, "subscribe" | "publish" | "close" | "cut">;

function operationsOf(client: MqttClient, ended: Promise<string>): Operations {
  /** Ids of packets acknowledged with `nobody`, a code that the library does not pass on. */
  const unheard = new Set<number>();
  client.on("packetreceive", (packet) => {
    if (packet.cmd === "puback" && packet.reasonCode === MQTT_CODE.nobody) unheard.add(packet.messageId!);
  });
  /** Replaces the library's "connection closed" by the reason that `ended` has. */
  const answered = <R>(work: Promise<R>): Promise<R> =>
    work.catch(async (error: unknown) => {
      throw /connection closed|disconnecting/i.test(messageOf(error)) ? new Error(await ended) : error;
    });
  return {
    async subscribe(...topics) {
      await answered(client.subscribeAsync([...topics], { qos: 1 }));
    },
    async publish({ topic, payload, qos, retain = false, properties, ...rest }) {
      const { contentType, responseTopic, correlationData, expirySeconds } = rest;
      // The library accepts only a Buffer.
      const body =
        typeof payload === "string" ? payload : Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
      const publishing = client.publishAsync(topic, body, {
        qos,
        retain,
        properties: {
          ...(contentType !== undefined && { contentType }),
          ...(responseTopic !== undefined && { responseTopic }),
          ...(correlationData !== undefined && { correlationData }),
          ...(expirySeconds !== undefined && { messageExpiryInterval: expirySeconds }),
          // Leave out an empty list of properties: the library would silently never send the message.
          ...(properties && Object.keys(properties).length > 0 && { userProperties: { ...properties } }),
        },
      });
      const sent = await answered(publishing);
      return unheard.delete(sent?.messageId ?? 0) ? MQTT_CODE.nobody : 0;
    },
    async close() {
      const late = setTimeout(() => client.stream.destroy(), CLOSE_MS);
      await Promise.race([client.endAsync(), ended]);
      clearTimeout(late);
    },
    cut() {
      client.end(true);
    },
  };
}

/** Returns the reason code of an error of the broker; undefined for other errors. */
export const mqttCodeOf = (error: unknown): number | undefined => {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "number" ? code : undefined;
};

/** Returns what the operator has to do if the broker refuses this client; null for other errors. */
function refusalOf(error: Error, { user }: MqttAddress): UserError | null {
  const what = MISTAKES[mqttCodeOf(error) ?? 0];
  if (what === undefined) return null;
  return new UserError(`${error.message} (user ${user === null ? "none" : `"${user}"`}): ${what}`);
}

function wordsOf(code: number): string {
  if (code === MQTT_CODE.takenOver) return "another client has connected under the same client id";
  if (code === MQTT_CODE.tooLarge) return "a message was larger than it takes";
  return `reason code ${code}`;
}
