/** Queries for many ids, in parts. */
import type { Queries } from "boxwright-service/database";

/**
 * Number of ids in one query. The number is fixed so that the SQL text stays the same, and the database prepares it
 * once.
 */
const IDS_A_QUERY = 100;

/** Placeholders of the ids in one query: `id IN (${IDS})`. */
export const IDS = Array<string>(IDS_A_QUERY).fill("?").join(", ");

/**
 * Returns the rows of the given ids.
 * @param sql query with the parameters team id and IDS
 */
export async function findByIds<T extends object>(
  db: Queries,
  sql: string,
  teamId: string,
  ids: readonly string[],
): Promise<T[]> {
  const rows: T[] = [];
  for (let i = 0; i < ids.length; i += IDS_A_QUERY) {
    const some = ids.slice(i, i + IDS_A_QUERY);
    const padded = [...some, ...Array<string>(IDS_A_QUERY - some.length).fill(some[0]!)];
    rows.push(...(await db.all<T>(sql, [teamId, ...padded])));
  }
  return rows;
}
