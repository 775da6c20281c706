/** Sections of a device's page: assigned application with the device's report, and last snaps. */
import type { Child } from "hono/jsx";
import { csrfOf } from "../auth/cookie.ts";
import { agentVersionOf, listApps, type App } from "../nouns/application.ts";
import { findAssignment } from "../nouns/assignment.ts";
import { listGroups } from "../nouns/group.ts";
import { reportsOf, type Report } from "../nouns/report.ts";
import { findSnaps } from "../nouns/snap-query.ts";
import type { DeviceState } from "../nouns/status.ts";
import type { Member } from "./guards.tsx";
import { Csrf } from "./layout.tsx";
import { PictureScript } from "./snap-picture.tsx";
import type { Site } from "./site.ts";
import { SnapItem } from "./snaps.tsx";
import { Time } from "./time.tsx";

/** Device of the page, with the data that the sections use. */
interface Shown {
  readonly id: string;
  readonly name: string;
  readonly state: Pick<DeviceState, "snap_requested_at" | "revoked_at"> | undefined;
}

export async function applicationSection(site: Site, visit: Member, device: Shown): Promise<Child> {
  const { db, desired } = site;
  const { team, session } = visit;
  const wanted = (await desired.latest(team.id, [device.id])).get(device.id);
  const [reported] = await reportsOf(db, team.id, device.id);
  const all = await listApps(db, team.id);
  const apps = all.filter(({ purpose }) => purpose === "network");
  const byId = new Map(apps.map((app) => [app.id, app]));
  const own = await findAssignment(db, team.id, { kind: "device", id: device.id });
  const group =
    wanted?.by.kind === "group"
      ? (await listGroups(db, team.id)).find(({ id }) => id === wanted.by.target_id)?.name
      : undefined;
  const link = (appId: string, version: number): Child => {
    const app = byId.get(appId);
    if (app === undefined) return <>version {version} of an application that was removed</>;
    return (
      <>
        <a href={`/teams/${team.id}/apps/${appId}/versions/${version}`}>
          {app.name}, version {version}
        </a>
      </>
    );
  };
  const isSame = reported !== undefined && reported.app_id === wanted?.appId && reported.version === wanted.number;
  return (
    <>
      <h2>Application</h2>
      <dl class="facts">
        <div>
          <dt>Should run</dt>
          <dd>
            {wanted === undefined ? "nothing is given" : link(wanted.appId, wanted.number)}
            {group !== undefined && ` (from the group ${group})`}
            {wanted?.by.kind === "tag" && ` (from the tag ${wanted.by.target_id})`}
          </dd>
        </div>
        <div>
          <dt>Says</dt>
          <dd>
            {reported === undefined ? (
              "nothing yet"
            ) : (
              <ReportText report={reported}>{link(reported.app_id, reported.version)}</ReportText>
            )}
          </dd>
        </div>
        {wanted !== undefined && !isSame && (
          <div>
            <dt>Difference</dt>
            <dd>The device has not answered yet to what it should run.</dd>
          </div>
        )}
      </dl>
      <GiveApplication apps={apps} device={device} csrf={csrfOf(session)} base={`/teams/${team.id}/apps`} own={own} />
    </>
  );
}

function ReportText({ report, children }: { report: Report; children?: Child }) {
  const { state, code, message, at } = report;
  return (
    <>
      {state === "applied" ? "runs " : <strong class="bad">cannot use </strong>}
      {children} <Time at={at} />
      {state === "failed" && <span class="block bad">{message === "" ? code : message}</span>}
    </>
  );
}

