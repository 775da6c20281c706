/** Devices of a team, ordered by id. Ids that the hub makes sort by age. */
import type { Database, Queries } from "boxwright-service/database";
import { UserError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { audit, type Change } from "./audit.ts";
import { voidTokens } from "./credential.ts";
import { forgetDevice } from "./leftovers.ts";
import { cleanDeviceId, cleanName } from "./text.ts";

export interface Device {
  readonly id: string;
  readonly name: string;
}

export interface NewDevice {
  readonly id?: string | undefined;
  readonly name: string;
}

/** Returns at most `limit` devices whose ids come after `after`. Every id comes after the empty text. */
export function listDevices(db: Queries, teamId: string, after = "", limit?: number): Promise<Device[]> {
  const sql = "SELECT id, name FROM devices WHERE team_id = ? AND id > ? ORDER BY id";
  return limit === undefined ? db.all(sql, [teamId, after]) : db.all(`${sql} LIMIT ?`, [teamId, after, limit]);
}

interface AddOptions {
  readonly actor?: string;
  /** True: the same device was removed before, and is restored with its credential and groups. */
  readonly restored?: boolean;
}

/** Adds all devices or none. */
export async function addDevices(
  db: Database,
  now: number,
  teamId: string,
  maxDevices: number,
  list: readonly NewDevice[],
  { actor = "operator", restored = false }: AddOptions = {},
): Promise<Device[]> {
  const devices = list.map(({ id, name }) => ({
    id: id === undefined ? newId(now) : cleanDeviceId(id),
    name: cleanName(name, "device name"),
  }));
  await db.write(async (tx) => {
    const count = await countDevices(tx, teamId);
    if (count + devices.length > maxDevices) {
      throw new UserError(
        `got ${devices.length} more devices for a team of ${count}, expected at most ${maxDevices} in all`,
        409,
        `The team has ${count} devices, and may have ${maxDevices}. Remove one first.`,
      );
    }
    if (!restored) await forgetRemoved(tx, teamId, devices);
    for (const device of devices) {
      const added = await tx.all(
        "INSERT INTO devices (team_id, id, name, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id",
        [teamId, device.id, device.name, now],
      );
      if (added.length === 0)
        throw new UserError(
          `got device id ${JSON.stringify(device.id)} again, expected one that the team does not have yet`,
          409,
          "The team has a device with this id already.",
        );
    }
    const [only, ...others] = devices;
    const subject = only !== undefined && others.length === 0 ? named(only) : `${devices.length} devices`;
    await audit(tx, now, actor, restored ? "device.restored" : "device.added", teamId, subject);
  });
  return devices;
}

const named = ({ id, name }: Device): string => `${id} ${name}`;

/** Deletes the remaining rows of removed devices if their ids are now the ids of other devices, given as `devices`. */
async function forgetRemoved(tx: Queries, teamId: string, devices: readonly Device[]): Promise<void> {
  const removed = await tx.all<{ id: string }>("SELECT device_id AS id FROM removed_devices WHERE team_id = ?", [
    teamId,
  ]);
  const ids = new Set(removed.map(({ id }) => id));
  for (const { id } of devices) if (ids.has(id)) await forgetDevice(tx, teamId, id);
}

/** Renames a device. Returns the name as it is stored. */
export async function renameDevice(
  db: Database,
  { now, actor, teamId }: Change,
  id: string,
  name: string,
): Promise<string> {
  const clean = cleanName(name, "device name");
  await db.write(async (tx) => {
    const rows = await tx.all("UPDATE devices SET name = ? WHERE team_id = ? AND id = ? RETURNING id", [
      clean,
      teamId,
      id,
    ]);
    if (rows.length === 0) throw notInTeam(id);
    await audit(tx, now, actor, "device.renamed", teamId, named({ id, name: clean }));
  });
  return clean;
}

/** Removes a device. Returns the removed device. */
export async function removeDevice(db: Database, change: Change, id: string): Promise<Device> {
  return (await removeDevices(db, change, [id]))[0]!;
}

/**
 * Removes all given devices or none. Their credentials are refused from now on. Other rows of these devices stay for a
 * day, so that the removal can be undone.
 */
export async function removeDevices(
  db: Database,
  { now, actor, teamId }: Change,
  ids: readonly string[],
): Promise<Device[]> {
  return db.write(async (tx) => {
    const all: Device[] = [];
    for (const id of new Set(ids)) {
      const [removed] = await tx.all<Device>("DELETE FROM devices WHERE team_id = ? AND id = ? RETURNING id, name", [
        teamId,
        id,
      ]);
      if (removed === undefined) throw notInTeam(id);
      await voidTokens(tx, now, id);
      await tx.all(
        "INSERT INTO removed_devices (team_id, device_id, name, removed_at) VALUES (?, ?, ?, ?) ON CONFLICT (team_id, device_id) DO UPDATE SET name = excluded.name, removed_at = excluded.removed_at",
        [teamId, id, removed.name, now],
      );
      await audit(tx, now, actor, "device.removed", teamId, named(removed));
      all.push(removed);
    }
    return all;
  });
}

/** Returns the devices that were removed together at the time `at`, except devices that were restored since. */
export function removedAt(db: Queries, teamId: string, at: number): Promise<Device[]> {
  return db.all<Device>(
    "SELECT device_id AS id, name FROM removed_devices WHERE team_id = ? AND removed_at = ? AND NOT EXISTS (SELECT 1 FROM devices d WHERE d.team_id = removed_devices.team_id AND d.id = removed_devices.device_id) ORDER BY device_id",
    [teamId, at],
  );
}

export function notInTeam(id: string): UserError {
  return new UserError(
    `got device ${JSON.stringify(id.slice(0, 80))}, expected one of the team`,
    404,
    "This device is not in the team any more.",
  );
}

/** Counts the devices of a team. With `upTo`, counts only the device with this id and devices with smaller ids. */
export async function countDevices(db: Queries, teamId: string, upTo?: string): Promise<number> {
  const sql = "SELECT count(*) AS count FROM devices WHERE team_id = ?";
  const [row] =
    upTo === undefined
      ? await db.all<{ count: number }>(sql, [teamId])
      : await db.all<{ count: number }>(`${sql} AND id <= ?`, [teamId, upTo]);
  return row?.count ?? 0;
}
