/**
 * Random kills of host, NATS broker and PostgreSQL. `npm run kills` sets the variables: for how long, and of what.
 * The oracle stands outside of the services: a file that has each id before the next frame is sent, and the rows of
 * the database, which are read without a host.
 */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { jetstream } from "@nats-io/jetstream";
import Libsql from "libsql";
import pg from "pg";
import { afterAll, expect, inject, test } from "vitest";
import { Broker } from "boxwright-service/testing/broker";
import { Child } from "boxwright-service/testing/child";
import { Mosquitto } from "boxwright-service/testing/mosquitto";
import { PostgresServer } from "boxwright-service/testing/postgres";
import { SEED as RUN_SEED } from "boxwright-service/testing/random";
import { sleep, until } from "boxwright-service/testing/wait";
import { decoder, detectionPacket, frameSize, outputsOf } from "../support/frames.ts";
import { temporaryFolder } from "../support/host.ts";
import { HostProcess } from "../support/process.ts";

const env = (name: string, fallback: string): string => process.env[name] ?? fallback;
const MINUTES = Number(env("KILLS_MINUTES", "0.3"));
const transports = env("KILLS_TRANSPORTS", "http,nats,mqtt").split(",");
const databases = env("KILLS_DATABASES", "sqlite,postgres").split(",");
const SEED = Number(env("KILLS_SEED", String(RUN_SEED)));
const SENDERS = 8;
const runs = transports.flatMap((transport) => databases.map((database) => ({ transport, database })));

afterAll(() => Child.killAll());

