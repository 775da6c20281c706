/** Snaps of a team: the list with its filters, the page of one snap with its boxes, and deleting. */
import { UserError } from "../core/errors.ts";
import { audit } from "../nouns/audit.ts";
import { listDevices } from "../nouns/device.ts";
import { requestSnap } from "../nouns/snap.ts";
import { readStates } from "../nouns/device-query.ts";
import type { DeviceState } from "../nouns/status.ts";
import { deleteSnaps } from "../nouns/snap-deletion.ts";
import { findSnap, findSnaps, listSnapTags, type Snap, type SnapFilter } from "../nouns/snap-query.ts";
import { sendSnapFile } from "../uploads/snap-file.ts";
import { notFound, redirect, type Answer } from "./answer.tsx";
import { Field, LinkButton, Question, Select, type Choice } from "./forms.tsx";
import { frameOf, queryOf, queryText, showPage, type Guards, type Member } from "./guards.tsx";
import { Facts, Machine } from "./layout.tsx";
import { Picture, PictureScript } from "./snap-picture.tsx";
import { sayAt } from "./said.ts";
import type { Site } from "./site.ts";
import { Time } from "./time.tsx";

const SNAPS_A_PAGE = 24;
const MAX_TEXT = 100;

/** View of the list, as the query of the address encodes it. */
interface View {
  readonly device: string;
  readonly name: string;
  readonly tag: string;
  /** Time and id of the snap after which the page starts. */
  readonly after: string;
}

export function registerSnaps(site: Site, guards: Guards): void {
  const base = "/teams/:team/snaps";
  guards.member.get(base, (visit) => listPage(site, visit));
  guards.member.get(`${base}/ask`, (visit) => redirect(`/teams/${visit.team.id}/snaps`));
  guards.member.post(`${base}/ask`, async ({ team, session, form }) => {
    const source = { teamId: team.id, deviceId: form("device") };
    if (!(await requestSnap(site.db, site.now(), source)))
      throw new UserError("got a device without a credential", 404, "This device never enrolled, or it is revoked.");
    const page = `/teams/${team.id}/devices/${encodeURIComponent(source.deviceId)}`;
    const state = (await readStates(site.db, team.id, [source.deviceId])).get(source.deviceId);
    return redirect(sayAt(session, page, { text: `Asked. The snap ${whenSnapComes(state)}` }));
  });
  const form = guards.page(`${base}/:snap`, (visit, problem) => snapPage(site, visit, problem));
  form(`${base}/:snap/delete`, (visit) => postDelete(site, visit));
  guards.script("/teams/:team/files/:file", ({ exchange, team, param }) =>
    sendSnapFile(site, exchange, team.id, param("file")),
  );
}

/** Returns the end of a sentence about an asked snap: what the snap waits for. The device takes it from a new frame. */
export function whenSnapComes(state: Pick<DeviceState, "paused_at" | "application_state"> | undefined): string {
  if (state !== undefined && state.paused_at !== null)
    return "comes only if the device is resumed within ten minutes: it is paused, and takes no frames.";
  const usual = "comes with the first frame after the next contact.";
  if (state?.application_state !== "none") return usual;
  return `${usual} The device has no application: it takes frames only if its operator gave it a network.`;
}

function viewOf(visit: Member): View {
  const query = queryOf(visit);
  const text = (name: string): string => (query.get(name) ?? "").trim().slice(0, MAX_TEXT);
  return { device: text("device"), name: text("name"), tag: text("tag"), after: text("after") };
}

function filterOf({ device, name, tag }: View): SnapFilter {
  return {
    ...(device !== "" && { deviceIds: [device] }),
    ...(name !== "" && { names: [name] }),
    ...(tag !== "" && { tags: [tag] }),
  };
}

async function listPage(site: Site, visit: Member): Promise<Answer> {
  const { db } = site;
  const { team } = visit;
  const view = viewOf(visit);
  const [, at, id] = /^(\d{1,15})\.([0-9a-f-]{36})$/.exec(view.after) ?? [];
  const after = id === undefined ? undefined : { createdAt: Number(at), id };
  const found = await findSnaps(db, team.id, filterOf(view), { after, limit: SNAPS_A_PAGE + 1 });
  const snaps = found.slice(0, SNAPS_A_PAGE);
  const last = snaps.at(-1);
  const base = `/teams/${team.id}/snaps`;
  const names = new Map((await listDevices(db, team.id)).map((device) => [device.id, device.name]));
  const next =
    found.length > SNAPS_A_PAGE && last !== undefined
      ? base + queryText({ ...view, after: `${last.created_at}.${last.id}` })
      : undefined;
  const isPart = queryText({ ...view }) !== "";
  const content = (
    <>
      <Filters base={base} view={view} names={names} tags={await listSnapTags(db, team.id)} />
      {snaps.length === 0 && (
        <p class="count">
          {isPart
            ? "No snaps here."
            : "No snaps yet. A device sends them by the rules of its application, or when its page asks for one."}{" "}
          {isPart && <a href={base}>Show all</a>}
        </p>
      )}
      <Snaps {...{ snaps, label: "Snaps", teamId: team.id, nameOf: (id) => names.get(id) ?? id }} />
      {next !== undefined && (
        <nav class="pages" aria-label="Pages of the list">
          <a href={next} rel="next">
            Older snaps
          </a>
        </nav>
      )}
      <PictureScript />
    </>
  );
  return showPage(visit, ["Snaps", "snaps"], content);
}

