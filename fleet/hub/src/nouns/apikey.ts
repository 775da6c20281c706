/** API keys in the database: made, looked up, revoked. Only their hash is stored, and no page lists them. */
import type { Database, Queries } from "boxwright-service/database";
import { UserError } from "../core/errors.ts";
import { sha256 } from "../core/ids.ts";
import { isKeyId, mintKey, type MintedKey } from "../core/key.ts";
import { audit } from "./audit.ts";
import { requireAdmin } from "./team.ts";

/**
 * Makes a key for the form that `nonce` belongs to. The same form sent again, by a double click or a reload, makes
 * nothing and returns undefined. `form` is unique in the database, so this holds between processes too.
 */
export async function createKey(
  db: Database,
  now: number,
  user: { id: string; email: string },
  teamId: string,
  nonce: string,
  mint: () => MintedKey = mintKey,
): Promise<MintedKey | undefined> {
  const key = mint();
  const made = await db.write(async (tx) => {
    await requireAdmin(tx, teamId, user.id);
    const rows = await tx.all(
      "INSERT INTO api_keys (id, team_id, hash, form, created_by, created_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id",
      [key.id, teamId, key.hash, sha256(nonce), user.id, now],
    );
    if (rows.length === 0) return false;
    await audit(tx, now, user.email, "key.created", teamId, key.id);
    return true;
  });
  return made ? key : undefined;
}

export interface KeyRow {
  readonly hash: string;
  readonly revoked_at: number | null;
  readonly team_id: string;
  readonly team_name: string;
}

/** Returns the key and its team. Nothing is cached: a revoked key is refused at once. */
export async function lookUpKey(db: Queries, id: string): Promise<KeyRow | undefined> {
  const rows = await db.all<KeyRow>(
    "SELECT k.hash AS hash, k.revoked_at AS revoked_at, k.team_id AS team_id, t.name AS team_name FROM api_keys k JOIN teams t ON t.id = k.team_id WHERE k.id = ?",
    [id],
  );
  return rows[0];
}

/** Revokes a key. `fresh` is false if the key had been revoked before. */
export async function revokeKey(
  db: Database,
  now: number,
  actor: string,
  teamId: string,
  id: string,
): Promise<{ fresh: boolean }> {
  // A full key pasted here by mistake must not come back in a message or a log.
  if (!isKeyId(id))
    throw new UserError(
      `key: got ${id.length} characters, expected the public id: the 12 letters and digits between hub_ and the next _`,
    );
  return db.write(async (tx) => {
    const rows = await tx.all<{ revoked_at: number | null }>(
      "SELECT revoked_at FROM api_keys WHERE id = ? AND team_id = ?",
      [id, teamId],
    );
    if (rows[0] === undefined) throw new UserError(`got key ${id}, expected the public id of a key of this team`, 404);
    if (rows[0].revoked_at !== null) return { fresh: false };
    await tx.all("UPDATE api_keys SET revoked_at = ? WHERE id = ?", [now, id]);
    await audit(tx, now, actor, "key.revoked", teamId, id);
    return { fresh: true };
  });
}

/**
 * Returns the public ids of keys that this person made and that still hold. Without `teamId`: in every team. Whoever
 * takes their access away should see them: the keys are the team's and stay.
 */
export async function keysMadeBy(db: Queries, userId: string, teamId?: string): Promise<string[]> {
  const rows = await db.all<{ id: string }>(
    `SELECT id FROM api_keys WHERE created_by = ? AND revoked_at IS NULL${teamId === undefined ? "" : " AND team_id = ?"} ORDER BY created_at, id`,
    teamId === undefined ? [userId] : [userId, teamId],
  );
  return rows.map(({ id }) => id);
}

export interface ListedKey {
  /** Public id. */
  readonly id: string;
  /** Email of the maker. */
  readonly made_by: string;
  readonly created_at: number;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
}

/** Lists the keys of a team for support, on the command line only. The maker may have no account any more. */
export function listKeys(db: Queries, teamId: string): Promise<ListedKey[]> {
  return db.all<ListedKey>(
    "SELECT k.id AS id, coalesce(u.email, (SELECT a.actor FROM audit a WHERE a.team_id = k.team_id AND a.action = 'key.created' AND a.subject = k.id ORDER BY a.id LIMIT 1), k.created_by) AS made_by, k.created_at AS created_at, k.last_used_at AS last_used_at, k.revoked_at AS revoked_at FROM api_keys k LEFT JOIN users u ON u.id = k.created_by WHERE k.team_id = ? ORDER BY k.created_at, k.id",
    [teamId],
  );
}

/**
 * Times of last use, by key. They are written late and together: people read them by the minute, and each request would
 * pay for a write.
 */
export class LastUsed {
  #times = new Map<string, number>();

  note(id: string, now: number): void {
    this.#times.set(id, now);
  }

  async flush(db: Database): Promise<number> {
    if (this.#times.size === 0) return 0;
    const times = this.#times;
    this.#times = new Map();
    try {
      await db.write(async (tx) => {
        for (const [id, at] of times) {
          await tx.all(
            "UPDATE api_keys SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)",
            [at, id, at],
          );
        }
      });
      return times.size;
    } catch (error) {
      // Keep the times for the next flush. Times noted meanwhile are newer.
      for (const [id, at] of times) if (!this.#times.has(id)) this.#times.set(id, at);
      throw error;
    }
  }
}
