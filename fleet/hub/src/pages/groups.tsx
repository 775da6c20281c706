/** Groups of devices: lists, makes, renames and deletes them. */
import { createGroup, deleteGroup, listGroups, renameGroup, type Group } from "../nouns/group.ts";
import type { UserError } from "../core/errors.ts";
import { countText } from "./ago.tsx";
import type { Answer } from "./answer.tsx";
import { LinkButton, NameForm, Question } from "./forms.tsx";
import { changeOf, showPage, type Guards, type Member, type Open } from "./guards.tsx";
import { List } from "./layout.tsx";
import type { Site } from "./site.ts";

export function registerGroups(site: Site, guards: Guards): void {
  const { db } = site;
  const base = "/teams/:team/groups";
  const form = guards.page(base, (visit, problem, open = {}) => groupsPage(site, visit, open, problem));
  form(base, async (visit) => {
    const { name } = await createGroup(db, changeOf(site, visit), visit.form("name"));
    return `Made ${name}.`;
  });
  const rename = async (visit: Member): Promise<string> => {
    const { name } = await renameGroup(db, changeOf(site, visit), visit.param("group"), visit.form("name"));
    return `Renamed to ${name}.`;
  };
  form(`${base}/:group/rename`, rename, "rename");
  const remove = async (visit: Member): Promise<string> => {
    const { name } = await deleteGroup(db, changeOf(site, visit), visit.param("group"));
    return `Deleted ${name}. Its devices are still there.`;
  };
  form(`${base}/:group/remove`, remove, "remove");
}

async function groupsPage({ db }: Site, visit: Member, open: Open, problem?: UserError): Promise<Answer> {
  const groups = await listGroups(db, visit.team.id);
  const base = `/teams/${visit.team.id}/groups`;
  const typed = problem === undefined ? undefined : visit.form("name").slice(0, 200);
  const content = (
    <>
      <p class="soft">Devices of a group get the same application. A device may be in several groups.</p>
      <NameForm
        {...{ action: base, id: "name", label: "Name of the new group", button: "Make group", class: "tools" }}
        value={open["rename"] === undefined ? typed : undefined}
      />
      <p class="count">{groups.length === 0 ? "No groups yet." : countText(groups.length, "group")}</p>
      <List label="Groups">
        {groups.map((group) => (
          <GroupItem group={group} base={base} open={open} typed={typed} />
        ))}
      </List>
    </>
  );
  return showPage(visit, ["Groups", "groups"], content, { problem });
}

interface GroupItemProps {
  readonly group: Group & { readonly devices: number };
  readonly base: string;
  readonly open: Open;
  readonly typed: string | undefined;
}

function GroupItem({ group: { id, name, devices }, base, open, typed }: GroupItemProps) {
  if (open["rename"] === id)
    return (
      <li class="open">
        <NameForm
          {...{ action: `${base}/${id}/rename`, id: "new-name", label: `New name of ${name}`, button: "Save" }}
          {...{ value: typed ?? name, cancel: base }}
        />
      </li>
    );
  if (open["remove"] === id)
    return (
      <li class="open">
        <Question action={`${base}/${id}/remove`} back={base} button="Delete it">
          Delete <strong>{name}</strong>? Its devices stay. They lose the application that the group gives them.
        </Question>
      </li>
    );
  return (
    <li>
      <div class="what">
        <strong>{name}</strong>
        <a href={`${base.replace(/groups$/, "devices")}?group=${id}`}>{countText(devices, "device")}</a>
      </div>
      <div class="do">
        <LinkButton href={`${base}?rename=${id}`} label="Rename" name={name} />
        <LinkButton href={`${base}?remove=${id}`} label="Delete" name={name} />
      </div>
    </li>
  );
}
