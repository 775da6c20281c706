/**
 * Devices of a team: search, pages, adding, renaming, removing. The address holds the state of the page: the search,
 * the page of the list, and the row whose form is open. Back, reload and a link to a colleague show the same.
 */
import { csrfOf } from "../auth/cookie.ts";
import type { UserError } from "../core/errors.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Router } from "../http/router.ts";
import {
  addDevices,
  countDevices,
  findDevices,
  removeDevice,
  renameDevice,
  type Device,
  type DevicePage,
} from "../nouns/device.ts";
import { redirect, show, type Answer } from "./answer.tsx";
import { attempt } from "./attempt.ts";
import { frameOf, type Guards, type Member } from "./guards.tsx";
import { Csrf, Message } from "./layout.tsx";
import { readSaid, SaidMessage, sayAt, type Said } from "./said.tsx";
import type { Site } from "./site.ts";

const DEVICES_A_PAGE = 100;
const MAX_SEARCH = 100;

/** The part of the address behind `?`. */
interface View {
  readonly search: string;
  readonly page: number;
  /** Id of the device whose form for a new name is open. */
  readonly rename?: string | undefined;
  /** Id of the device that the page asks about before it removes it. */
  readonly remove?: string | undefined;
}

export function registerDevices(router: Router, site: Site, guards: Guards): void {
  const { db, now, config } = site;
  const base = "/teams/:team/devices";
  const page = guards.member((visit) => devicesPage(site, visit, viewOf(visit.exchange)));
  const change = (work: (visit: Member) => Promise<Answer>, open?: "rename" | "remove") =>
    guards.member((visit) => {
      const view = viewOf(visit.exchange);
      const failed = (problem: UserError): Promise<Answer> =>
        devicesPage(site, visit, open === undefined ? view : { ...view, [open]: visit.param("device") }, problem);
      return attempt(() => work(visit), failed);
    });
  /** For Enter in the address bar after a form failed: the page that the form belongs to. */
  const formPage = (open?: "rename" | "remove") =>
    guards.member((visit) => {
      const view = viewOf(visit.exchange);
      return redirect(addressOf(visit, open === undefined ? view : { ...view, [open]: visit.param("device") }));
    });

  router.get(base, page);
  router.post(
    base,
    change(async (visit) => {
      const name = visit.form("name");
      const [device] = await addDevices(db, now(), visit.team.id, config.maxDevices, [{ name }], {
        actor: visit.session.user.email,
      });
      return tellAt(site, visit, device!, { text: `Added ${device!.name}.` });
    }),
  );
  router.get(`${base}/:device/rename`, formPage("rename"));
  router.post(
    `${base}/:device/rename`,
    change(async (visit) => {
      const id = visit.param("device");
      const name = await renameDevice(db, now(), visit.session.user.email, visit.team.id, id, visit.form("name"));
      const address = `${addressOf(visit, viewOf(visit.exchange))}#device-${id}`;
      return redirect(sayAt(visit.session, address, { text: `Renamed to ${name}.` }));
    }, "rename"),
  );
  router.get(`${base}/:device/remove`, formPage("remove"));
  router.post(
    `${base}/:device/remove`,
    change(async (visit) => {
      const { id, name } = await removeDevice(
        db,
        now(),
        visit.session.user.email,
        visit.team.id,
        visit.param("device"),
      );
      const undo = { action: `/teams/${visit.team.id}/devices/restore`, fields: { id, name } };
      const said = { text: `Removed ${name}.`, undo };
      return redirect(sayAt(visit.session, addressOf(visit, viewOf(visit.exchange)), said));
    }),
  );
  router.get(`${base}/restore`, formPage());
  router.post(
    `${base}/restore`,
    change(async (visit) => {
      const device = { id: visit.form("id"), name: visit.form("name") };
      await addDevices(db, now(), visit.team.id, config.maxDevices, [device], {
        actor: visit.session.user.email,
        restored: true,
      });
      return tellAt(site, visit, device, { text: `${device.name} is back.` });
    }),
  );
}

/** Sends to the page that a device is on, and tells what happened to it. */
async function tellAt({ db }: Site, visit: Member, { id }: Device, said: Said): Promise<Answer> {
  const page = Math.ceil((await countDevices(db, visit.team.id, id)) / DEVICES_A_PAGE);
  return redirect(sayAt(visit.session, `${addressOf(visit, { search: "", page })}#device-${id}`, said));
}

function viewOf({ search: text }: Exchange): View {
  const query = new URLSearchParams(text);
  const page = Number(query.get("page") ?? 1);
  return {
    search: (query.get("q") ?? "").trim().slice(0, MAX_SEARCH),
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
    rename: query.get("rename") ?? undefined,
    remove: query.get("remove") ?? undefined,
  };
}

