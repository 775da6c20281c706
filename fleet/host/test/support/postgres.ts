/** A PostgreSQL server of the tests, in a folder of its own and on a free port. It refuses to run as root. */
import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { freePort } from "boxwright-service/testing/free-port";
import { until } from "./wait.ts";

const ROOT = "/usr/lib/postgresql";

export interface TestPostgres {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startPostgres(): Promise<TestPostgres | undefined> {
  const versions = existsSync(ROOT) ? readdirSync(ROOT).sort((a, b) => Number(b) - Number(a)) : [];
  const bin = versions.map((version) => join(ROOT, version, "bin")).find((path) => existsSync(join(path, "initdb")));
  if (bin === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "boxwright-host-pg-"));
  const id = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  const user = process.getuid?.() === 0 ? { uid: id("-u"), gid: id("-g") } : {};
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const settings = { ...user, cwd: folder, stdio: "ignore" } as const;
  execFileSync(join(bin, "initdb"), ["-D", data, "-U", "postgres", "-A", "trust", "-N", "--locale=C.UTF-8"], settings);
  const port = await freePort();
  const set = ["-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200"];
  const child = spawn(join(bin, "postgres"), ["-D", data, "-p", String(port), "-k", folder, ...set], settings);
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await until(async () => {
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => undefined);
    try {
      await client.connect();
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => undefined);
    }
  });
  return {
    url,
    async stop() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGINT");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Makes an empty database and returns its address. */
export async function newDatabase(server: string): Promise<string> {
  const name = `host_${randomBytes(8).toString("hex")}`;
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return server.replace(/\/[^/]*$/, `/${name}`);
}
