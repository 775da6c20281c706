/** Finds the version that each device should run, from the assignments of its team. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Queries } from "boxwright-service/database";
import { eachSlice, isInSlice } from "../database/slices.ts";
import type { Purpose } from "./application.ts";
import { ASSIGNMENT_COLUMNS, isInShare, type Assignment } from "./assignment.ts";
import { devicesOfSets, ROWS_A_TURN, SET_KINDS } from "./device-set.ts";
import { IS_ONLINE, onlineBetween } from "./status.ts";
import type { TargetKind } from "./target.ts";

/** The version that a device should run. */
export interface DesiredVersion {
  readonly appId: string;
  /** Identifier of the application. */
  readonly identifier: string;
  readonly number: number;
  /** ETag without quotes: the identifier, and the first digits of the content's hash. */
  readonly etag: string;
  /** ETag of the version in the roll-out; null if there is no roll-out. */
  readonly nextEtag: string | null;
  /** Assignment that gives the version. */
  readonly by: Assignment;
}

export function etagOf(identifier: string, hash: string): string {
  return `${identifier}:${hash.slice(0, 16)}`;
}

interface Wanted {
  /** Device to resolve; undefined for all devices. */
  readonly deviceId?: string | undefined;
  readonly purpose?: Purpose | undefined;
}

interface Row extends Assignment {
  readonly identifier: string;
  readonly hash: string | null;
  readonly next_hash: string | null;
}

/** Returns the version of each device in a team. Devices without an application are left out. */
export async function resolveDesired(
  db: Queries,
  teamId: string,
  { deviceId, purpose = "network" }: Wanted = {},
): Promise<Map<string, DesiredVersion>> {
  const rows = await db.all<Row>(
    `SELECT ${ASSIGNMENT_COLUMNS.map((name) => `a.${name} AS ${name}`).join(", ")}, ` +
      "p.identifier AS identifier, v.hash AS hash, n.hash AS next_hash FROM assignments a JOIN apps p ON p.team_id = a.team_id AND p.id = a.app_id " +
      "LEFT JOIN app_versions v ON v.team_id = a.team_id AND v.app_id = a.app_id AND v.number = a.version " +
      "LEFT JOIN app_versions n ON n.team_id = a.team_id AND n.app_id = a.app_id AND n.number = a.next_version " +
      "WHERE a.team_id = ? AND a.purpose = ? ORDER BY a.changed_at DESC, a.target_id",
    [teamId, purpose],
  );
  const found = new Map<string, DesiredVersion>();
  if (rows.length === 0) return found;
  for (const row of rows)
    if (row.kind === "device" && (deviceId === undefined || row.target_id === deviceId))
      put(found, row.target_id, row, false);
  const sets = rows.filter(({ kind }) => kind !== "device");
  const members = new Map<TargetKind, ReadonlyMap<string, readonly string[]>>();
  for (const kind of SET_KINDS) {
    const wanted = new Set(sets.filter((row) => row.kind === kind).map(({ target_id }) => target_id));
    members.set(kind, await devicesOfSets(db, teamId, kind, wanted, deviceId));
  }
  let looked = 0;
  // The rows come in the order of their last change, the newest first. The first row with a device decides.
  for (const row of sets) {
    const applied = row.rollout_state === "stopped" ? await appliedOf(db, teamId, row) : undefined;
    for (const id of members.get(row.kind)?.get(row.target_id) ?? []) {
      if (++looked % ROWS_A_TURN === 0) await nextTurn();
      if (found.has(id)) continue;
      const inShare = row.rollout_id !== null && isInShare(id, row.rollout_id, row.share ?? 0);
      put(found, id, row, inShare && (applied === undefined || applied.has(id)));
    }
  }
  return found;
}

function put(found: Map<string, DesiredVersion>, deviceId: string, row: Row, isNext: boolean): void {
  const number = isNext ? row.next_version : row.version;
  const hash = isNext ? row.next_hash : row.hash;
  if (number === null || hash === null) return;
  const { app_id: appId, identifier, next_hash } = row;
  const nextEtag = next_hash === null ? null : etagOf(identifier, next_hash);
  found.set(deviceId, { appId, identifier, number, etag: etagOf(identifier, hash), nextEtag, by: row });
}

/** Returns the devices that use the version of a roll-out, by their last reports. */
async function appliedOf(db: Queries, teamId: string, row: Row): Promise<Set<string>> {
  const states = await lastStates(db, teamId, row);
  return new Set([...states].filter(([, { state }]) => state === "applied").map(([id]) => id));
}

/**
 * Returns for each device whether it uses the version of a roll-out, or of an assignment without one, or has failed to
 * use it since the assignment last changed. The last report alone does not show a failure: a failed device goes back to
 * the earlier version, and reports the earlier version.
 */
