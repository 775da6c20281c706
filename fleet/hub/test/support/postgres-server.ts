/** A PostgreSQL server of the tests: in a temporary folder, on a loopback port, not as root. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "boxwright-service/testing/free-port";
import pg from "pg";

/** Returns the folder of the newest server on this machine, or undefined. */
export function findPostgres(): string | undefined {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(root, version, "bin")).find((bin) => existsSync(join(bin, "postgres")));
}

export class PostgresServer {
  readonly #bin: string;
  readonly #folder: string;
  readonly #user: { uid?: number; gid?: number };
  readonly port: number;
  #process: ChildProcess | undefined;
  #databases = 0;

  private constructor(bin: string, folder: string, user: { uid?: number; gid?: number }, port: number) {
    this.#bin = bin;
    this.#folder = folder;
    this.#user = user;
    this.port = port;
  }

  static async create(): Promise<PostgresServer> {
    const bin = findPostgres();
    if (bin === undefined) throw new Error("got no PostgreSQL in /usr/lib/postgresql, expected the package postgresql");
    const folder = mkdtempSync(join(tmpdir(), "hub-pg-"));
    // The server refuses to run as root.
    const id = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
    const user = process.getuid?.() === 0 ? { uid: id("-u"), gid: id("-g") } : {};
    if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
    execFileSync(
      join(bin, "initdb"),
      ["-D", join(folder, "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"],
      {
        ...user,
        cwd: folder,
        stdio: "pipe",
      },
    );
    const server = new PostgresServer(bin, folder, user, await freePort());
    await server.start();
    return server;
  }

  url(database = "postgres"): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }

  /** Starts the server, also again. After a kill it recovers from its log first. */
  async start(): Promise<void> {
    const deadline = Date.now() + 60_000;
    for (;;) {
      const child = spawn(
        join(this.#bin, "postgres"),
        [
          "-D",
          join(this.#folder, "data"),
          "-p",
          String(this.port),
          "-k",
          this.#folder,
          "-c",
          "listen_addresses=127.0.0.1",
          "-c",
          "max_connections=100",
        ],
        {
          ...this.#user,
          cwd: this.#folder,
          stdio: "ignore",
        },
      );
      this.#process = child;
      while (child.exitCode === null && child.signalCode === null && Date.now() < deadline) {
        const client = new pg.Client({ connectionString: this.url(), connectionTimeoutMillis: 2000 });
        client.on("error", () => undefined);
        try {
          await client.connect();
          await client.end();
          return;
        } catch {
          await client.end().catch(() => undefined);
          await sleep(50);
        }
      }
      // After a kill the children may still hold the shared memory. The new server then ends at once: start another
      // one.
      if (Date.now() > deadline)
        throw new Error("got a PostgreSQL server that does not start, expected it to accept connections");
      await sleep(100);
    }
  }

  async newDatabase(): Promise<string> {
    const name = `hub_${process.pid}_${++this.#databases}`;
    const client = new pg.Client({ connectionString: this.url() });
    await client.connect();
    await client.query(`CREATE DATABASE ${name}`);
    await client.end();
    return this.url(name);
  }

  /** Stops the server in order. Open transactions are rolled back. */
  async stop(): Promise<void> {
    await this.#end("SIGINT");
  }

  /** Kills the server and each of its processes at once. */
  async kill(): Promise<void> {
    const pid = this.#process?.pid;
    if (pid === undefined) return;
    const children = execFileSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" })
      .split(/\s+/)
      .filter(Boolean)
      .map(Number);
    await this.#end("SIGKILL", () => {
      for (const child of children) {
        try {
          process.kill(child, "SIGKILL");
        } catch {
          // Ended by itself in the meantime.
        }
      }
    });
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals, also: () => void = () => undefined): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill(signal);
    also();
    await ended;
  }
}
