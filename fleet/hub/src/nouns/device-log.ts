/**
 * Logs of devices: the last lines, sent on request of a person or after a failure. Both device and hub remove secrets.
 */
import { cutLog, redactLog } from "boxwright-service/device-log";
import type { Database, Queries } from "boxwright-service/database";
import type { DeviceLog } from "boxwright-service/schema/protocol";
import { UserError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { changeInTurns, ROWS_CHANGED } from "../database/slices.ts";
import { audit, type Change } from "./audit.ts";
import { needDevice, type DeviceRow } from "./device-query.ts";

/** Largest number of stored logs of one device. A new log replaces the oldest. */
const KEPT = 3;
const KEPT_MS = 7 * 86_400_000;
/** Smallest number of milliseconds between two logs of one device. */
const LEAST_MS = 10_000;

export interface StoredLog {
  readonly id: string;
  readonly received_at: number;
  readonly reason: DeviceLog["reason"];
  readonly body: string;
}

/** Asks a device for its log. The answer to the device's next heartbeat carries the request. */
export async function requestLog(db: Database, { now, actor, teamId }: Change, id: string): Promise<DeviceRow> {
  return db.write(async (tx) => {
    const device = await needDevice(tx, teamId, id);
    const rows = await tx.all(
      "UPDATE device_states SET log_requested_at = ? WHERE team_id = ? AND device_id = ? AND revoked_at IS NULL RETURNING 1 AS done",
      [now, teamId, id],
    );
    if (rows.length === 0)
      throw new UserError(
        `got device ${JSON.stringify(id.slice(0, 80))}, expected one that is enrolled and not revoked`,
        409,
        "This device is not enrolled, so it sends no log.",
      );
    await audit(tx, now, actor, "device.log_requested", teamId, `${id} ${device.name}`);
    return device;
  });
}

/**
 * Stores a log and clears the request for a log. Deletes the oldest logs above the limit.
 * @returns the seconds to wait if the last log came too recently, else 0
 */
export async function storeLog(
  db: Database,
  now: number,
  { teamId, deviceId }: { readonly teamId: string; readonly deviceId: string },
  { reason, text }: DeviceLog,
): Promise<number> {
  const device = [teamId, deviceId];
  return db.write(async (tx) => {
    const [newest] = await tx.all<{ at: number | null }>(
      "SELECT max(received_at) AS at FROM device_logs WHERE team_id = ? AND device_id = ?",
      device,
    );
    const since = now - (newest?.at ?? -Infinity);
    if (since >= 0 && since < LEAST_MS) return Math.ceil((LEAST_MS - since) / 1000);
    await tx.all(
      "INSERT INTO device_logs (team_id, device_id, id, received_at, reason, body) VALUES (?, ?, ?, ?, ?, ?)",
      [...device, newId(now), now, reason, cutLog(redactLog(text))],
    );
    await tx.all(
      `DELETE FROM device_logs WHERE team_id = ? AND device_id = ? AND id NOT IN (SELECT id FROM device_logs WHERE team_id = ? AND device_id = ? ORDER BY received_at DESC, id DESC LIMIT ${KEPT})`,
      [...device, ...device],
    );
    await tx.all(
      "UPDATE device_states SET log_requested_at = NULL WHERE team_id = ? AND device_id = ? AND log_requested_at IS NOT NULL",
      device,
    );
    return 0;
  });
}

/** Returns the logs of a device, the newest first. */
export function listLogs(db: Queries, teamId: string, deviceId: string): Promise<StoredLog[]> {
  return db.all<StoredLog>(
    "SELECT id, received_at, reason, body FROM device_logs WHERE team_id = ? AND device_id = ? ORDER BY received_at DESC, id DESC",
    [teamId, deviceId],
  );
}

/** Deletes about `limit` of the logs that are too old. */
export async function deleteOldLogs(db: Database, now: number, limit: number): Promise<void> {
  const key = "team_id, device_id, id";
  const some = `SELECT ${key} FROM device_logs WHERE received_at < ? LIMIT ${ROWS_CHANGED}`;
  await changeInTurns(db, `DELETE FROM device_logs WHERE (${key}) IN (${some})`, [now - KEPT_MS], limit);
}
