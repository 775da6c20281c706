/** `boxwright-hub init` and `boxwright-hub migrate`: create a database, or bring it up to date. */
import { resolve } from "node:path";
import type { Config } from "../core/config.ts";
import { addTeam } from "../nouns/team.ts";
import { cleanEmail, cleanName } from "../nouns/text.ts";
import { initialise } from "../nouns/user.ts";
import { ACTOR, linkTo, type Commands } from "./command.ts";

/** Names the database, without secrets, so that an operator in the wrong folder notices. */
function whereIs({ databaseUrl, databaseFile }: Config): string {
  return databaseUrl === undefined ? resolve(databaseFile) : "DATABASE_URL";
}

export const databaseCommands: Commands = {
  init: {
    args: "--email EMAIL [--team NAME]",
    about: "makes the first team and a one-time link for its administrator; a team that is there already is kept",
    creates: true,
    // A wrong argument must not leave an empty database behind.
    check: ({ need, get }) => {
      cleanEmail(need("email"));
      const name = get("team");
      if (name !== undefined) cleanName(name, "team name");
    },
    run: async ({ db, config, need, get, warn }) => {
      const name = get("team");
      const { team, made, token } = await initialise(db, Date.now(), need("email"), () =>
        addTeam(db, Date.now(), ACTOR, name ?? "My team"),
      );
      if (!made && name !== undefined && name !== team.name)
        warn(
          `--team ${JSON.stringify(name)} is ignored: this database has the team ${JSON.stringify(team.name)} already, and the link is for that one`,
        );
      return { team, link: linkTo(config, token), database: whereIs(config) };
    },
  },
  migrate: {
    about: "brings the database schema up to date (serve does it too)",
    // Do nothing here: opening the database has migrated it.
    run: ({ db }) => Promise.resolve({ database: db.kind, migrated: true }),
  },
};