/** Numbers from 0 to 1 that a seed repeats (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A way for packets to the host. `send` resolves once the packet is acknowledged. */
interface Way {
  readonly options: Readonly<Record<string, string | number>>;
  readonly send: (packet: Uint8Array, source: string, id: string, host: HostProcess) => Promise<void>;
  /** Processes that may be killed besides host and database. */
  readonly kill?: () => Promise<void>;
  readonly end: () => Promise<void>;
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

async function openWay(transport: string): Promise<Way> {
  if (transport === "nats") {
    const broker = await Broker.start();
    const connection = await broker.connect();
    return {
      options: { nats: broker.url, "ack-wait": 2 },
      async send(packet, source, id) {
        const options = { msgID: hashOf(`${source}\n${id}`), timeout: 2000 };
        await jetstream(connection).publish(`boxwright.packets.0.${source.slice(-1)}`, packet, options);
      },
      async kill() {
        await broker.kill();
        await broker.start();
      },
      async end() {
        await connection.close();
        await broker.remove();
      },
    };
  }
  if (transport === "mqtt") {
    const broker = await Mosquitto.start();
    const client = await broker.connect();
    // A broker acknowledges what it may drop later, from a queue that is full. The answer of the host counts.
    const waiting = new Map<string, () => void>();
    client.on("message", (_topic, _payload, { properties }) => waiting.get(String(properties?.correlationData))?.());
    await client.subscribeAsync("boxwright/answers/kills", { qos: 1 });
    return {
      options: { mqtt: broker.url },
      async send(packet, source, id) {
        const key = `${source} ${id}`;
        const answered = new Promise<void>((resolve) => waiting.set(key, resolve));
        const properties = { responseTopic: "boxwright/answers/kills", correlationData: Buffer.from(key) };
        const topic = `boxwright/packets/${source.slice(-1)}/door`;
        await client.publishAsync(topic, Buffer.from(packet), { qos: 1, properties });
        const late = sleep(3000).then(() => Promise.reject(new Error("no answer in time")));
        late.catch(() => undefined);
        await Promise.race([answered, late]).finally(() => waiting.delete(key));
      },
      async end() {
        await client.endAsync(true);
        await broker.remove();
      },
    };
  }
  return {
    options: {},
    async send(packet, _source, _id, host) {
      const body = packet as Uint8Array<ArrayBuffer>;
      const signal = AbortSignal.timeout(10_000);
      const { status } = await fetch(`${host.url}/v1/packets`, { method: "POST", body, signal });
      if (status !== 204) throw new Error(String(status));
    },
    end: () => Promise.resolve(),
  };
}

interface Row {
  readonly name: string;
  readonly place: string;
  readonly detections: string;
}

interface Stored {
  readonly rows: Row[];
  /** Number of frames that the cameras have. */
  readonly counted: number;
  /** Counts of what was seen: place, label, frames, detections. */
  readonly seen: string[];
}

/** Reads a database without a host. */
async function readRows(place: string): Promise<Stored> {
  const minute = "source || ' ' || subject || ' ' || ";
  const sql = `SELECT source || ' ' || id AS name, ${minute} substr(time, 1, 16) AS place, detections FROM frames`;
  const counts = "SELECT CAST(sum(frames) AS INTEGER) AS n FROM cameras";
  const seen = `SELECT ${minute} minute || ' ' || label || ' ' || frames || ' ' || detections AS line FROM seen`;
  const sorted = (lines: { line: string }[]): string[] => lines.map(({ line }) => line).sort();
  if (place.startsWith("postgres")) {
    const client = new pg.Client(place);
    await client.connect();
    try {
      const { rows } = await client.query<Row>(sql);
      const { rows: lines } = await client.query<{ line: string }>(seen);
      return { rows, counted: (await client.query<{ n: number }>(counts)).rows[0]!.n, seen: sorted(lines) };
    } finally {
      await client.end();
    }
  }
  const db = new Libsql(place, { timeout: 5000 });
  const rows = db.prepare(sql).all() as Row[];
  const [{ n }] = db.prepare(counts).all() as [{ n: number }];
  const lines = db.prepare(seen).all() as { line: string }[];
  db.close();
  return { rows, counted: n, seen: sorted(lines) };
}

/** Counts what the frames show, as `seen` has to. */
function seenIn(rows: readonly Row[]): string[] {
  const counts = new Map<string, [frames: number, detections: number]>();
  const add = (key: string, more: number): void => {
    const [frames, detections] = counts.get(key) ?? [0, 0];
    counts.set(key, [frames + 1, detections + more]);
  };
  for (const { place, detections } of rows) {
    const labels = (JSON.parse(detections) as { label: string }[]).map(({ label }) => label);
    add(`${place} `, labels.length);
    for (const one of new Set(labels)) add(`${place} ${one}`, labels.filter((label) => label === one).length);
  }
  return [...counts].map(([key, [frames, detections]]) => `${key} ${frames} ${detections}`).sort();
}

test.each(runs)(
  `$transport on $database: what was acknowledged is stored once, seed ${SEED}`,
  async ({ transport, database }) => {
    const isHere = { nats: inject("nats"), mqtt: inject("mosquitto"), postgres: inject("postgres") !== undefined };
    if ([transport, database].some((part) => isHere[part as keyof typeof isHere] === false)) return;
    const random = randomOf(SEED + runs.findIndex((run) => run.transport === transport && run.database === database));
    const folder = temporaryFolder().path;
    const oracle = join(folder, "acknowledged");
    writeFileSync(oracle, "");
    const server = database === "postgres" ? await PostgresServer.create() : undefined;
    const place = server === undefined ? join(folder, "host.db") : await server.newDatabase();
    const way = await openWay(transport);
    const start = async (): Promise<HostProcess> => {
      const host = await HostProcess.start({ database: place, ...way.options });
      if (transport !== "http") await host.says(/taking packets/);
      return host;
    };
    let host = await start();
    let isOver = false;
    const senders = Array.from({ length: SENDERS }, async (_, sender) => {
      const source = `/devices/${sender}`;
      for (let n = sender; !isOver; n += SENDERS) {
        const id = `frame-${n}`;
        // As an agent does: the same packet until it is acknowledged.
        for (let isDone = false; !isDone;)
          isDone = await way.send(detectionPacket(n, { source, id }), source, id, host).then(
            () => true,
            () => sleep(50, false),
          );
        appendFileSync(oracle, `${source} ${id}\n`);
        await sleep(5);
      }
    });
    const kills: Record<string, number> = { host: 0, broker: 0, postgres: 0 };
    const deadline = Date.now() + (MINUTES / runs.length) * 60_000;
    do {
      await sleep(100 + random() * 600);
      const what = random();
      if (server && what < 0.25) {
        kills["postgres"]!++;
        await server.kill();
        await server.start();
      } else if (way.kill && what < 0.5) {
        kills["broker"]!++;
        await way.kill();
      } else {
        kills["host"]!++;
        await host.end("SIGKILL");
        host = await start();
      }
    } while (Date.now() < deadline);
    isOver = true;
    await Promise.all(senders);
    const acknowledged = readFileSync(oracle, "utf8").split("\n").filter(Boolean);
    const lostIn = ({ rows }: Stored): string[] => {
      const names = new Set(rows.map(({ name }) => name));
      return acknowledged.filter((name) => !names.has(name));
    };
    // A broker gives again what a killed host had.
    await until(async () => lostIn(await readRows(place)).length === 0, "acknowledged frames in the database");
    expect(await host.end("SIGTERM")).toBe(0);
    const found = await readRows(place);
    console.log(
      `${transport} on ${database}: ${JSON.stringify(kills)} kills, ${acknowledged.length} acknowledged, ${lostIn(found).length} lost, seed ${SEED}`,
    );
    expect(lostIn(found)).toEqual([]);
    // Each frame once: the key of a row is its name, and the cameras have counted as many.
    expect(found.counted).toBe(found.rows.length);
    expect(found.seen).toEqual(seenIn(found.rows));
    for (const { name, detections } of found.rows.filter((_, i) => i % 29 === 0)) {
      const n = Number(name.split("frame-")[1]);
      expect(JSON.parse(detections)).toEqual(
        JSON.parse(JSON.stringify(decoder.decode(outputsOf(n), frameSize).toArray())),
      );
    }
    await way.end();
    await server?.remove();
  },
  MINUTES * 60_000 + 600_000,
);
