/**
 * What the hub needs of a database, and no more: both kinds run the same SQL text.
 *
 * The SQL is plain (placeholders `?`, ON CONFLICT, RETURNING): eight small tables do not earn a query builder, and the
 * text is what both databases prepare once and keep.
 */
export type Value = string | number | null;

export interface Queries {
  all<T extends object>(sql: string, params?: readonly Value[]): Promise<T[]>;
}

export interface Database extends Queries {
  readonly kind: "sqlite" | "postgres";
  /**
   * One transaction, serializable on both kinds, durable when the promise resolves. The work may run more than once
   * (PostgreSQL asks for that on conflicts), so it does nothing but queries.
   */
  write<T>(work: (tx: Queries) => Promise<T>): Promise<T>;
  /** Reads that all see one moment. */
  snapshot<T>(work: (tx: Queries) => Promise<T>): Promise<T>;
  /** Runs `work` while no other process migrates. */
  migrate(work: (tx: Queries & { script(sql: string): Promise<void> }) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/** What a row that must be there is not. */
export function one<T>(rows: readonly T[]): T {
  if (rows.length !== 1) throw new Error(`got ${rows.length} rows, expected 1`);
  return rows[0]!;
}
