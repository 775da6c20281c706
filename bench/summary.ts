/** Summarises the rounds of a row. */
import { digestOf } from "./definition.ts";
import type { Row } from "./engines.ts";
import type { Timing } from "./measure.ts";
import type { Answer } from "./peers/prepared.ts";
import type { RowResult } from "./processes.ts";
import { compare, type Comparison } from "./turns.ts";

export interface RowSummary extends Partial<Timing> {
  readonly status: RowResult["status"];
  readonly reason?: string;
  readonly count?: number;
  readonly digest?: string;
}

export interface RowReport extends Row, RowSummary {
  /** The other package, measured alternately. */
  readonly other?: RowSummary;
  readonly comparison?: Comparison;
}

/** Returns the item with the lowest value. */
export const leastOf = <T>(items: readonly T[], valueOf: (item: T) => number): T =>
  items.reduce((least, item) => (valueOf(item) < valueOf(least) ? item : least));

/**
 * Summarises rounds by the one with the lowest median: on a shared machine this is closest to the true cost. If a round
 * failed or differs from the specification, returns that round instead.
 */
export function summarise(rounds: readonly RowResult[], truth: Answer): RowSummary {
  const expected = digestOf(truth, truth);
  const good = [];
  for (const round of rounds) {
    if (round.status !== "ok") return round;
    const digest = digestOf(round.answer, truth);
    const summary = { status: round.status, ...round.timing, count: round.answer.count, digest };
    if (digest !== expected) return summary;
    good.push(summary);
  }
  return leastOf(good, ({ median }) => median);
}

const mediansOf = (rounds: readonly RowResult[]): number[] =>
  rounds.flatMap((round) => (round.status === "ok" ? [round.timing.median] : []));

/** Reports a row. `theirs` are the other package's rounds, if there is one. */
export function reportRow(
  row: Row,
  ours: readonly RowResult[],
  theirs: readonly RowResult[] | undefined,
  truth: Answer,
): RowReport {
  const summary = { ...row, ...summarise(ours, truth) };
  if (theirs === undefined) return summary;
  const other = summarise(theirs, truth);
  if (summary.status !== "ok" || other.status !== "ok") return { ...summary, other };
  return { ...summary, other, comparison: compare(mediansOf(ours), mediansOf(theirs)) };
}

/** Returns the fault of a row, or undefined. A missing or inapplicable row has no fault. */
export function faultOf(row: RowReport, expected: string): string | undefined {
  for (const { status, reason, digest } of row.other === undefined ? [row] : [row, row.other]) {
    if (status === "failed") return `FAILED: ${reason}`;
    if (status === "ok" && digest !== expected) return `MISMATCH: ${digest}, expected ${expected}`;
  }
  return undefined;
}
