/**
 * Lets devices come back to a restored hub. A backup holds the public key of each device, but no credentials. During
 * the hours that a person allows, a device proves its identity with its key and gets a new credential. The hub keeps
 * the data of the device.
 */
import { randomBytes } from "node:crypto";
import type { Database, Queries } from "boxwright-service/database";
import { isReturnSigned } from "boxwright-service/device-return";
import { UserError } from "../core/errors.ts";
import { audit, type Change } from "./audit.ts";
import { addCredential } from "./credential.ts";

const HOUR_MS = 3_600_000;
export const RETURN_HOURS = 24;
const MOST_HOURS = 720;

/**
 * Lets the devices of a team come back for some hours; with 0 hours, they may no longer come back. Returns the end
 * time.
 */
export async function openReturns(
  db: Database,
  { now, actor, teamId }: Change,
  hours: number = RETURN_HOURS,
): Promise<number | null> {
  if (!Number.isInteger(hours) || hours < 0 || hours > MOST_HOURS)
    throw new UserError(`hours: got ${hours}, expected a whole number from 0 to ${MOST_HOURS}`);
  const until = hours === 0 ? null : now + hours * HOUR_MS;
  await db.write(async (tx) => {
    await tx.all("UPDATE teams SET returns_until = ? WHERE id = ?", [until, teamId]);
    const action = until === null ? "returns.closed" : "returns.opened";
    await audit(tx, now, actor, action, teamId, until === null ? "" : `until ${new Date(until).toISOString()}`);
  });
  return until;
}

/** Returns the time until which the devices of a team may come back; null if no device may come back. */
export async function returnsUntil(db: Queries, now: number, teamId: string): Promise<number | null> {
  const [team] = await db.all<{ returns_until: number | null }>("SELECT returns_until FROM teams WHERE id = ?", [
    teamId,
  ]);
  const until = team?.returns_until ?? null;
  return until !== null && until > now ? until : null;
}

/** Condition for a device with a known public key, but without a credential that was ever used. */
const IS_AWAY =
  "s.public_key IS NOT NULL AND s.revoked_at IS NULL AND NOT EXISTS (SELECT 1 FROM device_credentials c " +
  "WHERE c.team_id = s.team_id AND c.device_id = s.device_id AND c.used_at IS NOT NULL)";

/** Counts the devices of a team that lost their credential in a restore and have not come back. */
export async function countAway(db: Queries, teamId: string): Promise<number> {
  const [row] = await db.all<{ count: number }>(
    `SELECT count(*) AS count FROM device_states s JOIN devices d ON d.team_id = s.team_id AND d.id = s.device_id WHERE s.team_id = ? AND ${IS_AWAY}`,
    [teamId],
  );
  return row?.count ?? 0;
}

interface Away {
  readonly team_id: string;
  readonly name: string;
  readonly public_key: string;
  readonly return_challenge: string | null;
}

async function findAway(tx: Queries, now: number, deviceId: string): Promise<Away | undefined> {
  const [row] = await tx.all<Away>(
    "SELECT s.team_id AS team_id, d.name AS name, s.public_key AS public_key, s.return_challenge AS return_challenge FROM device_states s " +
      `JOIN devices d ON d.team_id = s.team_id AND d.id = s.device_id JOIN teams t ON t.id = s.team_id WHERE s.device_id = ? AND t.returns_until > ? AND ${IS_AWAY}`,
    [deviceId, now],
  );
  return row;
}

/**
 * Returns the text that the device must sign; undefined if the device may not come back. A second call replaces the
 * first text.
 */
export function challengeOf(db: Database, now: number, deviceId: string): Promise<string | undefined> {
  return db.write(async (tx) => {
    if ((await findAway(tx, now, deviceId)) === undefined) return undefined;
    const challenge = randomBytes(32).toString("base64url");
    await tx.all("UPDATE device_states SET return_challenge = ? WHERE device_id = ?", [challenge, deviceId]);
    return challenge;
  });
}

/**
 * Gives a new credential to a device that has signed its challenge. Returns undefined if the device may not come back.
 */
export function takeBack(
  db: Database,
  now: number,
  { deviceId, signature }: { readonly deviceId: string; readonly signature: string },
): Promise<string | undefined> {
  return db.write(async (tx) => {
    const away = await findAway(tx, now, deviceId);
    if (away === undefined || away.return_challenge === null) return undefined;
    if (!isReturnSigned(away.public_key, deviceId, away.return_challenge, signature)) return undefined;
    // Delete the credential of an earlier call, whose answer the device did not get.
    await tx.all("DELETE FROM device_credentials WHERE device_id = ?", [deviceId]);
    await tx.all("UPDATE device_states SET return_challenge = NULL WHERE device_id = ?", [deviceId]);
    const { key } = await addCredential(tx, now, away.team_id, deviceId);
    await audit(tx, now, "its own key", "device.returned", away.team_id, `${deviceId} ${away.name}`);
    return key;
  });
}
