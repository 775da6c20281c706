/** POST /device/log: the last lines of a device's log. */
import { readDeviceLog } from "boxwright-service/schema/protocol";
import { refuse } from "../http/refusals.ts";
import { storeLog } from "../nouns/device-log.ts";
import { readJson } from "./json-body.ts";
import type { Agents, DeviceVisit } from "./visit.ts";

/** Largest number of bytes in a body. The log may hold lines of JSON, whose quotes are escaped in the body. */
const MAX_BODY = 256 * 1024;

export async function postLog({ db, now }: Agents, { exchange, device }: DeviceVisit): Promise<void> {
  const log = await readJson(exchange, readDeviceLog, MAX_BODY);
  if (log === undefined) return;
  const wait = await storeLog(db, now(), { teamId: device.team_id, deviceId: device.id }, log);
  if (wait > 0)
    return refuse(exchange, "too_many_requests", ": the last log came just now", { "retry-after": String(wait) });
  exchange.sendNothing();
}
