/** `boxwright-hub teams` */
import { addTeam, listTeams, membersOf, removeTeam, renameTeam } from "../nouns/team.ts";
import { ACTOR, changeOf, iso, teamOf, type Commands } from "./command.ts";

export const teamCommands: Commands = {
  "teams list": {
    about: "every team",
    run: async ({ db }) => (await listTeams(db)).map((team) => ({ ...team, created_at: iso(team.created_at) })),
  },
  "teams add": {
    args: "--name NAME",
    about: "a new, empty team",
    run: ({ db, need }) => addTeam(db, Date.now(), ACTOR, need("name")),
  },
  "teams rename": {
    args: "--team TEAM --name NAME",
    about: "a new name for a team",
    run: async (call) => renameTeam(call.db, await changeOf(call), call.need("name")),
  },
  "teams remove": {
    args: "--team TEAM [--with-everything]",
    about:
      "ends an empty team; --with-everything also one that has devices, members or keys: its keys are refused from the next request on",
    run: async (call) => {
      const team = await teamOf(call);
      return { removed: team, ...(await removeTeam(call.db, Date.now(), ACTOR, team, call.has("with-everything"))) };
    },
  },
  "teams members": {
    args: "--team TEAM",
    about: "who is in a team",
    run: async (call) => membersOf(call.db, (await teamOf(call)).id),
  },
};
