/** The page of an application: assignments, roll-outs, failures and versions. */
import type { UserError } from "../core/errors.ts";
import { listVersions, needApp, type AppVersion } from "../nouns/application.ts";
import { listAssignments } from "../nouns/assignment.ts";
import { progressOf } from "../nouns/desired.ts";
import { countReports, failuresOf, type Report, type ReportCount } from "../nouns/report.ts";
import { targetNames } from "../nouns/target.ts";
import type { Answer } from "./answer.tsx";
import { AssignmentItem } from "./application-rollout.tsx";
import { LinkButton, NameForm, PostForm, Submit } from "./forms.tsx";
import { showPage, type Member } from "./guards.tsx";
import { Breakable, List } from "./layout.tsx";
import { ShadowResultParts, shadowsShown } from "./shadow-result.tsx";
import type { Site } from "./site.ts";
import { PictureScript } from "./snap-picture.tsx";
import { Time } from "./time.tsx";

export async function appPage(site: Site, visit: Member, problem?: UserError): Promise<Answer> {
  const { db } = site;
  const { team } = visit;
  const app = await needApp(db, team.id, visit.param("app"));
  const assignments = await listAssignments(db, team.id, app.id);
  const base = `/teams/${team.id}/apps/${app.id}`;
  const failures = await failuresOf(db, team.id, app.id, 10);
  const failed = failures.map(({ device_id }) => ({ kind: "device", target_id: device_id }) as const);
  // Leave out single devices: their own pages tell, and a team may have thousands of them.
  const sets = assignments.filter(({ kind }) => kind !== "device");
  const progress = await progressOf(db, site.now(), team.id, sets);
  const shadows = await shadowsShown(site, team.id, assignments);
  const voters = [...shadows.values()].flatMap(({ votes, snaps }) => [...votes, ...snaps]);
  const known = voters.map(({ device_id }) => ({ kind: "device", target_id: device_id }) as const);
  const names = await targetNames(db, team.id, [...assignments, ...failed, ...known]);
  const versions = await listVersions(db, team.id, app.id, { limit: 100 });
  const counts = await countReports(db, team.id, app.id);
  const content = (
    <>
      <p class="soft">
        Identifier <code>{app.identifier}</code>
      </p>
      <p class="actions">
        <LinkButton href={`${base}/edit`} label={app.newest === 0 ? "Write the first version" : "New version"} />
      </p>
      <h2>Given to</h2>
      {assignments.length === 0 && (
        <p class="soft">Nobody. Open a version to give it to a group, to devices with a tag, or to a device.</p>
      )}
      <List label="Given to">
        {assignments.map((assignment) => (
          <AssignmentItem
            {...{ base, assignment }}
            name={names.get(`${assignment.kind}:${assignment.target_id}`) ?? assignment.target_id}
            progress={progress.get(assignment)}
          >
            <ShadowResultParts shown={shadows.get(assignment)} teamId={team.id} names={names} />
          </AssignmentItem>
        ))}
      </List>
      {[...shadows.values()].some(({ snaps }) => snaps.length > 0) && <PictureScript />}
      {failures.length > 0 && <Failures failures={failures} names={names} devices={`/teams/${team.id}/devices`} />}
      <h2>Versions</h2>
      <Versions versions={versions} counts={counts} base={base} />
      <AppSettings {...{ base, name: app.name, isGiven: assignments.length > 0 }} />
    </>
  );
  return showPage(visit, [app.name, "apps"], content, { problem });
}

interface FailureProps {
  readonly failures: readonly Report[];
  /** Names of devices, by `device:id`. */
  readonly names: ReadonlyMap<string, string>;
  /** Address of the list of devices. */
  readonly devices: string;
}

function Failures({ failures, names, devices }: FailureProps) {
  return (
    <>
      <h2>Failures</h2>
      <List label="Failures">
        {failures.map(({ device_id, version, message, code, at }) => (
          <li>
            <div class="what">
              <span>
                <a href={`${devices}/${device_id}`}>{names.get(`device:${device_id}`) ?? device_id}</a> cannot use
                version {version}: <span class="bad">{message === "" ? code : message}</span>
              </span>
              <Time at={at} />
            </div>
          </li>
        ))}
      </List>
    </>
  );
}

interface VersionProps {
  readonly versions: readonly AppVersion[];
  readonly counts: readonly ReportCount[];
  readonly base: string;
}

function Versions({ versions, base, counts }: VersionProps) {
  const count = (number: number, state: string): number =>
    counts.find((row) => row.version === number && row.state === state)?.count ?? 0;
  if (versions.length === 0) return <p class="soft">None yet.</p>;
  return (
    <List label="Versions">
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
    </List>
  );
}

function AppSettings({ base, name, isGiven }: { base: string; name: string; isGiven: boolean }) {
  return (
    <>
      <h2>Name</h2>
      <NameForm
        {...{ action: `${base}/name`, id: "app-name", label: "Name of the application", button: "Save" }}
        {...{ value: name, isMain: false }}
      />
      {!isGiven && (
        <details>
          <summary>Remove the application</summary>
          <PostForm action={`${base}/remove`} class="question">
            <p>All versions of it are deleted, for good.</p>
            <Submit kind="danger">Remove it</Submit>
          </PostForm>
        </details>
      )}
    </>
  );
}
