/** API keys in the database: making, looking up, rotating and revoking. Only the hash of a key is stored. */
import type { Database, Queries } from "boxwright-service/database";
import { UserError } from "../core/errors.ts";
import { sha256 } from "../core/ids.ts";
import { isKeyId, mintKey, type MintedKey } from "../core/key.ts";
import { audit, type Change } from "./audit.ts";
import { parseScopes, storedScopes, type Scopes } from "./key-scope.ts";
import { requireAdmin } from "./team.ts";
import { checkWhole, cleanName } from "./text.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
export const MAX_KEY_DAYS = 365;
/** Largest number of hours in which both keys of a rotation are valid: 30 days. */
export const MAX_OVERLAP_HOURS = 720;
/** Largest number of valid keys of a team. */
const MAX_KEYS = 500;

/** Maker of a key: an administrator, or, without `id`, a program with a full key. */
export interface KeyMaker {
  readonly id?: string;
  /** Name of the maker in the audit. */
  readonly email: string;
}

export interface NewKey {
  readonly name: string;
  readonly scopes: Scopes;
  /** Days until the key ends. Undefined: the key is valid until it is revoked. */
  readonly days?: number | undefined;
}

export const FULL_KEY: NewKey = { name: "Full access", scopes: null };

export type MadeKey = MintedKey & { readonly expires_at: number | null };

/**
 * Makes a key for a page's form, which `nonce` identifies. Returns undefined if the same form has already made its key,
 * after a double click or a reload. The column `form` is unique in the database, so this also works across processes.
 */
export async function createKey(
  db: Database,
  now: number,
  maker: KeyMaker,
  teamId: string,
  nonce: string,
  wanted: NewKey = FULL_KEY,
  mint: () => MintedKey = mintKey,
): Promise<MadeKey | undefined> {
  const name = cleanName(wanted.name, "API key name");
  checkWhole(wanted.days, 1, MAX_KEY_DAYS, "days");
  const key = mint();
  const expires_at = wanted.days === undefined ? null : now + wanted.days * DAY_MS;
  const made = await db.write(async (tx) => {
    await admitMaker(tx, now, maker, teamId);
    const row = { ...key, team_id: teamId, name, scopes: wanted.scopes, expires_at, created_at: now };
    if (!(await insertKey(tx, maker, nonce, row))) return false;
    await audit(tx, now, maker.email, "key.created", teamId, key.id);
    return true;
  });
  return made ? { ...key, expires_at } : undefined;
}

/** Throws unless the maker may make another key. */
async function admitMaker(tx: Queries, now: number, { id }: KeyMaker, teamId: string): Promise<void> {
  if (id !== undefined) await requireAdmin(tx, teamId, id);
  const [row] = await tx.all<{ count: number }>(
    "SELECT count(*) AS count FROM api_keys WHERE team_id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)",
    [teamId, now],
  );
  if ((row?.count ?? 0) < MAX_KEYS) return;
  const message = `got one more API key for a team with ${MAX_KEYS} keys that hold, expected at most ${MAX_KEYS}`;
  throw new UserError(message, 409, `The team has ${MAX_KEYS} API keys, which is the limit. Revoke some first.`);
}

interface InsertedKey extends MintedKey {
  readonly team_id: string;
  readonly name: string;
  readonly scopes: Scopes;
  readonly created_at: number;
  readonly expires_at: number | null;
}

/** Inserts a key. Returns false if the form has already made its key. */
async function insertKey(tx: Queries, maker: KeyMaker, nonce: string, key: InsertedKey): Promise<boolean> {
  const rows = await tx.all(
    "INSERT INTO api_keys (id, team_id, hash, form, created_by, created_at, name, scopes, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id",
    [
      ...[key.id, key.team_id, key.hash, sha256(nonce), maker.id ?? maker.email, key.created_at, key.name],
      ...[storedScopes(key.scopes), key.expires_at],
    ],
  );
  return rows.length > 0;
}

/**
 * Makes a key that replaces another, with the same name, scopes and lifetime. The old key stays valid for
 * `overlapHours`, but not longer than its own end. Returns undefined if the form has already made its key.
 */
export async function rotateKey(
  db: Database,
  now: number,
  maker: KeyMaker,
  teamId: string,
  nonce: string,
  { id, overlapHours }: { readonly id: string; readonly overlapHours: number },
): Promise<MadeKey | undefined> {
  checkKeyId(id);
  checkWhole(overlapHours, 0, MAX_OVERLAP_HOURS, "hours");
  const key = mintKey();
  return db.write(async (tx) => {
    await admitMaker(tx, now, maker, teamId);
    // Check for a repeated form first: the form's first submission has rotated the key, so the checks below would fail.
    if ((await tx.all("SELECT id FROM api_keys WHERE form = ?", [sha256(nonce)])).length > 0) return undefined;
    const old = await keyOf(tx, teamId, id);
    if (!holds(old, now) || old.replaced_by !== null) {
      const state = old.replaced_by === null ? "ended" : `replaced by ${old.replaced_by}`;
      throw new UserError(
        `got key ${id}, which is ${state}, expected one that holds and was not rotated`,
        409,
        `This key is ${state}.`,
      );
    }
    const expires_at = old.expires_at === null ? null : now + old.expires_at - old.created_at;
    const row = { ...key, team_id: teamId, name: old.name, scopes: parseScopes(old.scopes), created_at: now };
    if (!(await insertKey(tx, maker, nonce, { ...row, expires_at }))) return undefined;
    const end = Math.min(now + overlapHours * HOUR_MS, old.expires_at ?? Infinity);
    await tx.all("UPDATE api_keys SET expires_at = ?, replaced_by = ? WHERE id = ?", [end, key.id, id]);
    await audit(tx, now, maker.email, "key.created", teamId, key.id);
    // Write the new end into the audit. A restore reads this row, so that the old key does not become valid for longer.
    await audit(tx, now, maker.email, "key.rotated", teamId, `${id} ${key.id} ${new Date(end).toISOString()}`);
    return { ...key, expires_at };
  });
}

