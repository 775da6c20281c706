/**
 * Load report of this checkout's hub beside the hub of another one: `npm run load:turns -- DIR`. Both checkouts are
 * installed, and the other one has fleet/hub/out: run `npm run build:scripts` there. Both hubs run at the same time on
 * SQLite, each with 10,000 devices, and are measured in turns of some seconds, since the machine may have other work.
 *
 * The report takes about 4 minutes. `--seconds N` sets the length of a turn, 8 by default. Read the ratios of CPU.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Database } from "boxwright-service/database";
import type { HubProcess } from "../test/support/process.ts";
import type { Fleet } from "./devices.ts";
import { cpuOf, load, metricOf, numberOf, onSqlite, prepare, UNLIMITED } from "./hubs.ts";
import { steady } from "./steady.ts";
import { table } from "./table.ts";

type Devices = typeof import("./devices.ts");
type Process = typeof import("../test/support/process.ts");

const SECONDS = numberOf("--seconds", 8);
const PACE = 80;
const CONNECTIONS = 32;
const PATIENCE_MS = 60_000;
const OWN = fileURLToPath(new URL("../../../..", import.meta.url));

/** Sums of a measure, and the number of its turns. */
type Measures = Map<string, { sum: number; turns: number }>;

/** The hub of a checkout, with devices that speak its protocol. */
class Hub {
  readonly measures: Measures = new Map();
  wrong = 0;
  readonly #process: HubProcess;
  readonly #port: number;
  readonly #key: string;
  readonly #devices: Devices;
  readonly #db: Database;
  readonly #fleet: Fleet;

  private constructor(process: HubProcess, key: string, devices: Devices, db: Database, fleet: Fleet) {
    this.#process = process;
    this.#port = process.port;
    this.#key = key;
    this.#devices = devices;
    this.#db = db;
    this.#fleet = fleet;
  }

  static async start(checkout: string, folder: string): Promise<Hub> {
    const out = join(checkout, "fleet/hub/out");
    const devices = (await import(join(out, "scripts/devices.js"))) as Devices;
    const process = (await import(join(out, "test/support/process.js"))) as Process;
    const env = onSqlite(folder);
    const [key] = await prepare(env, process);
    const db = await devices.open(env);
    const fleet = await devices.enrolAll(db);
    return new Hub(await process.HubProcess.start({ ...env, ...UNLIMITED }), key, devices, db, fleet);
  }

  async stop(): Promise<void> {
    await this.#process.stop();
    await this.#db.close();
  }

  #note(measure: string, value: number): void {
    const { sum, turns } = this.measures.get(measure) ?? { sum: 0, turns: 0 };
    this.measures.set(measure, { sum: sum + value, turns: turns + 1 });
  }

  /** Runs `work`, and returns the hub's seconds of CPU. */
  async #cpuOf(work: () => Promise<unknown>): Promise<number> {
    const before = await cpuOf(this.#port);
    await work();
    return (await cpuOf(this.#port)) - before;
  }

  /** Asks for the list of devices at a steady pace. */
  async #ask(beside: string): Promise<void> {
    const asked = await steady(this.#port, this.#key, PACE, SECONDS);
    this.wrong += asked.wrong;
    this.#note(`p99 of the key query beside ${beside}, ms`, asked.p99);
  }

  async requests(): Promise<void> {
    const done = await load(this.#port, this.#key, CONNECTIONS, SECONDS);
    this.wrong += done.wrong;
    this.#note("requests with a key a second", done.perSecond);
    this.#note("CPU of a request, us", done.cpu);
  }

  async heartbeats(): Promise<void> {
    const quiet = await this.#cpuOf(() => this.#ask("nothing"));
    let isOver = false;
    let sent = 0;
    const cpu = await this.#cpuOf(async () => {
      const beating = this.#devices.sendBeats(this.#port, this.#fleet.credentials, () => isOver);
      await this.#ask("heartbeats");
      isOver = true;
      const beats = await beating;
      sent = beats.sent;
      this.wrong += beats.wrong;
    });
    this.#note("CPU of a heartbeat, us", ((cpu - quiet) / sent) * 1e6);
  }

  /** Lets all devices wait for a version, and gives them one. */
  async waits(): Promise<void> {
    const memory = (): Promise<number> => metricOf(this.#port, "process_resident_memory_bytes");
    const before = await memory();
    const { credentials } = this.#fleet;
    let waiting: Awaited<ReturnType<Devices["Waiting"]["start"]>>;
    const cpu = await this.#cpuOf(async () => (waiting = await this.#devices.Waiting.start(this.#port, credentials)));
    this.#note("CPU of a request that waits, us", (cpu / credentials.length) * 1e6);
    this.#note("memory of a waiting device, kB", ((await memory()) - before) / credentials.length / 1000);
    await this.#ask("waiting devices");
    const since = performance.now();
    const told = await this.#cpuOf(async () => {
      await this.#devices.giveVersion(this.#db, this.#fleet);
      while (waiting.informed < credentials.length && performance.now() - since < PATIENCE_MS) await sleep(20);
    });
    this.#note("CPU of a new version for all, us a device", (told / credentials.length) * 1e6);
    this.#note("seconds until all have the new version", (performance.now() - since) / 1000);
    this.wrong += waiting!.wrong + (waiting!.informed === credentials.length ? 0 : 1);
    waiting!.stop();
    // Let the hub close 10,000 connections before the next turn.
    await sleep(2000);
  }
}

const other = process.argv[2];
if (other === undefined || other.startsWith("--"))
  throw new Error("got no folder, expected the one of another checkout: npm run load:turns -- DIR");
const folders = [OWN, other].map(() => mkdtempSync(join(tmpdir(), "hub-turns-")));
const hubs = [await Hub.start(OWN, folders[0]!), await Hub.start(other, folders[1]!)] as const;
const [mine, others] = hubs;
for (const hub of [mine, others, others, mine]) await hub.requests();
for (const hub of [mine, others, others, mine]) await hub.heartbeats();
for (const hub of [others, mine]) await hub.waits();
for (const hub of hubs) await hub.stop();
for (const folder of folders) rmSync(folder, { recursive: true, force: true });

const mean = (measures: Measures, name: string): number => measures.get(name)!.sum / measures.get(name)!.turns;
table([
  ["mean of the turns", "this", "other", "this to other"],
  ...[...mine.measures.keys()].map((name) => {
    const [a, b] = [mean(mine.measures, name), mean(others.measures, name)];
    return [name, a.toFixed(1), b.toFixed(1), (a / b).toFixed(2)];
  }),
]);
const wrong = mine.wrong + others.wrong;
console.log(`${wrong} wrong answers`);
if (wrong > 0) process.exitCode = 1;
