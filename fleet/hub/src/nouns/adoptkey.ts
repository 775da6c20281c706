/**
 * Adopt keys. A device enrols with an adopt key, which has no other use. A key is valid until a certain time and for a
 * certain number of devices, and puts these devices into groups. The full key is shown once. Revoking a key does not
 * affect enrolled devices.
 */
import type { Database, Queries } from "boxwright-service/database";
import { UserError } from "../core/errors.ts";
import { sha256 } from "../core/ids.ts";
import { mintKey, type MintedKey } from "../core/key.ts";
import { audit, type Change } from "./audit.ts";
import { needDevice } from "./device-query.ts";
import { needGroup } from "./group.ts";
import { checkRoom } from "./rows.ts";
import { checkWhole, cleanName } from "./text.ts";

const DAY_MS = 86_400_000;
export const MAX_ADOPT_DAYS = 365;
/** Largest number of keys of a team, including revoked and used ones. */
const MAX_ADOPT_KEYS = 1000;
export const MAX_ADOPT_DEVICES = 20_000;

export interface AdoptKey {
  /** Public id. */
  readonly id: string;
  readonly name: string;
  /** Device of the team that the key adopts. Null for a key that makes new devices. */
  readonly device_id: string | null;
  /** Email of the person who made the key, or `key` and the public id of an API key. */
  readonly created_by: string;
  readonly created_at: number;
  readonly expires_at: number;
  readonly max_devices: number;
  /** Number of devices that enrolled with the key. */
  readonly used: number;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
}

export interface NewAdoptKey {
  readonly name: string;
  readonly days: number;
  readonly devices: number;
  readonly groupIds: readonly string[];
  /** Device that the key adopts. */
  readonly deviceId?: string | undefined;
}

export const ADOPT_KEY_COLUMNS =
  "id, name, device_id, created_by, created_at, expires_at, max_devices, used, last_used_at, revoked_at";

/** Returns why no device can enrol with the key any more, or undefined if devices still can. */
export function spentBecause(key: AdoptKey, now: number): "revoked" | "expired" | "used up" | undefined {
  if (key.revoked_at !== null) return "revoked";
  if (now >= key.expires_at) return "expired";
  return key.used >= key.max_devices ? "used up" : undefined;
}

/**
 * Makes a key for a page's form, which `nonce` identifies. Returns undefined if the same form has already made its key.
 * Any member may make keys, since any member may add devices.
 */
export async function createAdoptKey(
  db: Database,
  { now, actor, teamId }: Change,
  nonce: string,
  wanted: NewAdoptKey,
): Promise<(MintedKey & { readonly expires_at: number }) | undefined> {
  const name = cleanName(wanted.name, "adopt key name");
  checkWhole(wanted.days, 1, MAX_ADOPT_DAYS, "days");
  checkWhole(wanted.devices, 1, MAX_ADOPT_DEVICES, "devices");
  const key = mintKey("bwa");
  const expires_at = now + wanted.days * DAY_MS;
  const made = await db.write(async (tx) => {
    await checkRoom(tx, "adopt_keys", teamId, MAX_ADOPT_KEYS, "adopt key");
    for (const id of wanted.groupIds) await needGroup(tx, teamId, id);
    if (wanted.deviceId !== undefined) await needDevice(tx, teamId, wanted.deviceId);
    const rows = await tx.all(
      "INSERT INTO adopt_keys (id, team_id, hash, form, name, device_id, created_by, created_at, expires_at, max_devices, used) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0) ON CONFLICT DO NOTHING RETURNING id",
      [
        ...[key.id, teamId, key.hash, sha256(nonce), name, wanted.deviceId ?? null, actor, now, expires_at],
        wanted.deviceId === undefined ? wanted.devices : 1,
      ],
    );
    if (rows.length === 0) return false;
    for (const group of new Set(wanted.groupIds))
      await tx.all("INSERT INTO adopt_key_groups (adopt_key_id, group_id) VALUES (?, ?)", [key.id, group]);
    await audit(tx, now, actor, "adopt_key.created", teamId, `${key.id} ${name}`);
    return true;
  });
  return made ? { ...key, expires_at } : undefined;
}

/** Returns keys of a team, the newest first. */
export function listAdoptKeys(db: Queries, teamId: string): Promise<AdoptKey[]> {
  return db.all<AdoptKey>(
    `SELECT ${ADOPT_KEY_COLUMNS} FROM adopt_keys WHERE team_id = ? ORDER BY created_at DESC, id DESC`,
    [teamId],
  );
}

/** Returns the groups that devices join when they enrol with the key. */
export async function groupIdsOf(db: Queries, id: string): Promise<string[]> {
  const rows = await db.all<{ group_id: string }>(
    "SELECT group_id FROM adopt_key_groups WHERE adopt_key_id = ? ORDER BY group_id",
    [id],
  );
  return rows.map(({ group_id }) => group_id);
}

export async function findAdoptKey(db: Queries, teamId: string, id: string): Promise<AdoptKey | undefined> {
  const rows = await db.all<AdoptKey>(`SELECT ${ADOPT_KEY_COLUMNS} FROM adopt_keys WHERE team_id = ? AND id = ?`, [
    teamId,
    id,
  ]);
  return rows[0];
}

/** Returns a key of the team. Throws a UserError if there is none. */
async function adoptKeyOf(db: Queries, teamId: string, id: string): Promise<AdoptKey> {
  const key = await findAdoptKey(db, teamId, id);
  if (key !== undefined) return key;
  // Do not repeat the whole input, since somebody may have pasted a secret key.
  throw new UserError(
    `got adopt key ${id.slice(0, 12)}, expected the public id of one of the team`,
    404,
    "This adopt key does not exist any more.",
  );
}

/** Revokes a key. Revoking a revoked key changes nothing. */
export async function revokeAdoptKey(db: Database, { now, actor, teamId }: Change, id: string): Promise<AdoptKey> {
  return db.write(async (tx) => {
    const key = await adoptKeyOf(tx, teamId, id);
    if (key.revoked_at !== null) return key;
    await tx.all("UPDATE adopt_keys SET revoked_at = ? WHERE id = ?", [now, id]);
    await audit(tx, now, actor, "adopt_key.revoked", teamId, `${id} ${key.name}`);
    return { ...key, revoked_at: now };
  });
}

/** Deletes a key. Devices that enrolled with the key are not affected. */
export async function deleteAdoptKey(db: Database, { now, actor, teamId }: Change, id: string): Promise<AdoptKey> {
  return db.write(async (tx) => {
    const key = await adoptKeyOf(tx, teamId, id);
    await tx.all("DELETE FROM adopt_key_groups WHERE adopt_key_id = ?", [id]);
    await tx.all("DELETE FROM adopt_keys WHERE id = ?", [id]);
    await audit(tx, now, actor, "adopt_key.deleted", teamId, `${id} ${key.name}`);
    return key;
  });
}
