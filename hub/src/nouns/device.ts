/** A team's devices, in the order of their ids. Ids that the hub makes sort by age. */
import type { Database, Queries } from "../database/database.ts";
import { UserError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { cleanDeviceId, cleanName } from "./text.ts";

export interface Device {
  readonly id: string;
  readonly name: string;
}

export interface NewDevice {
  readonly id?: string | undefined;
  readonly name: string;
}

/** Returns the devices behind the id `after`, at most `limit` of them. Every id sorts behind the empty text. */
export function listDevices(db: Queries, teamId: string, after = "", limit?: number): Promise<Device[]> {
  const sql = "SELECT id, name FROM devices WHERE team_id = ? AND id > ? ORDER BY id";
  return limit === undefined ? db.all(sql, [teamId, after]) : db.all(`${sql} LIMIT ?`, [teamId, after, limit]);
}

/** Adds all devices or none. */
export async function addDevices(
  db: Database,
  now: number,
  teamId: string,
  maxDevices: number,
  list: readonly NewDevice[],
): Promise<Device[]> {
  const devices = list.map(({ id, name }) => ({
    id: id === undefined ? newId(now) : cleanDeviceId(id),
    name: cleanName(name, "device name"),
  }));
  await db.write(async (tx) => {
    const [row] = await tx.all<{ count: number }>("SELECT count(*) AS count FROM devices WHERE team_id = ?", [teamId]);
    const count = row?.count ?? 0;
    if (count + devices.length > maxDevices) {
      throw new UserError(
        `got ${devices.length} more devices for a team of ${count}, expected at most ${maxDevices} in all`,
        409,
      );
    }
    for (const device of devices) {
      const added = await tx.all(
        "INSERT INTO devices (team_id, id, name, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id",
        [teamId, device.id, device.name, now],
      );
      if (added.length === 0)
        throw new UserError(
          `got device id ${JSON.stringify(device.id)} again, expected one that the team does not have yet`,
          409,
        );
    }
  });
  return devices;
}

/** Renames a device. Returns the name as it is kept. */
export async function renameDevice(db: Database, teamId: string, id: string, name: string): Promise<string> {
  const clean = cleanName(name, "device name");
  const rows = await db.write((tx) =>
    tx.all("UPDATE devices SET name = ? WHERE team_id = ? AND id = ? RETURNING id", [clean, teamId, id]),
  );
  if (rows.length === 0) throw new UserError("this device is not in the team (any more)", 404);
  return clean;
}

export async function removeDevice(db: Database, teamId: string, id: string): Promise<void> {
  const rows = await db.write((tx) =>
    tx.all("DELETE FROM devices WHERE team_id = ? AND id = ? RETURNING id", [teamId, id]),
  );
  if (rows.length === 0)
    throw new UserError(`got device ${JSON.stringify(id.slice(0, 80))}, expected one that is in the team`, 404);
}
