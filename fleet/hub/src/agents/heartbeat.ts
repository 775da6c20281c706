/** POST /device/heartbeat: a device tells how it is, and hears what it should run. */
import { HEARTBEAT_SECONDS, readHeartbeat, type HeartbeatAnswer } from "boxwright-service/fleet-protocol";
import { isOld } from "../nouns/credential.ts";
import { readJson, sendJson } from "./json-body.ts";
import type { Agents, DeviceVisit } from "./visit.ts";

export async function postHeartbeat({ now, heartbeats }: Agents, { exchange, device }: DeviceVisit): Promise<void> {
  const beat = await readJson(exchange, readHeartbeat);
  if (beat === undefined) return;
  const time = now();
  heartbeats.note(device.team_id, device.id, device, beat, time);
  sendJson(exchange, 200, {
    time: new Date(time).toISOString(),
    interval_seconds: HEARTBEAT_SECONDS,
    desired_version: null,
    rotate: isOld(device, time),
    snap_requested: device.snap_requested_at !== null,
  } satisfies HeartbeatAnswer);
}
