/** Sections of a device's page: assigned application with the device's report, and last snaps. */
import type { Child } from "hono/jsx";
import { agentVersionOf, listApps, type App } from "../nouns/application.ts";
import { findAssignment } from "../nouns/assignment.ts";
import { listGroups } from "../nouns/group.ts";
import { reportsOf, type Report } from "../nouns/report.ts";
import { findSnaps } from "../nouns/snap-query.ts";
import type { DeviceState } from "../nouns/status.ts";
import { ButtonForm, PostForm, Select, Submit, type Choice } from "./forms.tsx";
import type { Member } from "./guards.tsx";
import { Facts } from "./layout.tsx";
import { PictureScript } from "./snap-picture.tsx";
import type { Site } from "./site.ts";
import { Snaps, whenSnapComes } from "./snaps.tsx";
import { Time } from "./time.tsx";

/** Device of the page, with the data that the sections use. */
interface Shown {
  readonly id: string;
  readonly name: string;
  readonly state: Pick<DeviceState, "snap_requested_at" | "revoked_at" | "paused_at" | "application_state"> | undefined;
}

export async function applicationSection(site: Site, visit: Member, device: Shown): Promise<Child> {
  const { db, desired } = site;
  const { team } = visit;
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
    const address = `/teams/${team.id}/apps/${appId}/versions/${version}`;
    return <a href={address}>{`${app.name}, version ${version}`}</a>;
  };
  const isSame = reported !== undefined && reported.app_id === wanted?.appId && reported.version === wanted.number;
  return (
    <>
      <h2>Application</h2>
      <Facts
        rows={[
          [
            "Should run",
            <>
              {wanted === undefined ? "nothing is given" : link(wanted.appId, wanted.number)}
              {group !== undefined && ` (from the group ${group})`}
              {wanted?.by.kind === "tag" && ` (from the tag ${wanted.by.target_id})`}
            </>,
          ],
          ["Says", reportText(reported, reported && link(reported.app_id, reported.version))],
          ["Difference", wanted !== undefined && !isSame && "The device has not answered yet to what it should run."],
        ]}
      />
      <GiveApplication {...{ apps, device, base: `/teams/${team.id}/apps`, own }} />
    </>
  );
}

/** Returns the text about a device's report. `what` is the version that the report is about. */
function reportText(report: Report | undefined, what: Child): Child {
  if (report === undefined) return "nothing yet";
  const { state, code, message, at } = report;
  return (
    <>
      {state === "applied" ? "runs " : <strong class="bad">cannot use </strong>}
      {what} <Time at={at} />
      {state === "failed" && <span class="block bad">{message === "" ? code : message}</span>}
    </>
  );
}

function GiveApplication(props: {
  apps: readonly App[];
  device: Shown;
  base: string;
  own: { readonly app_id: string; readonly revision: number } | undefined;
  what?: "Application" | "Agent";
}) {
  const { apps, device, base, own, what = "Application" } = props;
  const id = `give-${what.toLowerCase()}`;
  const ready = apps.filter(({ newest }) => newest > 0);
  const fields = { target: `device:${device.id}`, revision: own?.revision ?? 0, back: "device" };
  if (ready.length === 0)
    return (
      <p class="soft">
        The team has no application with a version yet. <a href={base}>Applications</a>
      </p>
    );
  const choices = ready.map((app): Choice => [app.id, `${app.name}, version ${app.newest}`]);
  const label = `${what} for this device alone`;
  return (
    <>
      <PostForm {...{ action: `${base}/give`, class: "line", fields }}>
        <Select {...{ id, name: "app", label, choices, value: own?.app_id }} />
        <Submit>Give its newest version</Submit>
      </PostForm>
      {own !== undefined && (
        <ButtonForm
          {...{ action: `${base}/${own.app_id}/unassign`, class: "actions", fields }}
          label={`Take its own ${what.toLowerCase()} away`}
        />
      )}
    </>
  );
}

/**
 * Section with the assigned release of the agent, and the device's report about it. Empty if the team has no releases
 * of the agent.
 */
export async function agentSection(site: Site, { team }: Member, device: Shown): Promise<Child> {
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
      <Facts
        rows={[
          ["Should run", wanted === undefined ? "what it runs" : await link(wanted.appId, wanted.number)],
          ["Says", reportText(reported, reported && (await link(reported.app_id, reported.version)))],
        ]}
      />
      <GiveApplication {...{ apps, device, base: `/teams/${team.id}/apps`, own }} what="Agent" />
    </>
  );
}

/** Number of pictures that the page shows. */
const SHOWN = 4;

export async function snapSection({ db, now }: Site, { team }: Member, device: Shown): Promise<Child> {
  const snaps = await findSnaps(db, team.id, { deviceIds: [device.id] }, { limit: SHOWN });
  const base = `/teams/${team.id}/snaps`;
  const askedAt = device.state?.snap_requested_at ?? null;
  return (
    <>
      <h2>Snaps</h2>
      {snaps.length === 0 && <p class="soft">None yet.</p>}
      <Snaps {...{ snaps, label: "Newest snaps", teamId: team.id, nameOf: () => device.name }} />
      <div class="actions">
        {device.state?.revoked_at === null && (
          <ButtonForm action={`${base}/ask`} label="Ask for a snap" fields={{ device: device.id }} />
        )}
        {snaps.length > 0 && <a href={`${base}?device=${encodeURIComponent(device.id)}`}>All snaps of this device</a>}
        {device.state !== undefined && askedAt !== null && now() - askedAt < 600_000 && (
          <span role="status">Asked. It {whenSnapComes(device.state)}</span>
        )}
      </div>
      {snaps.length > 0 && <PictureScript />}
    </>
  );
}
