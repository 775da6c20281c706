/** Runs Debian's mosquitto, a broker of MQTT 5, in a temporary folder. Tests kill and restart it. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IClientOptions, type MqttClient, type OnMessageCallback, connect } from "mqtt";
import { Child } from "./child.ts";
import { freePort } from "./free-port.ts";
import type { Certificates } from "./tls.ts";
import { until } from "./wait.ts";

/** Path of mosquitto on this machine, or undefined. */
export const mosquitto = ["/usr/sbin/mosquitto", "/usr/bin/mosquitto", "/usr/local/sbin/mosquitto"].find((path) =>
  existsSync(path),
);

export interface MosquittoOptions {
  /** Lines for the configuration file. */
  readonly lines?: string;
  readonly tls?: Certificates;
  /** User and password that clients must send. */
  readonly login?: { readonly user: string; readonly pass: string };
  /** Port. Default: a free one. */
  readonly port?: number;
}

export class Mosquitto {
  readonly port: number;
  readonly url: string;
  readonly #options: MosquittoOptions;
  readonly #folder = mkdtempSync(join(tmpdir(), "boxwright-mosquitto-"));
  #server: Child | undefined;

  private constructor(port: number, options: MosquittoOptions) {
    const { lines = "", tls, login } = options;
    this.port = port;
    this.#options = options;
    this.url = `${tls ? "mqtts" : "mqtt"}://127.0.0.1:${port}`;
    const passwords = join(this.#folder, "passwords");
    if (login) execFileSync("mosquitto_passwd", ["-b", "-c", passwords, login.user, login.pass], { stdio: "ignore" });
    const config = [
      `listener ${port} 127.0.0.1`,
      // Keep root as the user: otherwise a mosquitto that root starts would switch to a user who cannot write here.
      ...(process.getuid?.() === 0 ? ["user root"] : []),
      login ? `password_file ${passwords}` : "allow_anonymous true",
      ...(tls ? [`certfile ${tls.cert}`, `keyfile ${tls.key}`] : []),
      "persistence true",
      `persistence_location ${this.#folder}/`,
      lines,
    ];
    writeFileSync(this.#file, `${config.join("\n")}\n`);
  }

  get #file(): string {
    return join(this.#folder, "mosquitto.conf");
  }

  /** Makes a broker that is not started yet. */
  static async create(options: MosquittoOptions = {}): Promise<Mosquitto> {
    return new Mosquitto(options.port ?? (await freePort()), options);
  }

  static async start(options: MosquittoOptions = {}): Promise<Mosquitto> {
    const broker = await Mosquitto.create(options);
    await broker.start();
    return broker;
  }

  async start(): Promise<void> {
    if (mosquitto === undefined) throw new Error("got no mosquitto, expected the Debian package mosquitto");
    this.#server = new Child([mosquitto, "-c", this.#file]);
    await until(
      () =>
        this.connect().then(
          (client) => client.endAsync().then(() => true),
          () => false,
        ),
      "mosquitto",
    );
  }

  /**
   * Connects once.
   * @param onMessage called with each message. Set it here: the broker sends the messages of a session right after its
   * first answer, and the library acknowledges messages that have no listener yet.
   */
  async connect(more: IClientOptions = {}, onMessage?: OnMessageCallback): Promise<MqttClient> {
    const { tls, login } = this.#options;
    const own = { protocolVersion: 5, reconnectPeriod: 0, connectTimeout: 10_000 } as const;
    const client = connect(this.url, {
      ...own,
      ...credentials(login),
      ...(tls && { ca: readFileSync(tls.ca) }),
      ...more,
    });
    if (onMessage) client.on("message", onMessage);
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => (client.end(true), reject(error));
      client.once("connect", () => resolve(client));
      // Listen for errors from now on: if a test kills the broker later, the broken connection emits an error.
      client.on("error", fail);
      client.once("close", () => fail(new Error("got no connection to mosquitto, expected one")));
    });
  }

  /**
   * Ends the server. With SIGTERM, the server saves its messages to a file. With SIGKILL, messages in memory are lost.
   */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    await this.#server?.end(signal);
    this.#server = undefined;
  }

  /** Output of the server so far. */
  get output(): string {
    return this.#server?.output ?? "";
  }

  /** Kills the server and removes its files. */
  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

const credentials = (login: MosquittoOptions["login"]): IClientOptions =>
  login ? { username: login.user, password: login.pass } : {};