function GiveApplication(props: {
  apps: readonly App[];
  device: Shown;
  csrf: string;
  base: string;
  own: { readonly app_id: string; readonly revision: number } | undefined;
  what?: "Application" | "Agent";
}) {
  const { apps, device, csrf, base, own, what = "Application" } = props;
  const id = `give-${what.toLowerCase()}`;
  const ready = apps.filter(({ newest }) => newest > 0);
  const fields = (
    <>
      <Csrf value={csrf} />
      <input type="hidden" name="target" value={`device:${device.id}`} />
      <input type="hidden" name="revision" value={String(own?.revision ?? 0)} />
      <input type="hidden" name="back" value="device" />
    </>
  );
  if (ready.length === 0)
    return (
      <p class="soft">
        The team has no application with a version yet. <a href={base}>Applications</a>
      </p>
    );
  return (
    <>
      <form method="post" action={`${base}/give`} class="line">
        {fields}
        <div>
          <label for={id}>{what} for this device alone</label>
          <select id={id} name="app">
            {ready.map(({ id, name, newest }) => (
              <option value={id} selected={id === own?.app_id}>
                {name}, version {newest}
              </option>
            ))}
          </select>
        </div>
        <button type="submit">Give its newest version</button>
      </form>
      {own !== undefined && (
        <form method="post" action={`${base}/${own.app_id}/unassign`} class="actions">
          {fields}
          <button type="submit">Take its own {what.toLowerCase()} away</button>
        </form>
      )}
    </>
  );
}

/**
 * Section with the assigned release of the agent, and the device's report about it. Empty if the team has no releases
 * of the agent.
 */
export async function agentSection(site: Site, { team, session }: Member, device: Shown): Promise<Child> {
  const { db, desired } = site;
  const apps = (await listApps(db, team.id)).filter(({ purpose }) => purpose === "agent");
  if (apps.length === 0) return <></>;
  const wanted = await desired.agent(team.id, device.id);
  const [reported] = await reportsOf(db, team.id, device.id, 1, "agent");
  const own = await findAssignment(db, team.id, { kind: "device", id: device.id }, "agent");
  const link = async (appId: string, number: number): Promise<Child> => {
    const version = await agentVersionOf(db, team.id, appId, number);
    if (version === undefined) return <>a release that was removed</>;
    return <a href={`/teams/${team.id}/apps/${appId}/versions/${number}`}>agent {version}</a>;
  };
  return (
    <>
      <h2>Agent</h2>
      <dl class="facts">
        <div>
          <dt>Should run</dt>
          <dd>{wanted === undefined ? "what it runs" : await link(wanted.appId, wanted.number)}</dd>
        </div>
        <div>
          <dt>Says</dt>
          <dd>
            {reported === undefined ? (
              "nothing yet"
            ) : (
              <ReportText report={reported}>{await link(reported.app_id, reported.version)}</ReportText>
            )}
          </dd>
        </div>
      </dl>
      <GiveApplication {...{ apps, device, csrf: csrfOf(session), base: `/teams/${team.id}/apps`, own }} what="Agent" />
    </>
  );
}

/** Number of pictures that the page shows. */
const SHOWN = 4;

export async function snapSection({ db, now }: Site, { team, session }: Member, device: Shown): Promise<Child> {
  const snaps = await findSnaps(db, team.id, { deviceIds: [device.id] }, { limit: SHOWN });
  const base = `/teams/${team.id}/snaps`;
  const askedAt = device.state?.snap_requested_at ?? null;
  return (
    <>
      <h2>Snaps</h2>
      {snaps.length === 0 && <p class="soft">None yet.</p>}
      {snaps.length > 0 && (
        <ul class="snaps" aria-label="Newest snaps">
          {snaps.map((snap) => (
            <SnapItem snap={snap} teamId={team.id} device={device.name} />
          ))}
        </ul>
      )}
      <div class="actions">
        {device.state?.revoked_at === null && (
          <form method="post" action={`${base}/ask`}>
            <Csrf value={csrfOf(session)} />
            <input type="hidden" name="device" value={device.id} />
            <button type="submit">Ask for a snap</button>
          </form>
        )}
        {snaps.length > 0 && <a href={`${base}?device=${encodeURIComponent(device.id)}`}>All snaps of this device</a>}
        {askedAt !== null && now() - askedAt < 600_000 && (
          <span role="status">Asked. It comes after the next contact.</span>
        )}
      </div>
      {snaps.length > 0 && <PictureScript />}
    </>
  );
}
