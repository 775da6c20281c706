import type { ConformanceSet, Outcome } from "./run.mjs";

export interface Results {
  readonly set: string;
  readonly date: string;
  readonly node: string;
  readonly decoders: readonly {
    readonly name: string;
    readonly version: string;
    readonly licence: string;
    readonly rules?: readonly string[];
    readonly outcomes: { readonly [id: string]: Outcome };
  }[];
  readonly closed: readonly { readonly name: string; readonly version: string; readonly why: string }[];
}

export function mistake(outcome: Outcome, tolerance: number): string;
export function tablesOf(set: ConformanceSet, results: Results): string;
export function withTables(page: string, text: string): string;
