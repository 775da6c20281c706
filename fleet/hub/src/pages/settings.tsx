/** Settings of a team: its API keys, and its name. */
import type { UserError } from "../core/errors.ts";
import { renameTeam } from "../nouns/team.ts";
import type { Answer } from "./answer.tsx";
import { apiKeysOf, registerApiKeys } from "./api-keys.tsx";
import { NameForm } from "./forms.tsx";
import { changeOf, showPage, type Guards, type Member } from "./guards.tsx";
import type { Site } from "./site.ts";

export function registerSettings(site: Site, guards: Guards): void {
  const base = "/teams/:team/settings";
  const form = guards.page(base, (visit, problem) => settingsPage(site, visit, problem));
  form(base, async (visit) => {
    const { name } = await renameTeam(site.db, changeOf(site, visit), visit.form("name"));
    return `Renamed to ${name}.`;
  });
  registerApiKeys(site, form);
}

async function settingsPage(site: Site, visit: Member, problem?: UserError): Promise<Answer> {
  const { team, form } = visit;
  const address = `/teams/${team.id}/settings`;
  // Show the typed name again only if the form of the name failed: forms of keys have a field "name" too.
  const typed = problem !== undefined && visit.exchange.path === address ? form("name").slice(0, 200) : undefined;
  const content = (
    <>
      {await apiKeysOf(site, visit, typed === undefined ? problem : undefined)}
      <h2>Team name</h2>
      {team.role === "admin" ? (
        <NameForm
          {...{ action: address, id: "team-name", label: "Name", button: "Save" }}
          {...{ value: typed ?? team.name, isMain: false }}
        />
      ) : (
        <p>{team.name}</p>
      )}
    </>
  );
  return showPage(visit, ["Team settings", "settings"], content, { problem });
}
