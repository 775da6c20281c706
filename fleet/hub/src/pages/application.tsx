/**
 * Handles the forms of an application: assigning a version, ending an assignment or roll-out, renaming and removing.
 */
import { deleteApp, needApp, updateApp, type App } from "../nouns/application.ts";
import { assign, endRollout, unassign, type Assign } from "../nouns/assignment.ts";
import { SHADOW_SHARE } from "../nouns/shadow.ts";
import { findTarget, tagTarget, targetNames, type Target } from "../nouns/target.ts";
import { redirect, type Answer } from "./answer.tsx";
import { appPage } from "./application-page.tsx";
import { versionPage } from "./application-version.tsx";
import { changeOf, type Guards, type Member } from "./guards.tsx";
import { sayAt } from "./said.ts";
import type { Site } from "./site.ts";

export function registerApplication(site: Site, guards: Guards): void {
  const base = "/teams/:team/apps/:app";
  const page = guards.page(base, (visit, problem) => {
    // Throw: the form was on a device's page, so this page must not show the problem.
    if (problem !== undefined && backOf(visit) !== undefined) throw problem;
    return appPage(site, visit, problem);
  });
  /** Tells the devices, and leads back to the page with the form. */
  const answer = (visit: Member, { id }: App, text: string): Answer => {
    site.desired.wake(visit.team.id);
    return redirect(sayAt(visit.session, backOf(visit) ?? `/teams/${visit.team.id}/apps/${id}`, { text }));
  };
  /** Registers a form that changes assignments. */
  const form = (path: string, work: (site: Site, visit: Member, app: App) => Promise<string>): void =>
    page(path, async (visit) => {
      const app = await needApp(site.db, visit.team.id, visit.param("app"));
      return answer(visit, app, await work(site, visit, app));
    });

  guards.member.get(`${base}/versions/:number`, (visit) => versionPage(site, visit));
  form(`${base}/assign`, postAssign);
  form(`${base}/unassign`, postUnassign);
  form(`${base}/end`, postEnd);
  form(`${base}/name`, postName);
  // This form is on a device's page. It assigns the newest version of the chosen application.
  guards.member.get("/teams/:team/apps/give", (visit) => redirect(`/teams/${visit.team.id}/apps`));
  guards.member.post("/teams/:team/apps/give", async (visit) => {
    const app = await needApp(site.db, visit.team.id, visit.form("app"));
    return answer(visit, app, await give(site, visit, app, app.newest));
  });
  page(`${base}/remove`, async (visit) => {
    const { name } = await deleteApp(site.db, changeOf(site, visit), visit.param("app"));
    return redirect(sayAt(visit.session, `/teams/${visit.team.id}/apps`, { text: `Removed ${name}.` }));
  });
}

/** Returns the revision that the assignment had when the form was shown. */
const revisionOf = ({ form }: Member): number | undefined =>
  /^\d{1,15}$/.test(form("revision")) ? Number(form("revision")) : undefined;

/** Returns the target that a form names: `group:ID`, `tag:TAG`, `device:ID`, or the name or id of a device. */
function targetOf(site: Site, { form, team }: Member): Promise<Target> {
  const [, kind, id] = /^(group|device|tag):(.*)$/s.exec(form("target")) ?? [];
  if (kind === "tag") return Promise.resolve(tagTarget(id!));
  if (kind !== undefined) return Promise.resolve({ kind: kind as Target["kind"], id: id! });
  return findTarget(site.db, team.id, form("device"));
}

/** Returns the address of the device's page if the form was on a device's page, otherwise undefined. */
function backOf({ form, team }: Member): string | undefined {
  const [, id] = /^device:([0-9A-Za-z._:-]{1,64})$/.exec(form("target")) ?? [];
  return form("back") === "device" && id !== undefined ? `/teams/${team.id}/devices/${id}` : undefined;
}

const postAssign = (site: Site, visit: Member, app: App): Promise<string> =>
  give(site, visit, app, Number(visit.form("version")));

async function give(site: Site, visit: Member, app: App, version: number): Promise<string> {
  const target = await targetOf(site, visit);
  const rollout = target.kind === "device" ? {} : rolloutOf(visit);
  const given = { target, appId: app.id, version, ...rollout, expected: revisionOf(visit) };
  const { share } = await assign(site.db, changeOf(site, visit), given);
  const names = await targetNames(site.db, visit.team.id, [{ kind: target.kind, target_id: target.id }]);
  const tagged = `the devices with the tag ${target.id}`;
  const whom = target.kind === "tag" ? tagged : (names.get(`${target.kind}:${target.id}`) ?? target.id);
  if (share === SHADOW_SHARE) return `Some devices of ${whom} compare version ${version} with what they run.`;
  return `Version ${version} goes to ${share === null || share === 100 ? "" : `${share} % of `}${whom}.`;
}

/** Reads the fields of a roll-out. If steps are given, ignores the share, which the form always sends. */
function rolloutOf({ form }: Member): Omit<Assign, "target" | "appId" | "version" | "expected"> {
  const number = (name: string): number | undefined => (form(name) === "" ? undefined : Number(form(name)));
  const failureLimit = number("limit");
  const steps = form("steps")
    .split(/[\s,]+/)
    .filter((step) => step !== "");
  if (steps.length === 0) return { share: number("share") ?? 100, failureLimit };
  return {
    ...{ steps: steps.map(Number), failureLimit },
    ...{ successPercent: number("success"), errorPercent: number("error"), waitMinutes: number("wait") },
    ...(form("shadow") !== "" && {
      shadow: {
        ...{ sharePercent: number("shadow-share"), every: number("shadow-every"), snaps: form("shadow-snaps") !== "" },
        ...{ minAgreementPercent: number("shadow-agreement"), minFrames: number("shadow-frames") },
        maxSlowdownPercent: number("shadow-slowdown"),
      },
    }),
  };
}

async function postUnassign(site: Site, visit: Member, { purpose }: App): Promise<string> {
  await unassign(site.db, changeOf(site, visit), await targetOf(site, visit), revisionOf(visit), purpose);
  return "Taken away. Devices keep running what they have until they are given something else.";
}

async function postEnd(site: Site, visit: Member, { purpose }: App): Promise<string> {
  await endRollout(site.db, changeOf(site, visit), await targetOf(site, visit), revisionOf(visit), purpose);
  if (purpose === "agent") return "The roll-out has ended. Devices that run the new agent keep it.";
  return "The roll-out has ended. All devices get the version that the others have.";
}

async function postName(site: Site, visit: Member, app: App): Promise<string> {
  const { name } = await updateApp(site.db, changeOf(site, visit), app.id, { name: visit.form("name") });
  return `Renamed to ${name}.`;
}
