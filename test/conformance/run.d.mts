import type * as boxwright from "../../src/entries/index.ts";
import type * as plans from "../../src/entries/plan.ts";
import type { ConformanceCase } from "./load.mjs";

/** Any entry with the interface of `boxwright`. */
export type Boxwright = typeof boxwright;

/** `boxwright/plan`, with or without WebAssembly. */
export type Plans = typeof plans;

export interface ConformanceResult {
  readonly engine: string;
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly string[];
}

export const CHECKS_BESIDE: number;
export function bytesOf(base64: string): Uint8Array<ArrayBuffer>;
export function runConformance(
  boxwright: Boxwright | Plans,
  engine: string,
  cases: readonly ConformanceCase[],
): ConformanceResult;
/** `engines`: each engine that was asked for by its name. */
export function runAll(
  boxwright: Boxwright | Plans,
  cases: readonly ConformanceCase[],
): ConformanceResult & { readonly engines: readonly string[] };
