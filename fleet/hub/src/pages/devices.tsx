/** The page of a team's devices: filters, adding, renaming, removing, and actions on many devices at once. */
import { listDeviceTags } from "../nouns/device-tag.ts";
import { UserError } from "../core/errors.ts";
import {
  addDevices,
  countDevices,
  removeDevice,
  removeDevices,
  removedAt,
  renameDevice,
  type Device,
} from "../nouns/device.ts";
import {
  countByStatus,
  countMatching,
  listReportedApplications,
  queryDevices,
  readStates,
} from "../nouns/device-query.ts";
import { countAway, openReturns, RETURN_HOURS, returnsUntil } from "../nouns/device-return.ts";
import { addToGroup, listGroups, removeFromGroup } from "../nouns/group.ts";
import { countText } from "./ago.tsx";
import { redirect, show, type Answer } from "./answer.tsx";
import { Bulk, Count, DeviceItem, Filters, Pages, Tally, type ListProps } from "./device-items.tsx";
import { closed, emptyView, filterOf, isFiltered, orderOf, queryOf, readView, type View } from "./device-view.ts";
import { LinkButton, NameForm, PostForm, Submit } from "./forms.tsx";
import { changeOf, frameOf, showPage, type Guards, type Member } from "./guards.tsx";
import { List } from "./layout.tsx";
import { type Said, sayAt } from "./said.ts";
import type { Site } from "./site.ts";
import { Time } from "./time.tsx";

const DEVICES_A_PAGE = 100;

export function registerDevices(site: Site, guards: Guards): void {
  const { db, now, config } = site;
  const base = "/teams/:team/devices";
  const form = guards.page(
    base,
    (visit, problem, open) => devicesPage(site, visit, { ...viewOf(visit), ...(problem && open) }, problem),
    (visit, open) => addressOf(visit, { ...viewOf(visit), ...open }),
  );
  const actorOf = (visit: Member): string => visit.session.user.email;

  form(base, async (visit) => {
    const list = [{ name: visit.form("name") }];
    const actor = actorOf(visit);
    const [device] = await addDevices(db, now(), visit.team.id, config.maxDevices, list, { actor });
    return answerAt(site, visit, device!, { text: `Added ${device!.name}.` });
  });
  const rename = async (visit: Member): Promise<Answer> => {
    const id = visit.param("device");
    const name = await renameDevice(db, changeOf(site, visit), id, visit.form("name"));
    const address = `${addressOf(visit, viewOf(visit))}#device-${id}`;
    return redirect(sayAt(visit.session, address, { text: `Renamed to ${name}.` }));
  };
  form(`${base}/:device/rename`, rename, "rename");
  const remove = async (visit: Member): Promise<Answer> => {
    const { id, name } = await removeDevice(db, changeOf(site, visit), visit.param("device"));
    const undo = { action: `/teams/${visit.team.id}/devices/restore`, fields: { id, name } };
    const said = { text: `Removed ${name}.`, undo };
    return redirect(sayAt(visit.session, addressOf(visit, closed(viewOf(visit))), said));
  };
  form(`${base}/:device/remove`, remove, "remove");
  form(`${base}/restore`, (visit) => restore(site, visit));
  form(`${base}/return`, async (visit) => {
    const until = await openReturns(db, changeOf(site, visit), visit.form("do") === "end" ? 0 : RETURN_HOURS);
    const text =
      until === null
        ? "Devices do not come back any more."
        : "Each device asks every five minutes, or sooner, and comes back then.";
    return redirect(sayAt(visit.session, base.replace(":team", visit.team.id), { text }));
  });
  form(`${base}/bulk`, (visit) => changeMany(site, visit));
}

const viewOf = ({ exchange }: Member): View => readView(exchange.search);

function addressOf({ team }: Member, view: View): string {
  const open = view.rename ?? view.remove;
  return `/teams/${team.id}/devices${queryOf(view)}${open === undefined ? "" : `#device-${encodeURIComponent(open)}`}`;
}

/** Redirects to the part of the list with the device, and shows a message there. */
async function answerAt({ db }: Site, visit: Member, { id }: Device, said: Said): Promise<Answer> {
  const page = Math.ceil((await countDevices(db, visit.team.id, id)) / DEVICES_A_PAGE);
  return redirect(sayAt(visit.session, `${addressOf(visit, { ...emptyView, page })}#device-${id}`, said));
}

/** Restores one removed device, or all devices that were removed together. */
async function restore(site: Site, visit: Member): Promise<Answer> {
  const { db, now, config } = site;
  const { team, form, session } = visit;
  const at = Number(form("removed"));
  const many = form("removed") === "" ? undefined : await removedAt(db, team.id, Number.isSafeInteger(at) ? at : 0);
  const devices = many ?? [{ id: form("id"), name: form("name") }];
  if (devices.length === 0)
    throw new UserError("got nothing to bring back", 404, "These devices are back already, or gone for good.");
  const options = { actor: session.user.email, restored: true };
  await addDevices(db, now(), team.id, config.maxDevices, devices, options);
  const [only, ...others] = devices;
  const text = others.length === 0 ? `${only!.name} is back.` : `${devices.length} devices are back.`;
  return answerAt(site, visit, only!, { text });
}

