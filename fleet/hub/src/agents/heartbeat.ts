/** POST /device/heartbeat: a device reports its status. The answer names the version to run. */
import { readHeartbeat, type HeartbeatAnswer } from "boxwright-service/schema/protocol";
import { isOld } from "../nouns/credential.ts";
import { noteHeartbeat } from "../nouns/report.ts";
import { noteShadow } from "../nouns/shadow-report.ts";
import { taskMark } from "../nouns/shadow-task.ts";
import { readJson } from "./json-body.ts";
import type { Agents, DeviceVisit } from "./visit.ts";

/** Milliseconds for which a log request stays valid: a day, since a device may be off overnight. */
const LOG_REQUEST_MS = 86_400_000;
/** Milliseconds for which a snap request stays valid. A picture taken later would show another scene. */
const REQUEST_MS = 600_000;

export async function postHeartbeat(
  { config, db, now, heartbeats, desired }: Agents,
  { exchange, device }: DeviceVisit,
): Promise<void> {
  const reported = await readJson(exchange, readHeartbeat);
  if (reported === undefined) return;
  const { shadow, ...beat } = reported;
  const time = now();
  // Record the application first. If this write fails, the heartbeat is not counted, and the device sends the same
  // report again.
  if (await noteHeartbeat(db, time, device, beat.application)) desired.wake(device.team_id);
  const task = await desired.shadow(device.team_id, device.id);
  if (shadow != null) await noteShadow(db, time, { teamId: device.team_id, deviceId: device.id }, task, shadow);
  heartbeats.note(device.team_id, device.id, device, beat, time);
  exchange.sendJson(200, {
    time: new Date(time).toISOString(),
    interval_seconds: config.heartbeatSeconds,
    desired_version: await desired.etag(device.team_id, device.id),
    desired_agent: (await desired.agent(device.team_id, device.id))?.etag ?? null,
    shadow: task === undefined ? null : taskMark(task),
    rotate: isOld(device, time),
    paused: device.paused_at !== null,
    log_requested: time - (device.log_requested_at ?? -Infinity) < LOG_REQUEST_MS,
    snap_requested: time - (device.snap_requested_at ?? -Infinity) < REQUEST_MS,
  } satisfies HeartbeatAnswer);
}
