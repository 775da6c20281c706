/** Cursors of lists with `orderBy`. A cursor holds a row's sort value and its id. */
import type { Position } from "../nouns/device-query.ts";
import { queryError } from "./errors.ts";

export interface OrderArgument {
  readonly field: string;
  readonly direction: "ASC" | "DESC";
}

/** Accepts any text: `readPosition` checks the content of a cursor. */
export const ANY_CURSOR = /^[^]{2,400}$/;

export const cursorOf = ({ value, id }: Position): string => JSON.stringify([value, id]);

export function readPosition(cursor: string): Position {
  try {
    const [value, id, ...more] = JSON.parse(cursor) as unknown[];
    const isValue = typeof value === "string" || typeof value === "number";
    if (isValue && typeof id === "string" && more.length === 0 && !cursor.includes("\\u0000")) return { value, id };
  } catch {
    // Go on to the error below, which says that the text is not a cursor.
  }
  throw queryError("invalid_input", "after: got a text, expected an endCursor of an earlier answer in the same order");
}

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0);

/** Orders rows, and returns at most `limit` after the cursor. Meant for lists of some hundred rows. */
export function sliceOf<T extends { readonly id: string }>(
  rows: readonly T[],
  valueOf: (row: T) => string | number,
  isDescending: boolean,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): T[] {
  const sign = isDescending ? -1 : 1;
  const start = after === undefined ? undefined : readPosition(after);
  return rows
    .filter(
      (row) => start === undefined || sign * (compare(valueOf(row), start.value) || compare(row.id, start.id)) > 0,
    )
    .sort((a, b) => sign * (compare(valueOf(a), valueOf(b)) || compare(a.id, b.id)))
    .slice(0, limit);
}
