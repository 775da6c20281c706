/**
 * Load report: `npm run load`. The hub runs in a process of its own and the load generator (autocannon) in this one.
 * The processes share the machine, so both affect the requests per second. The hub's metrics give its CPU time.
 *
 * With PostgreSQL installed, the report covers both databases. `-- --short` takes a tenth of the time: it shows
 * failures, but its times are not reliable. `--sqlite` or `--postgres` reports on one database. `--speed` or `--floods`
 * runs only this half of the report.
 */
import { setTimeout as sleep } from "node:timers/promises";
import autocannon from "autocannon";
import { HubProcess, type Environment } from "../test/support/process.ts";
import {
  cpuOf,
  isWanted,
  load as loadHub,
  onDatabases,
  prepare as prepareTeams,
  UNLIMITED,
  type Load,
} from "./hubs.ts";
import { headersOf, LIST_QUERY, steady as paced, type Steady } from "./steady.ts";
import { table } from "./table.ts";

const short = process.argv.includes("--short");
const seconds = short ? 1 : 10;
/** Requests per second of a flood, seconds of the measurement, and the pause before and after it. */
const floodRate = short ? 500 : 1000;
const floodSeconds = short ? 1 : 15;
const PAUSE_MS = short ? 500 : 2000;
/** Requests per second of the well-behaved client, which stay below the limits of a key and an address. */
const PACE = 80;
const PUBLIC = "https://hub.example.org";
const SETTINGS: Environment = {
  HUB_BASE_URL: PUBLIC,
  HUB_PROXY_HOPS: "1",
  HUB_LOG_LEVEL: "info",
};
let failures = 0;

interface Target {
  readonly hub: HubProcess;
  readonly key: string;
  readonly otherKey: string;
}

async function load({ hub, key }: Target, connections: number, duration = seconds): Promise<Load> {
  const done = await loadHub(hub.port, key, connections, duration);
  if (done.wrong > 0) failures++;
  return done;
}

const steady = ({ hub, key }: Target, perSecond: number, forSeconds: number): Promise<Steady> =>
  paced(hub.port, key, perSecond, forSeconds);

const round = (value: number): string => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);

async function prepare(env: Environment): Promise<Target> {
  const [key, otherKey] = await prepareTeams(env, undefined, ["Other"]);
  // Raise the limits of a key and an address to measure throughput. Floods are measured with the real limits.
  return { hub: await HubProcess.start({ ...env, ...SETTINGS, ...UNLIMITED }), key, otherKey: otherKey! };
}

/** Makes one request of a flood. `n` counts the requests from 1, so that each request can be different. */
type Hostile = (
  target: Target,
  n: number,
) => {
  readonly path: string;
  readonly method: "GET" | "POST";
  readonly headers: Record<string, string>;
  readonly body?: string;
};

const addressNumber = (n: number): string => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;

const signIn = (address: string, email: string): ReturnType<Hostile> => ({
  path: "/sign-in",
  method: "POST",
  headers: { origin: PUBLIC, "content-type": "application/x-www-form-urlencoded", "x-forwarded-for": address },
  body: new URLSearchParams({ email, password: "wrong" }).toString(),
});

const ask = (key: string, address: string, query: string): ReturnType<Hostile> => ({
  path: "/graphql",
  method: "POST",
  headers: headersOf(key, address),
  body: JSON.stringify({ query }),
});

/** A form with 12,000 fields in 64 KB. */
const LARGE_FORM = Array.from({ length: 12_000 }, (_, i) => `a${i % 100}=`)
  .join("&")
  .slice(0, 65_536);

/** Name of the flood with the cheapest request, to which the report compares the other floods. Its rate is the same. */
const HARMLESS = "none: GET /healthz";
const floods: readonly (readonly [string, Hostile])[] = [
  [HARMLESS, (_, n) => ({ path: "/healthz", method: "GET", headers: { "x-forwarded-for": addressNumber(n) } })],
  ["sign-ins, one address", () => signIn("198.51.100.66", "load@example.org")],
  ["sign-ins, an address each", (_, n) => signIn(addressNumber(n), `u${n}@example.org`)],
  [
    "hostile queries, one key",
    ({ otherKey }, n) =>
      ask(otherKey, "198.51.100.67", `{ team { ${"devices { nodes { id } } ".repeat(150)} } } # ${n}`),
  ],
  // 420 fields in an unused fragment. Execution skips the fragment, but each validation rule reads it.
  [
    "unspread fragments, one key",
    ({ otherKey }, n) =>
      ask(
        otherKey,
        "198.51.100.68",
        `{ team { id } } fragment U${n} on Team { ${"devices { nodes { id } } ".repeat(140)} }`,
      ),
  ],
  [
    "large forms without a session",
    (_, n) => ({ ...signIn(`198.51.100.${70 + (n % 4)}`, ""), path: "/account", body: LARGE_FORM }),
  ],
  [
    "invented keys, an address each",
    ({ otherKey }, n) => ask(otherKey.slice(0, -1) + (n % 10), addressNumber(n), LIST_QUERY),
  ],
];

