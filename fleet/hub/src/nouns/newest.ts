/** The time of the newest row of those that come often. By it a hub notices a clock that is far ahead. */
import type { Queries } from "boxwright-service/database";

/** Returns the time of the newest contact, snap or row of the audit, in milliseconds since 1970; null: none. */
export async function newestTime(db: Queries): Promise<number | null> {
  const sources = [
    "SELECT max(last_contact_at) AS at FROM device_states",
    "SELECT max(received_at) AS at FROM snaps",
    "SELECT max(at) AS at FROM audit",
  ];
  const [row] = await db.all<{ at: number | null }>(
    `SELECT max(at) AS at FROM (${sources.join(" UNION ALL ")}) AS newest`,
  );
  return row?.at ?? null;
}