export async function lastStates(
  db: Queries,
  teamId: string,
  { app_id, version, next_version, changed_at }: Assignment,
): Promise<Map<string, ReportedState>> {
  const from = "FROM app_reports r WHERE r.team_id = ? AND r.app_id = ? AND r.version = ?";
  const params = [teamId, app_id, next_version ?? version];
  const text =
    `SELECT r.device_id AS device_id, r.state AS state, r.at AS at ${from} AND ${isInSlice("r.device_id")} ` +
    "AND ((r.state = 'failed' AND r.at >= ?) OR r.at = (SELECT max(o.at) FROM app_reports o WHERE o.team_id = r.team_id AND o.device_id = r.device_id AND o.purpose = r.purpose))";
  const states = new Map<string, ReportedState>();
  await eachSlice(db, { id: "r.device_id", from, params }, async (slice) => {
    const rows = await db.all<ReportedState & { device_id: string }>(text, [...params, ...slice, changed_at]);
    for (const { device_id, state, at } of rows) states.set(device_id, { state, at });
  });
  return states;
}

interface ReportedState {
  readonly state: "applied" | "failed";
  readonly at: number;
}

/** Returns the devices in the share of a roll-out. Leaves out devices that follow another assignment. */
export async function idsInShare(desired: ReadonlyMap<string, DesiredVersion>, rollout: Assignment): Promise<string[]> {
  const { rollout_id, share } = rollout;
  const ids: string[] = [];
  if (rollout_id === null) return ids;
  let looked = 0;
  for (const [id, { by }] of desired) {
    if (++looked % ROWS_A_TURN === 0) await nextTurn();
    if (by.rollout_id === rollout_id && isInShare(id, rollout_id, share ?? 0)) ids.push(id);
  }
  return ids;
}

/** Returns all devices that follow an assignment. */
function idsGiven(desired: ReadonlyMap<string, DesiredVersion>, { kind, target_id }: Assignment): string[] {
  return [...desired].filter(([, { by }]) => by.kind === kind && by.target_id === target_id).map(([id]) => id);
}

/** Progress of a roll-out, or of an assignment without one. */
export interface RolloutProgress {
  /** Devices in the share of the roll-out. Without a roll-out, all devices that follow the assignment. */
  readonly devices: number;
  readonly applied: number;
  readonly failed: number;
  /** Devices that have not reported yet whether they can use the version. */
  readonly waiting: number;
  /**
   * Devices in `waiting` that are offline. The roll-out does not wait for them; they get the version when they come
   * back.
   */
  readonly offline: number;
}

/** Counts the devices of a roll-out. */
export async function rolloutProgress(
  db: Queries,
  now: number,
  teamId: string,
  rollout: Assignment,
): Promise<RolloutProgress> {
  return (await progressOf(db, now, teamId, [rollout])).get(rollout)!;
}

/** Counts the devices of some assignments of one purpose, with one look at the team. */
export async function progressOf(
  db: Queries,
  now: number,
  teamId: string,
  assignments: readonly Assignment[],
): Promise<Map<Assignment, RolloutProgress>> {
  const progress = new Map<Assignment, RolloutProgress>();
  const [first] = assignments;
  if (first === undefined) return progress;
  const desired = await resolveDesired(db, teamId, { purpose: first.purpose });
  const online = await onlineAmong(db, now, teamId);
  for (const assignment of assignments) {
    const ids = assignment.rollout_id === null ? idsGiven(desired, assignment) : await idsInShare(desired, assignment);
    const states = await lastStates(db, teamId, assignment);
    const waiting = ids.filter((id) => !states.has(id));
    const count = (wanted: string): number => ids.filter((id) => states.get(id)?.state === wanted).length;
    const offline = waiting.filter((id) => !online.has(id)).length;
    progress.set(assignment, {
      ...{ devices: ids.length, applied: count("applied"), failed: count("failed") },
      ...{ waiting: waiting.length, offline },
    });
  }
  return progress;
}

async function onlineAmong(db: Queries, now: number, teamId: string): Promise<Set<string>> {
  const from = "FROM device_states s WHERE s.team_id = ?";
  const text = `SELECT s.device_id AS device_id ${from} AND ${isInSlice("s.device_id")} AND ${IS_ONLINE} = 1`;
  const online = new Set<string>();
  await eachSlice(db, { id: "s.device_id", from, params: [teamId] }, async (slice) => {
    const rows = await db.all<{ device_id: string }>(text, [teamId, ...slice, ...onlineBetween(now)]);
    for (const { device_id } of rows) online.add(device_id);
  });
  return online;
}
