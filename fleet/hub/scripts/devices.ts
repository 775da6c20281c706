/**
 * 10,000 devices for the load report. The script adds the devices directly to the database; they send heartbeats, and
 * wait for a config.
 */
import { randomBytes } from "node:crypto";
import http from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "boxwright-service/database";
import { HEARTBEAT_SECONDS, type Heartbeat } from "boxwright-service/schema/protocol";
import { openDatabase } from "../src/database/open.ts";
import { createApp, saveVersion } from "../src/nouns/application.ts";
import { assign, type Assign, type Assignment } from "../src/nouns/assignment.ts";
import { addCredential } from "../src/nouns/credential.ts";
import { addDevices } from "../src/nouns/device.ts";
import { createGroup } from "../src/nouns/group.ts";
import { addTeam } from "../src/nouns/team.ts";
import { numberOf } from "./hubs.ts";

/** `--devices N` in the command line tries a report out with fewer devices. */
export const DEVICES = numberOf("--devices", 10_000);
const AT = "127.0.0.1";
/** The application in the reports of all devices. */
const REPORTED = { identifier: "gate", version: "gate:0123456789abcdef", state: "applied" } as const;

/** Opens the database that the hub's environment variables name. */
export const open = (env: Readonly<Record<string, string>>): Promise<Database> =>
  openDatabase(
    { databaseUrl: env["DATABASE_URL"], databaseFile: env["HUB_DATABASE_FILE"] ?? "", databasePool: 1 },
    { create: false },
  );

export interface Fleet {
  readonly teamId: string;
  /** Group that contains all devices. */
  readonly groupId: string;
  readonly appId: string;
  readonly credentials: readonly string[];
  /** Ids of the devices, in the order of their credentials. */
  readonly ids: readonly string[];
}

/** Enrols devices directly in the database, all at once, into one group. */
export async function enrolAll(db: Database): Promise<Fleet> {
  const now = Date.now();
  const { id: teamId } = await addTeam(db, now, "load", "Fleet");
  const names = Array.from({ length: DEVICES }, (_, i) => ({ name: `Camera ${i}` }));
  const devices = await addDevices(db, now, teamId, DEVICES, names);
  const credentials = await db.write(async (tx) => {
    const made: string[] = [];
    for (const { id } of devices) {
      await tx.all(
        "INSERT INTO device_states (team_id, device_id, enrolled_at, enrolled_by, model, architecture, version, counter, application, application_version, application_state, contacts, restarts, drops) VALUES (?, ?, ?, 'load', 'm', 'x', '1', 0, ?, ?, ?, 0, 0, 0)",
        [teamId, id, now, REPORTED.identifier, REPORTED.version, REPORTED.state],
      );
      made.push((await addCredential(tx, now, teamId, id)).key);
    }
    await tx.all("UPDATE device_credentials SET used_at = ?", [now]);
    return made;
  });
  const { id: groupId } = await createGroup(db, { now, actor: "load", teamId }, "All");
  await db.write((tx) =>
    tx.all(
      "INSERT INTO device_group_members (team_id, group_id, device_id) SELECT team_id, CAST(? AS TEXT), id FROM devices WHERE team_id = ?",
      [groupId, teamId],
    ),
  );
  const { id: appId } = await createApp(db, { now, actor: "load", teamId }, { name: "Gate" });
  return { teamId, groupId, appId, credentials, ids: devices.map(({ id }) => id) };
}

/**
 * Gives all devices a new version directly in the database, in steps if there are gates. The hub notices the change by
 * a counter in the database.
 */
export async function giveVersion(
  db: Database,
  { teamId, groupId, appId }: Fleet,
  gates: Pick<Assign, "steps" | "waitMinutes"> = {},
): Promise<Assignment> {
  const now = Date.now();
  const content = { config: null, options: { topK: now % 1000 }, model: null, snaps: [] };
  const { version } = await saveVersion(db, { now, actor: "load", teamId }, appId, { content, description: "" });
  const given = { target: { kind: "group", id: groupId }, appId, version: version.number, ...gates } as const;
  return assign(db, { now, actor: "load", teamId }, given);
}

export interface Beats {
  sent: number;
  wrong: number;
  /** Number of wrong answers by status or error code. */
  readonly reasons: Map<string, number>;
}

