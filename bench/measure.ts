/** Times one function with tinybench. */
import { Bench } from "tinybench";

/** Microseconds per call. */
export interface Timing {
  readonly median: number;
  readonly min: number;
  readonly p90: number;
  /** Count of calls that were measured. */
  readonly runs: number;
}

/** Shortest sample in milliseconds. Longer samples hide the cost of reading the clock. */
const SHORTEST_SAMPLE = 0.02;

/**
 * Times `run` for a number of milliseconds after a warm-up. Adds up its results, so that compilers keep them; the sum
 * must not be 0.
 */
export async function timeOf(run: () => number | Promise<number>, milliseconds: number): Promise<Timing> {
  const first = run();
  // tinybench detects asynchronous functions by their results, so do not mix the two kinds.
  const isAsync = typeof first !== "number";
  await first;
  let once = Infinity;
  for (let i = 0; i < 5; i++) {
    const start = performance.now();
    await run();
    once = Math.min(once, performance.now() - start);
  }
  const repeat = Math.max(1, Math.floor(SHORTEST_SAMPLE / Math.max(once, 1e-4)));
  let sink = 0;
  const asynchronous = async (): Promise<void> => {
    for (let i = 0; i < repeat; i++) sink += await run();
  };
  const synchronous = (): void => {
    for (let i = 0; i < repeat; i++) sink += run() as number;
  };
  const bench = new Bench({
    time: milliseconds,
    // A shorter round only checks answers.
    warmupTime: Math.max(Math.min(150, milliseconds), milliseconds / 2),
    iterations: 8,
    warmupIterations: 4,
    retainSamples: true,
  });
  bench.add("row", isAsync ? asynchronous : synchronous, { async: isAsync });
  const [{ result }] = await bench.run();
  if (result.state !== "completed") throw new Error(`tinybench ended as ${result.state}.`);
  if (sink === 0) throw new Error("The row found nothing in any call.");
  const { p50, min, samples = [] } = result.latency;
  const scale = 1000 / repeat;
  return {
    median: p50 * scale,
    min: min * scale,
    p90: samples[Math.floor(samples.length * 0.9)] * scale,
    runs: samples.length * repeat,
  };
}
