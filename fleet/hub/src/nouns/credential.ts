/**
 * Credentials of devices: made at enrolment, rotated by the device, revoked by people. A credential belongs to one
 * device, and is accepted only on `/device/*`. Only the hash of a credential is stored.
 */
import type { Database, Queries } from "boxwright-service/database";
import { mintKey, type MintedKey } from "../core/key.ts";
import { audit, type Change } from "./audit.ts";
import { STATE_COLUMNS, type DeviceState } from "./status.ts";

const DAY_MS = 86_400_000;
/** Age at which the hub asks a device to rotate its credential. */
const ROTATE_AFTER_MS = 30 * DAY_MS;
/** Days for which the token of a device is valid. */
export const TOKEN_DAYS = 7;

/** An authenticated device. */
export interface KnownDevice extends DeviceState {
  readonly team_id: string;
  readonly team_name: string;
  readonly id: string;
  readonly name: string;
  /** Public id of the credential. */
  readonly credential: string;
  readonly credential_created_at: number;
  readonly credential_used_at: number | null;
}

const FIND = `SELECT c.id AS credential, c.hash AS hash, c.created_at AS credential_created_at, c.used_at AS credential_used_at, c.team_id AS team_id, t.name AS team_name, d.id AS id, d.name AS name, ${STATE_COLUMNS.map((column) => `s.${column} AS ${column}`).join(", ")} FROM device_credentials c JOIN devices d ON d.team_id = c.team_id AND d.id = c.device_id JOIN device_states s ON s.team_id = c.team_id AND s.device_id = c.device_id JOIN teams t ON t.id = c.team_id WHERE c.id = ?`;

/**
 * Returns the device to which a credential belongs. Nothing is cached, so that a revoked credential is refused at once.
 */
export async function lookUpCredential(
  db: Queries,
  id: string,
): Promise<(KnownDevice & { readonly hash: string }) | undefined> {
  return (await db.all<KnownDevice & { readonly hash: string }>(FIND, [id]))[0];
}

/** Stores a new credential of a device. */
export async function addCredential(tx: Queries, now: number, teamId: string, deviceId: string): Promise<MintedKey> {
  const minted = mintKey("bwd");
  await tx.all("INSERT INTO device_credentials (id, team_id, device_id, hash, created_at) VALUES (?, ?, ?, ?, ?)", [
    minted.id,
    teamId,
    deviceId,
    minted.hash,
    now,
  ]);
  return minted;
}

/** True if the device should rotate its credential. */
export const isOld = ({ credential_created_at }: KnownDevice, now: number): boolean =>
  now - credential_created_at > ROTATE_AFTER_MS;

/**
 * Makes the next credential of a device. The present credential stays valid until the device first uses the next one.
 * If the device did not get the answer, a second call replaces the next credential.
 */
export function rotate(db: Database, now: number, { team_id, id, credential }: KnownDevice): Promise<MintedKey> {
  return db.write(async (tx) => {
    await tx.all("DELETE FROM device_credentials WHERE team_id = ? AND device_id = ? AND id <> ?", [
      team_id,
      id,
      credential,
    ]);
    return addCredential(tx, now, team_id, id);
  });
}

/** Records the first use of a credential, and deletes the earlier credentials of the device. */
export async function noteFirstUse(db: Database, now: number, device: KnownDevice): Promise<void> {
  const { team_id, id, credential, credential_created_at } = device;
  await db.write(async (tx) => {
    await tx.all("UPDATE device_credentials SET used_at = ? WHERE id = ? AND used_at IS NULL", [now, credential]);
    // Keep newer credentials, since the device may be rotating now.
    await tx.all("DELETE FROM device_credentials WHERE team_id = ? AND device_id = ? AND id <> ? AND created_at <= ?", [
      ...[team_id, id, credential, credential_created_at],
    ]);
  });
}

export interface ListedCredential {
  /** Public id. */
  readonly id: string;
  readonly created_at: number;
  readonly used_at: number | null;
}

/** Returns the valid credentials of a device, the oldest first: usually one, and two during a rotation. */
export function credentialsOf(db: Queries, teamId: string, deviceId: string): Promise<ListedCredential[]> {
  return db.all<ListedCredential>(
    "SELECT id, created_at, used_at FROM device_credentials WHERE team_id = ? AND device_id = ? ORDER BY created_at, id",
    [teamId, deviceId],
  );
}

