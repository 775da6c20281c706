/** `hub teams` */
import { addTeam, listTeams, membersOf, renameTeam } from "../nouns/team.ts";
import { ACTOR, iso, teamOf, type Commands } from "./command.ts";

export const teamCommands: Commands = {
  "teams list": {
    usage: "hub teams list",
    about: "every team",
    run: async ({ db }) => (await listTeams(db)).map((team) => ({ ...team, created_at: iso(team.created_at) })),
  },
  "teams add": {
    usage: "hub teams add --name NAME",
    about: "a new, empty team",
    values: ["name"],
    run: ({ db, need }) => addTeam(db, Date.now(), ACTOR, need("name")),
  },
  "teams rename": {
    usage: "hub teams rename --team TEAM --name NAME",
    about: "a new name for a team",
    values: ["team", "name"],
    run: async (call) => renameTeam(call.db, Date.now(), ACTOR, undefined, (await teamOf(call)).id, call.need("name")),
  },
  "teams members": {
    usage: "hub teams members --team TEAM",
    about: "who is in a team",
    values: ["team"],
    run: async (call) => membersOf(call.db, (await teamOf(call)).id),
  },
};
