/** The interface of both databases. They run the same SQL text, with `?` for a value. */

export type Value = string | number | null;

export interface Queries {
  all<T extends object>(sql: string, params?: readonly Value[]): Promise<T[]>;
}

export interface Database extends Queries {
  readonly kind: "sqlite" | "postgres";
  /**
   * Runs one transaction, which is durable when the promise resolves. `work` may do nothing but queries, since it runs
   * again after a deadlock.
   */
  write<T>(work: (tx: Queries) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The database cannot be used now: away, locked, or its disk is full. */
export class DatabaseAway extends Error {
  override readonly name = "DatabaseAway";
}

/** Returns the code of an error of the system or the database, such as "SQLITE_FULL"; "" if there is none. */
export const codeOf = (error: unknown): string => (error instanceof Error && "code" in error ? String(error.code) : "");
