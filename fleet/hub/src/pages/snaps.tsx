/** Snaps of a team: the list with its filters, the page of one snap with its boxes, and deleting. */
import { csrfOf } from "../auth/cookie.ts";
import { UserError } from "../core/errors.ts";
import { audit } from "../nouns/audit.ts";
import { listDevices } from "../nouns/device.ts";
import { requestSnap } from "../nouns/snap.ts";
import { deleteSnaps } from "../nouns/snap-deletion.ts";
import { findSnap, findSnaps, listSnapTags, type Snap, type SnapFilter } from "../nouns/snap-query.ts";
import { sendSnapFile } from "../uploads/snap-file.ts";
import { notFound, redirect, show, type Answer } from "./answer.tsx";
import { frameOf, type Guards, type Member } from "./guards.tsx";
import { Csrf } from "./layout.tsx";
import { Picture, PictureScript } from "./snap-picture.tsx";
import { Notices, sayAt } from "./said.tsx";
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
    return redirect(sayAt(session, page, { text: "Asked. The snap comes after the next contact of the device." }));
  });
  guards.member.get(`${base}/:snap`, (visit) => snapPage(site, visit));
  guards.member.get(`${base}/:snap/delete`, (visit) =>
    redirect(`/teams/${visit.team.id}/snaps/${visit.param("snap")}`),
  );
  guards.member.change(
    `${base}/:snap/delete`,
    (visit) => postDelete(site, visit),
    (visit, problem) => snapPage(site, visit, problem),
  );
  guards.script("/teams/:team/files/:file", ({ exchange, team, param }) =>
    sendSnapFile(site, exchange, team.id, param("file")),
  );
}

function viewOf({ exchange }: Member): View {
  const query = new URLSearchParams(exchange.search);
  const text = (name: string): string => (query.get(name) ?? "").trim().slice(0, MAX_TEXT);
  return { device: text("device"), name: text("name"), tag: text("tag"), after: text("after") };
}

function queryOf({ device, name, tag }: View, after = ""): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries({ device, name, tag, after })) if (value !== "") query.set(key, value);
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
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
      ? base + queryOf(view, `${last.created_at}.${last.id}`)
      : undefined;
  const isFiltered = queryOf(view) !== "";
  return show(
    frameOf(visit, "Snaps", "snaps"),
    <>
      <Notices visit={visit} />
      <Filters base={base} view={view} names={names} tags={await listSnapTags(db, team.id)} />
      {snaps.length === 0 && (
        <p class="count">
          {isFiltered || after !== undefined
            ? "No snaps here."
            : "No snaps yet. A device sends them by the rules of its application, or when its page asks for one."}{" "}
          {(isFiltered || after !== undefined) && <a href={base}>Show all</a>}
        </p>
      )}
      <ul class="snaps" aria-label="Snaps">
        {snaps.map((snap) => (
          <SnapItem snap={snap} teamId={team.id} device={names.get(snap.device_id) ?? snap.device_id} />
        ))}
      </ul>
      {next !== undefined && (
        <nav class="pages" aria-label="Pages of the list">
          <a href={next} rel="next">
            Older snaps
          </a>
        </nav>
      )}
      <PictureScript />
    </>,
  );
}

function Filters(props: { base: string; view: View; names: ReadonlyMap<string, string>; tags: readonly string[] }) {
  const { base, view, names, tags } = props;
  const device = names.get(view.device);
  return (
    <form method="get" action={base} class="line tools" role="search">
      {view.device !== "" && (
        <>
          <input type="hidden" name="device" value={view.device} />
          <p class="whole">
            Of the device <strong>{device ?? view.device}</strong>.{" "}
            <a href={base + queryOf({ ...view, device: "" })}>Of all devices</a>
          </p>
        </>
      )}
      <div>
        <label for="snap-name">Name</label>
        <input id="snap-name" name="name" maxlength={56} autocomplete="off" value={view.name} />
      </div>
      <div>
        <label for="snap-tag">Tag</label>
        <select id="snap-tag" name="tag">
          <option value="">any</option>
          {[...new Set([...tags, ...(view.tag === "" ? [] : [view.tag])])].map((tag) => (
            <option value={tag} selected={tag === view.tag}>
              {tag}
            </option>
          ))}
        </select>
      </div>
      <button type="submit">Show</button>
    </form>
  );
}

