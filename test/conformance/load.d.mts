import type { compilePlan } from "../../src/entries/node.ts";
import type { DecoderOptions, Detection } from "../../src/entries/index.ts";

export interface ConformanceCase {
  readonly name: string;
  readonly source: string;
  readonly config: object;
  readonly options: DecoderOptions;
  readonly tensors: readonly {
    readonly name: string;
    readonly type: "f32" | "f16" | "i8" | "u8";
    readonly dims: readonly number[];
    readonly scale?: number;
    readonly zeroPoint?: number;
    readonly base64: string;
  }[];
  /** The plan file as base64, where one was made. */
  readonly plan?: string;
  readonly ordered: boolean;
  readonly tolerance: number;
  readonly expected: { -readonly [K in keyof Omit<Detection, "label">]: number }[];
}

export function loadCases(): ConformanceCase[];
export function withPlans(
  cases: readonly ConformanceCase[],
  compile: typeof compilePlan,
): (ConformanceCase & { readonly plan: string })[];
