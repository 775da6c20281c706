/**
 * Puts load on a pool: streams of raw packets of one [1,84,8400] frame, sent at a fixed rate, as f32, f16 and i8.
 *
 *     node --import ./bench/ts.mjs --no-warnings bench/pool-load.ts --seconds 600 --streams 64 --fps 30 --threads 2
 *
 * Each frame is copied from a prepared one, as a receiver copies it from a socket. The pool returns the memory, which
 * is then reused. `--out` writes counts and memory of each second as lines of JSON.
 *
 * The first table is of one stream that sends one frame after the other. It compares the pool's round trip with a
 * decode in this thread.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type * as Boxwright from "../src/entries/index.ts";
import type * as Pools from "../src/entries/pool.ts";
import { positive, runScript } from "./options.ts";
import { machineLine, madeBy } from "./report.ts";
import { layOut } from "./table.ts";
import { median } from "./turns.ts";
import { makeWorkload, WORKLOADS } from "./workloads.ts";

const built = (name: string): string => new URL(`../dist/${name}.mjs`, import.meta.url).href;
const TYPES = { f32: "v8@.25", f16: "v8-f16@.25", i8: "v8-int8@.25" } as const;
type TypeName = keyof typeof TYPES;

interface Second {
  readonly type: TypeName;
  readonly second: number;
  readonly sent: number;
  readonly out: number;
  readonly dropped: number;
  /** Resident memory in MB. */
  readonly memory: number;
}

interface Load {
  readonly streams: number;
  readonly fps: number;
  readonly seconds: number;
  readonly threads: number;
}

/** Returns the packet of a type's workload, and the config that decodes it. */
async function packetOf(type: TypeName): Promise<{ packet: Uint8Array; config: object }> {
  const { createDecoderSync } = (await import(built("index"))) as typeof Boxwright;
  const { toPacket } = (await import(built("index"))) as typeof Boxwright;
  const spec = WORKLOADS.find(({ name }) => name === TYPES[type]);
  if (!spec) throw new Error(`The workload ${TYPES[type]} is missing.`);
  const config = { family: "yolov8", classes: 80, inputSize: [640, 640] };
  const about = { id: "frame", source: "/load" };
  const { tensors } = makeWorkload(spec);
  return { packet: toPacket(createDecoderSync(config), tensors as Boxwright.Outputs, null, about), config };
}

/** Sends frames for a number of seconds. Returns the counts of each second, and the pool's final counts. */
async function run(type: TypeName, load: Load): Promise<{ seconds: Second[]; stats: Pools.PoolStats }> {
  const { createPool } = (await import(built("pool"))) as typeof Pools;
  const { packet, config } = await packetOf(type);
  const { threads, streams, fps } = load;
  const pool = await createPool({ networks: [{ config }], threads, queue: 2, policy: "drop-oldest" });
  // Memory for further packets. The pool returns the memory of decoded packets, and does not take that of dropped ones.
  const free: Uint8Array[] = [];
  const begin = performance.now();
  const seconds: Second[] = [];
  let sent = 0;
  while (performance.now() - begin < load.seconds * 1000) {
    const due = Math.floor(((performance.now() - begin) / 1000) * fps * streams);
    for (let burst = 0; sent < due && burst < streams; sent++, burst++) {
      const bytes = free.pop() ?? new Uint8Array(packet.length);
      bytes.set(packet);
      const done = pool.decode(`camera ${sent % streams}`, bytes);
      void done.then((result) => free.push(result?.bytes ?? bytes));
    }
    // Let answers arrive between two bursts.
    await new Promise(setImmediate);
    const second = Math.floor((performance.now() - begin) / 1000);
    if (second > seconds.length) {
      const { out, dropped } = pool.stats;
      seconds.push({ type, second, sent, out, dropped, memory: Math.round(process.memoryUsage().rss / 1e6) });
    }
  }
  await pool.close();
  return { seconds, stats: pool.stats };
}

/** Returns median milliseconds of single frames, one after the other: decoded in this thread, and in a pool. */
async function oneStream(type: TypeName): Promise<readonly [here: number, pool: number]> {
  const { createDecoderSync } = (await import(built("index"))) as typeof Boxwright;
  const { fromPacket } = (await import(built("index"))) as typeof Boxwright;
  const { createPool } = (await import(built("pool"))) as typeof Pools;
  const { packet, config } = await packetOf(type);
  const decoder = createDecoderSync(config);
  const pool = await createPool({ networks: [{ config }], threads: 1 });
  const times: [number[], number[]] = [[], []];
  let bytes: Uint8Array = packet.slice();
  for (let i = 0; i < 400; i++) {
    const start = performance.now();
    decoder.receive(fromPacket(packet));
    const middle = performance.now();
    bytes = (await pool.decode("camera", bytes))?.bytes ?? bytes;
    times[0].push(middle - start);
    times[1].push(performance.now() - middle);
  }
  await pool.close();
  return [median(times[0]), median(times[1])];
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: "string" },
      streams: { type: "string" },
      fps: { type: "string" },
      threads: { type: "string" },
      types: { type: "string" },
      out: { type: "string" },
    },
  });
  const load = {
    seconds: positive("--seconds", values.seconds, 20),
    streams: positive("--streams", values.streams, 64),
    fps: positive("--fps", values.fps, 30),
    threads: positive("--threads", values.threads, 2),
  };
  const types = (values.types ?? "f32,f16,i8").split(",") as TypeName[];
  console.log(machineLine(madeBy("pool-load")));
  const single = [];
  for (const type of types) single.push([type, ...(await oneStream(type)).map((ms) => ms.toFixed(3))]);
  for (const line of layOut(["one stream", "here ms", "pool ms"], single, 1)) console.log(line);
  const all: Second[] = [];
  const rows: string[][] = [];
  for (const type of types) {
    const { seconds, stats } = await run(type, load);
    all.push(...seconds);
    const settled = seconds.slice(Math.floor(seconds.length / 4)).map(({ memory }) => memory);
    const lost = stats.in - stats.out - stats.dropped;
    rows.push([
      type,
      (stats.in / load.seconds).toFixed(0),
      (stats.out / load.seconds).toFixed(0),
      `${((100 * stats.dropped) / stats.in).toFixed(1)} %`,
      String(lost),
      stats.decode.p50.toFixed(2),
      stats.decode.p99.toFixed(2),
      stats.latency.p99.toFixed(1),
      `${Math.min(...settled)}-${Math.max(...settled)}`,
    ]);
  }
  const head = [
    "type",
    "sent /s",
    "decoded /s",
    "dropped",
    "uncounted",
    "decode p50 ms",
    "p99",
    "latency p99",
    "MB",
  ];
  for (const line of layOut(head, rows, 1)) console.log(line);
  if (values.out) writeFileSync(values.out, `${all.map((second) => JSON.stringify(second)).join("\n")}\n`);
}

await runScript(main);
