/** The numbers the design asks for, as ratios to what the yardsticks take here and now. */
import type { NativeResult } from "./native.ts";
import type { Row } from "./report.ts";
import type { WorkloadSpec } from "./workloads.ts";

export interface Target {
  /** Microseconds. */
  readonly limit: number;
  readonly text: string;
}

/** What the limits are measured against; each is there only if its row was asked for and could run. */
export interface Yardsticks {
  readonly native?: NativeResult;
  /** Median of careful typed JavaScript on the same workload. */
  readonly jsBest?: number;
  /** Median of our `ts` engine in its slot. */
  readonly ts?: number;
  /** Median of our `simd` engine in its slot on the float32 tensor that a quantised workload was made of. */
  readonly simdFloat?: number;
}

/** A native reference slower than this, held against reading every byte once, is not a reference. */
const NATIVE_TO_READ_ONCE: Readonly<Record<string, number>> = {
  "v8@.25": 1.83,
  "v8@.001": 3.34,
  "v5@.25": 0.49,
  "v5@.001": 1.45,
  "v3@.25": 3.7,
  "v3@.001": 5.7,
};

const QUANTISED: Readonly<Record<string, number>> = { float16: 0.75, int8: 0.6 };

const times = (factor: number, of: number | undefined, what: string): Target | undefined =>
  of === undefined ? undefined : { limit: factor * of, text: `${factor}x ${what}` };

export function targetOf(spec: WorkloadSpec, { engine, mode }: Row, yard: Yardsticks): Target | undefined {
  const { native, jsBest, ts, simdFloat } = yard;
  if (engine === "native") {
    const factor = NATIVE_TO_READ_ONCE[spec.name];
    return factor === undefined ? undefined : times(factor, native?.readOnce.median, "read-once");
  }
  if (engine === "scalar" && mode === "resident") return times(1, ts, "ts");
  if (engine === "ts" && mode === "resident") return times(1, jsBest, "js-best");
  if (engine !== "simd") return undefined;
  if (spec.type !== "float32")
    return mode === "resident" ? times(QUANTISED[spec.type], simdFloat, "our f32") : undefined;
  const decode = native?.decode.median;
  if (mode === "resident" || spec.kind === "nms") return times(1.1, decode, "native");
  if (spec.kind === "v8")
    return times(1.25, native && native.decode.median + native.copy.median, "(native + copy)");
  if (spec.kind === "v3") return times(1.6, decode, "native");
  // The design sets no limit for rows at a low threshold, where most of the tensor is read.
  return spec.threshold < 0.1 ? undefined : times(2.5, decode, "native");
}
