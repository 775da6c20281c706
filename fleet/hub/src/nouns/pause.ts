/** Pauses devices. A device learns of a pause with its next heartbeat. Paused devices still send heartbeats. */
import type { Database } from "boxwright-service/database";
import { UserError } from "../core/errors.ts";
import { audit, type Change } from "./audit.ts";
import { needDevice, type DeviceRow } from "./device-query.ts";

/**
 * Pauses or resumes a device. Pausing a paused device or resuming a running one changes nothing, and adds no audit row.
 */
export async function setPaused(
  db: Database,
  { now, actor, teamId }: Change,
  id: string,
  isPaused: boolean,
): Promise<DeviceRow> {
  return db.write(async (tx) => {
    const device = await needDevice(tx, teamId, id);
    const [state] = await tx.all<{ paused_at: number | null }>(
      "SELECT paused_at FROM device_states WHERE team_id = ? AND device_id = ?",
      [teamId, id],
    );
    if (state === undefined)
      throw new UserError(
        `got device ${JSON.stringify(id.slice(0, 80))}, which never enrolled, expected one that did`,
        409,
        "This device has never enrolled, so it cannot be paused.",
      );
    if ((state.paused_at !== null) === isPaused) return device;
    await tx.all("UPDATE device_states SET paused_at = ? WHERE team_id = ? AND device_id = ?", [
      ...[isPaused ? now : null, teamId, id],
    ]);
    await audit(tx, now, actor, isPaused ? "device.paused" : "device.resumed", teamId, `${id} ${device.name}`);
    return device;
  });
}
