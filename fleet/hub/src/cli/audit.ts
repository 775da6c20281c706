/** `boxwright-hub audit` */
import { readAudit } from "../nouns/audit.ts";
import { findTeam } from "../nouns/team.ts";
import { iso, Usage, type Commands } from "./command.ts";

const ROWS = 100;

export const auditCommands: Commands = {
  audit: {
    args: "[--team TEAM] [--limit N]",
    about: "what changed access, the newest first",
    run: async ({ db, get }) => {
      const limit = Number(get("limit") ?? ROWS);
      if (!Number.isSafeInteger(limit) || limit < 1)
        throw new Usage(`--limit: got ${get("limit")}, expected a whole number from 1`);
      const name = get("team");
      const rows = await readAudit(db, limit, name === undefined ? undefined : (await findTeam(db, name)).id);
      return rows.map((row) => ({ ...row, at: iso(row.at) }));
    },
  },
};
