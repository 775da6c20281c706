/** Devices of a team: the list in pages, adding, renaming, removing. */
import { csrfOf } from "../auth/session.ts";
import type { UserError } from "../core/errors.ts";
import type { Router } from "../http/router.ts";
import { addDevices, listDevices, removeDevice, renameDevice, type Device } from "../nouns/device.ts";
import type { Membership } from "../nouns/team.ts";
import { redirect, show, type Answer } from "./answer.tsx";
import { attempt } from "./attempt.ts";
import { frameOf, type Guards, type Member } from "./guards.tsx";
import { Csrf, Message } from "./layout.tsx";
import type { Site } from "./site.ts";

const DEVICES_A_PAGE = 100;

export function registerDevices(router: Router, site: Site, guards: Guards): void {
  const { db, now, config } = site;
  const done = ({ team }: Member): Answer => redirect(`/teams/${team.id}/devices`);
  const failed = (visit: Member) => (problem: UserError) => devicesPage(site, visit, problem);

  router.get(
    "/teams/:team/devices",
    guards.member((visit) => devicesPage(site, visit)),
  );
  router.post(
    "/teams/:team/devices",
    guards.member((visit) =>
      attempt(async () => {
        await addDevices(db, now(), visit.team.id, config.maxDevices, [{ name: visit.form("name") }]);
        return done(visit);
      }, failed(visit)),
    ),
  );
  router.post(
    "/teams/:team/devices/:device/rename",
    guards.member((visit) =>
      attempt(async () => {
        await renameDevice(db, visit.team.id, visit.param("device"), visit.form("name"));
        return done(visit);
      }, failed(visit)),
    ),
  );
  router.post(
    "/teams/:team/devices/:device/remove",
    guards.member((visit) =>
      attempt(async () => {
        await removeDevice(db, visit.team.id, visit.param("device"));
        return done(visit);
      }, failed(visit)),
    ),
  );
}

async function devicesPage({ db }: Site, visit: Member, problem?: UserError): Promise<Answer> {
  const { team, exchange, session, form } = visit;
  const after = new URLSearchParams(exchange.search).get("after") ?? "";
  const rows = await listDevices(db, team.id, after, DEVICES_A_PAGE + 1);
  const devices = rows.slice(0, DEVICES_A_PAGE);
  const next = rows.length > DEVICES_A_PAGE ? devices.at(-1)?.id : undefined;
  // Keep what was typed for a new device; the form of an existing one shows its name.
  const name = visit.param("device") === "" ? form("name").slice(0, 200) : "";
  return show(
    frameOf(visit, "Devices", "devices"),
    <Devices team={team} devices={devices} next={next} csrf={csrfOf(session)} problem={problem?.message} name={name} />,
    problem?.status ?? 200,
  );
}

function Devices(props: {
  team: Membership;
  devices: readonly Device[];
  next: string | undefined;
  csrf: string;
  problem?: string | undefined;
  name?: string;
}) {
  const base = `/teams/${props.team.id}/devices`;
  return (
    <>
      {props.problem !== undefined && <Message kind="error">{props.problem}</Message>}
      <form method="post" action={base} class="panel">
        <Csrf value={props.csrf} />
        <div class="row">
          <div>
            <label for="name">Name of the new device</label>
            <input id="name" name="name" required maxlength={100} autocomplete="off" value={props.name ?? ""} />
          </div>
          <button class="main" type="submit">
            Add device
          </button>
        </div>
      </form>
      {props.devices.length === 0 ? (
        <p>No devices {props.next === undefined ? "yet" : "here"}.</p>
      ) : (
        <ul class="list" aria-label="Devices">
          {props.devices.map((device) => (
            <DeviceItem device={device} base={base} csrf={props.csrf} />
          ))}
        </ul>
      )}
      {props.next !== undefined && (
        <p>
          <a href={`${base}?after=${encodeURIComponent(props.next)}`}>More devices</a>
        </p>
      )}
    </>
  );
}

function DeviceItem({ device, base, csrf }: { device: Device; base: string; csrf: string }) {
  return (
    <li>
      <div class="what">
        <strong>{device.name}</strong>
        <br />
        <code class="soft">{device.id}</code>
      </div>
      <form method="post" action={`${base}/${device.id}/rename`}>
        <Csrf value={csrf} />
        <input
          name="name"
          aria-label={`New name for ${device.name}`}
          required
          maxlength={100}
          autocomplete="off"
          value={device.name}
        />
        <button type="submit" aria-label={`Rename ${device.name}`}>
          Rename
        </button>
      </form>
      <form method="post" action={`${base}/${device.id}/remove`}>
        <Csrf value={csrf} />
        <button class="danger" type="submit" aria-label={`Remove ${device.name}`}>
          Remove
        </button>
      </form>
    </li>
  );
}
