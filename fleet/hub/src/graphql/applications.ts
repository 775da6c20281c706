/** Resolvers of applications. */
import { UserError } from "../core/errors.ts";
import { checkDraft, checkRelease } from "../check/draft.ts";
import {
  createApp,
  deleteApp,
  findApp,
  findVersion,
  listApps,
  listVersions,
  saveVersion,
  updateApp,
  type App,
  type AppVersion,
  type Purpose,
} from "../nouns/application.ts";
import { assign, endRollout, listAssignments, unassign, type Assignment } from "../nouns/assignment.ts";
import { parseGates } from "../nouns/gates.ts";
import { etagOf, rolloutProgress } from "../nouns/desired.ts";
import { countReports } from "../nouns/report.ts";
import { tagTarget, type Target } from "../nouns/target.ts";
import type { TeamContext } from "./context.ts";
import { iso } from "./times.ts";
import { connectionOf, readPage, type PageArguments } from "./connection.ts";
import { given, isNoText } from "./mutation.ts";
import { shadowOf, toShadow } from "./rollout-shadow.ts";

function toApp(context: TeamContext, app: App): object {
  const { db, team, values } = context;
  const version = async (number: number): Promise<object | null> => {
    const found = await findVersion(db, team.id, app.id, number);
    return found === undefined ? null : toVersion(context, app, found);
  };
  return {
    id: app.id,
    identifier: app.identifier,
    name: app.name,
    isPublic: false,
    scope: "TEAM",
    purpose: app.purpose.toUpperCase(),
    coverImageUrl: null,
    tags: app.tags,
    createdAt: iso(app.created_at),
    updatedAt: iso(app.updated_at),
    newestVersion: () => version(app.newest),
    version: ({ number }: { number: number }) => version(number),
    versions: async (args: PageArguments) => {
      const page = readPage(args, /^\d{1,15}$/);
      const before = page.after === undefined ? undefined : Number(page.after);
      const rows = await listVersions(db, team.id, app.id, {
        ...(before !== undefined && { before }),
        limit: page.limit,
      });
      values.count(rows.length);
      return connectionOf(
        rows,
        page,
        ({ number }) => String(number),
        (row) => toVersion(context, app, row),
      );
    },
    assignments: async () => {
      const rows = await listAssignments(db, team.id, app.id);
      values.count(rows.length);
      return rows.map((row) => toAssignment(context, row));
    },
  };
}

function toVersion({ db, team }: TeamContext, app: App, version: AppVersion): object {
  const { config, options, model, snaps, release } = version.content;
  const count = async (state: "applied" | "failed"): Promise<number> => {
    const rows = await countReports(db, team.id, app.id);
    return rows.find((row) => row.version === version.number && row.state === state)?.count ?? 0;
  };
  return {
    number: version.number,
    hash: version.hash,
    etag: etagOf(app.identifier, version.hash),
    ...{ config, options, snaps },
    release: release ?? null,
    model: model === null ? null : { sha256: model.sha256, size: model.size, name: model.name },
    description: version.description,
    createdAt: iso(version.created_at),
    createdBy: version.created_by,
    appliedCount: () => count("applied"),
    failedCount: () => count("failed"),
  };
}

function toAssignment(context: TeamContext, row: Assignment): object {
  const { db, now, team } = context;
  const gates = parseGates(row.gates);
  return {
    deviceId: row.kind === "device" ? row.target_id : null,
    groupId: row.kind === "group" ? row.target_id : null,
    deviceTag: row.kind === "tag" ? row.target_id : null,
    version: row.version,
    rolloutVersion: row.next_version,
    rolloutShare: row.share,
    rolloutState: row.rollout_state?.toUpperCase() ?? null,
    rolloutFailureLimit: row.failure_limit,
    rolloutSteps: gates?.steps ?? null,
    rolloutSuccessPercent: gates?.success_percent ?? null,
    rolloutErrorPercent: gates?.error_percent ?? null,
    rolloutWaitMinutes: gates?.wait_minutes ?? null,
    rolloutStepOpenedAt: row.step_at === null ? null : iso(row.step_at),
    rolloutProgress: () => (row.rollout_id === null ? null : rolloutProgress(db, now(), team.id, row)),
    rolloutShadow: () => toShadow(context, row),
    revision: row.revision,
    changedAt: iso(row.changed_at),
    changedBy: row.changed_by,
  };
}

/** Fields of `team` in a query. */
export const appQueries = (context: TeamContext) => ({
  app: async ({ appId }: { appId: string }) => {
    const app = isNoText(appId) ? undefined : await findApp(context.db, context.team.id, appId);
    return app === undefined ? null : toApp(context, app);
  },
  apps: async (args: PageArguments) => {
    const page = readPage(args, /^[0-9a-f-]{36}$/);
    const rows = await listApps(context.db, context.team.id, page.after, page.limit);
    context.values.count(rows.length);
    return connectionOf(
      rows,
      page,
      ({ id }) => id,
      (app) => toApp(context, app),
    );
  },
});

