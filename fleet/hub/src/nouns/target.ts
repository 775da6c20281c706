/** Devices, as people name them in a form. */
import type { Queries } from "boxwright-service/database";
import { UserError } from "../core/errors.ts";
import type { Target } from "./assignment.ts";

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