/** Sends heartbeats of all devices, spread evenly, until `over()` is true. */
export async function sendBeats(port: number, credentials: readonly string[], over: () => boolean): Promise<Beats> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 200 });
  const processes = credentials.map(() => randomBytes(8).toString("hex"));
  const counts: Beats = { sent: 0, wrong: 0, reasons: new Map() };
  const fail = (reason: string): void => {
    counts.wrong++;
    counts.reasons.set(reason, (counts.reasons.get(reason) ?? 0) + 1);
  };
  const perSecond = credentials.length / HEARTBEAT_SECONDS;
  const start = performance.now();
  const first = Math.floor(Date.now() / 1000);
  const send = (i: number, counter: number): void => {
    const beat: Heartbeat = {
      ...{
        counter: first + counter,
        process_id: processes[i]!,
        version: "1.0.0",
        model: "Pi 5",
        architecture: "arm64",
      },
      ...{ time: new Date().toISOString(), application: REPORTED },
      ...{ frames: counter * 900, dropped: 0, lost: 0, decode_ms: { p50: 2, p99: 9 } },
      spool: { bytes: 0, limit: 64_000_000, frames: 0 },
    };
    const body = JSON.stringify(beat);
    const headers = {
      authorization: `Bearer ${credentials[i]}`,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    };
    const request = http.request({ agent, port, host: AT, method: "POST", path: "/device/heartbeat", headers });
    request.on("response", (response) => {
      if (response.statusCode !== 200) fail(String(response.statusCode));
      response.resume();
    });
    request.on("error", (error: NodeJS.ErrnoException) => void (over() || fail(error.code ?? error.message)));
    request.end(body);
  };
  while (!over()) {
    const due = Math.floor(((performance.now() - start) / 1000) * perSecond);
    while (counts.sent < due) {
      send(counts.sent % credentials.length, Math.floor(counts.sent / credentials.length) + 1);
      counts.sent++;
    }
    await sleep(5);
  }
  agent.destroy();
  return counts;
}

/**
 * Devices that wait for a config, each on its own connection. After each answer, a device waits for the next config.
 */
export class Waiting {
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: Infinity });
  readonly #port: number;
  /** ETag of the config that each device has. */
  readonly #etags: (string | undefined)[];
  #isOver = false;
  wrong = 0;
  /**
   * Number of devices that have a version. After `forget`, number of devices that have got another version since that
   * call.
   */
  informed = 0;

  readonly #onVersion: (device: number, etag: string) => void;

  private constructor(port: number, count: number, onVersion: (device: number, etag: string) => void) {
    this.#port = port;
    this.#onVersion = onVersion;
    this.#etags = Array<string | undefined>(count).fill(undefined);
  }

  /**
   * Starts all waits, 500 per second. Resolves when all devices wait.
   * @param onVersion called when a device gets a version
   */
  static async start(
    port: number,
    credentials: readonly string[],
    onVersion: (device: number, etag: string) => void = () => undefined,
  ): Promise<Waiting> {
    const waiting = new Waiting(port, credentials.length, onVersion);
    for (const [i, credential] of credentials.entries()) {
      waiting.#ask(i, credential);
      if (i % 50 === 49) await sleep(100);
    }
    return waiting;
  }

  #ask(i: number, credential: string): void {
    const etag = this.#etags[i];
    const held = etag === undefined ? {} : { "if-none-match": etag };
    const headers = { authorization: `Bearer ${credential}`, prefer: "wait=50", ...held };
    const options = { agent: this.#agent, port: this.#port, host: AT, path: "/device/config", headers };
    const request = http.get(options, (response) => {
      const { statusCode } = response;
      if (statusCode === 200) {
        this.#etags[i] = response.headers.etag;
        this.informed++;
        this.#onVersion(i, this.#etags[i]!);
      } else if (statusCode !== 204 && statusCode !== 304) this.wrong++;
      response.resume().on("end", () => void (this.#isOver || this.#ask(i, credential)));
    });
    request.on("error", () => void (this.#isOver || this.wrong++));
  }

  stop(): void {
    this.#isOver = true;
    this.#agent.destroy();
  }
}
