/** Inserts many rows with few statements. */
import type { Queries, Value } from "boxwright-service/database";

/** Row counts of an INSERT. Only three, since the database keeps a prepared statement for each. */
const SIZES = [64, 8, 1];

export interface Insert<Row> {
  readonly into: string;
  readonly columns: readonly (keyof Row & string)[];
  readonly rows: readonly Row[];
  /** Text after ON CONFLICT. */
  readonly onConflict: string;
}

/** Inserts rows in the given order. Returns the rows of RETURNING. */
export async function insertInParts<Row, Found extends object = object>(
  tx: Queries,
  { into, columns, rows, onConflict }: Insert<Row>,
): Promise<Found[]> {
  const found: Found[] = [];
  const row = `(${columns.map(() => "?").join(", ")})`;
  for (let at = 0; at < rows.length;) {
    const size = SIZES.find((n) => n <= rows.length - at)!;
    const values = Array<string>(size).fill(row).join(", ");
    const sql = `INSERT INTO ${into} (${columns.join(", ")}) VALUES ${values} ON CONFLICT ${onConflict}`;
    const params = rows.slice(at, at + size).flatMap((one) => columns.map((name) => one[name] as Value));
    found.push(...(await tx.all<Found>(sql, params)));
    at += size;
  }
  return found;
}
