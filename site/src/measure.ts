/** Measures the workloads of the benchmark in this browser. */
import { type EngineName, createDecoder, nms } from "boxwright";
import { optionsOf } from "@repo/bench/typed-options.ts";
import {
  WORKLOADS,
  type Workload,
  type WorkloadSpec,
  makeWorkload,
  nmsOptions,
} from "@repo/bench/workloads.ts";
import { provideScalar } from "./worker/scalar.ts";
import { medianOf } from "./worker/timing.ts";

export const ENGINES: readonly EngineName[] = ["simd", "scalar", "ts"];

/** The rows of the table, in order. */
export const ROWS: readonly WorkloadSpec[] = WORKLOADS;

/** Microseconds of one decode by each engine; null if an engine does not run here. */
export interface Measured {
  readonly name: string;
  readonly title: string;
  readonly found: number;
  readonly us: { readonly [E in EngineName]: number | null };
}

/** Largest number of rounds, and of milliseconds, of a measurement. */
const ROUNDS = 100;
const LONGEST = 500;

/** Returns a function to time, which returns its count of detections. */
async function jobOf(workload: Workload, engine: EngineName): Promise<() => number> {
  if (workload.kind === "nms") {
    const { boxes, scores } = workload.tensors as Record<string, { readonly data: Float32Array }>;
    const options = { ...nmsOptions(workload), engine };
    return () => nms(boxes.data, scores.data, options).length;
  }
  const decoder = await createDecoder(optionsOf(workload) as never, { engine });
  const tensors = workload.tensors as never;
  return () => decoder.decode(tensors).length;
}

/** Measures one workload after the other. Lets the page respond between two workloads. */
export async function* measureAll(signal: AbortSignal): AsyncGenerator<Measured> {
  await provideScalar();
  for (const spec of ROWS) {
    const workload = makeWorkload(spec);
    const us: { [E in EngineName]: number | null } = { simd: null, scalar: null, ts: null };
    let found = 0;
    for (const engine of ENGINES) {
      await new Promise((resolve) => setTimeout(resolve));
      if (signal.aborted) return;
      try {
        const job = await jobOf(workload, engine);
        found = job();
        us[engine] = 1000 * medianOf(job, ROUNDS, LONGEST);
      } catch {
        // Go on without a time: this browser lacks the engine, and the table says so.
      }
    }
    yield { name: spec.name, title: spec.title, found, us };
  }
}
