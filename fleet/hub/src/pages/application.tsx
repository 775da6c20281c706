/** One application: who is given it, roll-outs, and its versions. A version: what it holds, and giving it. */
import { csrfOf } from "../auth/cookie.ts";
import type { UserError } from "../core/errors.ts";
import type { Router } from "../http/router.ts";
import {
  deleteApp,
  findVersion,
  listVersions,
  needApp,
  needVersion,
  updateApp,
  type App,
  type AppVersion,
} from "../nouns/application.ts";
import { assign, endRollout, listAssignments, unassign, type Assignment, type Target } from "../nouns/assignment.ts";
import { listDevices } from "../nouns/device.ts";
import { listGroups } from "../nouns/group.ts";
import { countReports, failuresOf, type Report, type ReportCount } from "../nouns/report.ts";
import { rolloutProgress, type RolloutProgress } from "../nouns/desired.ts";
import { findTarget } from "../nouns/target.ts";
import { redirect, show, type Answer } from "./answer.tsx";
import { Difference, pretty, sizeText, versionText } from "./application-edit.tsx";
import { attempt } from "./attempt.ts";
import { frameOf, type Guards, type Member } from "./guards.tsx";
import { Breakable, Csrf, Message } from "./layout.tsx";
import { NameForm } from "./name-form.tsx";
import { readSaid, SaidMessage, sayAt, type Said } from "./said.tsx";
import type { Site } from "./site.ts";
import { Time } from "./time.tsx";

export function registerApplication(router: Router, site: Site, guards: Guards): void {
  const base = "/teams/:team/apps/:app";
  /** A change of assignments. It goes back to the page that its form is on. */
  const change = (work: (visit: Member, app: App) => Promise<Said>) =>
    guards.member((visit) =>
      attempt(
        async () => {
          const app = await needApp(site.db, visit.team.id, visit.param("app"));
          const said = await work(visit, app);
          site.desired.wake(visit.team.id);
          return redirect(sayAt(visit.session, backOf(visit) ?? `/teams/${visit.team.id}/apps/${app.id}`, said));
        },
        (problem) => {
          // Let the router answer: the form is on the page of a device, and this page is another one.
          if (backOf(visit) !== undefined) throw problem;
          return appPage(site, visit, problem);
        },
      ),
    );
  /** For Enter in the address bar after a form failed. */
  const formPage = guards.member((visit) => redirect(`/teams/${visit.team.id}/apps/${visit.param("app")}`));

  router.get(
    base,
    guards.member((visit) => appPage(site, visit)),
  );
  router.get(
    `${base}/versions/:number`,
    guards.member((visit) => versionPage(site, visit)),
  );
  const form = (path: string, work: (site: Site, visit: Member, app: App) => Promise<Said>): void => {
    router.get(path, formPage);
    router.post(
      path,
      change((visit, app) => work(site, visit, app)),
    );
  };
  form(`${base}/assign`, postAssign);
  form(`${base}/unassign`, postUnassign);
  form(`${base}/end`, postEnd);
  form(`${base}/name`, postName);
  // This form is on the page of a device. It gives the newest version of the application that it names.
  router.get(
    "/teams/:team/apps/give",
    guards.member((visit) => redirect(`/teams/${visit.team.id}/apps`)),
  );
  router.post(
    "/teams/:team/apps/give",
    guards.member(async (visit) => {
      const app = await needApp(site.db, visit.team.id, visit.form("app"));
      const said = await give(site, visit, app, app.newest);
      site.desired.wake(visit.team.id);
      return redirect(sayAt(visit.session, backOf(visit) ?? `/teams/${visit.team.id}/apps/${app.id}`, said));
    }),
  );
  router.get(`${base}/remove`, formPage);
  router.post(
    `${base}/remove`,
    guards.member((visit) =>
      attempt(
        async () => {
          const { team, session } = visit;
          const { name } = await deleteApp(site.db, site.now(), session.user.email, team.id, visit.param("app"));
          return redirect(sayAt(session, `/teams/${team.id}/apps`, { text: `Removed ${name}.` }));
        },
        (problem) => appPage(site, visit, problem),
      ),
    ),
  );
}

const changeOf = ({ now }: Site, { team, session }: Member) => ({
  now: now(),
  actor: session.user.email,
  teamId: team.id,
});

/** Returns the revision that a form was made for. */
const revisionOf = ({ form }: Member): number | undefined =>
  /^\d{1,15}$/.test(form("revision")) ? Number(form("revision")) : undefined;

/** Returns what a form names: `group:ID`, `device:ID`, or a device by its name or id. */
function targetOf(site: Site, { form, team }: Member): Promise<Target> {
  const [, kind, id] = /^(group|device):(.*)$/s.exec(form("target")) ?? [];
  if (kind !== undefined) return Promise.resolve({ kind: kind as Target["kind"], id: id! });
  return findTarget(site.db, team.id, form("device"));
}

