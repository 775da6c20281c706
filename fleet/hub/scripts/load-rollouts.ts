/**
 * Load report of roll-outs: `npm run load:rollouts`, on SQLite and PostgreSQL. A backend asks for the device list of a
 * team of 25 devices, 80 times a second. 10,000 devices of another team wait for a version, each on its own connection,
 * and report each version that they get, at most 100 at the same time.
 *
 * - 3 % of the devices report a failure: the roll-out runs through its steps to its end by itself.
 * - 6 % report a failure: the roll-out stops.
 *
 * The report takes about 3 minutes for each database. `-- --sqlite` and `-- --postgres` report on one database.
 */
import http from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "boxwright-service/database";
import { findAssignment, placeInRollout } from "../src/nouns/assignment.ts";
import { HubProcess } from "../test/support/process.ts";
import { DEVICES, enrolAll, giveVersion, open, Waiting, type Fleet } from "./devices.ts";
import { cpuOf, onDatabases, prepare, UNLIMITED } from "./hubs.ts";
import { steady } from "./steady.ts";
import { table } from "./table.ts";

const PACE = 80;
const SECONDS = 45;
const STEPS = [1, 10, 50, 100];
const PATIENCE_MS = 120_000;

const rows = [
  [
    "database",
    "beside",
    "p50 ms",
    "p99 ms",
    "slowest",
    "to quiet",
    "ended",
    "seconds",
    "reports",
    "hub CPU, us a report",
  ],
];
let wrong = 0;

/** Devices that report each version, some of them as failed. */
class Reports {
  readonly #port: number;
  readonly #fleet: Fleet;
  readonly #agent = new http.Agent({ maxSockets: 100 });
  failing = new Set<string>();
  count = 0;

  constructor(port: number, fleet: Fleet) {
    this.#port = port;
    this.#fleet = fleet;
  }

  send(device: number, etag: string): void {
    const isFailed = this.failing.has(this.#fleet.ids[device]!);
    const error = isFailed ? { error: { code: "config", message: "cannot run it" } } : {};
    const body = JSON.stringify({ version: etag, state: isFailed ? "failed" : "applied", ...error });
    const headers = {
      ...{ authorization: `Bearer ${this.#fleet.credentials[device]}`, "content-type": "application/json" },
      "content-length": Buffer.byteLength(body),
    };
    const place = { agent: this.#agent, port: this.#port, host: "127.0.0.1", path: "/device/report" };
    const request = http.request({ ...place, method: "POST", headers }, (response) => {
      if (response.statusCode! >= 300) wrong++;
      this.count++;
      response.resume();
    });
    request.on("error", () => void wrong++);
    request.end(body);
  }

  stop(): void {
    this.#agent.destroy();
  }
}

/** Starts a roll-out in which one of `every` devices fails, and measures until it ends. */
async function rollOut(
  { database, hub, key, db, fleet, reports }: Site,
  { every, wanted, quiet }: { readonly every: number; readonly wanted: string; readonly quiet: number },
): Promise<void> {
  const find = () => findAssignment(db, fleet.teamId, { kind: "group", id: fleet.groupId });
  const [before, cpu, since] = [reports.count, await cpuOf(hub.port), performance.now()];
  const asking = steady(hub.port, key, PACE, SECONDS);
  const { rollout_id, next_version } = await giveVersion(db, fleet, { steps: STEPS, waitMinutes: 0 });
  // Let every n-th device in the order of the roll-out fail, so that each step has the same share of failures.
  const order = fleet.ids.toSorted((a, b) => placeInRollout(a, rollout_id!) - placeInRollout(b, rollout_id!));
  reports.failing = new Set(order.filter((_, i) => i % every === every - 1));
  let state = await find();
  while (state?.rollout_state === "running" && performance.now() - since < PATIENCE_MS) {
    await sleep(200);
    state = await find();
  }
  const seconds = (performance.now() - since) / 1000;
  const asked = await asking;
  wrong += asked.wrong;
  const isComplete = state?.version === next_version;
  const ended = isComplete ? "completed" : `${state?.rollout_state} at ${state?.share} %`;
  if (!ended.startsWith(wanted)) {
    wrong++;
    console.log(`FAILED: ${database}: got a roll-out ${ended}, expected it ${wanted}`);
  }
  const count = reports.count - before;
  const perReport = (((await cpuOf(hub.port)) - cpu) / count) * 1e6;
  const ms = [asked.p50, asked.p99, asked.slowest].map((value) => value.toFixed(1));
  const share = `roll-out, ${((100 * reports.failing.size) / DEVICES).toFixed(0)} % fail`;
  const told = [ended, seconds.toFixed(1), String(count), perReport.toFixed(0)];
  rows.push([database, share, ...ms, `${(asked.p99 / quiet).toFixed(2)}x`, ...told]);
}

interface Site {
  readonly database: string;
  readonly hub: HubProcess;
  readonly key: string;
  readonly db: Database;
  readonly fleet: Fleet;
  readonly reports: Reports;
}

await onDatabases(async (database, env) => {
  const [key] = await prepare(env);
  const db = await open(env);
  const fleet = await enrolAll(db);
  await giveVersion(db, fleet);
  const hub = await HubProcess.start({ ...env, ...UNLIMITED });
  const reports = new Reports(hub.port, fleet);
  const waiting = await Waiting.start(hub.port, fleet.credentials, (device, etag) => reports.send(device, etag));
  while (reports.count < DEVICES) await sleep(100);
  const quiet = await steady(hub.port, key, PACE, 20);
  rows.push([
    ...[database, "waiting devices", quiet.p50.toFixed(1), quiet.p99.toFixed(1), quiet.slowest.toFixed(1)],
    ...["", "", "", "", ""],
  ]);
  const site = { database, hub, key, db, fleet, reports };
  await rollOut(site, { every: 33, wanted: "completed", quiet: quiet.p99 });
  await rollOut(site, { every: 16, wanted: "stopped", quiet: quiet.p99 });
  wrong += waiting.wrong;
  waiting.stop();
  reports.stop();
  await hub.stop();
  await db.close();
});
table(rows);
console.log(`expected: the first roll-out completes, the second one stops; ${wrong} wrong answers`);
if (wrong > 0) process.exitCode = 1;
