/** Lists the applications of a team, and makes new ones. */
import type { UserError } from "../core/errors.ts";
import { createApp, listApps, type App } from "../nouns/application.ts";
import { listAssignments, type Assignment } from "../nouns/assignment.ts";
import { countText } from "./ago.tsx";
import { redirect, type Answer } from "./answer.tsx";
import { NameForm, Select } from "./forms.tsx";
import { changeOf, showPage, type Guards, type Member } from "./guards.tsx";
import { List } from "./layout.tsx";
import { sayAt } from "./said.ts";
import type { Site } from "./site.ts";

export function registerApplications(site: Site, guards: Guards): void {
  const { db } = site;
  const base = "/teams/:team/apps";
  const form = guards.page(base, (visit, problem) => listPage(site, visit, problem));
  form(base, async (visit) => {
    const { team, session, form: field } = visit;
    const app = await createApp(db, changeOf(site, visit), {
      name: field("name"),
      purpose: field("purpose") === "agent" ? "agent" : "network",
    });
    const address = `/teams/${team.id}/apps/${app.id}/edit`;
    return redirect(sayAt(session, address, { text: `${app.name} is there. Give it its first version.` }));
  });
}

async function listPage({ db }: Site, visit: Member, problem?: UserError): Promise<Answer> {
  const { team, form } = visit;
  const [apps, assignments] = [await listApps(db, team.id), await listAssignments(db, team.id)];
  const base = `/teams/${team.id}/apps`;
  const purposes = [
    ["network", "a network"],
    ["agent", "the agent itself"],
  ] as const;
  const content = (
    <>
      <p class="soft">
        An application is what a device runs: a network's config, options and model file, or a release of the agent
        itself. Every save is a new version.
      </p>
      <NameForm
        {...{ action: base, id: "name", label: "Name of the new application", button: "Add application" }}
        value={problem === undefined ? "" : form("name").slice(0, 200)}
        class="tools"
      >
        <Select label="What for" name="purpose" choices={purposes} />
      </NameForm>
      <p class="count">{countOf(apps.length)}</p>
      <List label="Applications">
        {apps.map((app) => (
          <AppItem app={app} base={base} assignments={assignments.filter(({ app_id }) => app_id === app.id)} />
        ))}
      </List>
    </>
  );
  return showPage(visit, ["Applications", "apps"], content, { problem });
}

const countOf = (count: number): string => (count === 0 ? "No applications yet." : countText(count, "application"));

function AppItem({ app, base, assignments }: { app: App; base: string; assignments: readonly Assignment[] }) {
  const given = (["group", "tag", "device"] as const).flatMap((wanted) => {
    const count = assignments.filter(({ kind }) => kind === wanted).length;
    return count > 0 ? [countText(count, wanted)] : [];
  });
  const stopped = assignments.some(({ rollout_state }) => rollout_state === "stopped");
  return (
    <li>
      <div class="what">
        <strong>
          <a href={`${base}/${app.id}`}>{app.name}</a>
        </strong>
        <span class="soft">
          {app.purpose === "agent" && "agent, "}
          {app.newest === 0 ? "no version yet" : `version ${app.newest}`}
          {given.length > 0 ? `, given to ${given.join(" and ")}` : ", given to nobody"}
          {stopped && <strong class="bad">, a roll-out stopped</strong>}
        </span>
      </div>
    </li>
  );
}
