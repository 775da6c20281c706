/** Settings of a team: its API keys, and its name. */
import { csrfOf } from "../auth/cookie.ts";
import type { UserError } from "../core/errors.ts";
import { renameTeam } from "../nouns/team.ts";
import { redirect, show, type Answer } from "./answer.tsx";
import { apiKeysOf, registerApiKeys } from "./api-keys.tsx";
import { frameOf, type Guards, type Member } from "./guards.tsx";
import { NameForm } from "./name-form.tsx";
import { Notices, sayAt } from "./said.tsx";
import type { Site } from "./site.ts";

export function registerSettings(site: Site, guards: Guards): void {
  guards.member.get("/teams/:team/settings", (visit) => settingsPage(site, visit));
  guards.member.change(
    "/teams/:team/settings",
    async (visit) => {
      const { user } = visit.session;
      const { name } = await renameTeam(site.db, site.now(), user.email, user.id, visit.team.id, visit.form("name"));
      return redirect(sayAt(visit.session, `/teams/${visit.team.id}/settings`, { text: `Renamed to ${name}.` }));
    },
    (visit, problem) => settingsPage(site, visit, { problem, typed: visit.form("name").slice(0, 200) }),
  );
  registerApiKeys(site, guards, (visit, problem) => settingsPage(site, visit, { problem }));
}

interface Failure {
  readonly problem?: UserError;
  /** Name of the team as the user typed it. */
  readonly typed?: string;
}

async function settingsPage(site: Site, visit: Member, { problem, typed }: Failure = {}): Promise<Answer> {
  const { team, session } = visit;
  return show(
    frameOf(visit, "Team settings", "settings"),
    <>
      <Notices visit={visit} problem={problem} />
      {await apiKeysOf(site, visit, typed === undefined ? problem : undefined)}
      <h2>Team name</h2>
      {team.role === "admin" ? (
        <NameForm
          {...{ action: `/teams/${team.id}/settings`, csrf: csrfOf(session), id: "team-name", label: "Name" }}
          {...{ button: "Save", value: typed ?? team.name, isMain: false }}
        />
      ) : (
        <p>{team.name}</p>
      )}
    </>,
    problem?.status ?? 200,
  );
}
