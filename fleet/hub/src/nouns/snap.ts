/**
 * Snaps: pictures from devices, with their detections. The device first announces a snap, and the hub checks the
 * limits. Then the device sends the files. Pages and GraphQL show the snap once all files have arrived. An incomplete
 * snap is deleted after a day.
 */
import { createHash } from "node:crypto";
import type { Database, Queries } from "boxwright-service/database";
import type { SnapFile, SnapRequest } from "boxwright-service/schema/protocol";
import { newId } from "../core/ids.ts";
import type { Files } from "../files/files.ts";
import { canonicalJson } from "./application-content.ts";

/**
 * Largest deviation of a device's time into the past and into the future, in milliseconds. A time outside of this range
 * comes from a wrong clock, and the hub's own time replaces it.
 */
const OLDEST_MS = 30 * 86_400_000;
const NEWEST_MS = 60_000;
const HOUR_MS = 3600_000;

export interface SnapLimits {
  readonly snapFileBytes: number;
  readonly teamSnapBytes: number;
  readonly snapsPerHour: number;
  readonly snapBytesPerHour: number;
}

export type Added =
  | {
      readonly kind: "added";
      readonly id: string;
      readonly missing: readonly string[];
      /** Bytes of the snap's files. 0 if the snap was announced already. */
      readonly bytes: number;
    }
  /** The device announced a different snap with this id. */
  | { readonly kind: "conflict" }
  | { readonly kind: "too_large"; readonly limit: string; readonly why: string }
  | { readonly kind: "too_many"; readonly limit: string; readonly why: string; readonly seconds: number };

export interface SnapSource {
  readonly teamId: string;
  readonly deviceId: string;
}

/** Stores the announcement of a snap. Repeating the same announcement stores nothing new. */
export async function addSnap(
  db: Database,
  files: Files,
  now: number,
  { teamId, deviceId }: SnapSource,
  request: SnapRequest,
  limits: SnapLimits,
): Promise<Added> {
  const large = request.files.find(({ size }) => size > limits.snapFileBytes);
  if (large !== undefined) {
    const why = `files: got ${large.size} bytes, expected at most ${limits.snapFileBytes} in a file`;
    return { kind: "too_large", limit: "file_bytes", why };
  }
  const bytes = request.files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > limits.teamSnapBytes)
    return { kind: "too_large", limit: "team_bytes", why: `files: got ${bytes} bytes, more than a team may have` };
  const digest = createHash("sha256").update(canonicalJson(request)).digest("hex");
  const stored = await db.write(async (tx) => {
    const [known] = await tx.all<{ id: string; digest: string }>(
      "SELECT id, digest FROM snaps WHERE team_id = ? AND device_id = ? AND device_snap_id = ?",
      [teamId, deviceId, request.id],
    );
    if (known !== undefined)
      return known.digest === digest ? { id: known.id, bytes: 0 } : ({ kind: "conflict" } as const);
    const limited = await checkRate(tx, now, { teamId, deviceId }, bytes, limits);
    if (limited !== undefined) return limited;
    const id = newId(now);
    await insert(tx, now, { teamId, deviceId }, id, { request, digest, bytes });
    return { id, bytes };
  });
  if ("kind" in stored) return stored;
  return { kind: "added", ...stored, missing: await finish(db, files, now, teamId, stored.id) };
}

async function checkRate(
  tx: Queries,
  now: number,
  { teamId, deviceId }: SnapSource,
  bytes: number,
  { snapsPerHour, snapBytesPerHour }: SnapLimits,
): Promise<Added | undefined> {
  const recent = await tx.all<{ received_at: number; bytes: number }>(
    "SELECT received_at, bytes FROM snaps WHERE team_id = ? AND device_id = ? AND received_at > ? ORDER BY received_at LIMIT ?",
    [teamId, deviceId, now - HOUR_MS, snapsPerHour],
  );
  const limit = (name: string, why: string): Added => {
    const seconds = Math.max(1, Math.ceil((recent[0]!.received_at + HOUR_MS - now) / 1000));
    return { kind: "too_many", limit: name, why: `snaps: got more than ${why} in an hour from one device`, seconds };
  };
  if (recent.length >= snapsPerHour) return limit("snaps_per_hour", `${snapsPerHour}`);
  const sum = recent.reduce((all, snap) => all + snap.bytes, bytes);
  return recent.length > 0 && sum > snapBytesPerHour ? limit("bytes_per_hour", `${snapBytesPerHour} bytes`) : undefined;
}

