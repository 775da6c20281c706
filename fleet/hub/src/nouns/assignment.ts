/**
 * Assignments give a version to a device or a set of devices. A set is a group, or all devices with a tag. A device
 * follows its own assignment, or else the most recently changed assignment of its sets. A roll-out gives another
 * version to a share of a set. A person or gates (gates.ts) widen the share. A write may name the last revision known
 * to the writer, so that two people do not overwrite each other's changes.
 */
import { createHash } from "node:crypto";
import type { Database, Queries } from "boxwright-service/database";
import { UserError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { needApp, needVersion, type Purpose } from "./application.ts";
import { audit, type Change } from "./audit.ts";
import { countChange } from "./changes.ts";
import { SET_KINDS, SET_TABLES } from "./device-set.ts";
import { parseGates, readGates, USUAL_FAILURE_LIMIT, type Gates, type GivenGates } from "./gates.ts";
import { readShadow, SHADOW_SHARE, type GivenShadow, type Shadow } from "./shadow.ts";
import { needTarget, type Target, type TargetKind } from "./target.ts";

export interface Assignment {
  readonly kind: TargetKind;
  readonly target_id: string;
  readonly app_id: string;
  /** Version of the devices outside of the roll-out; null if these devices get no version. */
  readonly version: number | null;
  /** Version of the devices in the roll-out; null if there is no roll-out. */
  readonly next_version: number | null;
  /** Percentage of the set's devices in the roll-out. */
  readonly share: number | null;
  readonly rollout_id: string | null;
  /**
   * "stopped": too many devices could not use `next_version`. Then devices keep `next_version` only if they already use
   * it.
   */
  readonly rollout_state: "running" | "stopped" | null;
  /** The roll-out stops once this many devices cannot use `next_version`. Null if there is no roll-out. */
  readonly failure_limit: number | null;
  /** JSON of `Gates`; null if only a person widens the roll-out. */
  readonly gates: string | null;
  /** Time at which the share was set; null without gates. */
  readonly step_at: number | null;
  /**
   * JSON of `Shadow`, the comparison before the first step; null if there is none. During the comparison, the share is
   * 0.
   */
  readonly shadow: string | null;
  /** Number that grows by one with each change. */
  readonly revision: number;
  readonly changed_at: number;
  readonly changed_by: string;
  /** Purpose of the application. A target has one assignment for each purpose. */
  readonly purpose: Purpose;
}

export const ASSIGNMENT_COLUMNS = [
  ...["kind", "target_id", "app_id", "version", "next_version", "share", "rollout_id", "rollout_state"],
  ...["failure_limit", "revision", "changed_at", "changed_by", "purpose", "gates", "step_at"],
  "shadow",
] as const;
const COLUMNS = ASSIGNMENT_COLUMNS.join(", ");

export async function findAssignment(
  db: Queries,
  teamId: string,
  target: Target,
  purpose: Purpose = "network",
): Promise<Assignment | undefined> {
  const [row] = await db.all<Assignment>(
    `SELECT ${COLUMNS} FROM assignments WHERE team_id = ? AND kind = ? AND target_id = ? AND purpose = ?`,
    [teamId, target.kind, target.id, purpose],
  );
  return row;
}

/** Returns the assignments of a team. With `appId`, returns only assignments of this application. */
export function listAssignments(db: Queries, teamId: string, appId?: string): Promise<Assignment[]> {
  const sql = `SELECT ${COLUMNS} FROM assignments WHERE team_id = ?`;
  const order = "ORDER BY kind DESC, target_id";
  return appId === undefined
    ? db.all(`${sql} ${order}`, [teamId])
    : db.all(`${sql} AND app_id = ? ${order}`, [teamId, appId]);
}

export interface Assign extends GivenGates {
  readonly target: Target;
  readonly appId: string;
  readonly version: number;
  /** Percentage of the set's devices that get the version first; 100 gives the version to all at once. */
  readonly share?: number | undefined;
  /** The roll-out stops once this many devices fail. Undefined keeps the present limit, or uses the default. */
  readonly failureLimit?: number | undefined;
  /** Comparison before the first step. Undefined keeps the roll-out's present shadow, if there is one. */
  readonly shadow?: GivenShadow | undefined;
  /** Last revision that the writer knew, 0 for no assignment. Undefined if the writer did not read the revision. */
  readonly expected?: number | undefined;
}

/**
 * Gives a version to a device or a set. With steps, or with a share below 100, this call starts a roll-out, or
 * continues the roll-out of the same version. A share of 100 ends the roll-out, and all devices get the version. To go
 * back, give the earlier version.
 */
export async function assign(db: Database, change: Change, given: Assign): Promise<Assignment> {
  const { now, actor, teamId } = change;
  const { target, failureLimit } = given;
  const gates = readGates(given);
  if (gates !== undefined && given.share !== undefined)
    throw new UserError("steps: got them beside a share, expected one of the two", 400, "Enter a share or steps.");
  const shadow = readShadow(given.shadow);
  if (shadow !== undefined && gates === undefined)
    throw new UserError(
      "shadow: got it without steps, expected steps beside it",
      400,
      "Enter steps beside the shadow.",
    );
  const share = gates?.steps[0] ?? given.share ?? 100;
  checkCount("share", share, 100);
  if (failureLimit !== undefined) checkCount("failure limit", failureLimit, MAX_FAILURE_LIMIT);
  if ((share < 100 || gates !== undefined) && target.kind === "device")
    throw new UserError(
      "share, steps: got one for a device, expected a group or a tag",
      400,
      "A device alone has no roll-out.",
    );
  return db.write(async (tx) => {
    await needTarget(tx, teamId, target);
    const app = await needApp(tx, teamId, given.appId);
    await needVersion(tx, teamId, app, given.version);
    const { purpose } = app;
    const before = await findAssignment(tx, teamId, target, purpose);
    checkRevision(before, given.expected);
    if (shadow !== undefined) checkShadow(before, app.id, given.version, purpose);
    const row = nextAssignment(before, { ...given, appId: app.id, share, purpose, gates, shadow }, change);
    await store(tx, teamId, row);
    const part = row.share === 0 ? `${shadow!.share} % in shadow` : `${row.share} %`;
    const what = row.share === null ? target.kind : `${part} of ${target.kind}`;
    await audit(tx, now, actor, "app.assigned", teamId, `${app.identifier} ${given.version} ${what} ${target.id}`);
    await countChange(tx, teamId);
    return row;
  });
}

/** Largest failure limit. No team has more devices. */
const MAX_FAILURE_LIMIT = 100_000;

function checkCount(name: string, given: number, max: number): void {
  if (Number.isInteger(given) && given >= 1 && given <= max) return;
  throw new UserError(
    `${name}: got ${given}, expected a whole number from 1 to ${max}`,
    400,
    `Enter a ${name} of 1 to ${max}.`,
  );
}

/**
 * Throws unless the devices already run a version of the same application, with which the shadow compares the new one.
 */
function checkShadow(before: Assignment | undefined, appId: string, version: number, purpose: Purpose): void {
  const refuse = (got: string, expected: string, help: string): never => {
    throw new UserError(`shadow: got it for ${got}, expected ${expected}`, 400, help);
  };
  if (purpose !== "network") refuse("the agent", "a network", "Only networks have a shadow.");
  if (before?.app_id !== appId || before.version === null)
    return refuse(
      "a target without a version of this application",
      "one that has a version to compare with",
      "It has no version of this application to compare with. Give it one first.",
    );
  if (before.next_version === version && (before.share ?? 0) > 0)
    refuse(
      "a roll-out whose first step is open",
      "a new one",
      "Devices run this version already. End its roll-out first.",
    );
}

interface Chosen extends Omit<Assign, "shadow"> {
  readonly share: number;
  readonly purpose: Purpose;
  readonly gates: Gates | undefined;
  readonly shadow: Shadow | undefined;
}

/** Returns the row of an assignment that gives the version. `before` is the present row. */
function nextAssignment(before: Assignment | undefined, given: Chosen, { now, actor }: Change): Assignment {
  const { target, appId, version, failureLimit, purpose, shadow } = given;
  const row = {
    kind: target.kind,
    target_id: target.id,
    app_id: appId,
    purpose,
    revision: (before?.revision ?? 0) + 1,
    changed_at: now,
    changed_by: actor,
  };
  if (given.share === 100 && given.gates === undefined) return { ...row, version, ...NO_ROLLOUT };
  const isSameApp = before?.app_id === appId;
  // Keep the id when a roll-out is widened. The hash of the id chooses the devices, and devices in the roll-out must
  // stay in it.
  const isWidened = isSameApp && before.next_version === version && before.rollout_id !== null;
  const gates = given.gates ?? (isWidened ? parseGates(before.gates) : undefined);
  // Keep at least the present share when gates are added to a running roll-out, so that no device loses the version.
  const widened = given.gates !== undefined && isWidened ? Math.max(before.share ?? 0, given.share) : given.share;
  const share = shadow === undefined ? widened : SHADOW_SHARE;
  return {
    ...row,
    version: isSameApp ? before.version : null,
    next_version: version,
    share,
    rollout_id: isWidened ? before.rollout_id : newId(now),
    rollout_state: "running",
    failure_limit:
      failureLimit ?? (isWidened ? before.failure_limit : null) ?? (gates === undefined ? 1 : USUAL_FAILURE_LIMIT),
    gates: gates === undefined ? null : JSON.stringify(gates),
    step_at: gates === undefined ? null : now,
    shadow: shadow !== undefined ? JSON.stringify(shadow) : isWidened ? before.shadow : null,
  };
}

export const NO_ROLLOUT = {
  ...{ next_version: null, share: null, rollout_id: null, rollout_state: null, failure_limit: null },
  ...{ gates: null, step_at: null, shadow: null },
};

/** Ends the assignment of a device or a set. */
export async function unassign(
  db: Database,
  { now, actor, teamId }: Change,
  target: Target,
  expected?: number,
  purpose: Purpose = "network",
): Promise<void> {
  await db.write(async (tx) => {
    const before = await findAssignment(tx, teamId, target, purpose);
    if (before === undefined)
      throw new UserError(`got ${target.kind} ${target.id.slice(0, 80)} without an application, expected one`, 404);
    checkRevision(before, expected);
    await deleteAssignment(tx, teamId, before);
    const app = await needApp(tx, teamId, before.app_id);
    await audit(tx, now, actor, "app.unassigned", teamId, `${app.identifier} ${target.kind} ${target.id}`);
    await countChange(tx, teamId);
  });
}

/**
 * Ends a roll-out: all devices get the version from before the roll-out. Without such a version, deletes the
 * assignment.
 */
export async function endRollout(
  db: Database,
  { now, actor, teamId }: Change,
  target: Target,
  expected?: number,
  purpose: Purpose = "network",
): Promise<void> {
  await db.write(async (tx) => {
    const before = await findAssignment(tx, teamId, target, purpose);
    if (before === undefined || before.next_version === null)
      throw new UserError(`got ${target.kind} ${target.id.slice(0, 80)} without a roll-out, expected one`, 409);
    checkRevision(before, expected);
    const { app_id, next_version } = before;
    const app = await needApp(tx, teamId, app_id);
    if (before.version === null) await deleteAssignment(tx, teamId, before);
    else
      await store(tx, teamId, {
        ...before,
        ...NO_ROLLOUT,
        ...{ revision: before.revision + 1, changed_at: now, changed_by: actor },
      });
    await audit(
      tx,
      now,
      actor,
      "rollout.ended",
      teamId,
      `${app.identifier} ${next_version} ${target.kind} ${target.id}`,
    );
    await countChange(tx, teamId);
  });
}

/**
 * Stops the roll-outs of a version that have reached their failure limit, in the sets of the device that failed. Only
 * failures after the last change of the roll-out count: a person who widens a stopped roll-out knows the earlier
 * failures. Roll-outs with gates are skipped, since counting all devices for each report would take too long.
 * @returns true if a roll-out was stopped
 */
export async function stopRollouts(
  tx: Queries,
  { now, teamId }: Change,
  report: { readonly deviceId: string; readonly appId: string; readonly version: number },
): Promise<boolean> {
  const { deviceId, appId, version } = report;
  let count = 0;
  for (const kind of SET_KINDS) {
    const { table, column } = SET_TABLES[kind];
    const stopped = await tx.all<{ target_id: string }>(
      "UPDATE assignments SET rollout_state = 'stopped', revision = revision + 1 " +
        `WHERE team_id = ? AND kind = '${kind}' AND app_id = ? AND next_version = ? ` +
        "AND rollout_state = 'running' AND gates IS NULL " +
        `AND target_id IN (SELECT ${column} FROM ${table} WHERE team_id = ? AND device_id = ?) ` +
        `AND (SELECT count(*) FROM ${table} m ` +
        "JOIN app_reports r ON r.team_id = m.team_id AND r.device_id = m.device_id " +
        `WHERE m.team_id = assignments.team_id AND m.${column} = assignments.target_id ` +
        "AND r.app_id = assignments.app_id AND r.version = assignments.next_version AND r.state = 'failed' " +
        "AND r.at >= assignments.changed_at) >= coalesce(failure_limit, 1) RETURNING target_id",
      [teamId, appId, version, teamId, deviceId],
    );
    for (const { target_id } of stopped)
      await audit(tx, now, `device ${deviceId}`, "rollout.stopped", teamId, `${version} ${kind} ${target_id}`);
    count += stopped.length;
  }
  if (count > 0) await countChange(tx, teamId);
  return count > 0;
}

function checkRevision(before: Assignment | undefined, expected: number | undefined): void {
  const got = before?.revision ?? 0;
  if (expected === undefined || expected === got) return;
  throw new UserError(
    `revision: got ${expected}, expected ${got}: it was changed meanwhile`,
    409,
    "Somebody changed this meanwhile. Look at it again, then repeat your change.",
  );
}

async function deleteAssignment(tx: Queries, teamId: string, { kind, target_id, purpose }: Assignment): Promise<void> {
  await tx.all("DELETE FROM assignments WHERE team_id = ? AND kind = ? AND target_id = ? AND purpose = ?", [
    ...[teamId, kind, target_id, purpose],
  ]);
}

async function store(tx: Queries, teamId: string, row: Assignment): Promise<void> {
  const values = ASSIGNMENT_COLUMNS.map((name) => row[name]);
  const isKey = (name: string): boolean => ["kind", "target_id", "purpose"].includes(name);
  const update = ASSIGNMENT_COLUMNS.filter((name) => !isKey(name)).map((n) => `${n} = excluded.${n}`);
  await tx.all(
    `INSERT INTO assignments (team_id, ${COLUMNS}) VALUES (?, ${values.map(() => "?").join(", ")}) ` +
      `ON CONFLICT (team_id, kind, target_id, purpose) DO UPDATE SET ${update.join(", ")}`,
    [teamId, ...values],
  );
}

/** True if a device is in the first `share` percent of a roll-out's devices. All processes choose the same devices. */
export const isInShare = (deviceId: string, rolloutId: string, share: number): boolean =>
  placeInRollout(deviceId, rolloutId) < share;

/**
 * Returns the place of a device in a roll-out, 0 to below 100: a roll-out reaches the device with a share above this
 * number.
 */
export function placeInRollout(deviceId: string, rolloutId: string): number {
  const first = createHash("sha256").update(`${rolloutId} ${deviceId}`).digest().readUInt32BE(0);
  return (first / 2 ** 32) * 100;
}
