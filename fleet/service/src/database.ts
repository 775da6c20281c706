/**
 * The database interface of services. SQLite and PostgreSQL run the same SQL text.
 *
 * Services write plain SQL with `?` placeholders, ON CONFLICT and RETURNING, without a query builder. Each database
 * prepares every SQL text once and keeps the statement.
 */
export type Value = string | number | null;

export interface Queries {
  all<T extends object>(sql: string, params?: readonly Value[]): Promise<T[]>;
}

/** Queries of a migration, which may also run texts with several statements. */
export interface Schema extends Queries {
  script(sql: string): Promise<void>;
}

export interface WriteOptions {
  /** False: the transaction does not wait for the disk, and a power failure may undo it. Default true. */
  readonly durable?: boolean;
}

export interface Database extends Queries {
  readonly kind: "sqlite" | "postgres";
  /**
   * Runs one transaction, which is durable when the promise resolves, unless `options` say otherwise. PostgreSQL may
   * run `work` again after a conflict, so `work` must have no effects other than its queries.
   */
  write<T>(work: (tx: Queries) => Promise<T>, options?: WriteOptions): Promise<T>;
  /** Runs reads that all see the same state. */
  snapshot<T>(work: (tx: Queries) => Promise<T>): Promise<T>;
  /** Runs `work` while no other process migrates. */
  migrate(work: (tx: Schema) => Promise<void>): Promise<void>;
  /**
   * Returns why the database is unusable although it answers, for instance because of a full disk or a deleted file.
   * Returns undefined if it is usable. Costs almost nothing normally. After a full disk, tries to write.
   */
  problem(): Promise<string | undefined>;
  close(): Promise<void>;
}

/** The service that a database belongs to. */
export interface Owner {
  /** Name of the service in one word, such as "hub", for messages and the database server. */
  readonly service: string;
}

/**
 * Tests whether the disk accepts writes again, without leaving anything behind. An UPDATE to the same value would be no
 * test, since SQLite writes no page for it.
 */
export async function tryWrite(db: Database): Promise<void> {
  await db.write(async (tx) => {
    await tx.all("INSERT INTO schema_migrations (version, name, applied_at) VALUES (0, 'try', 0)");
    await tx.all("DELETE FROM schema_migrations WHERE version = 0");
  });
}

export const DISK_FULL = "the disk of the database is full (ENOSPC)";

/** Returns the only row, or throws. */
export function one<T>(rows: readonly T[]): T {
  if (rows.length !== 1) throw new Error(`got ${rows.length} rows, expected 1`);
  return rows[0]!;
}
