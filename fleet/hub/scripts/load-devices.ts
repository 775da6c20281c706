/**
 * Load report of devices: `npm run load:devices`, on SQLite and PostgreSQL. A backend asks for the device list of a
 * team of 25 devices, 80 times a second, while 10,000 devices of another team
 *
 * - send one heartbeat each in 30 s. Quiet and loaded phases alternate, since the machine may have other work;
 * - wait for a config, each on its own connection, with heartbeats and without;
 * - all get a new version.
 *
 * `-- --seconds N` sets the total length of the phases with heartbeats, 120 by default. The report takes about twice as
 * long for each database. `-- --sqlite` and `-- --postgres` report on one database. 10,000 connections need a higher
 * `ulimit -n`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { HubProcess } from "../test/support/process.ts";
import { DEVICES, enrolAll, giveVersion, open, sendBeats, Waiting, type Fleet } from "./devices.ts";
import { cpuOf, metricOf, numberOf, onDatabases, prepare, type Env } from "./hubs.ts";
import { steady, type Steady } from "./steady.ts";
import { table } from "./table.ts";

/** Requests per second of the backend. */
const PACE = 80;
/** Number of pairs of a quiet and a loaded phase. */
const PHASES = 4;
/** Milliseconds within which a new version must reach all devices. */
const PATIENCE_MS = 60_000;
const MEMORY = "process_resident_memory_bytes";
const seconds = numberOf("--seconds", 120);
const PHASE_SECONDS = seconds / PHASES;
const QUIET_SECONDS = Math.min(10, PHASE_SECONDS);

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN;

/** Rows of the result table, and the problems found. */
class Report {
  readonly rows: string[][] = [["database", "beside", "p50 ms", "p99 ms", "slowest", "to quiet"]];
  readonly notes: string[] = [];
  wrong = 0;
  readonly #database: string;

  constructor(database: string) {
    this.#database = database;
  }

  /** Adds the medians of phases. `quiets` are the quiet phases before each of `phases`. */
  add(name: string, phases: readonly Steady[], quiets?: readonly Steady[]): void {
    const of = (what: "p50" | "p99" | "slowest"): string => median(phases.map((one) => one[what])).toFixed(1);
    const ratio = quiets === undefined ? "" : median(phases.map(({ p99 }, i) => p99 / quiets[i]!.p99)).toFixed(2) + "x";
    this.rows.push([this.#database, name, of("p50"), of("p99"), of("slowest"), ratio]);
    for (const { wrong } of phases) this.wrong += wrong;
  }

  note(text: string): void {
    this.notes.push(`${this.#database}: ${text}`);
  }
}

/** Measures quiet phases and phases with heartbeats in turn. */
async function beats(hub: HubProcess, key: string, { credentials }: Fleet, report: Report): Promise<void> {
  const [quiets, loaded]: [Steady[], Steady[]] = [[], []];
  let [sent, cpu] = [0, 0];
  for (let phase = 0; phase < PHASES; phase++) {
    const start = await cpuOf(hub.port);
    quiets.push(await steady(hub.port, key, PACE, QUIET_SECONDS));
    const between = await cpuOf(hub.port);
    const done = await beside(hub, credentials, () => steady(hub.port, key, PACE, PHASE_SECONDS), report);
    loaded.push(done.result);
    sent += done.sent;
    // Subtract what the backend's requests cost without heartbeats.
    cpu += (await cpuOf(hub.port)) - between - ((between - start) * PHASE_SECONDS) / QUIET_SECONDS;
  }
  report.add("nothing", quiets);
  report.add("heartbeats", loaded, quiets);
  report.note(`${sent} heartbeats in ${seconds} s, ${((cpu / sent) * 1e6).toFixed(0)} us of the hub's CPU for each`);
}

/** Runs `work` while all devices send heartbeats. */
async function beside<T>(
  hub: HubProcess,
  credentials: readonly string[],
  work: () => Promise<T>,
  report: Report,
): Promise<{ result: T; sent: number }> {
  let isOver = false;
  const beating = sendBeats(hub.port, credentials, () => isOver);
  const result = await work();
  isOver = true;
  const { sent, wrong } = await beating;
  report.wrong += wrong;
  return { result, sent };
}

async function waits(hub: HubProcess, key: string, fleet: Fleet, env: Env, report: Report): Promise<void> {
  const { credentials } = fleet;
  const ask = (forSeconds: number): Promise<Steady> => steady(hub.port, key, PACE, forSeconds);
  const quiet = [await ask(QUIET_SECONDS)];
  const before = await metricOf(hub.port, MEMORY);
  const waiting = await Waiting.start(hub.port, credentials);
  const bytes = ((await metricOf(hub.port, MEMORY)) - before) / DEVICES;
  report.add("waiting", [await ask(PHASE_SECONDS)], quiet);
  const both = await beside(hub, credentials, () => ask(PHASE_SECONDS), report);
  report.add("waiting, heartbeats", [both.result], quiet);
  const asking = ask(Math.max(15, QUIET_SECONDS));
  await sleep(2000);
  const db = await open(env);
  const since = performance.now();
  await giveVersion(db, fleet);
  while (waiting.informed < DEVICES && performance.now() - since < PATIENCE_MS) await sleep(20);
  const took = (performance.now() - since) / 1000;
  await db.close();
  report.add("a new version for all", [await asking], quiet);
  report.note(
    `a waiting device took ${(bytes / 1000).toFixed(1)} kB of the hub; ` +
      `a new version reached ${waiting.informed} of ${DEVICES} in ${took.toFixed(1)} s`,
  );
  waiting.stop();
  report.wrong += waiting.wrong + (waiting.informed === DEVICES ? 0 : 1);
}

const reports: Report[] = [];
await onDatabases(async (database, env) => {
  const report = new Report(database);
  reports.push(report);
  const [key] = await prepare(env);
  const db = await open(env);
  const fleet = await enrolAll(db);
  await db.close();
  const limits = { HUB_ADDRESS_CONNECTIONS: "20000", HUB_CONNECTIONS: "30000" };
  const hub = await HubProcess.start({ ...env, ...limits });
  await beats(hub, key, fleet, report);
  await waits(hub, key, fleet, env, report);
  await hub.stop();
});
table(reports.flatMap(({ rows }, i) => (i === 0 ? rows : rows.slice(1))));
for (const { notes } of reports) for (const note of notes) console.log(note);
const wrong = reports.reduce((sum, report) => sum + report.wrong, 0);
console.log(`expected: p99 at most 2x of quiet, all devices in ${PATIENCE_MS / 1000} s; ${wrong} wrong answers`);
if (wrong > 0) process.exitCode = 1;
