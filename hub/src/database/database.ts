/**
 * The database as the hub uses it. Both kinds run the same SQL text.
 *
 * The SQL is plain: placeholders `?`, ON CONFLICT, RETURNING. Eight small tables need no query builder. Each database
 * prepares a text once and keeps it.
 */
export type Value = string | number | null;

export interface Queries {
  all<T extends object>(sql: string, params?: readonly Value[]): Promise<T[]>;
}

export interface Database extends Queries {
  readonly kind: "sqlite" | "postgres";
  /**
   * Runs one transaction: serializable, and durable when the promise resolves. PostgreSQL may ask to run `work` again
   * after a conflict, so `work` does nothing but queries.
   */
  write<T>(work: (tx: Queries) => Promise<T>): Promise<T>;
  /** Runs reads that all see one moment. */
  snapshot<T>(work: (tx: Queries) => Promise<T>): Promise<T>;
  /** Runs `work` while no other process migrates. */
  migrate(work: (tx: Queries & { script(sql: string): Promise<void> }) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/** Returns the only row, or throws. */
export function one<T>(rows: readonly T[]): T {
  if (rows.length !== 1) throw new Error(`got ${rows.length} rows, expected 1`);
  return rows[0]!;
}
