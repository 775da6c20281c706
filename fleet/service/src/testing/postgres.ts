/** Runs a PostgreSQL server for tests in a temporary folder, on a loopback port, and not as root. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { Child } from "./child.ts";
import { freePort } from "./free-port.ts";
import { PATIENCE, sleep, timeUp } from "./wait.ts";

/** Returns the program folder of the newest PostgreSQL on this machine, or undefined. */
export function findPostgres(): string | undefined {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(root, version, "bin")).find((bin) => existsSync(join(bin, "postgres")));
}

/** Runs one statement, and fails if the server does not take it. */
async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Makes an empty database on a server, and returns its address. */
export async function newDatabase(server: string): Promise<string> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  await query(server, `CREATE DATABASE ${name}`);
  return server.replace(/\/[^/]*$/, `/${name}`);
}

export class PostgresServer {
  readonly #bin: string;
  readonly #folder = mkdtempSync(join(tmpdir(), "boxwright-postgres-"));
  /** User for the server process, since PostgreSQL refuses to run as root. */
  readonly #user: { uid?: number; gid?: number };
  readonly #port: number;
  /** Address of the first database, whose user may create others. */
  readonly url: string;
  #server: Child | undefined;

  private constructor(bin: string, port: number) {
    this.#bin = bin;
    this.#port = port;
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    const id = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
    this.#user = process.getuid?.() === 0 ? { uid: id("-u"), gid: id("-g") } : {};
    if (this.#user.uid !== undefined) chownSync(this.#folder, this.#user.uid, this.#user.gid!);
    const settings = ["-D", this.#data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"];
    execFileSync(join(bin, "initdb"), settings, { ...this.#user, cwd: this.#folder, stdio: "pipe" });
  }

  get #data(): string {
    return join(this.#folder, "data");
  }

  static async create(): Promise<PostgresServer> {
    const bin = findPostgres();
    if (bin === undefined) throw new Error("got no PostgreSQL in /usr/lib/postgresql, expected the package postgresql");
    const server = new PostgresServer(bin, await freePort());
    await server.start();
    return server;
  }

  /** Starts the server, or starts it again. After a kill, the server first recovers from its log. */
  async start(): Promise<void> {
    const set = ["listen_addresses=127.0.0.1", "max_connections=200"].flatMap((setting) => ["-c", setting]);
    const place = ["-D", this.#data, "-p", String(this.#port), "-k", this.#folder];
    const deadline = Date.now() + PATIENCE * 1000;
    while (Date.now() < deadline) {
      let hasEnded = false;
      const server = new Child([join(this.#bin, "postgres"), ...place, ...set], { ...this.#user, cwd: this.#folder });
      void server.ended.then(() => (hasEnded = true));
      this.#server = server;
      while (!hasEnded && Date.now() < deadline) {
        if (await query(this.url, "SELECT 1").then(() => true, () => false)) return; // prettier-ignore
        await sleep(50);
      }
      // Child processes of a killed server may still hold the shared memory, which ends a new server at once. Retry.
      await sleep(100);
    }
    throw timeUp(PATIENCE, "a PostgreSQL server that takes connections");
  }

  newDatabase(): Promise<string> {
    return newDatabase(this.url);
  }

  /** Stops the server in an orderly way. Open transactions are rolled back. */
  async stop(): Promise<void> {
    await this.#server?.end("SIGINT");
  }

  /** Kills the server and each of its processes at once. */
  async kill(): Promise<void> {
    if (!this.#server) return;
    const words = ["-o", "pid=", "--ppid", String(this.#server.pid)];
    const children = execFileSync("ps", words, { encoding: "utf8" }).split(/\s+/).filter(Boolean).map(Number);
    const ended = this.#server.end("SIGKILL");
    for (const child of children) {
      try {
        process.kill(child, "SIGKILL");
      } catch {
        // Ignore the error: the process has ended meanwhile.
      }
    }
    await ended;
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
