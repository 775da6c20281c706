/** `boxwright-hub users`: accounts, and their roles in teams. */
import { UserError } from "../core/errors.ts";
import type { Database } from "boxwright-service/database";
import { keysMadeBy } from "../nouns/apikey.ts";
import { parseRole } from "../nouns/role.ts";
import { findTeam, membersOf, removeMember, setRole, teamsOf, type Team } from "../nouns/team.ts";
import { cleanEmail } from "../nouns/text.ts";
import { findUser, invite, listUsers, removeUser, resetLink } from "../nouns/user.ts";
import { ACTOR, iso, linkTo, teamOf, type Call, type Commands } from "./command.ts";

export const userCommands: Commands = {
  "users list": {
    about: "everyone with an account",
    run: async ({ db }) => (await listUsers(db)).map((user) => ({ ...user, created_at: iso(user.created_at) })),
  },
  "users invite": {
    args: "--team TEAM --email EMAIL [--role admin|member|viewer]",
    about: "a one-time link into a team",
    run: async (call) => {
      const { db, config, need, get } = call;
      const team = await teamOf(call);
      const role = parseRole(get("role") ?? "member");
      const token = await invite(db, { now: Date.now(), actor: ACTOR, teamId: team.id }, need("email"), role);
      return { team, link: linkTo(config, token) };
    },
  },
  "users reset": {
    args: "--email EMAIL",
    about: "a one-time link to choose a new password",
    run: async ({ db, config, need }) => ({
      link: linkTo(config, await resetLink(db, Date.now(), ACTOR, need("email"))),
    }),
  },
  "users role": {
    args: "--team TEAM --email EMAIL --role admin|member|viewer",
    about:
      "changes what someone may do in a team; of someone who is no administrator any more it names the API keys they made",
    run: changeRole,
  },
  "users remove": {
    args: "--email EMAIL [--team TEAM]",
    about:
      "ends the account, or with --team only the membership, and the invitations the person made; names the API keys they made, which stay until revoked",
    run: remove,
  },
};

async function changeRole(call: Call): Promise<unknown> {
  const { db, need } = call;
  const team = await teamOf(call);
  const role = parseRole(need("role"));
  const email = cleanEmail(need("email"));
  await setRole(db, { now: Date.now(), actor: ACTOR, teamId: team.id }, email, role);
  const user = await findUser(db, email);
  if (role === "admin" || user === undefined) return { team, email, role };
  return { team, email, role, keysThatStay: await keysMadeBy(db, user.id, team.id) };
}

async function remove({ db, need, get, warn }: Call): Promise<unknown> {
  const name = get("team");
  const team = name === undefined ? undefined : await findTeam(db, name);
  const email = cleanEmail(need("email"));
  const user = await findUser(db, email);
  if (user === undefined) throw new UserError(`got ${email}, expected a user (\`boxwright-hub users list\`)`, 404);
  const teams = team === undefined ? await teamsOf(db, user.id) : [team];
  if (team === undefined) await removeUser(db, Date.now(), ACTOR, email);
  else await removeMember(db, { now: Date.now(), actor: ACTOR, teamId: team.id }, user.id);
  await warnOfNoAdmin(db, teams, warn);
  return { removed: email, keysThatStay: await keysMadeBy(db, user.id, team?.id) };
}

async function warnOfNoAdmin(db: Database, teams: readonly Team[], warn: Call["warn"]): Promise<void> {
  for (const { id, name } of teams) {
    if ((await membersOf(db, id)).some(({ role }) => role === "admin")) continue;
    warn(
      `team ${JSON.stringify(name)} (${id}) has no administrator now: boxwright-hub users role, or boxwright-hub users invite --role admin`,
    );
  }
}
