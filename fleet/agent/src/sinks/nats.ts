/** The sink "nats": publishes packets to a stream of NATS JetStream, which hosts share. */
import { crc32 } from "node:zlib";
import { type JetStreamClient, JetStreamApiError, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { type KV, Kvm } from "@nats-io/kv";
import { type ConnectionOptions, type MsgHdrs, type NatsConnection, connect, headers } from "@nats-io/transport-node";
import { fromPacket, packetHeaders } from "boxwright";
import { STUCK_BROKER, isThere, isTimeout } from "boxwright-service/broker";
import { UserError, connectionProblem } from "boxwright-service/errors";
import { levelOf } from "boxwright-service/level";
import { messageId } from "../core/ids.ts";
import { Reopened } from "../core/wait.ts";
import type { NatsSettings } from "../settings/sinks.ts";
import { type FindConfig, type Headers, type Outcome, type Preview, type Sink, previewHeaders } from "./sink.ts";

const CONFIGS = "boxwright-configs";
const STREAM = "BOXWRIGHT";
/** Milliseconds within which the broker must acknowledge a packet. */
const PATIENCE = 10_000;
/**
 * Error codes of a full stream: too many messages, bytes, or messages per subject. A full disk gives the first code.
 */
const FULL = new Set([10077, 10167]);

/** A connection, with its clients for stream and configs. */
interface Open {
  readonly connection: NatsConnection;
  readonly stream: JetStreamClient;
  /** Number of partitions of the stream. */
  readonly partitions: number;
  /** Key-value store of configs, which hosts read; null until it is open. */
  configs: KV | null;
  /** Hashes of the configs that were stored over this connection. */
  readonly put: Set<string>;
}

export class NatsSink implements Sink {
  readonly name: string;
  readonly inFlight: number;
  readonly #settings: NatsSettings;
  readonly #findConfig: FindConfig;
  /** The connection. Its client reconnects by itself, so another is opened only after a failed or closed one. */
  readonly #broker = new Reopened((lose) => this.#connect(lose));

  constructor(settings: NatsSettings, findConfig: FindConfig) {
    this.name = settings.name;
    this.inFlight = settings.inFlight;
    this.#settings = settings;
    this.#findConfig = findConfig;
  }

  async send(packet: Uint8Array, _signal: AbortSignal, more?: Headers): Promise<Outcome> {
    try {
      const { id, source, subject, config } = fromPacket(packet);
      const open = await this.#broker.get();
      const limit = open.connection.info?.max_payload ?? 0;
      const message = messageHeaders({ ...packetHeaders(packet), ...more });
      const size = packet.length + sizeOf(message);
      if (limit > 0 && size > limit) {
        const reason = `got ${size} bytes, expected at most ${limit}, the broker's max_payload. Raise max_payload, or send f16 or i8`;
        return { kind: "refused", reason };
      }
      if (config !== null) await this.#putConfig(open, config);
      const { duplicate } = await open.stream.publish(subjectOf(source, subject, open.partitions), packet, {
        msgID: messageId(source ?? "", id ?? ""),
        headers: message,
        expect: { streamName: STREAM },
        timeout: PATIENCE,
      });
      return { kind: "stored", isDuplicate: duplicate };
    } catch (error) {
      return outcomeOf(await this.#explain(error));
    }
  }

  async preview(preview: Preview): Promise<void> {
    const { connection } = await this.#broker.get();
    connection.publish(`boxwright.previews.${levelOf(preview.subject)}`, preview.jpeg, {
      headers: messageHeaders(previewHeaders(preview)),
    });
  }

  async close(): Promise<void> {
    await (await this.#broker.current())?.connection.close();
  }

  async #connect(lose: () => void): Promise<Open> {
    const connection = await connect({
      ...this.#options,
      maxReconnectAttempts: -1,
      pingInterval: 10_000,
    });
    void connection.closed().then(lose);
    const partitions = await partitionsOf(connection, this.#settings.partitions).catch(async (error: unknown) => {
      await connection.close();
      throw error;
    });
    return {
      connection,
      partitions,
      stream: jetstream(connection, { timeout: PATIENCE }),
      configs: null,
      put: new Set(),
    };
  }

  get #options(): ConnectionOptions {
    // Limit the handshake: the client would wait 20 s for a broker that crashes during it.
    return { ...addressOf(this.#settings), name: "boxwright-agent", timeout: 3000 };
  }

  /** Returns an error with advice if the broker is reachable but does not answer. Returns other errors unchanged. */
  async #explain(error: unknown): Promise<unknown> {
    const isStuck = isTimeout(error) && (await isThere(() => connect({ ...this.#options, reconnect: false })));
    return isStuck ? new UserError(STUCK_BROKER) : error;
  }

  /** Stores a config for hosts, once per connection, since the broker may be replaced between two connections. */
  async #putConfig(open: Open, hash: string): Promise<void> {
    if (open.put.has(hash)) return;
    const record = this.#findConfig(hash);
    if (!record) return;
    try {
      open.configs ??= await new Kvm(open.stream).create(CONFIGS);
      await open.configs.put(hash, record.json);
    } catch (error) {
      // Reopen the store next time, since a broker may have lost the store after a full disk.
      open.configs = null;
      throw error;
    }
    open.put.add(hash);
  }
}

/** Returns the subject for a camera's packets. Hosts process the packets of a partition in order. */
function subjectOf(source: string | null, camera: string | null, partitions: number): string {
  const partition = crc32(`${source ?? ""}\n${camera ?? ""}`) % partitions;
  return `boxwright.packets.${partition}.${levelOf(camera ?? "")}`;
}

/**
 * Returns the number of partitions from the stream's subjects, or from the setting if this agent may not read the
 * stream.
 * @throws UserError if the setting is another number: packets of a partition without a host would stay in the stream
 */
async function partitionsOf(connection: NatsConnection, given: number | null): Promise<number> {
  let subjects: readonly string[];
  try {
    const manager = await jetstreamManager(connection, { checkAPI: false, timeout: PATIENCE });
    ({ subjects } = (await manager.streams.info(STREAM)).config);
  } catch (error) {
    if (isDenied(error)) return given ?? 1;
    throw error;
  }
  const count = subjects.filter((subject) => /^boxwright\.packets\.\d+\.>$/.test(subject)).length;
  if (count !== subjects.length)
    throw new UserError(
      `stream ${STREAM}: got subjects ${subjects.join(", ")}, expected one a partition, as boxwright.packets.0.>`,
    );
  if (given !== null && given !== count)
    throw new UserError(
      `got partitions ${given}, but stream ${STREAM} has ${count}: leave "partitions" out of the sink`,
    );
  return count;
}

/** True if the broker refused a request that this client may not send. */
const isDenied = (error: unknown): boolean => /permission/i.test(connectionProblem(error));

/**
 * Returns the servers and credentials of the settings as options of the client, which ignores user, password and tls://
 * in an address.
 */
export function addressOf({ servers, token }: Pick<NatsSettings, "servers" | "token">): ConnectionOptions {
  const urls = servers.map((server) => new URL(server.includes("://") ? server : `nats://${server}`));
  const named = urls.find(({ username }) => username !== "");
  const [user, pass] = [decodeURIComponent(named?.username ?? ""), decodeURIComponent(named?.password ?? "")];
  const own = pass !== "" ? { user, pass } : user !== "" ? { token: user } : {};
  return {
    servers: urls.map(({ hostname, port }) => `${hostname}:${port || 4222}`),
    ...(token === null ? own : { token }),
    ...(urls.some(({ protocol }) => protocol === "tls:") && { tls: {} }),
  };
}

function messageHeaders(record: Readonly<Record<string, string>>): MsgHdrs {
  const all = headers();
  for (const [name, value] of Object.entries(record)) all.set(name, value);
  return all;
}

/** Returns the number of bytes of a message's headers, with a reserve for headers that the client adds. */
function sizeOf(all: MsgHdrs): number {
  let size = 200;
  for (const name of all.keys()) size += name.length + all.get(name).length + 4;
  return size;
}

function outcomeOf(error: unknown): Outcome {
  const reason = connectionProblem(error);
  if (error instanceof UserError) return { kind: "later", reason, needsOperator: true };
  if (/no space left/i.test(reason))
    return {
      kind: "later",
      reason: `the disk of the broker is full: ${reason}. Make room where its store_dir is`,
      needsOperator: true,
    };
  if (error instanceof JetStreamApiError && FULL.has(error.code))
    return { kind: "later", reason: `the stream is full: ${reason}` };
  // Refuse permanently: the limit of bytes was lowered after the broker had stated it.
  if (/max_payload|MAX_PAYLOAD/.test(reason) || (error instanceof JetStreamApiError && error.code === 10054))
    return { kind: "refused", reason };
  return { kind: "later", reason: reason || "the broker does not answer" };
}
