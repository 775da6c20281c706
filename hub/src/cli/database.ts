/** `hub init`, `hub migrate`: a database to begin with. */
import { addTeam } from "../nouns/team.ts";
import { initialise } from "../nouns/user.ts";
import { ACTOR, linkTo, type Commands } from "./command.ts";

export const databaseCommands: Commands = {
  init: {
    usage: "hub init --email EMAIL [--team NAME]",
    about: "makes the first team and a one-time link for its administrator",
    values: ["email", "team"],
    creates: true,
    run: async ({ db, config, need, get }) => {
      const { team, token } = await initialise(db, Date.now(), need("email"), () =>
        addTeam(db, Date.now(), ACTOR, get("team") ?? "My team"),
      );
      return { team, link: linkTo(config, token) };
    },
  },
  migrate: {
    usage: "hub migrate",
    about: "brings the database schema up to date (serve does it too)",
    // Opening the database migrated it.
    run: ({ db }) => Promise.resolve({ database: db.kind, migrated: true }),
  },
};
