/**
 * Leases decide which process does a piece of work, if several share a database. The others wait. The table is `leases
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
  // Also replace a lease with an end far in the future, which was written under a wrong clock.
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