/** Returns the address of the device's page if the form is there, else undefined. */
function backOf({ form, team }: Member): string | undefined {
  const [, id] = /^device:([0-9A-Za-z._:-]{1,64})$/.exec(form("target")) ?? [];
  return form("back") === "device" && id !== undefined ? `/teams/${team.id}/devices/${id}` : undefined;
}

const postAssign = (site: Site, visit: Member, app: App): Promise<Said> =>
  give(site, visit, app, Number(visit.form("version")));

async function give(site: Site, visit: Member, app: App, version: number): Promise<Said> {
  const target = await targetOf(site, visit);
  const share = target.kind === "device" ? 100 : Number(visit.form("share") || 100);
  const failureLimit = visit.form("limit") === "" ? undefined : Number(visit.form("limit"));
  const given = { target, appId: app.id, version, share, failureLimit, expected: revisionOf(visit) };
  await assign(site.db, changeOf(site, visit), given);
  const names = await namesOf(site, visit.team.id, [{ kind: target.kind, target_id: target.id }]);
  const whom = names.get(`${target.kind}:${target.id}`) ?? target.id;
  return { text: `Version ${version} goes to ${share < 100 ? `${share} % of ` : ""}${whom}.` };
}

async function postUnassign(site: Site, visit: Member): Promise<Said> {
  await unassign(site.db, changeOf(site, visit), await targetOf(site, visit), revisionOf(visit));
  return { text: "Taken away. Devices keep running what they have until they are given something else." };
}

async function postEnd(site: Site, visit: Member): Promise<Said> {
  await endRollout(site.db, changeOf(site, visit), await targetOf(site, visit), revisionOf(visit));
  return { text: "The roll-out has ended. All devices get the version that the others have." };
}

async function postName({ db, now }: Site, { session, team, form }: Member, app: App): Promise<Said> {
  const { name } = await updateApp(db, now(), session.user.email, team.id, app.id, { name: form("name") });
  return { text: `Renamed to ${name}.` };
}

/** Returns the names of targets, by `kind:id`. */
async function namesOf(
  { db }: Site,
  teamId: string,
  targets: readonly Pick<Assignment, "kind" | "target_id">[],
): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for (const { id, name } of await listGroups(db, teamId)) names.set(`group:${id}`, name);
  if (targets.some(({ kind }) => kind === "device"))
    for (const { id, name } of await listDevices(db, teamId)) names.set(`device:${id}`, name);
  return names;
}

async function appPage(site: Site, visit: Member, problem?: UserError): Promise<Answer> {
  const { db } = site;
  const { team, session, exchange } = visit;
  const app = await needApp(db, team.id, visit.param("app"));
  const assignments = await listAssignments(db, team.id, app.id);
  const props: AppProps = {
    base: `/teams/${team.id}/apps/${app.id}`,
    csrf: csrfOf(session),
    app,
    assignments,
    names: await namesOf(site, team.id, assignments),
    counts: await countReports(db, team.id, app.id),
    progress: await progressOf(site, team.id, assignments),
    now: site.now(),
  };
  const versions = await listVersions(db, team.id, app.id, { limit: 100 });
  const failures = await failuresOf(db, team.id, app.id, 10);
  const devices = `/teams/${team.id}/devices`;
  return show(
    frameOf(visit, app.name, "apps"),
    <>
      {problem !== undefined && <Message kind="error">{problem.shown}</Message>}
      <SaidMessage said={readSaid(session, exchange)} csrf={props.csrf} />
      <p class="soft">
        Identifier <code>{app.identifier}</code>
      </p>
      <p class="actions">
        <a class="button" href={`${props.base}/edit`}>
          {app.newest === 0 ? "Write the first version" : "New version"}
        </a>
      </p>
      <h2>Given to</h2>
      {assignments.length === 0 && <p class="soft">Nobody. Open a version to give it to a group or a device.</p>}
      <ul class="list" aria-label="Given to">
        {assignments.map((assignment) => (
          <AssignmentItem assignment={assignment} {...props} />
        ))}
      </ul>
      {failures.length > 0 && <Failures failures={failures} devices={devices} />}
      <h2>Versions</h2>
      <Versions versions={versions} {...props} />
      <AppSettings {...props} />
    </>,
    problem?.status ?? 200,
  );
}

/** Returns the progress of each roll-out among the assignments. */
async function progressOf(
  { db, now }: Site,
  teamId: string,
  assignments: readonly Assignment[],
): Promise<Map<Assignment, RolloutProgress>> {
  const progress = new Map<Assignment, RolloutProgress>();
  for (const assignment of assignments)
    if (assignment.rollout_id !== null) progress.set(assignment, await rolloutProgress(db, now(), teamId, assignment));
  return progress;
}

