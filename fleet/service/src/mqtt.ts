/**
 * One connection to an MQTT 5 broker. It never reconnects: after its end, the owner opens another. So an
 * acknowledgement never goes over a later connection, where its packet id may belong to another message.
 *
 * MQTT 5 is required: its reason codes say that nobody listens to a topic, or that a client may not write to it.
 * Brokers of MQTT 3.1.1 acknowledge a message in these cases, but drop it.
 */
import type { IClientOptions, IConnackPacket, IPublishPacket, MqttClient } from "mqtt";
import { UserError, connectionProblem, messageOf } from "./errors.ts";

/** Default first level of all topics. Agents and hosts must agree on it. */
export const MQTT_TOPIC = "boxwright";

/** A host's answer to a packet that names a response topic. */
export interface MqttAnswer {
  /** Reason why the host will never accept the packet. Absent if the frame is stored. */
  readonly refused?: string;
}

/** True for a topic without wildcards that neither starts nor ends with a slash. */
export const isTopic = (text: string): boolean => /^[^/+#\p{Cc}$][^+#\p{Cc}]{0,199}(?<!\/)$/u.test(text);
/** Largest number of bytes of a message besides its payload: topic and properties. */
export const MQTT_ENVELOPE_BYTES = 16 * 1024;

/** Reason codes of MQTT 5 that matter to agents and hosts. */
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

/** Seconds between keep-alive messages. A connection that is silent for 1.5 times as long counts as dead. */
const KEEPALIVE_SECONDS = 30;
/** Milliseconds after which an attempt to connect fails. */
const CONNECT_MS = 10_000;
/** Milliseconds after which an orderly close is forced. */
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
  /**
   * Seconds for which the broker keeps this client's subscriptions and messages after a disconnection; 0 keeps none.
   */
  readonly sessionSeconds?: number;
  /** Largest number of messages that the broker sends before it waits for acknowledgements. */
  readonly receiveMaximum?: number;
  /** Last will: message that the broker publishes and keeps if this client disappears without an orderly end. */
  readonly will?: { readonly topic: string; readonly payload: string };
  /** Largest number of bytes of a message to this client. The broker drops larger messages. */
  readonly maximumPacketSize?: number;
  /**
   * Called with one message at a time. `done` acknowledges the message, and the next one follows. `done` has no effect
   * after the connection has ended.
   */
  readonly onMessage?: (message: IPublishPacket, done: () => void) => void;
}

export interface MqttConnection {
  /** True if the broker knew this client and kept its messages. */
  readonly hasSession: boolean;
  /** Largest number of bytes of a message, as stated by the broker. */
  readonly maxBytes: number;
  /** Largest number of messages that may wait for the broker's acknowledgement. */
  readonly receiveMaximum: number;
  /** Resolves to the reason once the connection has ended. */
  readonly ended: Promise<string>;
  /** Subscribes with QoS 1. Resolves once the broker has accepted the subscription. */
  subscribe(...topics: readonly string[]): Promise<void>;
  /**
   * Publishes a message. With QoS 1, resolves to the reason code 0 or `nobody` once the broker has acknowledged the
   * message. With QoS 0, resolves once the message is sent.
   * @throws an error whose `code` is the reason code of a refusal
   */
  publish(message: MqttMessage): Promise<number>;
  /** Sends the acknowledgements of finished messages, and disconnects. */
  close(): Promise<void>;
  /** Cuts the connection without an orderly end. */
  cut(): void;
}

export interface MqttMessage {
  readonly topic: string;
  readonly payload: Uint8Array | string;
  readonly qos: 0 | 1;
  /** True: the broker keeps the message for later subscribers, in place of the topic's last kept message. */
  readonly retain?: boolean;
  readonly contentType?: string;
  /** Topic on which the receiver should answer. */
  readonly responseTopic?: string;
  /** Bytes that the answer must repeat, so that the sender recognises it. */
  readonly correlationData?: Buffer;
  /** Seconds after which the broker drops the message. */
  readonly expirySeconds?: number;
  readonly properties?: Readonly<Record<string, string>>;
}

/**
 * Connects once.
 * @throws UserError if the broker refuses this client; another error if the broker cannot be reached
 */
export async function connectMqtt(address: MqttAddress, options: MqttOptions): Promise<MqttConnection> {
  // Import the library only here: it would take a third of the start time of processes without a broker.
  const { connect } = (await import("mqtt")).default;
  const client = connect(optionsOf(address, options));
  let isOpen = true;
  // Text for brokers that state no reason: mosquitto silently disconnects the older of two clients with the same id.
  let reason = "the broker closed the connection. If it runs, look for another client under the same client id";
  const ended = new Promise<string>((resolve) => {
    client.once("close", () => {
      isOpen = false;
      // End the client, which otherwise keeps timers and unacknowledged messages.
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
  /** Ids of packets that were acknowledged with the code `nobody`, which the library does not report. */
  const unheard = new Set<number>();
  client.on("packetreceive", (packet) => {
    if (packet.cmd === "puback" && packet.reasonCode === MQTT_CODE.nobody) unheard.add(packet.messageId!);
  });
  /** Replaces the library's error "connection closed" by the reason of `ended`. */
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
      // Convert to a Buffer, since the library accepts nothing else.
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
          // Leave out an empty list of properties: with it, the library would silently never send the message.
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

/** Returns an error with advice for the operator if the broker refuses this client, or null for other errors. */
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
