/** Common parts of the load reports: databases, teams of backends, requests at full speed, and metrics of the hub. */
import { mkdtempSync, rmSync } from "node:fs";
import os, { tmpdir } from "node:os";
import { join } from "node:path";
import autocannon from "autocannon";
import { findPostgres, PostgresServer } from "boxwright-service/testing/postgres";
import * as own from "../test/support/process.ts";
import { headersOf, LIST } from "./steady.ts";

export type Env = Readonly<Record<string, string>>;
/** Token that reads the metrics of all hubs of the reports. */
const METRICS_TOKEN = "metrics-token-of-the-load-run";

/** True if the report's command line names a part, or no other part. */
export const isWanted = (part: string, ...others: readonly string[]): boolean =>
  process.argv.includes(part) || !others.some((other) => process.argv.includes(other));

/** Returns the number after an option of the command line. */
export function numberOf(option: string, usual: number): number {
  const at = process.argv.indexOf(option);
  return at < 0 ? usual : Number(process.argv[at + 1]);
}

/** Runs a report on SQLite and PostgreSQL. `--sqlite` and `--postgres` in the command line choose one of them. */
export async function onDatabases(report: (database: string, env: Env) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "hub-load-"));
  console.log(
    `${os.cpus().length} x ${os.cpus()[0]?.model.trim() ?? "unknown"}, shared with the generator, load ${os.loadavg()[0]!.toFixed(1)}, ${process.version}`,
  );
  if (isWanted("--sqlite", "--postgres")) await report("SQLite", onSqlite(folder));
  if (isWanted("--postgres", "--sqlite")) {
    if (findPostgres() === undefined) console.log("PostgreSQL is not installed: its half is left out");
    else {
      const server = await PostgresServer.create();
      await report("PostgreSQL", { ...envIn(folder), DATABASE_URL: await server.newDatabase() });
      await server.remove();
    }
  }
  rmSync(folder, { recursive: true, force: true });
}

const envIn = (folder: string): Env => ({
  HUB_LOG_LEVEL: "warn",
  HUB_MAX_DEVICES: "20000",
  HUB_METRICS_TOKEN: METRICS_TOKEN,
  HUB_FILES: join(folder, "files"),
});

/** Returns the settings of a hub whose database and files are in a folder. */
export const onSqlite = (folder: string): Env => ({ ...envIn(folder), HUB_DATABASE_FILE: join(folder, "hub.db") });

/** Settings with which one key and one address may send as many requests as the hub can answer. */
export const UNLIMITED: Env = {
  ...{ HUB_KEY_RATE: "1000000", HUB_KEY_BURST: "1000000", HUB_ADDRESS_RATE: "1000000", HUB_ADDRESS_BURST: "1000000" },
  ...{ HUB_ADDRESS_CONNECTIONS: "20000", HUB_CONNECTIONS: "30000" },
};

/**
 * Makes a team with 25 devices, and returns its API key.
 * @param hub the hub's command. Default: the one of this checkout
 * @param others names of more teams. Their keys come next
 */
export async function prepare(env: Env, hub = own, others: readonly string[] = []): Promise<[string, ...string[]]> {
  const command = async <T>(args: readonly string[], input?: string): Promise<T> => {
    const ran = await hub.run(args, env, input === undefined ? {} : { input });
    if (ran.code !== 0) throw new Error(ran.stderr);
    return ran.json as T;
  };
  const first = await command<{ team: { id: string }; link: string }>([
    ...["init", "--email", "load@example.org", "--team", "Load"],
  ]);
  const names = Array.from({ length: 25 }, (_, i) => `Device number ${i}`).join("\n");
  await command(["devices", "import", "--team", first.team.id, "-"], names);
  const links = [{ id: first.team.id, link: first.link }];
  for (const name of others) {
    const { id } = await command<{ id: string }>(["teams", "add", "--name", name]);
    const who = ["--email", `${name}@example.org`, "--role", "admin"];
    links.push({ id, link: (await command<{ link: string }>(["users", "invite", "--team", id, ...who])).link });
  }
  const maker = await hub.HubProcess.start(env);
  const keys: string[] = [];
  for (const { id, link } of links) keys.push(await hub.makeKey(await hub.useLinkAt(maker.url, link), id));
  await maker.stop();
  return keys as [string, ...string[]];
}

/** Returns the value of a metric of the hub. */
export async function metricOf(port: number, name: string): Promise<number> {
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers })).text();
  const value = new RegExp(`^${name} (\\S+)`, "m").exec(text)?.[1];
  if (value === undefined) throw new Error(`got metrics without ${name}, expected it`);
  return Number(value);
}

/** Returns the seconds of CPU that the hub has used since its start. */
export const cpuOf = (port: number): Promise<number> => metricOf(port, "process_cpu_seconds_total");

export interface Load {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Microseconds of the hub's CPU per request. */
  readonly cpu: number;
  readonly total: number;
  /** Number of requests without a good answer. */
  readonly wrong: number;
}

/** Asks for the list of 25 devices as often as the hub answers. */
export async function load(port: number, key: string, connections: number, duration: number): Promise<Load> {
  const before = await cpuOf(port);
  const url = `http://127.0.0.1:${port}/graphql`;
  const done = await autocannon({ url, method: "POST", headers: headersOf(key), body: LIST, connections, duration });
  const cpu = (await cpuOf(port)) - before;
  const total = done["2xx"];
  const wrong = done.non2xx + done.errors + done.timeouts;
  if (wrong > 0)
    console.log(`FAILED: got ${done.non2xx} other statuses, ${done.errors} errors and ${done.timeouts} timeouts`);
  const { requests, latency } = done;
  return { perSecond: requests.average, p50: latency.p50, p99: latency.p99, cpu: (cpu / total) * 1e6, total, wrong };
}