interface VersionArguments {
  readonly appId: string;
  readonly config?: unknown;
  readonly options?: unknown;
  readonly snaps?: unknown;
  readonly modelSha256?: string | null;
  readonly release?: unknown;
  readonly ifNewest?: number | null;
}

interface TargetArguments {
  readonly deviceId?: string | null;
  readonly groupId?: string | null;
  readonly deviceTag?: string | null;
  readonly ifRevision?: number | null;
}

interface RolloutArguments {
  readonly share?: number | null;
  readonly failureLimit?: number | null;
  readonly steps?: readonly number[] | null;
  readonly successPercent?: number | null;
  readonly errorPercent?: number | null;
  readonly waitMinutes?: number | null;
  readonly shadow?: Parameters<typeof shadowOf>[0];
}

const rolloutOf = (args: RolloutArguments) => ({
  ...{ share: given(args.share), failureLimit: given(args.failureLimit), steps: given(args.steps) },
  ...{ successPercent: given(args.successPercent), errorPercent: given(args.errorPercent) },
  ...{ waitMinutes: given(args.waitMinutes), shadow: shadowOf(args.shadow) },
});

interface PurposeArgument {
  /** A value of the schema's enum. */
  readonly purpose: string;
}

const purposeOf = ({ purpose }: PurposeArgument): Purpose => purpose.toLowerCase() as Purpose;

/** Returns the target. Exactly one of the arguments in `fields` must be given. */
function targetOf(args: TargetArguments, fields: readonly (keyof typeof TARGETS)[] = TARGET_FIELDS): Target {
  const named = fields.filter((field) => given(args[field]) !== undefined);
  if (named.length === 1) return TARGETS[named[0]!](args[named[0]!]!);
  throw new UserError(`${fields.join(", ")}: got ${named.length} of them, expected one`);
}

const TARGETS = {
  deviceId: (id: string): Target => ({ kind: "device", id }),
  groupId: (id: string): Target => ({ kind: "group", id }),
  deviceTag: tagTarget,
};
const TARGET_FIELDS = ["deviceId", "groupId", "deviceTag"] as const;

/** Fields of `team` in a mutation. */
export function appMutations(context: TeamContext) {
  const { db, change, team, desired } = context;
  /** Runs a change that may give devices another version, and wakes the devices that wait for a version. */
  const changeDesired = async <T extends object>(work: () => Promise<T>) => {
    try {
      return await work();
    } finally {
      desired.wake(team.id);
    }
  };
  return {
    createApp: async (args: { name: string; identifier?: string | null; tags?: string[] | null; purpose: string }) => {
      const { name, identifier, tags } = args;
      const purpose = purposeOf(args);
      const wanted = { name, identifier: given(identifier), tags: given(tags) ?? [], purpose };
      return { app: toApp(context, await createApp(db, change(), wanted)) };
    },
    updateApp: async (args: { appId: string; name?: string | null; tags?: string[] | null }) => {
      const wanted = { name: given(args.name), tags: given(args.tags) };
      return { app: toApp(context, await updateApp(db, change(), args.appId, wanted)) };
    },
    deleteApp: async ({ appId }: { appId: string }) => ({
      app: toApp(context, await deleteApp(db, change(), appId)),
    }),
    saveAppVersion: async (args: VersionArguments) => {
      const { config = null, options = null, snaps = null, modelSha256 = null, release = null } = args;
      const isNetwork = [config, options, snaps, modelSha256].some((part) => part !== null);
      if (release !== null && isNetwork)
        throw new UserError("release: got it beside parts of a network, expected it alone");
      const checked =
        release === null
          ? await checkDraft(context, team.id, { config, options, snaps, modelSha256 })
          : await checkRelease(db, team.id, release);
      const wanted = { ...checked, expected: given(args.ifNewest) };
      const { version, isNew } = await saveVersion(db, change(), args.appId, wanted);
      const app = await findApp(db, team.id, args.appId);
      return { version: toVersion(context, app!, version), isNew };
    },
    assignApp: (args: TargetArguments & { appId: string; version: number } & RolloutArguments) =>
      changeDesired(async () => {
        const { appId, version } = args;
        const wanted = { target: targetOf(args), appId, version, ...rolloutOf(args), expected: given(args.ifRevision) };
        return { assignment: toAssignment(context, await assign(db, change(), wanted)) };
      }),
    unassignApp: (args: TargetArguments & PurposeArgument) =>
      changeDesired(async () => {
        await unassign(db, change(), targetOf(args), given(args.ifRevision), purposeOf(args));
        return {};
      }),
    endAppRollout: (args: TargetArguments & PurposeArgument) =>
      changeDesired(async () => {
        const target = targetOf(args, ["groupId", "deviceTag"]);
        await endRollout(db, change(), target, given(args.ifRevision), purposeOf(args));
        return {};
      }),
  };
}
