/**
 * Load report: `npm run load`. A hub in a process of its own, a load generator (autocannon) in this one, both on this
 * machine, which they share: requests a second are what is left of it. CPU of the hub is read from its own metrics.
 *
 * With PostgreSQL installed it reports on both databases. `-- --short` takes a third of the time.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import autocannon from "autocannon";
import { findPostgres, PostgresServer } from "../test/support/postgres-server.ts";
import { HubProcess, makeKey, run, useLinkAt, type Environment } from "../test/support/process.ts";

const short = process.argv.includes("--short");
const seconds = short ? 3 : 10;
/** Floods are bounded: 32 connections, this many requests a second at most, this many seconds and three. */
const floodRate = short ? 500 : 1000;
const floodSeconds = short ? 5 : 15;
/** Requests a second of the good client: below the limits of a key and an address. */
const PACE = 80;
const LIST = JSON.stringify({ query: "query { team { devices { nodes { id name } } } }" });
const METRICS_TOKEN = "metrics-token-of-the-load-run";
const PUBLIC = "https://hub.example.org";
let failures = 0;

interface Target {
  readonly hub: HubProcess;
  readonly key: string;
  readonly otherKey: string;
}

const headersOf = (key: string, address = "198.51.100.1"): Record<string, string> => ({
  authorization: `Bearer ${key}`,
  "content-type": "application/json",
  "x-forwarded-for": address,
});

async function metricsOf(hub: HubProcess): Promise<string> {
  return (await fetch(`http://127.0.0.1:${hub.port}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })).text();
}

async function cpuOf(hub: HubProcess): Promise<number> {
  const value = /^process_cpu_seconds_total (\S+)/m.exec(await metricsOf(hub))?.[1];
  if (value === undefined) throw new Error("got metrics without process_cpu_seconds_total, expected it");
  return Number(value);
}

interface Load {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly cpu: number;
  readonly total: number;
}

async function load(target: Target, connections: number, duration = seconds): Promise<Load> {
  const before = await cpuOf(target.hub);
  const result = await autocannon({
    url: `http://127.0.0.1:${target.hub.port}/graphql`,
    method: "POST",
    headers: headersOf(target.key),
    body: LIST,
    connections,
    duration,
  });
  const cpu = (await cpuOf(target.hub)) - before;
  const total = result["2xx"];
  if (result.non2xx + result.errors + result.timeouts > 0) {
    failures++;
    console.log(`FAILED: got ${result.non2xx} other statuses, ${result.errors} errors and ${result.timeouts} timeouts, expected none`);
  }
  return { perSecond: result.requests.average, p50: result.latency.p50, p99: result.latency.p99, cpu: (cpu / total) * 1e6, total };
}

interface Steady {
  readonly p50: number;
  readonly p99: number;
  readonly wrong: number;
  readonly sent: number;
}

/** The good client runs in a process of its own, so that it does not wait for the generator of the flood. */
async function steady(target: Target, perSecond: number, forSeconds: number): Promise<Steady> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    fileURLToPath(import.meta.url),
    "--steady",
    String(target.hub.port),
    target.key,
    String(perSecond),
    String(forSeconds),
  ]);
  return JSON.parse(stdout) as Steady;
}

/** Its own first requests load and compile the client, which is not the hub's doing: sent at the same pace, not counted. */
const WARM_UP = 50;

/** A good client at a steady pace: when one of its requests was due counts, not when it could be sent. */
async function beSteady(port: number, key: string, perSecond: number, forSeconds: number): Promise<Steady> {
  const times: number[] = [];
  let wrong = 0;
  const pending: Promise<void>[] = [];
  const start = performance.now();
  const count = WARM_UP + perSecond * forSeconds;
  for (let i = 0; i < count; i++) {
    const due = start + (i * 1000) / perSecond;
    const wait = due - performance.now();
    if (wait > 0) await sleep(wait);
    pending.push(
      fetch(`http://127.0.0.1:${port}/graphql`, { method: "POST", headers: headersOf(key, "203.0.113.7"), body: LIST })
        .then(async (response) => {
          if (response.status !== 200 || !(await response.text()).includes("Device number 24")) wrong++;
          if (i >= WARM_UP) times.push(performance.now() - due);
        })
        .catch(() => void wrong++),
    );
  }
  await Promise.all(pending);
  times.sort((a, b) => a - b);
  const at = (part: number): number => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? NaN;
  return { p50: at(0.5), p99: at(0.99), wrong, sent: count };
}

const round = (value: number): string => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);

async function prepare(env: Environment): Promise<Target> {
  const base: Environment = { ...env, HUB_BASE_URL: PUBLIC, HUB_PROXY_HOPS: "1", HUB_METRICS_TOKEN: METRICS_TOKEN, HUB_LOG_LEVEL: "info" };
  const first = await run(["init", "--email", "load@example.org", "--team", "Load"], base);
  const second = await run(["teams", "add", "--name", "Other"], base);
  const invited = await run(["users", "invite", "--team", "Other", "--email", "other@example.org", "--role", "admin"], base);
  const devices = await run(["devices", "import", "--team", "Load", "-"], base, {
    input: Array.from({ length: 25 }, (_, i) => `Device number ${i}`).join("\n"),
  });
  for (const { code, stderr } of [first, second, invited, devices]) if (code !== 0) throw new Error(stderr);
  // The keys are made with an ordinary hub, as the pages want forms from their own address.
  const maker = await HubProcess.start(env);
  const key = await makeKey(await useLinkAt(maker.url, (first.json as { link: string }).link), (first.json as { team: { id: string } }).team.id);
  const otherKey = await makeKey(await useLinkAt(maker.url, (invited.json as { link: string }).link), (second.json as { id: string }).id);
  await maker.stop();
  // The limits of one key and one address are out of the way for the throughput part; floods meet the real ones.
  const hub = await HubProcess.start({ ...base, HUB_KEY_RATE: "1000000", HUB_KEY_BURST: "1000000", HUB_ADDRESS_RATE: "1000000", HUB_ADDRESS_BURST: "1000000" });
  return { hub, key, otherKey };
}

