/** Inserts many rows with few statements. */
import type { Queries, Value } from "boxwright-service/database";

/** Row counts of an INSERT. Few, since the database keeps a prepared statement for each. */
const SIZES = [64, 16, 4, 1];

export interface Insert<Row> {
  readonly into: string;
  readonly columns: readonly (keyof Row & string)[];
  /** Text after ON CONFLICT. */
  readonly onConflict: string;
}

/** Returns a function that inserts rows in the given order, and returns the rows of RETURNING. */
export function inserter<Row, Found extends object = object>({ into, columns, onConflict }: Insert<Row>) {
  const row = `(${columns.map(() => "?").join(", ")})`;
  const parts = SIZES.map((size) => {
    const values = Array<string>(size).fill(row).join(", ");
    return { size, sql: `INSERT INTO ${into} (${columns.join(", ")}) VALUES ${values} ON CONFLICT ${onConflict}` };
  });
  return async (tx: Queries, rows: readonly Row[]): Promise<Found[]> => {
    const found: Found[] = [];
    for (let at = 0; at < rows.length;) {
      const { size, sql } = parts.find((part) => part.size <= rows.length - at)!;
      const params = rows.slice(at, at + size).flatMap((one) => columns.map((name) => one[name] as Value));
      found.push(...(await tx.all<Found>(sql, params)));
      at += size;
    }
    return found;
  };
}