export function SnapItem({ snap, teamId, device }: { snap: Snap; teamId: string; device: string }) {
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
  const { team, session, exchange, param } = visit;
  const snap = await findSnap(db, team.id, param("snap"));
  if (snap === undefined) return notFound(frameOf(visit, "Not found", "snaps"));
  const devices = await db.all<{ name: string }>("SELECT name FROM devices WHERE team_id = ? AND id = ?", [
    team.id,
    snap.device_id,
  ]);
  const base = `/teams/${team.id}/snaps`;
  const csrf = csrfOf(session);
  const asks = new URLSearchParams(exchange.search).has("delete");
  return show(
    frameOf(visit, `Snap ${snap.name}`, "snaps"),
    <>
      <Notices visit={visit} problem={problem} />
      {snap.files.map((file) => (
        <figure>
          <Picture teamId={team.id} snap={snap} file={file} />
          <figcaption class="soft">
            {file.name}, {file.classification}
          </figcaption>
        </figure>
      ))}
      <Facts snap={snap} base={base} device={devices[0]?.name} devices={`/teams/${team.id}/devices`} />
      <details>
        <summary>The event</summary>
        <pre class="machine" tabindex={0} role="region" aria-label="The event">
          {JSON.stringify(JSON.parse(snap.event), null, 2)}
        </pre>
      </details>
      {asks ? (
        <form method="post" action={`${base}/${snap.id}/delete`} class="question">
          <Csrf value={csrf} />
          <p>Delete this snap and its pictures, for good?</p>
          <button class="danger" type="submit">
            Delete it
          </button>
          <a class="button" href={`${base}/${snap.id}`}>
            Keep it
          </a>
        </form>
      ) : (
        <p class="actions">
          <a class="button" href={`${base}/${snap.id}?delete=yes`}>
            Delete
          </a>
        </p>
      )}
      <PictureScript />
    </>,
    problem?.status ?? 200,
  );
}

function Facts(props: { snap: Snap; base: string; device: string | undefined; devices: string }) {
  const { snap, base, device, devices } = props;
  const extras = Object.entries(snap.extras);
  return (
    <dl class="facts">
      <div>
        <dt>Device</dt>
        <dd>{device === undefined ? snap.device_id : <a href={`${devices}/${snap.device_id}`}>{device}</a>}</dd>
      </div>
      <div>
        <dt>Time</dt>
        <dd>
          <Time at={snap.created_at} />
        </dd>
      </div>
      {snap.app_identifier !== null && (
        <div>
          <dt>Application</dt>
          <dd>{snap.app_identifier}</dd>
        </div>
      )}
      {snap.tags.length > 0 && (
        <div>
          <dt>Tags</dt>
          <dd>
            {snap.tags.map((tag, i) => (
              <>
                {i > 0 && ", "}
                <a href={`${base}?tag=${encodeURIComponent(tag)}`}>{tag}</a>
              </>
            ))}
          </dd>
        </div>
      )}
      {extras.map(([key, value]) => (
        <div>
          <dt>{key}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

async function postDelete({ db, files, now }: Site, { team, session, param }: Member): Promise<Answer> {
  const snap = await findSnap(db, team.id, param("snap"));
  if (snap !== undefined) {
    await deleteSnaps(db, files, team.id, [snap.id]);
    await db.write((tx) => audit(tx, now(), session.user.email, "snap.deleted", team.id, snap.id));
  }
  return redirect(sayAt(session, `/teams/${team.id}/snaps`, { text: "Deleted the snap and its pictures." }));
}