function table(rows: readonly (readonly string[])[]): void {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  for (const row of rows) console.log("  " + row.map((cell, i) => cell.padEnd(widths[i]!)).join("  "));
}

async function report(name: string, env: Environment, limit: number): Promise<void> {
  let target = await prepare(env);
  await load(target, 32, short ? 2 : 5);
  const rows = [["connections", "requests/s", "p50 ms", "p99 ms", "hub CPU us/request", "requests"]];
  for (const connections of [1, 32, 256]) {
    const got = await load(target, connections);
    rows.push([String(connections), round(got.perSecond), round(got.p50), round(got.p99), round(got.cpu), String(got.total)]);
  }
  console.log(`\n${name}: key check and a list of 25 devices (expected: at most ${limit} us of hub CPU per request)`);
  table(rows);

  // Floods meet the limits a hub has by default; the good client stays below them.
  await target.hub.stop();
  const defaults = await HubProcess.start({ ...env, HUB_BASE_URL: PUBLIC, HUB_PROXY_HOPS: "1", HUB_METRICS_TOKEN: METRICS_TOKEN, HUB_LOG_LEVEL: "info" });
  target = { ...target, hub: defaults };
  await steady(target, PACE, 2);
  let quiet = await steady(target, PACE, floodSeconds);
  const flood = async (what: string, options: Omit<autocannon.Options, "url">): Promise<void> => {
    const instance = autocannon({ ...options, url: `http://127.0.0.1:${defaults.port}`, connections: 32, duration: floodSeconds + 3 });
    await sleep(500);
    const good = await steady(target, PACE, floodSeconds);
    const flooded = await instance;
    if (good.wrong > 0) {
      failures++;
      console.log(`FAILED: got ${good.wrong} of ${good.sent} good requests refused during ${what}, expected none`);
    }
    floods.push([what, round(flooded.requests.average), round(good.p50), round(good.p99), `${(good.p99 / quiet.p99).toFixed(1)}x`]);
    // A machine shared with others is not equally fast all the time: each flood is held against the quiet before it.
    await sleep(1500);
    quiet = await steady(target, PACE, floodSeconds);
    floods.push(["none", "0", round(quiet.p50), round(quiet.p99), ""]);
  };
  const floods = [
    ["flood", "flood requests/s", "good p50 ms", "good p99 ms", "to quiet"],
    ["none", "0", round(quiet.p50), round(quiet.p99), ""],
  ];
  const form = { origin: PUBLIC, "content-type": "application/x-www-form-urlencoded" };
  await flood("sign-ins, one address", {
    method: "POST",
    overallRate: floodRate,
    requests: [{ path: "/sign-in", headers: { ...form, "x-forwarded-for": "198.51.100.66" }, body: "email=load%40example.org&password=wrong" }],
  });
  let n = 0;
  await flood("sign-ins, an address each", {
    method: "POST",
    overallRate: floodRate,
    requests: [
      {
        path: "/sign-in",
        setupRequest: (request) => ({
          ...request,
          headers: { ...form, "x-forwarded-for": `10.${(++n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}` },
          body: `email=u${n}%40example.org&password=wrong`,
        }),
      },
    ],
  });
  await flood("hostile queries, one key", {
    method: "POST",
    overallRate: floodRate,
    requests: [
      {
        path: "/graphql",
        setupRequest: (request) => ({
          ...request,
          headers: headersOf(target.otherKey, "198.51.100.67"),
          body: JSON.stringify({ query: `{ team { ${"devices { nodes { id } } ".repeat(150)} } } # ${++n}` }),
        }),
      },
    ],
  });
  await flood("invented keys, an address each", {
    method: "POST",
    overallRate: floodRate,
    requests: [
      {
        path: "/graphql",
        setupRequest: (request) => ({
          ...request,
          headers: headersOf(target.otherKey.slice(0, -1) + (++n % 10), `10.9.${(n >> 8) & 255}.${n & 255}`),
          body: LIST,
        }),
      },
    ],
  });
  console.log(`\n${name}: a good client at ${PACE} requests/s beside a flood (expected: p99 within 3x of the quiet before it)`);
  table(floods);
  await defaults.stop();
}

const steadyAt = process.argv.indexOf("--steady");
if (steadyAt >= 0) {
  const [port, key, perSecond, forSeconds] = process.argv.slice(steadyAt + 1);
  console.log(JSON.stringify(await beSteady(Number(port), key!, Number(perSecond), Number(forSeconds))));
  process.exit(0);
}

console.log(
  `Node ${process.version}, ${os.cpus().length} x ${os.cpus()[0]?.model.trim() ?? "unknown"}, generator and hub on the same machine, ${seconds} s a row`,
);
const folder = mkdtempSync(join(tmpdir(), "hub-load-"));
await report("SQLite", { HUB_DATABASE_FILE: join(folder, "hub.db") }, 200);
if (findPostgres() === undefined) console.log("\nPostgreSQL: SKIPPED, not installed on this machine.");
else {
  const server = await PostgresServer.create();
  try {
    await report("PostgreSQL", { DATABASE_URL: await server.newDatabase() }, 300);
  } finally {
    await server.remove();
  }
}
rmSync(folder, { recursive: true, force: true });
if (failures > 0) process.exitCode = 1;
