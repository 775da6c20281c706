/** Common parts of load-devices.ts and load-alerts.ts: databases, the team of the backend, and metrics of the hub. */
import { mkdtempSync, rmSync } from "node:fs";
import os, { tmpdir } from "node:os";
import { join } from "node:path";
import { findPostgres, PostgresServer } from "boxwright-service/testing/postgres";
import { HubProcess, makeKey, run, useLinkAt } from "../test/support/process.ts";

export type Env = Readonly<Record<string, string>>;

/** Runs a report on SQLite and PostgreSQL. `--sqlite` and `--postgres` in the command line choose one of them. */
export async function onDatabases(report: (database: string, env: Env) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "hub-load-"));
  const base = { HUB_LOG_LEVEL: "warn", HUB_MAX_DEVICES: "20000", HUB_FILES: join(folder, "files") };
  const wanted = (name: string, other: string): boolean => process.argv.includes(name) || !process.argv.includes(other);
  console.log(
    `${os.cpus().length} cores shared with the generator, load ${os.loadavg()[0]!.toFixed(1)}, ${process.version}`,
  );
  if (wanted("--sqlite", "--postgres")) await report("SQLite", { ...base, HUB_DATABASE_FILE: join(folder, "hub.db") });
  if (wanted("--postgres", "--sqlite")) {
    if (findPostgres() === undefined) console.log("PostgreSQL is not installed: its half is left out");
    else {
      const server = await PostgresServer.create();
      await report("PostgreSQL", { ...base, DATABASE_URL: await server.newDatabase() });
      await server.remove();
    }
  }
  rmSync(folder, { recursive: true, force: true });
}

/** Makes a team with 25 devices, and returns its API key. */
export async function prepare(env: Env): Promise<string> {
  const first = await run(["init", "--email", "load@example.org", "--team", "Load"], env);
  const { team, link } = first.json as { team: { id: string }; link: string };
  const names = Array.from({ length: 25 }, (_, i) => `Device number ${i}`).join("\n");
  const devices = await run(["devices", "import", "--team", team.id, "-"], env, { input: names });
  if (devices.code !== 0) throw new Error(devices.stderr);
  const hub = await HubProcess.start(env);
  const key = await makeKey(await useLinkAt(hub.url, link), team.id);
  await hub.stop();
  return key;
}

/** Returns the value of a metric of the hub. */
export async function metricOf(port: number, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)`, "m").exec(text)?.[1]);
}
