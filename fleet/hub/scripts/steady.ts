/**
 * A client with a steady pace. The client runs in a separate process, so that the load generator does not slow the
 * client.
 */
import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const LIST_QUERY = "query { team { devices { nodes { id name } } } }";
export const LIST = JSON.stringify({ query: LIST_QUERY });

export const headersOf = (key: string, address = "198.51.100.1"): Record<string, string> => ({
  authorization: `Bearer ${key}`,
  "content-type": "application/json",
  "x-forwarded-for": address,
});

export interface Steady {
  readonly p50: number;
  readonly p99: number;
  readonly slowest: number;
  readonly wrong: number;
  readonly sent: number;
}

/** Runs the client against a hub on this machine whose team has the devices of the load reports. */
export async function steady(port: number, key: string, perSecond: number, forSeconds: number): Promise<Steady> {
  const args = [fileURLToPath(import.meta.url), String(port), key, String(perSecond), String(forSeconds)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Steady;
}

/** Number of uncounted requests at the start, sent at the same pace while the client is loaded and compiled. */
const WARM_UP = 50;

/**
 * Sends requests at a steady pace. The measured time of a request starts when the request was due, even if it was sent
 * later.
 */
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
  return { p50: at(0.5), p99: at(0.99), slowest: at(1), wrong, sent: count };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [port, key, perSecond, forSeconds] = process.argv.slice(2);
  console.log(JSON.stringify(await beSteady(Number(port), key!, Number(perSecond), Number(forSeconds))));
}
