/** Runs Debian's nats-server with JetStream in a temporary folder. Tests kill and restart it. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { type NatsConnection, connect } from "@nats-io/transport-node";
import { Child } from "./child.ts";
import type { SmallDisk } from "./disk.ts";
import { freePort } from "./free-port.ts";
import type { Certificates } from "./tls.ts";
import { until } from "./wait.ts";

/** Path of nats-server on this machine, or undefined. TEST_NATS_SERVER names another one. */
export const natsServer = [
  process.env["TEST_NATS_SERVER"] ?? "",
  "/usr/sbin/nats-server",
  "/usr/bin/nats-server",
  "/usr/local/bin/nats-server",
].find((path) => existsSync(path));

/** Milliseconds within which the server must answer, also on a busy machine. */
const ANSWER = 30_000;

export interface BrokerOptions {
  /** Lines for the configuration file. */
  readonly lines?: string;
  readonly tls?: Certificates;
  /** User and password that clients must send. */
  readonly login?: { readonly user: string; readonly pass: string };
  /** Disk for the packets. Default: the disk of temporary files. */
  readonly disk?: SmallDisk;
  /** Port. Default: a free one. */
  readonly port?: number;
}

export class Broker {
  readonly port: number;
  readonly url: string;
  readonly #options: BrokerOptions;
  readonly #folder = mkdtempSync(join(tmpdir(), "boxwright-broker-"));
  #server: Child | undefined;

  private constructor(port: number, options: BrokerOptions) {
    const { lines = "max_payload: 8MB", tls, login, disk } = options;
    this.port = port;
    this.#options = options;
    this.url = `${tls ? "tls" : "nats"}://127.0.0.1:${port}`;
    const files = tls ? `tls { cert_file: "${tls.cert}", key_file: "${tls.key}" }\n` : "";
    const users = login ? `authorization { user: "${login.user}", password: "${login.pass}" }\n` : "";
    // Raise the limit on a small disk, of which the server uses only three quarters by default.
    const store = `jetstream { store_dir: "${disk?.path ?? this.#folder}/jetstream"${disk ? ", max_file_store: 1TB" : ""} }\n`;
    writeFileSync(this.#file, `listen: "127.0.0.1:${port}"\n${files}${users}${lines}\n${store}`);
  }

  get #file(): string {
    return join(this.#folder, "nats.conf");
  }

  /** Makes a broker that is not started yet. */
  static async create(options: BrokerOptions = {}): Promise<Broker> {
    return new Broker(options.port ?? (await freePort()), options);
  }

  static async start(options: BrokerOptions = {}): Promise<Broker> {
    const broker = await Broker.create(options);
    await broker.start();
    return broker;
  }

  async start(): Promise<void> {
    if (natsServer === undefined) throw new Error("got no nats-server, expected the Debian package nats-server");
    this.#server = new Child([...(this.#options.disk?.prefix ?? []), natsServer, "-c", this.#file]);
    await until(
      () =>
        this.connect({ maxReconnectAttempts: 0 }).then(
          (connection) => connection.close().then(() => true),
          () => false,
        ),
      "nats-server",
    );
  }

  /** Connects, and reconnects after a restart of the server. */
  connect(more: object = {}): Promise<NatsConnection> {
    const { tls, login } = this.#options;
    return connect({
      servers: `127.0.0.1:${this.port}`,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
      timeout: ANSWER,
      ...(tls && { tls: { caFile: tls.ca } }),
      ...login,
      ...more,
    });
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    await this.#server?.end(signal);
    this.#server = undefined;
  }

  /** The text that the running server has written. */
  get output(): string {
    return this.#server?.output ?? "";
  }

  /** Kills the server and removes its files. */
  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }

  /** Makes the stream with the names that agents and hosts use. */
  async makeStream(more: object = {}, partitions = 1): Promise<void> {
    const connection = await this.connect();
    const manager = await jetstreamManager(connection, { timeout: ANSWER });
    await manager.streams.add({
      name: "BOXWRIGHT",
      subjects: Array.from({ length: partitions }, (_, n) => `boxwright.packets.${n}.>`),
      discard: "new",
      ...more,
    } as never);
    await connection.close();
  }

  /** Returns the stored messages: subject, headers, bytes. */
  async messages(): Promise<{ subject: string; id: string; type: string; data: Uint8Array }[]> {
    const connection = await this.connect();
    const manager = await jetstreamManager(connection, { timeout: ANSWER });
    const { state } = await manager.streams.info("BOXWRIGHT");
    const found = [];
    for (let seq = state.first_seq; seq <= state.last_seq && state.messages > 0; seq++) {
      const message = await manager.streams.getMessage("BOXWRIGHT", { seq });
      if (message)
        found.push({
          subject: message.subject,
          id: message.header.get("Nats-Msg-Id"),
          type: message.header.get("content-type"),
          data: message.data,
        });
    }
    await connection.close();
    return found;
  }
}
