/**
 * Cuts work on many rows into slices. SQLite answers in this process, so all requests wait while a statement runs. A
 * statement on the rows of one slice takes about a millisecond, and other requests get their turn after it.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database, Queries, Value } from "boxwright-service/database";

/** Largest number of rows that one statement reads. */
export const ROWS_READ = 500;
/** Largest number of rows that one statement changes. A change also writes the indexes of its table. */
export const ROWS_CHANGED = 100;

/** The ids above the first and up to the second id. */
export type Slice = readonly [string, string];
/** Text above every id. */
const HIGHEST = "\u{10ffff}";
export const EVERYTHING: Slice = ["", HIGHEST];

/** SQL condition of a slice. Its parameters are the slice. */
export const isInSlice = (column: string): string => `${column} > ? AND ${column} <= ?`;

export interface Sliced {
  /** Column with the id. */
  readonly id: string;
  /** FROM and WHERE clauses that name the rows, and their parameters. */
  readonly from: string;
  readonly params: readonly Value[];
  /** Number of rows of a slice. Default: ROWS_READ. */
  readonly rows?: number;
}

/**
 * Calls `work` for one slice after the other, in the order of ids. An index has to have this order. Rows that come
 * meanwhile may be in no slice.
 */
export async function eachSlice(
  db: Queries,
  { id, from, params, rows = ROWS_READ }: Sliced,
  work: (slice: Slice) => Promise<void>,
): Promise<void> {
  const text = `SELECT ${id} AS id ${from} AND ${id} > ? ORDER BY ${id} LIMIT 1 OFFSET ${rows - 1}`;
  for (let [after] = EVERYTHING; ;) {
    const [last] = await db.all<{ id: string }>(text, [...params, after]);
    await work([after, last?.id ?? HIGHEST]);
    if (last === undefined) return;
    after = last.id;
    await nextTurn();
  }
}

/**
 * Repeats a statement that changes at most ROWS_CHANGED rows, each time in a transaction, until there is no more to
 * change, or `most` rows are changed. Does not sync the disk: after a power failure, the same work is there to be done
 * again. Returns the number of changed rows.
 */
export async function changeInTurns(
  db: Database,
  sql: string,
  params: readonly Value[],
  most = Infinity,
): Promise<number> {
  const change = (tx: Queries): Promise<object[]> => tx.all(`${sql} RETURNING 1 AS done`, params);
  for (let changed = 0; ;) {
    const { length } = await db.write(change, { durable: false });
    changed += length;
    if (length < ROWS_CHANGED || changed >= most) return changed;
    await nextTurn();
  }
}