async function insert(
  tx: Queries,
  now: number,
  { teamId, deviceId }: SnapSource,
  id: string,
  { request, digest, bytes }: { request: SnapRequest; digest: string; bytes: number },
): Promise<void> {
  const stated = Date.parse(request.created_at);
  const createdAt = stated > now - OLDEST_MS && stated < now + NEWEST_MS ? stated : now;
  await tx.all(
    "INSERT INTO snaps (team_id, id, device_id, device_snap_id, digest, name, app_identifier, event, bytes, created_at, received_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [
      ...[teamId, id, deviceId, request.id, digest, request.name, request.application ?? null],
      ...[JSON.stringify(request.event), bytes, createdAt, now],
    ],
  );
  for (const file of request.files)
    await tx.all(
      "INSERT INTO snap_files (team_id, snap_id, id, name, size, sha256, content_type, classification) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      [teamId, id, newId(now), file.name, file.size, file.sha256, file.content_type, file.classification],
    );
  for (const tag of request.tags)
    await tx.all("INSERT INTO snap_tags (team_id, snap_id, tag) VALUES (?, ?, ?)", [teamId, id, tag]);
  for (const [key, value] of Object.entries(request.extras))
    await tx.all("INSERT INTO snap_extras (team_id, snap_id, key, value) VALUES (?, ?, ?, ?)", [
      teamId,
      id,
      key,
      value,
    ]);
}

/** Returns the hashes of missing files. If no file is missing, marks the snap as complete. */
export async function finish(
  db: Database,
  files: Files,
  now: number,
  teamId: string,
  snapId: string,
): Promise<string[]> {
  const rows = await db.all<{ sha256: string; size: number }>(
    "SELECT sha256, size FROM snap_files WHERE team_id = ? AND snap_id = ?",
    [teamId, snapId],
  );
  const missing = new Set<string>();
  for (const { sha256, size } of rows)
    if ((await files.size({ team: teamId, kind: "snaps", sha256 })) !== size) missing.add(sha256);
  if (missing.size === 0 && rows.length > 0)
    await db.write((tx) =>
      tx.all("UPDATE snaps SET complete_at = ? WHERE team_id = ? AND id = ? AND complete_at IS NULL", [
        ...[now, teamId, snapId],
      ]),
    );
  return [...missing];
}

/** Returns a file that the device has announced as part of a snap. */
export async function findExpectedFile(
  db: Queries,
  { teamId, deviceId }: SnapSource,
  snapId: string,
  sha256: string,
): Promise<Pick<SnapFile, "size" | "content_type"> | undefined> {
  const [row] = await db.all<Pick<SnapFile, "size" | "content_type">>(
    "SELECT f.size AS size, f.content_type AS content_type FROM snap_files f JOIN snaps s ON s.team_id = f.team_id AND s.id = f.snap_id WHERE f.team_id = ? AND f.snap_id = ? AND f.sha256 = ? AND s.device_id = ?",
    [teamId, snapId, sha256, deviceId],
  );
  return row;
}

/**
 * Asks a device for a snap. The answer to the device's next heartbeat carries the request.
 * @returns false if the device never enrolled or is revoked, so that no heartbeat comes
 */
export async function requestSnap(db: Database, now: number, { teamId, deviceId }: SnapSource): Promise<boolean> {
  const rows = await db.write((tx) =>
    tx.all(
      "UPDATE device_states SET snap_requested_at = ? WHERE team_id = ? AND device_id = ? AND revoked_at IS NULL RETURNING 1 AS done",
      [now, teamId, deviceId],
    ),
  );
  return rows.length > 0;
}

/** Clears the request for a snap after the snap has arrived. */
export async function endRequest(db: Database, { teamId, deviceId }: SnapSource): Promise<void> {
  await db.write((tx) =>
    tx.all(
      "UPDATE device_states SET snap_requested_at = NULL WHERE team_id = ? AND device_id = ? AND snap_requested_at IS NOT NULL",
      [teamId, deviceId],
    ),
  );
}
