/** Rules that rows of a team share: how many there may be, and the answer to the id of a missing row. */
import type { Queries } from "boxwright-service/database";
import { UserError } from "../core/errors.ts";

/** Returns the error for an id that no row of the team has. */
export const noSuch = (what: string, id: string): UserError =>
  new UserError(
    `got ${what} ${JSON.stringify(id.slice(0, 80))}, expected one of the team`,
    404,
    `This ${what} does not exist any more.`,
  );

/** Throws if a table already has `most` rows of the team. */
export async function checkRoom(tx: Queries, table: string, teamId: string, most: number, what: string): Promise<void> {
  const [row] = await tx.all<{ count: number }>(`SELECT count(*) AS count FROM ${table} WHERE team_id = ?`, [teamId]);
  if ((row?.count ?? 0) < most) return;
  throw new UserError(
    `got one more ${what} for a team of ${most}, expected at most ${most}`,
    409,
    `The team has ${most} ${what}s, which is the limit. Delete one first.`,
  );
}