interface AppProps {
  readonly base: string;
  readonly csrf: string;
  readonly app: App;
  readonly assignments: readonly Assignment[];
  /** Names of groups and devices, by `kind:id`. */
  readonly names: ReadonlyMap<string, string>;
  readonly counts: readonly ReportCount[];
  /** Progress of each assignment with a roll-out. */
  readonly progress: ReadonlyMap<Assignment, RolloutProgress>;
  readonly now: number;
}

/** Shares that a roll-out is widened to. */
const NEXT_SHARES = [10, 25, 50, 100];

function AssignmentItem({ assignment: a, ...props }: AppProps & { readonly assignment: Assignment }) {
  const target = `${a.kind}:${a.target_id}`;
  const name = props.names.get(target) ?? a.target_id;
  const next = NEXT_SHARES.find((share) => share > (a.share ?? 100));
  return (
    <li>
      <div class="what">
        <strong>{a.kind === "group" ? `Group ${name}` : name}</strong>
        <span class="soft">
          {a.version === null ? "no version for all yet" : `version ${a.version}`}
          {a.next_version !== null && `, roll-out of version ${a.next_version} to ${a.share}\u00a0%`}
        </span>
        <RolloutText assignment={a} progress={props.progress.get(a)} />
      </div>
      <div class="do">
        {next !== undefined && (
          <PostButton
            {...props}
            action="assign"
            target={target}
            assignment={a}
            fields={{ version: a.next_version!, share: next }}
          >
            {next === 100 ? "Give it to all" : `Widen to ${next} %`}
          </PostButton>
        )}
        {a.next_version !== null && (
          <PostButton {...props} action="end" target={target} assignment={a} fields={{}}>
            End the roll-out
          </PostButton>
        )}
        <PostButton
          {...props}
          action="unassign"
          target={target}
          assignment={a}
          fields={{}}
          label={`Take away from ${name}`}
        >
          Take away
        </PostButton>
      </div>
    </li>
  );
}

/** Says how far a roll-out is, and when it stops. */
function RolloutText({ assignment: a, progress }: { assignment: Assignment; progress: RolloutProgress | undefined }) {
  if (progress === undefined) return <></>;
  const { devices, applied, failed, waiting, offline } = progress;
  const parts = [
    `${applied} of ${countText(devices)} use it`,
    ...(waiting > 0 ? [`${waiting} without a report yet${offline > 0 ? `, ${offline} of them offline` : ""}`] : []),
  ];
  const limit = a.failure_limit ?? 1;
  return (
    <span class="soft">
      {parts.join("; ")}
      {failed > 0 && <span class="bad">; {failed} cannot use it</span>}
      {a.rollout_state === "stopped" ? (
        <strong class="bad">; stopped at {countText(limit)} that cannot use it</strong>
      ) : (
        `; stops at ${countText(limit)} that cannot use it`
      )}
    </span>
  );
}

const countText = (count: number): string => `${count} ${count === 1 ? "device" : "devices"}`;

function PostButton(props: {
  base: string;
  csrf: string;
  action: string;
  target: string;
  assignment: Assignment;
  fields: Readonly<Record<string, number>>;
  label?: string;
  children?: string | string[];
}) {
  return (
    <form method="post" action={`${props.base}/${props.action}`}>
      <Csrf value={props.csrf} />
      <input type="hidden" name="target" value={props.target} />
      <input type="hidden" name="revision" value={String(props.assignment.revision)} />
      {Object.entries(props.fields).map(([name, value]) => (
        <input type="hidden" name={name} value={String(value)} />
      ))}
      <button type="submit" aria-label={props.label}>
        {props.children}
      </button>
    </form>
  );
}

