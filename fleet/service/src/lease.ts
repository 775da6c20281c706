/**
 * Leases decide which of several processes on one database does a piece of work. The others wait. The table is `leases
 * (name PRIMARY KEY, owner, until)`.
 */
import type { Database } from "./database.ts";

/**
 * Takes or renews a lease.
 * @param owner names the caller
 * @returns true if `owner` now has the lease, false if another owner has it
 */
export async function takeLease(
  db: Database,
  name: string,
  owner: string,
  { now, milliseconds }: { readonly now: number; readonly milliseconds: number },
): Promise<boolean> {
  // Replace a lease with an end far in the future too, since it was written under a wrong clock.
  const rows = await db.write((tx) =>
    tx.all(
      `INSERT INTO leases (name, owner, until) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE
        SET owner = excluded.owner, until = excluded.until
        WHERE leases.owner = excluded.owner OR leases.until < ? OR leases.until > ?
        RETURNING 1 AS done`,
      [name, owner, now + milliseconds, now, now + 10 * milliseconds],
    ),
  );
  return rows.length > 0;
}

export async function releaseLease(db: Database, name: string, owner: string): Promise<void> {
  await db.write((tx) => tx.all("DELETE FROM leases WHERE name = ? AND owner = ?", [name, owner]));
}
