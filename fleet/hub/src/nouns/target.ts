/** Devices and groups that get an application. Converts between a person's text and the target. */
import type { Queries } from "boxwright-service/database";
import { UserError } from "../core/errors.ts";
import type { Assignment, Target } from "./assignment.ts";
import { listDevices } from "./device.ts";
import { listGroups } from "./group.ts";

/** Finds one device by its id or its name. */
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

/** Returns the names of targets, by `kind:id`. */
export async function targetNames(
  db: Queries,
  teamId: string,
  targets: readonly Pick<Assignment, "kind" | "target_id">[],
): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for (const { id, name } of await listGroups(db, teamId)) names.set(`group:${id}`, name);
  if (targets.some(({ kind }) => kind === "device"))
    for (const { id, name } of await listDevices(db, teamId)) names.set(`device:${id}`, name);
  return names;
}
