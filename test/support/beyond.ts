/** Reads the golden cases beyond boxes: answers of published software, described by `fixtures/beyond/README.md`. */
import { fixtures, readJson } from "./shared-data.ts";

export const readBeyond = (name: string): unknown => readJson(fixtures, "beyond", `${name}.json`);

/** Boxes of `suppression.json`, and what is left of them by each published method. */
export interface SuppressionCase {
  readonly n: number;
  readonly boxes_xyxy: readonly (readonly number[])[];
  readonly scores: readonly number[];
  readonly classes: readonly number[];
  readonly answers: Readonly<Record<string, unknown>>;
  readonly outside: Readonly<Record<string, unknown>>;
}

/** Returns the boxes of `suppression.json`. */
export const suppressionCases = (): readonly SuppressionCase[] =>
  (readBeyond("suppression") as { cases: readonly SuppressionCase[] }).cases;
