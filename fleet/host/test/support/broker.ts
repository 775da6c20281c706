/** Debian's nats-server on a free port, with a folder of its own, to be killed and started again. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { connect as connectSocket } from "node:net";
import { join } from "node:path";
import { type NatsConnection, connect } from "@nats-io/transport-node";
import { temporaryFolder } from "./host.ts";
import type { Certificates } from "boxwright-service/testing/tls";
import { freePort } from "boxwright-service/testing/free-port";
import { until } from "./wait.ts";

const COMMAND = existsSync("/usr/sbin/nats-server") ? "/usr/sbin/nats-server" : "nats-server";

export class TestBroker {
  readonly #folder = temporaryFolder();
  readonly port: number;
  readonly url: string;
  #child: ChildProcess | null = null;

  readonly #caFile: string | undefined;

  private constructor(port: number, maxPayload: string, tls?: Certificates) {
    this.port = port;
    this.#caFile = tls?.ca;
    this.url = `${tls ? "tls" : "nats"}://127.0.0.1:${port}`;
    const files = tls ? `tls { cert_file: "${tls.cert}", key_file: "${tls.key}" }\n` : "";
    const settings = `${files}max_payload: ${maxPayload}\njetstream { store_dir: "${this.#folder.path}" }\n`;
    writeFileSync(join(this.#folder.path, "nats.conf"), settings);
  }

  static async start(maxPayload = "8MB", tls?: Certificates): Promise<TestBroker> {
    const broker = new TestBroker(await freePort(), maxPayload, tls);
    await broker.start();
    return broker;
  }

  async start(): Promise<void> {
    const file = join(this.#folder.path, "nats.conf");
    const args = ["-a", "127.0.0.1", "-p", String(this.port), "-c", file];
    this.#child = spawn(COMMAND, args, { stdio: "ignore" });
    await until(
      () =>
        new Promise((resolve) => {
          const socket = connectSocket(this.port, "127.0.0.1", () => resolve(true));
          socket.once("error", () => resolve(false)).once("close", () => resolve(false));
          setTimeout(() => socket.destroy(), 200);
        }),
      "broker",
    );
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
  }

  connect(): Promise<NatsConnection> {
    return connect({
      servers: `127.0.0.1:${this.port}`,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
      timeout: 2000,
      ...(this.#caFile === undefined ? {} : { tls: { caFile: this.#caFile } }),
    });
  }

  async remove(): Promise<void> {
    await this.kill();
    this.#folder.remove();
  }
}
