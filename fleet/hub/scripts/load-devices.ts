/**
 * Load report of heartbeats: `npm run load:devices`. 10,000 devices of one team send one in 30 s each, to one process
 * on SQLite, while a backend asks for the list of another team. `-- --seconds N` sets the length, 120 by default.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import os, { tmpdir } from "node:os";
import { join } from "node:path";
import { HEARTBEAT_SECONDS, type Heartbeat } from "boxwright-service/fleet-protocol";
import { openDatabase } from "../src/database/open.ts";
import { addCredential } from "../src/nouns/credential.ts";
import { addDevices } from "../src/nouns/device.ts";
import { HubProcess, makeKey, run, useLinkAt } from "../test/support/process.ts";
import { steady } from "./steady.ts";

const DEVICES = 10_000;
/** Requests a second of the backend. */
const PACE = 80;
const QUIET_SECONDS = 20;
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
        "INSERT INTO device_states (team_id, device_id, enrolled_at, enrolled_by, model, architecture, version, counter, application_state, contacts, restarts, drops) VALUES (?, ?, ?, 'load', 'm', 'x', '1', 0, 'none', 0, 0, 0)",
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

const key = await prepare();
const credentials = await enrolAll();
const hub = await HubProcess.start({ ...env, HUB_ADDRESS_CONNECTIONS: "1000" });
console.log(`${os.cpus().length} cores shared with the generator, Node ${process.version}, SQLite`);
const row = (name: string, { p50, p99, wrong, sent }: Awaited<ReturnType<typeof steady>>): void =>
  console.log(`${name}: key query p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(1)} ms, ${wrong} of ${sent} wrong`);
const before = await steady(hub.port, key, PACE, QUIET_SECONDS);
row("quiet before", before);
let isOver = false;
const beating = sendBeats(hub.port, credentials, () => isOver);
const beside = await steady(hub.port, key, PACE, seconds);
isOver = true;
const { sent, wrong } = await beating;
row(`beside ${DEVICES} devices`, beside);
console.log(`${sent} heartbeats in ${seconds} s, ${wrong} not answered with 200`);
const after = await steady(hub.port, key, PACE, QUIET_SECONDS);
row("quiet after", after);
const quiet = (before.p99 + after.p99) / 2;
console.log(`p99 beside the devices is ${(beside.p99 / quiet).toFixed(2)}x of quiet (expected: at most 2x)`);
await hub.stop();
rmSync(folder, { recursive: true, force: true });
if (beside.wrong + wrong > 0) process.exitCode = 1;