function Failures({ failures, devices }: { failures: readonly Report[]; devices: string }) {
  return (
    <>
      <h2>Failures</h2>
      <ul class="list" aria-label="Failures">
        {failures.map(({ device_id, version, message, code, at }) => (
          <li>
            <div class="what">
              <span>
                <a href={`${devices}/${device_id}`}>{device_id}</a> cannot use version {version}:{" "}
                <span class="bad">{message === "" ? code : message}</span>
              </span>
              <Time at={at} />
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

function Versions({ versions, base, counts }: AppProps & { readonly versions: readonly AppVersion[] }) {
  const count = (number: number, state: string): number =>
    counts.find((row) => row.version === number && row.state === state)?.count ?? 0;
  if (versions.length === 0) return <p class="soft">None yet.</p>;
  return (
    <ul class="list" aria-label="Versions">
      {versions.map(({ number, hash, created_at, created_by, content }) => (
        <li>
          <div class="what">
            <strong>
              <a href={`${base}/versions/${number}`}>Version {number}</a> <code class="soft">{hash.slice(0, 8)}</code>
            </strong>
            <span class="soft">
              <Time at={created_at} /> by <Breakable text={created_by} />
              {content.model !== null && (
                <>
                  , <Breakable text={content.model.name} />
                </>
              )}
              {count(number, "applied") > 0 && `, in use on ${count(number, "applied")}`}
              {count(number, "failed") > 0 && <span class="bad">, failed on {count(number, "failed")}</span>}
            </span>
          </div>
        </li>
      ))}
    </ul>
  );
}

function AppSettings({ base, csrf, app, assignments }: AppProps) {
  return (
    <>
      <h2>Name</h2>
      <NameForm
        {...{ action: `${base}/name`, csrf, id: "app-name", label: "Name of the application", button: "Save" }}
        value={app.name}
        isMain={false}
      />
      {assignments.length === 0 && (
        <details>
          <summary>Remove the application</summary>
          <form method="post" action={`${base}/remove`} class="question">
            <Csrf value={csrf} />
            <p>All versions of it are deleted, for good.</p>
            <button class="danger" type="submit">
              Remove it
            </button>
          </form>
        </details>
      )}
    </>
  );
}

async function versionPage(site: Site, visit: Member): Promise<Answer> {
  const { db } = site;
  const { team, session, exchange } = visit;
  const app = await needApp(db, team.id, visit.param("app"));
  const version = await needVersion(db, team.id, app, Number(visit.param("number")) || 0);
  const before = await findVersion(db, team.id, app.id, version.number - 1);
  const { config, options, model, snaps } = version.content;
  const base = `/teams/${team.id}/apps/${app.id}`;
  const csrf = csrfOf(session);
  const parts = [
    ["Config", config === null ? "none: the model file says how to decode" : pretty(config)],
    [
      "Model file",
      model === null
        ? "none: an agent refuses a version without one"
        : `${model.name}, ${sizeText(model.size)}\n${model.sha256}`,
    ],
    ["Options", Object.keys(options).length === 0 ? "none" : pretty(options)],
    ["Snaps", snaps.length === 0 ? "none" : pretty(snaps)],
    ["What boxwright makes of it", version.description],
  ] as const;
  const groups = await listGroups(db, team.id);
  return show(
    frameOf(visit, `Version ${version.number} of ${app.name}`, "apps"),
    <>
      <SaidMessage said={readSaid(session, exchange)} csrf={csrf} />
      <p class="soft">
        <Time at={version.created_at} /> by <Breakable text={version.created_by} />, <a href={base}>{app.name}</a>
      </p>
      <GiveForm base={base} csrf={csrf} version={version.number} groups={groups} />
      <p class="actions">
        <a class="button" href={`${base}/edit?from=${version.number}`}>
          Change it in a new version
        </a>
      </p>
      {parts.map(([title, text]) => (
        <>
          <h2>{title}</h2>
          <pre class="machine" tabindex={0} role="region" aria-label={title}>
            {text}
          </pre>
        </>
      ))}
      {before !== undefined && (
        <Difference
          title={`Difference to version ${before.number}`}
          before={versionText(before)}
          after={versionText(version)}
        />
      )}
    </>,
  );
}

function GiveForm(props: {
  base: string;
  csrf: string;
  version: number;
  groups: readonly { id: string; name: string }[];
}) {
  const { base, csrf, version, groups } = props;
  return (
    <>
      <h2>Give this version</h2>
      {groups.length > 0 && (
        <form method="post" action={`${base}/assign`} class="line">
          <Csrf value={csrf} />
          <input type="hidden" name="version" value={String(version)} />
          <div>
            <label for="target">Group</label>
            <select id="target" name="target">
              {groups.map(({ id, name }) => (
                <option value={`group:${id}`}>{name}</option>
              ))}
            </select>
          </div>
          <div>
            <label for="share">Share first, in per cent</label>
            <input id="share" name="share" type="number" min={1} max={100} value="100" required />
          </div>
          <div>
            <label for="limit">Failures that stop it</label>
            <input id="limit" name="limit" type="number" min={1} max={100000} value="1" required />
          </div>
          <button type="submit" class="main">
            Give it to the group
          </button>
        </form>
      )}
      <form method="post" action={`${base}/assign`} class="line">
        <Csrf value={csrf} />
        <input type="hidden" name="version" value={String(version)} />
        <div>
          <label for="device">One device, by name or id</label>
          <input id="device" name="device" required maxlength={100} autocomplete="off" />
        </div>
        <button type="submit">Give it to the device</button>
      </form>
    </>
  );
}
