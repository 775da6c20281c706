/**
 * POST /device/snaps announces a snap, and the hub checks the limits of the team. PUT
 * /device/snaps/{snap}/files/{sha256} sends the bytes of one file. A device may repeat both requests after a broken
 * connection.
 */
import { readSnapRequest, type SnapAnswer } from "boxwright-service/schema/protocol";
import { isSha256, type FilePlace } from "../files/files.ts";
import { pictureInfo } from "../files/picture.ts";
import { fileBody } from "../http/body-room.ts";
import { refuse } from "../http/refusals.ts";
import { addSnap, endRequest, findExpectedFile, finish, type Added } from "../nouns/snap.ts";
import { readJson } from "./json-body.ts";
import type { Agents, DeviceVisit } from "./visit.ts";

/** Largest number of bytes in an announcement. A frame with 300 detections takes 50 KB. */
const MAX_BODY = 256 * 1024;

export async function postSnap(agents: Agents, visit: DeviceVisit): Promise<void> {
  const { db, now, config, files } = agents;
  const { exchange, device } = visit;
  const request = await readJson(exchange, readSnapRequest, MAX_BODY);
  if (request === undefined) return;
  const source = { teamId: device.team_id, deviceId: device.id };
  const added = await addSnap(db, files, now(), source, request, config);
  if (added.kind !== "added") return refuseSnap(visit, added);
  if (added.bytes > 0) await agents.snapQuota.admit(agents, now(), { ...source, ...added }, config.teamSnapBytes);
  if (added.missing.length === 0 && device.snap_requested_at !== null) await endRequest(db, source);
  exchange.sendJson(201, { snap_id: added.id, missing: added.missing } satisfies SnapAnswer);
}

function refuseSnap({ exchange }: DeviceVisit, added: Exclude<Added, { kind: "added" }>): void {
  if (added.kind === "conflict") return refuse(exchange, "snap_conflict");
  const { limit, why } = added;
  if (added.kind === "too_large") return refuse(exchange, "too_large", `: ${why}`, {}, { limit });
  refuse(exchange, "too_many_requests", `: ${why}`, { "retry-after": String(added.seconds) }, { limit });
}

export async function putSnapFile(agents: Agents, { exchange, device, params }: DeviceVisit): Promise<void> {
  const { db, now, files } = agents;
  const { snap = "", sha256 = "" } = params;
  const source = { teamId: device.team_id, deviceId: device.id };
  const expected = isSha256(sha256) ? await findExpectedFile(db, source, snap, sha256) : undefined;
  if (expected === undefined) return refuse(exchange, "not_found", ", expected a file of a snap of this device");
  const { size, content_type } = expected;
  const place: FilePlace = { team: device.team_id, kind: "snaps", sha256 };
  if ((await files.size(place)) !== size) {
    const length = exchange.header("content-length");
    if (length !== undefined && Number(length) !== size)
      return refuse(exchange, "too_large", `: got ${length} bytes, expected the ${size} that were stated`);
    const received = await files.receive(place, fileBody(exchange), {
      ...{ offset: 0, size },
      check: (head) => wrongPicture(head, content_type),
    });
    // A proxy may have cut the body off: let the device send the same request again.
    if (received.kind === "partial")
      return refuse(exchange, "wrong_hash", `: got ${received.size} bytes of ${size}`, { "retry-after": "1" });
    if (received.kind === "busy" || received.kind === "out_of_step")
      return refuse(exchange, "snap_conflict", ": another request sends this file now", { "retry-after": "1" });
    if (received.kind === "too_large") return refuse(exchange, "too_large", `: expected ${size} bytes`);
    if (received.kind === "wrong_hash") return refuse(exchange, "wrong_hash", `: got ${received.sha256}`);
    if (received.kind === "wrong_kind") return refuse(exchange, "unsupported_media", `: ${received.why}`);
  }
  const missing = await finish(db, files, now(), device.team_id, snap);
  if (missing.length === 0 && device.snap_requested_at !== null) await endRequest(db, source);
  exchange.sendNothing();
}

/** Returns what is wrong with the picture, or undefined if the bytes are a picture of the stated type. */
function wrongPicture(head: Buffer, stated: string): string | undefined {
  const info = pictureInfo(head);
  if (typeof info === "string") return info;
  return info.type === stated ? undefined : `got ${info.type} by its first bytes, expected ${stated} as stated`;
}
