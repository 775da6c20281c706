/**
 * Deletes the remaining rows of removed devices. These rows stay for a day, so that "Undo" restores a device with its
 * credential, groups and history.
 */
import type { Database, Queries } from "boxwright-service/database";

const DAY_MS = 86_400_000;

/** Tables with `team_id` and `device_id`. */
const OF_DEVICE = [
  ...["device_group_members", "device_tags", "device_hours", "device_credentials", "device_logs"],
  ...["device_states", "app_reports", "shadow_reports"],
];

/** Deletes the rows of a device in all tables of OF_DEVICE. */
export async function forgetDevice(tx: Queries, teamId: string, deviceId: string): Promise<void> {
  for (const table of OF_DEVICE)
    await tx.all(`DELETE FROM ${table} WHERE team_id = ? AND device_id = ?`, [teamId, deviceId]);
  await tx.all("DELETE FROM assignments WHERE team_id = ? AND kind = 'device' AND target_id = ?", [teamId, deviceId]);
}

/**
 * Deletes the remaining rows of devices that were removed more than a day ago, for at most `limit` devices. Returns the
 * number of these devices.
 */
export async function deleteLeftovers(db: Database, now: number, limit: number): Promise<number> {
  const found = await db.all<{ team_id: string; device_id: string }>(
    "SELECT r.team_id AS team_id, r.device_id AS device_id FROM removed_devices r WHERE r.removed_at < ? ORDER BY r.removed_at LIMIT ?",
    [now - DAY_MS, limit],
  );
  for (const { team_id, device_id } of found)
    await db.write(async (tx) => {
      const back = await tx.all("SELECT id FROM devices WHERE team_id = ? AND id = ?", [team_id, device_id]);
      if (back.length === 0) await forgetDevice(tx, team_id, device_id);
      await tx.all("DELETE FROM removed_devices WHERE team_id = ? AND device_id = ?", [team_id, device_id]);
    });
  return found.length;
}
