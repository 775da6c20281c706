/** Times each engine. */
import type { EngineName } from "boxwright";
import { type Thresholds, type DecodeInput, openDecoder } from "./reading.ts";

const ENGINES: readonly EngineName[] = ["simd", "scalar", "ts"];

/** Milliseconds of one decode by an engine, null if it cannot run here. */
export interface EngineTime {
  readonly engine: EngineName;
  readonly ms: number | null;
}

/** Returns the median time of each engine, including entries for engines that cannot run here. */
export async function timeEngines(
  input: DecodeInput,
  thresholds: Thresholds,
  isOld: () => boolean,
): Promise<EngineTime[]> {
  const times: EngineTime[] = [];
  for (const engine of ENGINES)
    try {
      const decoder = await openDecoder(input, { engine, ...thresholds });
      const job = (): unknown => decoder.decode(input.tensors as never, input.frame);
      job();
      const calls = callsFor(job);
      const samples: number[] = [];
      for (let slice = 0; slice < SLICES; slice++) {
        // Answer the page's other jobs between two slices.
        await new Promise((resolve) => setTimeout(resolve, 10));
        if (isOld()) return times;
        const end = performance.now() + SLICE;
        do samples.push(timeOf(job, calls));
        while (performance.now() < end);
      }
      times.push({ engine, ms: samples.sort((one, other) => one - other)[samples.length >> 1] });
    } catch {
      times.push({ engine, ms: null });
    }
  return times;
}

/** Number of rounds, or of milliseconds, after which a measurement ends. */
const ROUNDS = 60;
const LONGEST = 150;
/** A measurement lets other jobs run between its slices: count of slices, and milliseconds of each. */
const SLICES = 16;
const SLICE = 6;
/** Shortest sample in milliseconds: many steps of the clock, which may be 0.1. */
const CLOCK = 1.5;

/** Returns the milliseconds of a call, averaged over `calls` calls. */
function timeOf(job: () => unknown, calls: number): number {
  const start = performance.now();
  for (let call = 0; call < calls; call++) job();
  return (performance.now() - start) / calls;
}

/** Returns how many calls make a sample: a browser's clock is too coarse for one call. */
function callsFor(job: () => unknown): number {
  let calls = 1;
  // Take the least of three, since other programs may have slowed some.
  const least = (): number => Math.min(timeOf(job, calls), timeOf(job, calls), timeOf(job, calls));
  while (calls < 1 << 14 && least() * calls < CLOCK) calls *= 2;
  return calls;
}

/** Returns the median time of a job, without the first rounds. */
export function medianOf(job: () => unknown, rounds = ROUNDS, longest = LONGEST): number {
  const times: number[] = [];
  const end = performance.now() + longest;
  job();
  const calls = callsFor(job);
  for (let i = 0; i < rounds && (i < 5 || performance.now() < end); i++) times.push(timeOf(job, calls));
  const late = times.slice(times.length >> 1).sort((a, b) => a - b);
  return late[late.length >> 1];
}