/** Revokes the credentials and the tokens of a device. The device has to enrol again. */
export async function revokeDevice(
  db: Database,
  { now, actor, teamId }: Change,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<void> {
  await db.write(async (tx) => {
    if ((await endCredentials(tx, now, teamId, id)) === 0) return;
    await tx.all("UPDATE device_states SET revoked_at = ? WHERE team_id = ? AND device_id = ?", [now, teamId, id]);
    await audit(tx, now, actor, "device.revoked", teamId, `${id} ${name}`);
  });
}

/** Deletes every credential of a device, and voids its tokens. Returns the number of deleted credentials. */
export async function endCredentials(tx: Queries, now: number, teamId: string, deviceId: string): Promise<number> {
  await voidTokens(tx, now, deviceId);
  const rows = await tx.all("DELETE FROM device_credentials WHERE team_id = ? AND device_id = ? RETURNING id", [
    teamId,
    deviceId,
  ]);
  return rows.length;
}

/**
 * Returns the start of the next second, in seconds. Hosts refuse tokens issued before this time. `iat` (the issue time)
 * counts whole seconds, so hosts refuse tokens of the present second too.
 */
const secondAfter = (now: number): number => Math.floor(now / 1000) + 1;

/**
 * Returns the issue time for the next token of a device, in seconds since 1970. The time is never before the last
 * revocation, since the device may have enrolled again in the same second. The database stores the time, so that the
 * next revocation is later even if the hub's clock is set back.
 * @returns undefined if the device was revoked or removed after the hub had checked its credential
 */
export function dateToken(
  db: Database,
  now: number,
  { team_id, id, credential }: KnownDevice,
): Promise<number | undefined> {
  const sql = "UPDATE device_states SET token_at = ? WHERE team_id = ? AND device_id = ? AND coalesce(token_at, 0) < ?";
  return db.write(
    async (tx) => {
      // Check the credential again in the transaction that reads the revocation. A token dated after the revocation
      // would be valid for days.
      if ((await lookUpCredential(tx, credential)) === undefined) return undefined;
      const issuedAt = Math.max(Math.floor(now / 1000), await tokensGoodFrom(tx, id));
      await tx.all(sql, [issuedAt, team_id, id, issuedAt]);
      return issuedAt;
    },
    { durable: false },
  );
}

/** Voids all present tokens of a device. */
export async function voidTokens(tx: Queries, now: number, deviceId: string): Promise<void> {
  const [state] = await tx.all<{ token_at: number | null }>("SELECT token_at FROM device_states WHERE device_id = ?", [
    deviceId,
  ]);
  await tx.all(
    "INSERT INTO device_revocations (device_id, before) VALUES (?, ?) ON CONFLICT (device_id) DO UPDATE SET before = excluded.before",
    [deviceId, Math.max(secondAfter(now), (state?.token_at ?? 0) + 1)],
  );
}

/** Voids all present tokens of all devices in a team. */
export async function voidTokensOfTeam(tx: Queries, now: number, teamId: string): Promise<void> {
  const second = secondAfter(now);
  await tx.all(
    "INSERT INTO device_revocations (device_id, before) SELECT device_id, CASE WHEN token_at >= ? THEN token_at + 1 ELSE CAST(? AS BIGINT) END FROM device_states WHERE team_id = ? ON CONFLICT (device_id) DO UPDATE SET before = excluded.before",
    [second, second, teamId],
  );
}

/**
 * Returns all revocations. A filter by age could leave out new revocations, which look old to a clock that is far
 * ahead.
 */
export const listRevocations = (db: Queries): Promise<{ readonly device_id: string; readonly before: number }[]> =>
  db.all("SELECT device_id, before FROM device_revocations ORDER BY device_id");

/** Returns the time in seconds since which issued tokens of a device are valid; 0 if the device was never revoked. */
async function tokensGoodFrom(db: Queries, deviceId: string): Promise<number> {
  const [row] = await db.all<{ before: number }>("SELECT before FROM device_revocations WHERE device_id = ?", [
    deviceId,
  ]);
  return row?.before ?? 0;
}

/** Deletes revocations whose tokens have all expired. */
export async function deleteOldRevocations(db: Database, now: number): Promise<void> {
  const oldest = Math.floor(now / 1000) - (TOKEN_DAYS + 1) * 86_400;
  await db.write((tx) => tx.all("DELETE FROM device_revocations WHERE before <= ?", [oldest]));
}
