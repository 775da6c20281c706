/** Measures how long each engine takes. */
import type { EngineName } from "boxwright";
import { type Thresholds, type DecodeInput, openDecoder } from "./reading.ts";

const ENGINES: readonly EngineName[] = ["simd", "scalar", "ts"];

/** Milliseconds of one decode by an engine, null if it cannot run here. */
export interface EngineTime {
  readonly engine: EngineName;
  readonly ms: number | null;
}

/** Returns the median time that each engine needs. Engines that cannot run here are named all the same. */
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
        // Jobs of the page are answered in between.
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

/** Rounds and milliseconds after which a measurement ends. */
const ROUNDS = 60;
const LONGEST = 150;
/** Slices that a measurement beside other work is cut into, and the milliseconds of each. */
const SLICES = 16;
const SLICE = 6;
/** Milliseconds that a sample takes at least: many times a step of the clock, which may be 0.1. */
const CLOCK = 1.5;

/** Returns the milliseconds of one call of a job, over so many calls. */
function timeOf(job: () => unknown, calls: number): number {
  const start = performance.now();
  for (let call = 0; call < calls; call++) job();
  return (performance.now() - start) / calls;
}

/** Returns how many calls take a sample's time together: the clock of a browser is too coarse for one. */
function callsFor(job: () => unknown): number {
  let calls = 1;
  // The least of three: another program may have held one up.
  const least = (): number => Math.min(timeOf(job, calls), timeOf(job, calls), timeOf(job, calls));
  while (calls < 1 << 14 && least() * calls < CLOCK) calls *= 2;
  return calls;
}

/** Returns the median time of a job, the first rounds left out. */
export function medianOf(job: () => unknown, rounds = ROUNDS, longest = LONGEST): number {
  const times: number[] = [];
  const end = performance.now() + longest;
  job();
  const calls = callsFor(job);
  for (let i = 0; i < rounds && (i < 5 || performance.now() < end); i++) times.push(timeOf(job, calls));
  const late = times.slice(times.length >> 1).sort((a, b) => a - b);
  return late[late.length >> 1];
}
