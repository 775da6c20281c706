/** The start page, and the list of teams for users with several teams. */
import { roleNames } from "../nouns/role.ts";
import type { Membership } from "../nouns/team.ts";
import { redirect, show } from "./answer.tsx";
import { frameOf, type Guards } from "./guards.tsx";
import { List } from "./layout.tsx";
import type { Site } from "./site.ts";

export function registerTeams(_site: Site, guards: Guards): void {
  guards.signedIn.get("/", ({ teams: [only, ...others] }) =>
    redirect(only !== undefined && others.length === 0 ? `/teams/${only.id}/devices` : "/teams"),
  );
  guards.signedIn.get("/teams", (visit) => show(frameOf(visit, "Teams", "teams"), <Teams teams={visit.teams} />));
}

function Teams({ teams }: { teams: readonly Membership[] }) {
  if (teams.length === 0) return <p>This account is in no team. An administrator of a team can invite you.</p>;
  return (
    <List label="Teams">
      {teams.map((team) => (
        <li>
          <div class="what">
            <a href={`/teams/${team.id}/devices`}>{team.name}</a>
            <span class="soft">{roleNames[team.role]}</span>
          </div>
        </li>
      ))}
    </List>
  );
}