function Filters(props: { base: string; view: View; names: ReadonlyMap<string, string>; tags: readonly string[] }) {
  const { base, view, names, tags } = props;
  const device = names.get(view.device);
  const shown = new Set([...tags, ...(view.tag === "" ? [] : [view.tag])]);
  const choices: Choice[] = [["", "any"], ...[...shown].map((tag): Choice => [tag, tag])];
  return (
    <form method="get" action={base} class="line tools" role="search">
      {view.device !== "" && (
        <>
          <input type="hidden" name="device" value={view.device} />
          <p class="whole">
            Of the device <strong>{device ?? view.device}</strong>.{" "}
            <a href={base + queryText({ ...view, device: "", after: "" })}>Of all devices</a>
          </p>
        </>
      )}
      <Field {...{ id: "snap-name", name: "name", label: "Name", maxlength: 56, value: view.name }} />
      <Select {...{ id: "snap-tag", name: "tag", label: "Tag", choices, value: view.tag }} />
      <button type="submit">Show</button>
    </form>
  );
}

interface SnapsProps {
  readonly snaps: readonly Snap[];
  readonly label: string;
  readonly teamId: string;
  readonly nameOf: (deviceId: string) => string;
}

/** A list of small pictures. Shows nothing if there are none. */
export function Snaps({ snaps, label, teamId, nameOf }: SnapsProps) {
  if (snaps.length === 0) return <></>;
  return (
    <ul class="snaps" aria-label={label}>
      {snaps.map((snap) => (
        <SnapItem snap={snap} teamId={teamId} device={nameOf(snap.device_id)} />
      ))}
    </ul>
  );
}

function SnapItem({ snap, teamId, device }: { snap: Snap; teamId: string; device: string }) {
  const [file] = snap.files;
  return (
    <li>
      <a href={`/teams/${teamId}/snaps/${snap.id}`}>
        {file !== undefined && <Picture teamId={teamId} snap={snap} file={file} isSmall />}
        <strong>{snap.name}</strong>
      </a>
      <span>{device}</span>
      <Time at={snap.created_at} />
    </li>
  );
}

async function snapPage({ db }: Site, visit: Member, problem?: UserError): Promise<Answer> {
  const { team, param } = visit;
  const snap = await findSnap(db, team.id, param("snap"));
  if (snap === undefined) return notFound(frameOf(visit, "Not found", "snaps"));
  const devices = await db.all<{ name: string }>("SELECT name FROM devices WHERE team_id = ? AND id = ?", [
    team.id,
    snap.device_id,
  ]);
  const base = `/teams/${team.id}/snaps`;
  const content = (
    <>
      {snap.files.map((file) => (
        <figure>
          <Picture teamId={team.id} snap={snap} file={file} />
          <figcaption class="soft">
            {file.name}, {file.classification}
          </figcaption>
        </figure>
      ))}
      <Facts rows={factsOf(snap, `/teams/${team.id}`, devices[0]?.name)} />
      <details>
        <summary>The event</summary>
        <Machine title="The event">{JSON.stringify(JSON.parse(snap.event), null, 2)}</Machine>
      </details>
      {queryOf(visit).has("delete") ? (
        <Question action={`${base}/${snap.id}/delete`} back={`${base}/${snap.id}`} button="Delete it">
          Delete this snap and its pictures, for good?
        </Question>
      ) : (
        <p class="actions">
          <LinkButton href={`${base}/${snap.id}?delete=yes`} label="Delete" />
        </p>
      )}
      <PictureScript />
    </>
  );
  return showPage(visit, [`Snap ${snap.name}`, "snaps"], content, { problem });
}

function factsOf(snap: Snap, team: string, device: string | undefined) {
  const tags = snap.tags.map((tag, i) => (
    <>
      {i > 0 && ", "}
      <a href={`${team}/snaps?tag=${encodeURIComponent(tag)}`}>{tag}</a>
    </>
  ));
  return [
    ["Device", device === undefined ? snap.device_id : <a href={`${team}/devices/${snap.device_id}`}>{device}</a>],
    ["Time", <Time at={snap.created_at} />],
    ["Application", snap.app_identifier],
    ["Tags", tags.length > 0 && tags],
    ...Object.entries(snap.extras),
  ] as const;
}

async function postDelete({ db, files, now }: Site, { team, session, param }: Member): Promise<Answer> {
  const snap = await findSnap(db, team.id, param("snap"));
  if (snap !== undefined) {
    await deleteSnaps(db, files, team.id, [snap.id]);
    await db.write((tx) => audit(tx, now(), session.user.email, "snap.deleted", team.id, snap.id));
  }
  return redirect(sayAt(session, `/teams/${team.id}/snaps`, { text: "Deleted the snap and its pictures." }));
}
