/**
 * Load report of devices: `npm run load:devices`. 10,000 devices of one team, one hub on SQLite.
 *
 * - Heartbeats: each device sends one in 30 s, while a backend asks for the list of another team. Quiet and loaded
 *   phases take turns, since the machine may have other work. `-- --seconds N` sets the length of all loaded ones,
 *   120 by default.
 * - Waiting: each device holds a request for its config on a connection of its own. The report has the memory of the
 *   hub for one, and the time until all of them know a new version. It needs `ulimit -n` above 10,000.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import os, { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HEARTBEAT_SECONDS, type Heartbeat } from "boxwright-service/fleet-protocol";
import { openDatabase } from "../src/database/open.ts";
import { createApp, saveVersion } from "../src/nouns/application.ts";
import { assign } from "../src/nouns/assignment.ts";
import { addCredential } from "../src/nouns/credential.ts";
import { addDevices } from "../src/nouns/device.ts";
import { createGroup } from "../src/nouns/group.ts";
import { HubProcess, makeKey, run, useLinkAt } from "../test/support/process.ts";
import { steady, type Steady } from "./steady.ts";

const DEVICES = 10_000;
/** Requests a second of the backend. */
const PACE = 80;
const QUIET_SECONDS = 10;
/** Pairs of a quiet and a loaded phase. */
const PHASES = 4;
const at = process.argv.indexOf("--seconds");
const seconds = at < 0 ? 120 : Number(process.argv[at + 1]);

const folder = mkdtempSync(join(tmpdir(), "hub-devices-"));
const file = join(folder, "hub.db");
const env = { HUB_DATABASE_FILE: file, HUB_LOG_LEVEL: "warn", HUB_MAX_DEVICES: "20000" };

/** Returns the key of a team with 25 devices. */
async function prepare(): Promise<string> {
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

/** Enrols devices past the hub, all at once. Returns their credentials. */
async function enrolAll(): Promise<string[]> {
  const added = await run(["teams", "add", "--name", "Fleet"], env);
  const { id: teamId } = added.json as { id: string };
  const db = await openDatabase({ databaseUrl: undefined, databaseFile: file, databasePool: 1 }, { create: false });
  const now = Date.now();
  const names = Array.from({ length: DEVICES }, (_, i) => ({ name: `Camera ${i}` }));
  const devices = await addDevices(db, now, teamId, DEVICES, names);
  const credentials = await db.write(async (tx) => {
    const made: string[] = [];
    for (const { id } of devices) {
      await tx.all(
        "INSERT INTO device_states (team_id, device_id, enrolled_at, enrolled_by, model, architecture, version, counter, application, application_version, application_state, contacts, restarts, drops) VALUES (?, ?, ?, 'load', 'm', 'x', '1', 0, 'gate', 'gate:0123456789abcdef', 'applied', 0, 0, 0)",
        [teamId, id, now],
      );
      made.push((await addCredential(tx, now, teamId, id)).key);
    }
    await tx.all("UPDATE device_credentials SET used_at = ?", [now]);
    return made;
  });
  await db.close();
  return credentials;
}

interface Beats {
  sent: number;
  wrong: number;
}

/** Sends heartbeats, spread evenly, until `over`. */
async function sendBeats(port: number, credentials: readonly string[], over: () => boolean): Promise<Beats> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 200 });
  const processes = credentials.map(() => randomBytes(8).toString("hex"));
  const counts: Beats = { sent: 0, wrong: 0 };
  const perSecond = credentials.length / HEARTBEAT_SECONDS;
  const start = performance.now();
  const send = (i: number, counter: number): void => {
    const beat: Heartbeat = {
      ...{ counter, process_id: processes[i]!, version: "1.0.0", model: "Pi 5", architecture: "arm64" },
      time: new Date().toISOString(),
      application: { identifier: "gate", version: "gate:0123456789abcdef", state: "applied" },
      ...{ frames: counter * 900, dropped: 0, lost: 0, decode_ms: { p50: 2, p99: 9 } },
      spool: { bytes: 0, limit: 64_000_000, frames: 0 },
    };
    const body = JSON.stringify(beat);
    const request = http.request({
      ...{ agent, port, host: "127.0.0.1", method: "POST", path: "/device/heartbeat" },
      headers: {
        authorization: `Bearer ${credentials[i]}`,
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
      },
    });
    request.on("response", (response) => {
      if (response.statusCode !== 200) counts.wrong++;
      response.resume();
    });
    request.on("error", () => void counts.wrong++);
    request.end(body);
  };
  while (!over()) {
    const due = Math.floor(((performance.now() - start) / 1000) * perSecond);
    while (counts.sent < due) {
      send(counts.sent % credentials.length, Math.floor(counts.sent / credentials.length) + 1);
      counts.sent++;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  agent.destroy();
  return counts;
}

/** Returns the resident bytes of the hub, by its own metrics. */
async function memoryOf(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]);
}

