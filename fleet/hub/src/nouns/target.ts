/**
 * Targets that get an application: devices, groups and tags. Finds a target by its id or name, and the names of
 * targets.
 */
import type { Queries } from "boxwright-service/database";
import { UserError } from "../core/errors.ts";
import { findByIds, IDS } from "./by-ids.ts";
import type { SetKind } from "./device-set.ts";
import { readTags } from "./device-tag.ts";

export type TargetKind = "device" | SetKind;

export interface Target {
  readonly kind: TargetKind;
  /** Id of the device or the group, or the tag itself. */
  readonly id: string;
}

/** Returns the target of all devices with a tag. */
export const tagTarget = (text: string): Target => ({ kind: "tag", id: readTags([text])[0]! });

/** Queries that find a target. A tag with an assignment stays a target even if no device has the tag any more. */
const FIND_TARGET: Readonly<Record<TargetKind, string>> = {
  device: "SELECT id FROM devices WHERE team_id = ? AND id = ?",
  group: "SELECT id FROM device_groups WHERE team_id = ? AND id = ?",
  tag:
    "SELECT id FROM (SELECT team_id, tag AS id FROM device_tags UNION ALL " +
    "SELECT team_id, target_id AS id FROM assignments WHERE kind = 'tag') t WHERE team_id = ? AND id = ? LIMIT 1",
};

/** Throws unless the team has the target. */
export async function needTarget(db: Queries, teamId: string, { kind, id }: Target): Promise<void> {
  const found = await db.all(FIND_TARGET[kind], [teamId, id]);
  if (found.length > 0) return;
  throw new UserError(
    `got ${kind} ${JSON.stringify(id.slice(0, 80))}, expected one of the team`,
    404,
    kind === "tag" ? "No device of the team has this tag." : `The team has no such ${kind}.`,
  );
}

/** Returns the target of the one device with this id or name. */
export async function findTarget(db: Queries, teamId: string, text: string): Promise<Target> {
  const wanted = text.normalize("NFC").trim();
  const rows = wanted.includes("\0")
    ? []
    : await db.all<{ id: string }>(
        "SELECT id FROM devices WHERE team_id = ? AND (id = ? OR name = ?) ORDER BY CASE WHEN id = ? THEN 0 ELSE 1 END LIMIT 3",
        [teamId, wanted, wanted, wanted],
      );
  const [first, second] = rows;
  if (first === undefined)
    throw new UserError(
      `device: got ${JSON.stringify(wanted.slice(0, 80))}, expected the name or id of one of the team`,
      404,
      "The team has no device of this name or id.",
    );
  if (second !== undefined && first.id !== wanted)
    throw new UserError(
      `device: got ${JSON.stringify(wanted.slice(0, 80))}, the name of several devices, expected an id`,
      409,
      "Several devices have this name. Enter the id of the one that you mean.",
    );
  return { kind: "device", id: first.id };
}

const FIND_NAMES = {
  device: `SELECT id, name FROM devices WHERE team_id = ? AND id IN (${IDS})`,
  group: `SELECT id, name FROM device_groups WHERE team_id = ? AND id IN (${IDS})`,
} as const;

/** Returns the names of the given targets, by `kind:id`. The name of a tag is its id. */
export async function targetNames(
  db: Queries,
  teamId: string,
  targets: readonly { readonly kind: string; readonly target_id: string }[],
): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for (const kind of ["device", "group"] as const) {
    const ids = targets.filter((target) => target.kind === kind).map(({ target_id }) => target_id);
    for (const { id, name } of await findByIds<{ id: string; name: string }>(db, FIND_NAMES[kind], teamId, ids))
      names.set(`${kind}:${id}`, name);
  }
  return names;
}