/** Runs an action on every device whose checkbox is ticked. */
async function changeMany(site: Site, visit: Member): Promise<Answer> {
  const { db } = site;
  const { team, form, session } = visit;
  const ids = form.all("device");
  const action = form("action");
  if (ids.length === 0) throw new UserError("got no device", 400, "Tick the devices first.");
  const change = changeOf(site, visit);
  const back = (said: Said): Answer => redirect(sayAt(session, addressOf(visit, closed(viewOf(visit))), said));
  if (action === "ask") return askRemoval(visit, ids);
  if (action === "remove") {
    const removed = await removeDevices(db, change, ids);
    const undo = { action: `/teams/${team.id}/devices/restore`, fields: { removed: String(change.now) } };
    return back({ text: `Removed ${countText(removed.length, "device")}.`, undo });
  }
  if (form("group") === "") throw new UserError("got no group", 400, "Make a group first, on the page of groups.");
  if (action === "take") {
    const { group, removed } = await removeFromGroup(db, change, form("group"), ids);
    return back({ text: `Took ${countText(removed, "device")} out of ${group.name}.` });
  }
  const { group, added } = await addToGroup(db, change, form("group"), ids);
  return back({ text: `Added ${countText(added, "device")} to ${group.name}.` });
}

/** Asks for confirmation before many devices are removed. */
function askRemoval(visit: Member, ids: readonly string[]): Answer {
  const base = `/teams/${visit.team.id}/devices`;
  const query = queryOf(closed(viewOf(visit)));
  return show(
    { ...frameOf(visit, "Remove devices", "devices"), narrow: true },
    <PostForm action={`${base}/bulk${query}`} class="question">
      {ids.map((id) => (
        <input type="hidden" name="device" value={id} />
      ))}
      <p>
        Remove <strong>{countText(ids.length, "device")}</strong>? Programs that ask the hub do not get them any more,
        and their agents are refused.
      </p>
      <Submit {...{ kind: "danger", name: "action", value: "remove" }}>Remove them</Submit>
      <LinkButton href={base + query} label="Keep them" />
    </PostForm>,
  );
}

async function devicesPage({ db, now }: Site, visit: Member, asked: View, problem?: UserError): Promise<Answer> {
  const { team, form, param } = visit;
  const time = now();
  const filter = filterOf(asked, time);
  const counts = await countByStatus(db, team.id, time);
  const matches = isFiltered(asked) ? await countMatching(db, team.id, filter, time) : counts.total;
  const pages = Math.max(1, Math.ceil(matches / DEVICES_A_PAGE));
  const page = Math.min(asked.page, pages);
  const slice = { order: orderOf(asked), limit: DEVICES_A_PAGE, offset: (page - 1) * DEVICES_A_PAGE };
  const devices = await queryDevices(db, team.id, filter, time, slice);
  const props: ListProps = {
    base: `/teams/${team.id}/devices`,
    ...{ devices, counts, matches, pages, pageSize: DEVICES_A_PAGE, now: time },
    states: await readStates(
      db,
      team.id,
      devices.map(({ id }) => id),
    ),
    view: { ...asked, page },
    groups: await listGroups(db, team.id),
    tags: await listDeviceTags(db, team.id),
    applications: await listReportedApplications(db, team.id),
    // Show the typed text again in the form that failed.
    typed: form("name").slice(0, 200),
    failed: problem === undefined ? undefined : param("device"),
  };
  const content = (
    <>
      <Returns base={props.base} away={await countAway(db, team.id)} until={await returnsUntil(db, time, team.id)} />
      <Devices {...props} />
    </>
  );
  return showPage(visit, ["Devices", "devices"], content, { problem });
}

/** Shows how many devices are missing after a restore, and the button that lets them come back. */
function Returns({ base, away, until }: { base: string; away: number; until: number | null }) {
  if (away === 0 && until === null) return <></>;
  return (
    <PostForm action={`${base}/return`} class="question" fields={{ do: until === null ? "open" : "end" }}>
      <p>
        {away > 0 && (
          <>
            <strong>{countText(away, "device")}</strong> had enrolled when the backup of this hub was made, and wait to
            come back.{" "}
          </>
        )}
        {until === null ? (
          "Each can prove itself by its own key. Revoke those first that must not come back."
        ) : (
          <>
            Devices come back by themselves until <Time at={until} />.
          </>
        )}
      </p>
      <Submit>{until === null ? `Let them come back for ${RETURN_HOURS} hours` : "End this now"}</Submit>
    </PostForm>
  );
}

function Devices(props: ListProps) {
  const { base, devices, counts, view } = props;
  return (
    <>
      <Tally {...props} />
      <div class="tools">
        {(counts.total > 0 || isFiltered(view)) && <Filters {...props} />}
        <NameForm
          {...{ action: base, id: "name", label: "Name of the new device", button: "Add device" }}
          value={props.failed === "" ? props.typed : ""}
        />
      </div>
      <Count {...props} />
      {devices.length > 0 && (
        <>
          <List label="Devices" class="devices">
            {devices.map((device) => (
              <DeviceItem device={device} {...props} />
            ))}
          </List>
          <Bulk {...props} />
        </>
      )}
      <Pages {...props} />
    </>
  );
}