export interface KeyRow {
  readonly hash: string;
  readonly revoked_at: number | null;
  readonly expires_at: number | null;
  /** Scopes in the form in which the database stores them, for `parseScopes`. */
  readonly scopes: string;
  readonly team_id: string;
  readonly team_name: string;
}

/** True if the key is valid at the time `now`. */
export const holds = ({ revoked_at, expires_at }: Pick<KeyRow, "revoked_at" | "expires_at">, now: number): boolean =>
  revoked_at === null && (expires_at === null || now < expires_at);

/** Returns the key and its team. Nothing is cached, so that a revoked key is refused at once. */
export async function lookUpKey(db: Queries, id: string): Promise<KeyRow | undefined> {
  const rows = await db.all<KeyRow>(
    "SELECT k.hash AS hash, k.revoked_at AS revoked_at, k.expires_at AS expires_at, k.scopes AS scopes, k.team_id AS team_id, t.name AS team_name FROM api_keys k JOIN teams t ON t.id = k.team_id WHERE k.id = ?",
    [id],
  );
  return rows[0];
}

function checkKeyId(id: string): void {
  // Do not repeat the whole input, since somebody may have pasted a secret key.
  if (!isKeyId(id))
    throw new UserError(
      `key: got ${id.length} characters, expected the public id: the 12 letters and digits between hub_ and the next _`,
    );
}

interface OwnKey {
  readonly name: string;
  readonly scopes: string;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  readonly replaced_by: string | null;
}

async function keyOf(tx: Queries, teamId: string, id: string): Promise<OwnKey> {
  const [row] = await tx.all<OwnKey>(
    "SELECT name, scopes, created_at, expires_at, revoked_at, replaced_by FROM api_keys WHERE id = ? AND team_id = ?",
    [id, teamId],
  );
  if (row !== undefined) return row;
  throw new UserError(`got key ${id}, expected the public id of a key of this team`, 404, "There is no such key.");
}

/** Revokes a key. `fresh` is false if the key was revoked already. `by` is the administrator who revokes the key. */
export async function revokeKey(
  db: Database,
  { now, actor, by, teamId }: Change,
  id: string,
): Promise<{ fresh: boolean }> {
  checkKeyId(id);
  return db.write(async (tx) => {
    if (by !== undefined) await requireAdmin(tx, teamId, by);
    if ((await keyOf(tx, teamId, id)).revoked_at !== null) return { fresh: false };
    await tx.all("UPDATE api_keys SET revoked_at = ? WHERE id = ?", [now, id]);
    await audit(tx, now, actor, "key.revoked", teamId, id);
    return { fresh: true };
  });
}

/**
 * Returns the public ids of valid keys that this person made, in a team or, without `teamId`, in every team. The caller
 * shows the ids when the person is removed, since keys belong to the team and stay valid.
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
  readonly name: string;
  readonly scopes: Scopes;
  /** Email of the maker, or the public id of the key that made this one. */
  readonly made_by: string;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
  /** Public id of the key that replaces this one. */
  readonly replaced_by: string | null;
}

/**
 * Lists the keys of a team, the oldest first. If the account that made a key was removed, the audit gives its email.
 */
export async function listKeys(db: Queries, teamId: string): Promise<ListedKey[]> {
  const rows = await db.all<Omit<ListedKey, "scopes"> & { readonly scopes: string }>(
    "SELECT k.id AS id, k.name AS name, k.scopes AS scopes, coalesce(u.email, (SELECT a.actor FROM audit a WHERE a.team_id = k.team_id AND a.action = 'key.created' AND a.subject = k.id ORDER BY a.id LIMIT 1), k.created_by) AS made_by, k.created_at AS created_at, k.expires_at AS expires_at, k.last_used_at AS last_used_at, k.revoked_at AS revoked_at, k.replaced_by AS replaced_by FROM api_keys k LEFT JOIN users u ON u.id = k.created_by WHERE k.team_id = ? ORDER BY k.created_at, k.id",
    [teamId],
  );
  return rows.map(({ scopes, ...row }) => ({ ...row, scopes: parseScopes(scopes) }));
}

/**
 * Times of last use, by key. They are collected and written together: for people, a time within a minute is exact
 * enough, and one write per request would be costly.
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
      // After a failure, keep the times for the next flush. Times recorded meanwhile are newer.
      for (const [id, at] of times) if (!this.#times.has(id)) this.#times.set(id, at);
      throw error;
    }
  }
}
