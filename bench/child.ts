/**
 * Measures one engine on one workload, in a process of its own: V8 specialises loops to the arrays it has
 * seen, and an engine must not inherit the types, nor the garbage, of the one before it.
 *
 *   node --import ./bench/ts.mjs bench/child.ts WORKLOAD ENGINE MODE MILLISECONDS
 */
import { Bench } from "tinybench";
import { define, digest } from "./definition.ts";
import { prepare, type Mode } from "./engines.ts";
import { NotApplicable } from "./peers/common.ts";
import { loadWorkload } from "./workloads.ts";

export interface Measured {
  readonly status: "ok" | "missing" | "n/a" | "failed";
  /** Why there are no figures. */
  readonly reason?: string;
  /** Microseconds per decode. */
  readonly median?: number;
  readonly min?: number;
  readonly p90?: number;
  readonly runs?: number;
  readonly count?: number;
  readonly digest?: string;
  readonly expected?: string;
}

async function measure(name: string, engine: string, mode: Mode, milliseconds: number): Promise<Measured> {
  const workload = loadWorkload(name);
  const prepared = await prepare({ engine, mode }, workload);
  const first = prepared.run();
  const wait = typeof first !== "number";
  await first;

  // Short work is repeated within a sample, so that the clock's own cost does not count.
  const time = async (): Promise<number> => {
    const start = performance.now();
    await prepared.run();
    return performance.now() - start;
  };
  let once = Infinity;
  for (let i = 0; i < 5; i++) once = Math.min(once, await time());
  const repeat = Math.max(1, Math.floor(0.02 / Math.max(once, 1e-4)));

  let sink = 0;
  // tinybench takes a function for asynchronous by what it returns, so the two are not mixed.
  const asynchronous = async (): Promise<void> => {
    for (let i = 0; i < repeat; i++) sink += await prepared.run();
  };
  const synchronous = (): void => {
    for (let i = 0; i < repeat; i++) sink += prepared.run() as number;
  };
  const bench = new Bench({
    time: milliseconds,
    warmupTime: Math.max(150, milliseconds / 2),
    iterations: 8,
    warmupIterations: 4,
    retainSamples: true,
  });
  bench.add(engine, wait ? asynchronous : synchronous, { async: wait });
  const [task] = await bench.run();
  const { result } = task;
  if (result.state !== "completed") throw new Error(`tinybench: ${result.state}`);
  if (sink === 0) throw new Error("nothing was found");
  const { latency } = result;
  const samples = latency.samples as readonly number[];
  const scale = 1000 / repeat;
  const truth = define(workload);
  const found = prepared.found();
  return {
    status: "ok",
    median: latency.p50 * scale,
    min: latency.min * scale,
    p90: samples[Math.floor(samples.length * 0.9)] * scale,
    runs: samples.length * repeat,
    count: found.count,
    digest: digest(found, truth),
    expected: digest(truth, truth),
  };
}

function failure(error: unknown): Measured {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof NotApplicable) return { status: "n/a", reason: message };
  if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND")
    return { status: "missing", reason: "not installed" };
  return { status: "failed", reason: String(error).split("\n", 1)[0] };
}

const [name, engine, mode, milliseconds] = process.argv.slice(2);
const measured = await measure(name, engine, mode as Mode, Number(milliseconds)).catch(failure);
process.stdout.write(`\n${JSON.stringify(measured)}\n`, () => process.exit(0));
