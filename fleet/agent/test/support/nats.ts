/** Debian's nats-server, with JetStream, on a port of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { type NatsConnection, connect } from "@nats-io/transport-node";

export const PROGRAM = ["/usr/sbin/nats-server", "/usr/bin/nats-server"].find(existsSync);

export class Broker {
  readonly port: number;
  /** File of the authority that signed the broker's certificate; null: the broker has none. */
  caFile: string | null = null;
  readonly #folder: string;
  #child: ChildProcess | null = null;

  readonly #login: { readonly user?: string; readonly pass?: string };

  constructor(folder: string, port: number, limits = "max_payload: 8MB", login: { user?: string; pass?: string } = {}) {
    this.#login = login;
    this.port = port;
    this.#folder = folder;
    const path = join(folder, "nats.conf");
    writeFileSync(path, `listen: "127.0.0.1:${port}"\n${limits}\njetstream { store_dir: "${folder}/jetstream" }\n`);
  }

  async start(): Promise<void> {
    const child = spawn(PROGRAM!, ["-c", join(this.#folder, "nats.conf")], { stdio: "ignore" });
    this.#child = child;
    for (let tries = 0; tries < 200; tries++) {
      try {
        await (await this.connect()).close();
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    throw new Error("nats-server does not start");
  }

  connect(): Promise<NatsConnection> {
    const tls = this.caFile === null ? {} : { tls: { caFile: this.caFile } };
    const options = { servers: `127.0.0.1:${this.port}`, timeout: 1000, maxReconnectAttempts: 0 };
    return connect({ ...options, ...tls, ...this.#login });
  }

  /** Makes the stream that agents and hosts agree on. */
  async makeStream(more: object = {}, partitions = 1): Promise<void> {
    const connection = await this.connect();
    const manager = await jetstreamManager(connection);
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
    const manager = await jetstreamManager(connection);
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

  async stop(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child) return;
    const ended = new Promise((resolve) => child.on("close", resolve));
    child.kill(signal);
    await ended;
  }
}
