/** Groups of devices: lists, makes, renames and deletes them. */
import { csrfOf } from "../auth/cookie.ts";
import type { UserError } from "../core/errors.ts";
import { createGroup, deleteGroup, listGroups, renameGroup, type Group } from "../nouns/group.ts";
import { countText } from "./ago.tsx";
import { redirect, show, type Answer } from "./answer.tsx";
import { changeOf, frameOf, type Guards, type Member } from "./guards.tsx";
import { Csrf } from "./layout.tsx";
import { NameForm } from "./name-form.tsx";
import { Notices, sayAt } from "./said.tsx";
import type { Site } from "./site.ts";

/** The group whose form is open. */
interface Open {
  readonly rename?: string | undefined;
  readonly remove?: string | undefined;
}

export function registerGroups(site: Site, guards: Guards): void {
  const { db } = site;
  const base = "/teams/:team/groups";
  const form = (path: string, open: keyof Open | undefined, work: (visit: Member) => Promise<string>): void => {
    const openAt = (visit: Member): Open => (open === undefined ? {} : { [open]: visit.param("group") });
    guards.member.change(
      path,
      async (visit) => redirect(sayAt(visit.session, addressOf(visit), { text: await work(visit) })),
      (visit, problem) => groupsPage(site, visit, openAt(visit), problem),
    );
    if (path !== base)
      guards.member.get(path, (visit) => redirect(`${addressOf(visit)}?${open}=${visit.param("group")}`));
  };

  guards.member.get(base, (visit) => {
    const query = new URLSearchParams(visit.exchange.search);
    return groupsPage(site, visit, {
      rename: query.get("rename") ?? undefined,
      remove: query.get("remove") ?? undefined,
    });
  });
  form(base, undefined, async (visit) => {
    const { name } = await createGroup(db, changeOf(site, visit), visit.form("name"));
    return `Made ${name}.`;
  });
  form(`${base}/:group/rename`, "rename", async (visit) => {
    const { name } = await renameGroup(db, changeOf(site, visit), visit.param("group"), visit.form("name"));
    return `Renamed to ${name}.`;
  });
  form(`${base}/:group/remove`, "remove", async (visit) => {
    const { name } = await deleteGroup(db, changeOf(site, visit), visit.param("group"));
    return `Deleted ${name}. Its devices are still there.`;
  });
}

const addressOf = ({ team }: Member): string => `/teams/${team.id}/groups`;

async function groupsPage({ db }: Site, visit: Member, open: Open, problem?: UserError): Promise<Answer> {
  const { team, session, form } = visit;
  const groups = await listGroups(db, team.id);
  const csrf = csrfOf(session);
  const base = addressOf(visit);
  const typed = problem === undefined ? undefined : form("name").slice(0, 200);
  return show(
    frameOf(visit, "Groups", "groups"),
    <>
      <Notices visit={visit} problem={problem} />
      <p class="soft">Devices of a group get the same application. A device may be in several groups.</p>
      <NameForm
        {...{ action: base, csrf, id: "name", label: "Name of the new group", button: "Make group" }}
        value={open.rename === undefined ? typed : undefined}
        class="tools"
      />
      <p class="count">{groups.length === 0 ? "No groups yet." : countText(groups.length, "group")}</p>
      {groups.length > 0 && (
        <ul class="list" aria-label="Groups">
          {groups.map((group) => (
            <GroupItem group={group} base={base} csrf={csrf} open={open} typed={typed} />
          ))}
        </ul>
      )}
    </>,
    problem?.status ?? 200,
  );
}

interface GroupItemProps {
  readonly group: Group & { readonly devices: number };
  readonly base: string;
  readonly csrf: string;
  readonly open: Open;
  readonly typed: string | undefined;
}

function GroupItem({ group: { id, name, devices }, base, csrf, open, typed }: GroupItemProps) {
  if (open.rename === id)
    return (
      <li class="open">
        <NameForm
          {...{ action: `${base}/${id}/rename`, csrf, id: "new-name", label: `New name of ${name}`, button: "Save" }}
          value={typed ?? name}
          cancel={base}
          isOpened
        />
      </li>
    );
  if (open.remove === id)
    return (
      <li class="open">
        <form method="post" action={`${base}/${id}/remove`} class="question">
          <Csrf value={csrf} />
          <p>
            Delete <strong>{name}</strong>? Its devices stay. They lose the application that the group gives them.
          </p>
          <button class="danger" type="submit">
            Delete it
          </button>
          <a class="button" href={base}>
            Keep it
          </a>
        </form>
      </li>
    );
  return (
    <li>
      <div class="what">
        <strong>{name}</strong>
        <a href={`${base.replace(/groups$/, "devices")}?group=${id}`}>{countText(devices, "device")}</a>
      </div>
      <div class="do">
        <a class="button" href={`${base}?rename=${id}`} aria-label={`Rename ${name}`}>
          Rename
        </a>
        <a class="button" href={`${base}?remove=${id}`} aria-label={`Delete ${name}`}>
          Delete
        </a>
      </div>
    </li>
  );
}
