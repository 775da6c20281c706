/** Formats tables and figures as text. */

/** Microseconds with three significant digits. */
export const us = (value: number): string =>
  value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0);

export const times = (ratio: number): string => `${us(ratio)}x`;

/** Formats rows under a head. The first `left` columns and the last one are left-aligned. Empty columns are omitted. */
export function layOut(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  left: number,
): readonly string[] {
  const columns = head.map((_, i) => i).filter((i) => rows.some((row) => (row[i] ?? "") !== ""));
  const widths = columns.map((i) => Math.max(...[head, ...rows].map((row) => (row[i] ?? "").length)));
  return [head, ...rows].map((row) =>
    columns
      .map((i, k) =>
        i < left || i === head.length - 1
          ? (row[i] ?? "").padEnd(widths[k])
          : (row[i] ?? "").padStart(widths[k]),
      )
      .join("  ")
      .trimEnd(),
  );
}