/** Returns the query of a view, without what is the default. */
function queryOf({ search, page, rename, remove }: View): string {
  const query = new URLSearchParams();
  if (search !== "") query.set("q", search);
  if (page > 1) query.set("page", String(page));
  if (rename !== undefined) query.set("rename", rename);
  if (remove !== undefined) query.set("remove", remove);
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

function addressOf({ team }: Member, view: View): string {
  const { rename, remove } = view;
  const open = rename ?? remove;
  return `/teams/${team.id}/devices${queryOf(view)}${open === undefined ? "" : `#device-${encodeURIComponent(open)}`}`;
}

async function devicesPage({ db }: Site, visit: Member, asked: View, problem?: UserError): Promise<Answer> {
  const { team, exchange, session, form, param } = visit;
  const found = await findDevices(db, team.id, { search: asked.search, page: asked.page, size: DEVICES_A_PAGE });
  const props: DevicesProps = {
    base: `/teams/${team.id}/devices`,
    found,
    view: { ...asked, page: found.page },
    csrf: csrfOf(session),
    problem: problem?.shown,
    // Keep what was typed, in the form that it was typed into.
    typed: form("name").slice(0, 200),
    failed: problem === undefined ? undefined : param("device"),
    said: readSaid(session, exchange),
  };
  return show(frameOf(visit, "Devices", "devices"), <Devices {...props} />, problem?.status ?? 200);
}

interface DevicesProps {
  readonly base: string;
  readonly found: DevicePage;
  readonly view: View;
  readonly csrf: string;
  readonly problem: string | undefined;
  readonly typed: string;
  /** Id of the device whose form failed; empty for the form of a new one. */
  readonly failed: string | undefined;
  readonly said: Said | undefined;
}

function Devices(props: DevicesProps) {
  const { base, found, view, csrf } = props;
  return (
    <>
      {props.problem !== undefined && <Message kind="error">{props.problem}</Message>}
      <SaidMessage said={props.said} csrf={csrf} />
      <div class="tools">
        {(found.total > 0 || view.search !== "") && <Search base={base} search={view.search} />}
        <form method="post" action={base} class="line">
          <Csrf value={csrf} />
          <div>
            <label for="name">Name of the new device</label>
            <input
              id="name"
              name="name"
              required
              maxlength={100}
              autocomplete="off"
              value={props.failed === "" ? props.typed : ""}
            />
          </div>
          <button class="main" type="submit">
            Add device
          </button>
        </form>
      </div>
      <Count found={found} search={view.search} base={base} />
      {found.devices.length > 0 && (
        <ul class="list devices" aria-label="Devices">
          {found.devices.map((device) => (
            <DeviceItem device={device} {...props} />
          ))}
        </ul>
      )}
      <Pages found={found} base={base} view={view} />
    </>
  );
}

function Search({ base, search }: { base: string; search: string }) {
  return (
    <form method="get" action={base} role="search" class="line">
      <div>
        <label for="q">Search by name or id</label>
        <input id="q" name="q" type="search" maxlength={MAX_SEARCH} autocomplete="off" value={search} />
      </div>
      <button type="submit">Search</button>
    </form>
  );
}

const amount = (count: number): string => `${count.toLocaleString("en")} ${count === 1 ? "device" : "devices"}`;

function Count({ found, search, base }: { found: DevicePage; search: string; base: string }) {
  if (search !== "")
    return (
      <p class="count">
        {found.matches.toLocaleString("en")} of {amount(found.total)} match <strong>{search}</strong>.{" "}
        <a href={base}>Show all</a>
      </p>
    );
  if (found.total === 0) return <p class="count">No devices yet. Add the first one above.</p>;
  if (found.pages === 1) return <p class="count">{amount(found.total)}</p>;
  const first = (found.page - 1) * DEVICES_A_PAGE + 1;
  return (
    <p class="count">
      {amount(found.total)}, {first.toLocaleString("en")} to {(first + found.devices.length - 1).toLocaleString("en")}{" "}
      on this page
    </p>
  );
}

function Pages({ found: { page, pages }, base, view }: { found: DevicePage; base: string; view: View }) {
  if (pages === 1) return <></>;
  const link = (to: number, text: string) => (
    <a href={base + queryOf({ search: view.search, page: to })} rel={to < page ? "prev" : "next"}>
      {text}
    </a>
  );
  return (
    <nav class="pages" aria-label="Pages of the list">
      {page > 1 && link(page - 1, "Previous page")}
      <span>
        Page {page} of {pages}
      </span>
      {page < pages && link(page + 1, "Next page")}
    </nav>
  );
}

function DeviceItem({ device, ...props }: DevicesProps & { readonly device: Device }) {
  const { base, view, csrf } = props;
  const { id, name } = device;
  const closed: View = { search: view.search, page: view.page };
  const anchor = `device-${id}`;
  const back = `${base}${queryOf(closed)}#${anchor}`;
  if (view.rename === id)
    return (
      <li id={anchor} class="open">
        <form method="post" action={`${base}/${id}/rename${queryOf(closed)}`} class="line">
          <Csrf value={csrf} />
          <div>
            <label for="new-name">New name of {name}</label>
            <input
              id="new-name"
              name="name"
              required
              maxlength={100}
              autocomplete="off"
              autofocus
              value={props.failed === id ? props.typed : name}
            />
          </div>
          <button class="main" type="submit">
            Save
          </button>
          <a class="button" href={back}>
            Cancel
          </a>
        </form>
      </li>
    );
  if (view.remove === id)
    return (
      <li id={anchor} class="open">
        <form method="post" action={`${base}/${id}/remove${queryOf(closed)}`} class="question">
          <Csrf value={csrf} />
          <p>
            Remove <strong>{name}</strong>? Programs that ask the hub do not get it any more.
          </p>
          <button class="danger" type="submit">
            Remove it
          </button>
          <a class="button" href={back}>
            Keep it
          </a>
        </form>
      </li>
    );
  return (
    <li id={anchor}>
      <div class="what">
        <strong>{name}</strong>
        <code class="soft">{id}</code>
      </div>
      <div class="do">
        <a class="button" href={`${base}${queryOf({ ...closed, rename: id })}#${anchor}`} aria-label={`Rename ${name}`}>
          Rename
        </a>
        <a class="button" href={`${base}${queryOf({ ...closed, remove: id })}#${anchor}`} aria-label={`Remove ${name}`}>
          Remove
        </a>
      </div>
    </li>
  );
}