interface Waiting {
  /** Requests that were answered, by status. */
  readonly answers: Map<number | string, number>;
  readonly all: Promise<unknown>;
}

/** Lets every device wait for its config, 500 more a second. Resolves when all requests were sent. */
async function wait(port: number, credentials: readonly string[]): Promise<Waiting> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: Infinity });
  const answers = new Map<number | string, number>();
  const count = (what: number | string): void => void answers.set(what, (answers.get(what) ?? 0) + 1);
  const ends: Promise<void>[] = [];
  for (const [i, credential] of credentials.entries()) {
    const headers = { authorization: `Bearer ${credential}`, prefer: "wait=50" };
    ends.push(
      new Promise((resolve) => {
        http
          .get({ agent, port, host: "127.0.0.1", path: "/device/config", headers }, (response) => {
            count(response.statusCode ?? 0);
            response.resume().on("end", resolve);
          })
          .on("error", (error) => (count(error.message), resolve()));
      }),
    );
    if (i % 50 === 49) await sleep(100);
  }
  return { answers, all: Promise.all(ends).finally(() => agent.destroy()) };
}

/** Gives all devices of the fleet a version, past the hub. */
async function giveVersion(): Promise<void> {
  const db = await openDatabase({ databaseUrl: undefined, databaseFile: file, databasePool: 1 }, { create: false });
  const [team] = await db.all<{ id: string }>("SELECT id FROM teams WHERE name = 'Fleet'");
  const teamId = team!.id;
  const now = Date.now();
  const change = { now, actor: "load", teamId };
  const app = await createApp(db, now, "load", teamId, { name: "Gate" });
  const content = { config: null, options: {}, model: null, snaps: [] };
  await saveVersion(db, now, "load", teamId, app.id, { content, description: "" });
  const group = await createGroup(db, change, "All");
  await db.write(async (tx) => {
    await tx.all(
      "INSERT INTO device_group_members (team_id, group_id, device_id) SELECT team_id, ?, id FROM devices WHERE team_id = ?",
      [group.id, teamId],
    );
  });
  await assign(db, change, { target: { kind: "group", id: group.id }, appId: app.id, version: 1 });
  await db.close();
}

const key = await prepare();
const credentials = await enrolAll();
const hub = await HubProcess.start({ ...env, HUB_ADDRESS_CONNECTIONS: "20000", HUB_CONNECTIONS: "30000" });
console.log(`${os.cpus().length} cores shared with the generator, Node ${process.version}, SQLite`);
const row = (name: string, { p50, p99, wrong, sent }: Steady): void =>
  console.log(`${name}: key query p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(1)} ms, ${wrong} of ${sent} wrong`);
let wrong = 0;
const ratios: number[] = [];
for (let phase = 0; phase < PHASES; phase++) {
  const quiet = await steady(hub.port, key, PACE, QUIET_SECONDS);
  row("quiet", quiet);
  let isOver = false;
  const beating = sendBeats(hub.port, credentials, () => isOver);
  const beside = await steady(hub.port, key, PACE, seconds / PHASES);
  isOver = true;
  const beats = await beating;
  row(`beside ${DEVICES} devices, ${beats.sent} heartbeats`, beside);
  ratios.push(beside.p99 / quiet.p99);
  wrong += beside.wrong + beats.wrong;
}
const told = ratios.map((ratio) => `${ratio.toFixed(2)}x`).join(", ");
console.log(`p99 beside the devices, of the quiet before: ${told} (expected: at most 2x); ${wrong} wrong answers`);

const before = await memoryOf(hub.port);
const waiting = await wait(hub.port, credentials);
const perDevice = ((await memoryOf(hub.port)) - before) / DEVICES;
row(`beside ${DEVICES} waiting devices`, await steady(hub.port, key, PACE, 5));
const since = performance.now();
await giveVersion();
await waiting.all;
const answers = [...waiting.answers].map(([status, count]) => `${count} x ${status}`).join(", ");
console.log(
  `${DEVICES} devices waited, each on its own connection: ${(perDevice / 1000).toFixed(1)} kB of the hub for one; ` +
    `a new version reached all in ${((performance.now() - since) / 1000).toFixed(1)} s (${answers})`,
);
await hub.stop();
rmSync(folder, { recursive: true, force: true });
if (wrong > 0 || waiting.answers.get(200) !== DEVICES) process.exitCode = 1;