interface Flood {
  readonly good: Steady;
  readonly perSecond: number;
  /** Fraction of one core that the hub used. On a shared machine, this fraction is more reliable than a duration. */
  readonly cpu: number;
}

async function flood(target: Target, hostile: Hostile): Promise<Flood> {
  let n = 0;
  const before = await cpuOf(target.hub.port);
  const instance = autocannon({
    url: `http://127.0.0.1:${target.hub.port}`,
    connections: 32,
    duration: floodSeconds + (2 * PAUSE_MS) / 1000,
    overallRate: floodRate,
    requests: [{ setupRequest: (request) => ({ ...request, ...hostile(target, ++n) }) }],
  });
  // Wait before measuring: the hub first compiles code for new kinds of requests.
  await sleep(PAUSE_MS);
  const good = await steady(target, PACE, floodSeconds);
  const { requests } = await instance;
  const cpu = ((await cpuOf(target.hub.port)) - before) / (floodSeconds + (2 * PAUSE_MS) / 1000);
  return { good, perSecond: requests.average, cpu };
}

async function reportSpeed(name: string, target: Target, limit: number): Promise<void> {
  await load(target, 32, short ? 1 : 5);
  const rows = [["connections", "requests/s", "p50 ms", "p99 ms", "hub CPU us/request", "requests"]];
  const row = (what: string, got: Load): number =>
    rows.push([what, round(got.perSecond), round(got.p50), round(got.p99), round(got.cpu), String(got.total)]);
  for (const connections of [1, 32, 256]) row(String(connections), await load(target, connections));
  console.log(`\n${name}: key check and a list of 25 devices (expected: at most ${limit} us of hub CPU per request)`);
  table(rows);
}

async function reportFloods(name: string, target: Target): Promise<void> {
  const rows = [
    ["beside", "its requests/s", "hub CPU, cores", "good p50 ms", "good p99 ms", "to quiet before", "to harmless"],
  ];
  const quietly = async (): Promise<Steady> => {
    const quiet = await steady(target, PACE, floodSeconds);
    rows.push(["nothing", "0", "", round(quiet.p50), round(quiet.p99), "", ""]);
    return quiet;
  };
  await steady(target, PACE, short ? 1 : 2);
  let harmless = NaN;
  for (const [what, hostile] of floods) {
    // Compare each flood with the quiet phase before it, since the speed of a shared machine varies.
    const quiet = await quietly();
    const { good, perSecond, cpu } = await flood(target, hostile);
    if (good.wrong > 0) {
      failures++;
      console.log(`FAILED: got ${good.wrong} of ${good.sent} good requests refused during ${what}, expected none`);
    }
    if (what === HARMLESS) harmless = good.p99;
    const times = (other: number): string => `${(good.p99 / other).toFixed(1)}x`;
    const ms = [round(good.p50), round(good.p99)];
    rows.push([what, round(perSecond), cpu.toFixed(2), ...ms, times(quiet.p99), times(harmless)]);
    await sleep(PAUSE_MS);
  }
  await quietly();
  console.log(
    `\n${name}: a good client at ${PACE} requests/s (expected: its p99 beside a flood within 3x of the quiet before it)`,
  );
  table(rows);
}

async function report(name: string, env: Environment, limit: number): Promise<void> {
  const target = await prepare(env);
  if (isWanted("--speed", "--floods")) await reportSpeed(name, target, limit);
  await target.hub.stop();
  if (!isWanted("--floods", "--speed")) return;
  // Run floods against the default limits. The well-behaved client stays below these limits.
  const hub = await HubProcess.start({ ...env, ...SETTINGS });
  await reportFloods(name, { ...target, hub });
  await hub.stop();
}

await onDatabases((name, env) => report(name, env, name === "SQLite" ? 200 : 300));
if (failures > 0) process.exitCode = 1;
