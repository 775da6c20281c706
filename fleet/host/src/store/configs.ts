/** Stores configs, and finds them by hash. */
import type { Database } from "boxwright-service/database";

export async function storedConfig(db: Database, hash: string): Promise<string | undefined> {
  const [row] = await db.all<{ body: string }>("SELECT body FROM configs WHERE hash = ?", [hash]);
  return row?.body;
}

export async function countConfigs(db: Database): Promise<number> {
  const [row] = await db.all<{ n: number }>("SELECT count(*) AS n FROM configs");
  return Number(row?.n ?? 0);
}

export async function storeConfig(db: Database, hash: string, body: string, now: number): Promise<void> {
  await db.write((tx) =>
    tx.all("INSERT INTO configs (hash, body, stored_at) VALUES (?, ?, ?) ON CONFLICT (hash) DO NOTHING", [
      hash,
      body,
      now,
    ]),
  );
}
