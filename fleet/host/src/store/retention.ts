/** Deletes old frames in small transactions, so that no other write waits long. */
import { sortableNow } from "../core/time.ts";
import type { Database } from "./database.ts";

const AT_ONCE = 1000;

/**
 * Deletes frames that were captured and stored before a moment. Returns their count. Frames of a device whose
 * clock is set to 1970 stay as long as others.
 * @param before milliseconds since 1970
 */
export async function deleteBefore(db: Database, before: number): Promise<number> {
  for (let deleted = 0; ;) {
    const rows = await db.write((tx) =>
      tx.all(
        "DELETE FROM frames WHERE (source, id) IN (SELECT source, id FROM frames WHERE time < ? AND stored_at < ? ORDER BY time LIMIT ?) RETURNING id",
        [sortableNow(before), before, AT_ONCE],
      ),
    );
    deleted += rows.length;
    if (rows.length < AT_ONCE) return deleted;
  }
}
