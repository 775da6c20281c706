/** Applications, which say what devices run. Every save makes a version, and a version never changes. */
import type { Toolbox } from "./toolbox.ts";

export interface App {
  readonly id: string;
  /** Unique in the team. An identifier never changes. */
  readonly identifier: string;
  readonly name: string;
  readonly purpose: AppPurpose;
  readonly tags: readonly string[];
  /** ISO 8601. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Newest version; null if there is none yet. */
  readonly newestVersion: { readonly number: number; readonly hash: string } | null;
  /** Targets (devices, groups and tags) that get a version. */
  readonly assignments: readonly AppAssignment[];
}

/**
 * Purpose of an application: its versions configure networks, or releases of the agent. A device gets one application
 * of each purpose.
 */
export type AppPurpose = "NETWORK" | "AGENT";

export interface AppVersion {
  /** Number of the version, counted from 1. */
  readonly number: number;
  /** SHA-256 of the content. */
  readonly hash: string;
  /** Name of the version in reports of devices: `DeviceDetail.application.version`. */
  readonly etag: string;
  /** Config; null: the model file itself states how to decode its outputs. */
  readonly config: Readonly<Record<string, unknown>> | null;
  readonly options: Readonly<Record<string, unknown>>;
  readonly snaps: readonly SnapRule[];
  readonly model: { readonly sha256: string; readonly size: number; readonly name: string } | null;
  /** Signed release of the agent; null in a version of a network. */
  readonly release: { readonly release: string; readonly signature: string } | null;
  /** Describes how boxwright reads each tensor. */
  readonly description: string;
  readonly createdAt: string;
  readonly createdBy: string;
  /** Number of devices that use this version, by their last reports. */
  readonly appliedCount: number;
  /** Number of devices that cannot use this version, by their last reports. */
  readonly failedCount: number;
}

/** Rule that says when a device sends a snap (a picture with detections). */
export interface SnapRule {
  readonly name: string;
  /** Label of the network. Default: every class counts. */
  readonly class?: string;
  /** Lowest confidence, 0 to 1. */
  readonly min_confidence: number;
  readonly per_hour: number;
}

export interface AppAssignment {
  /** Device of the assignment. Exactly one of `deviceId`, `groupId` and `deviceTag` is not null. */
  readonly deviceId: string | null;
  readonly groupId: string | null;
  /** Tag of the assignment: all devices with this tag get the version. */
  readonly deviceTag: string | null;
  /** Version of the devices outside of the roll-out. */
  readonly version: number | null;
  /** Version of the devices in the roll-out; null if there is no roll-out. */
  readonly rolloutVersion: number | null;
  /** Percentage of the target's devices that get `rolloutVersion`. */
  readonly rolloutShare: number | null;
  readonly rolloutState: "RUNNING" | "STOPPED" | null;
  /** The roll-out stops once this many devices cannot use the version. */
  readonly rolloutFailureLimit: number | null;
  /**
   * Percentages of devices that get the version, one step after the other. The hub opens each step automatically. Null
   * if only a person widens the roll-out.
   */
  readonly rolloutSteps: readonly number[] | null;
  readonly rolloutSuccessPercent: number | null;
  readonly rolloutErrorPercent: number | null;
  readonly rolloutWaitMinutes: number | null;
  /** ISO 8601 time at which the present share was set; null for a roll-out without steps. */
  readonly rolloutStepOpenedAt: string | null;
  readonly rolloutProgress: RolloutProgress | null;
  /** Agreement of the new version with the old one on the same frames. Null if no comparison was requested. */
  readonly rolloutShadow: RolloutShadow | null;
  /** Pass this revision as `ifRevision`, so that you do not overwrite another person's change. */
  readonly revision: number;
  readonly changedAt: string;
  readonly changedBy: string;
}

/** Numbers of devices in the share of a roll-out. */
export interface RolloutProgress {
  readonly devices: number;
  readonly applied: number;
  readonly failed: number;
  /** Devices that have not reported yet whether they can use the version. */
  readonly waiting: number;
  /** Devices in `waiting` that are offline. */
  readonly offline: number;
}

/**
 * Limits of a shadow. In a shadow, some devices also decode frames with the new version before the first step, and
 * compare its results with those of the old version.
 */
export interface ShadowLimits {
  /** Percentage of the target's devices that compare both versions, rounded to at least one device. */
  readonly sharePercent: number;
  /** Each comparing device compares every Nth frame, and this is N. */
  readonly every: number;
  /** Percentage of boxes on which both versions must agree. */
  readonly minAgreementPercent: number;
  /** Number of frames with boxes that all comparing devices together must compare. */
  readonly minFrames: number;
  /** Largest percentage by which the new version may take longer per frame than the old one. */
  readonly maxSlowdownPercent: number;
  /** True: devices send snaps of their largest disagreements. */
  readonly snaps: boolean;
}

export interface RolloutShadow extends ShadowLimits {
  /** True while devices compare. During this time no device has the new version. */
  readonly isRunning: boolean;
  readonly result: ShadowResult;
  /** The 100 devices with the lowest agreement. */
  readonly devices: readonly ShadowDevice[];
}

/** Values of the old and the new version; null if nothing was compared. */
export interface ShadowPair {
  readonly old: number | null;
  readonly new: number | null;
}

/** Result of a shadow over all devices. */
export interface ShadowResult {
  readonly devices: number;
  readonly reported: number;
  /** Number of devices on which the version failed. Their agreement counts as 0. */
  readonly failed: number;
  /** Number of devices with invalid reports, which do not count. */
  readonly refused: number;
  /** Number of frames with boxes that count towards `minFrames`. Each device counts for a limited number. */
  readonly frames: number;
  /** Agreement from 0 to 1. */
  readonly agreement: number | null;
  /** Share of boxes whose class changed, 0 to 1. */
  readonly changed: number | null;
  /** Time per frame with the new version, divided by the time with the old one: 1.2 is a fifth slower. */
  readonly slowdown: number | null;
  readonly confidence: ShadowPair;
  readonly decodeMs: ShadowPair;
  readonly memoryBytes: ShadowPair;
}

export interface ShadowDevice {
  readonly deviceId: string;
  /** ISO 8601. */
  readonly reportedAt: string;
  readonly state: "COMPARING" | "FAILED" | "REFUSED";
  /** Reason of the failure or refusal. */
  readonly message: string | null;
  readonly frames: number;
  /** Frames in which neither version found an object. */
  readonly emptyFrames: number;
  readonly matched: number;
  readonly changed: number;
  readonly onlyOld: number;
  readonly onlyNew: number;
  readonly agreement: number | null;
}

/** A model file that was uploaded to `/models`. */
export interface ModelFile {
  readonly sha256: string;
  readonly size: number;
  readonly name: string;
  readonly createdAt: string;
  /** False while bytes are missing. */
  readonly isComplete: boolean;
  /** Applications with versions that name the file. */
  readonly appIdentifiers: readonly string[];
  /** Number of devices that should run a version that names the file. */
  readonly deviceCount: number;
}

/** Bytes of the team's files, and the limits on them. */
export interface TeamStorage {
  readonly modelBytes: number;
  readonly modelBytesLimit: number;
  readonly snapBytes: number;
  readonly snapBytesLimit: number;
}

export interface NewApp {
  readonly name: string;
  /** Default: made from the name. */
  readonly identifier?: string;
  readonly tags?: readonly string[];
  /** Default: NETWORK. */
  readonly purpose?: AppPurpose;
}

/** Content of a version. */
export interface NewAppVersion {
  /**
   * NN_config, nn_config or an NN Archive's config.json. Default: the model file itself states how to decode its
   * outputs.
   */
  readonly config?: Readonly<Record<string, unknown>> | null;
  /** Options of boxwright's createDetector. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly snaps?: readonly SnapRule[];
  /** SHA-256 of a model file that was uploaded to `/models`. */
  readonly modelSha256?: string | null;
  /**
   * Release for an application with the purpose AGENT: the output of `boxwright-agent release sign`. All other fields
   * must then be absent.
   */
  readonly release?: { readonly release: string; readonly signature: string };
  /**
   * Number of the newest version known to you, 0 if there is none. The hub refuses to save if a newer version exists.
   */
  readonly ifNewest?: number;
}

/** Target of a roll-out: a group, or all devices with a tag. */
export type RolloutTarget = { readonly groupId: string } | { readonly deviceTag: string };

/** Target of an assignment: one device, a group, or all devices with a tag. */
export type AppTarget = { readonly deviceId: string } | RolloutTarget;

export interface Rollout {
  /**
   * Percentage of the target's devices that get the version first. To widen the roll-out, call again with a larger
   * share.
   */
  readonly share?: number;
  /**
   * The roll-out stops once this many devices cannot use the version. Default: the present limit. Without one: 1, or 5
   * with `steps`.
   */
  readonly failureLimit?: number;
  /** Ascending percentages, instead of `share`. The hub opens one step after the other automatically. */
  readonly steps?: readonly number[];
  /** Percentage of a step's devices that must use the version before the next step opens. Default 90. */
  readonly successPercent?: number;
  /**
   * Percentage of failing devices that stops the roll-out, unless fewer devices than `failureLimit` have failed.
   * Default 5.
   */
  readonly errorPercent?: number;
  /** Smallest number of minutes that a step stays open. Default 60. */
  readonly waitMinutes?: number;
  /** Comparison to run before the first of `steps`: some devices also decode frames with the new version. */
  readonly shadow?: Partial<ShadowLimits>;
  readonly ifRevision?: number;
}

export interface AppOperations {
  apps(): Promise<App[]>;
  /** @param appId id or identifier. Returns null if the team has no such application. */
  app(appId: string): Promise<App | null>;
  /** Returns all versions, the newest first. */
  appVersions(appId: string): Promise<AppVersion[]>;
  createApp(wanted: NewApp): Promise<App>;
  updateApp(appId: string, wanted: { readonly name?: string; readonly tags?: readonly string[] }): Promise<App>;
  /** Deletes an application. The hub refuses while an assignment names the application. */
  deleteApp(appId: string): Promise<App>;
  /**
   * Checks the content with boxwright, and saves a version. `isNew` is false if the application already had a version
   * with the same content.
   */
  saveAppVersion(
    appId: string,
    content: NewAppVersion,
  ): Promise<{ readonly version: AppVersion; readonly isNew: boolean }>;
  /** Gives a version to a target. To go back, give an older version. */
  assignApp(appId: string, version: number, target: AppTarget, rollout?: Rollout): Promise<AppAssignment>;
  /** Ends the assignment of a target. The devices continue with the version that they have. */
  unassignApp(target: AppTarget, ifRevision?: number, purpose?: AppPurpose): Promise<void>;
  /**
   * Ends a roll-out. All devices of the target get the version from before the roll-out.
   * @param target group or tag of the roll-out; a text is the id of a group
   */
  endAppRollout(target: RolloutTarget | string, ifRevision?: number, purpose?: AppPurpose): Promise<void>;
  models(): Promise<ModelFile[]>;
  /** Removes a model file. The hub refuses while a version of an application names this file. */
  removeModel(sha256: string): Promise<void>;
  storage(): Promise<TeamStorage>;
}

const APPS_A_PAGE = 100;
/** Number of versions per page. Each version holds a config and a description of some ten kilobytes. */
const VERSIONS_A_PAGE = 20;
const GATES = "rolloutSteps rolloutSuccessPercent rolloutErrorPercent rolloutWaitMinutes rolloutStepOpenedAt";
const LIMITS = "sharePercent every minAgreementPercent minFrames maxSlowdownPercent snaps";
const PAIRS = ["confidence", "decodeMs", "memoryBytes"].map((name) => `${name} { old new }`).join(" ");
const RESULT = `result { devices reported failed refused frames agreement changed slowdown ${PAIRS} }`;
const COMPARED = "frames emptyFrames matched changed onlyOld onlyNew agreement";
const SHADOW = `rolloutShadow { ${LIMITS} isRunning ${RESULT} devices { deviceId reportedAt state message ${COMPARED} } }`;
const PROGRESS = "rolloutProgress { devices applied failed waiting offline }";
const ROLLOUT = `rolloutVersion rolloutShare rolloutState rolloutFailureLimit ${GATES} ${PROGRESS} ${SHADOW}`;
const ASSIGNMENT = `deviceId groupId deviceTag version ${ROLLOUT} revision changedAt changedBy`;
const APP = `id identifier name purpose tags createdAt updatedAt newestVersion { number hash } assignments { ${ASSIGNMENT} }`;
const MODEL = "sha256 size name createdAt isComplete appIdentifiers deviceCount";
const VERSION =
  "number hash etag config options snaps model { sha256 size name } release description createdAt createdBy appliedCount failedCount";

export function createAppOperations({ read, all, change, changeBy, send }: Toolbox): AppOperations {
  const app = `app { ${APP} }`;
  const update = changeBy<App>("updateApp", "appId: ID!, name: String, tags: [String!]", app);
  const content = "config: JSON, options: JSON, snaps: JSON, modelSha256: String, release: JSON, ifNewest: Int";
  const save = send<{ version: AppVersion; isNew: boolean }>(
    "saveAppVersion",
    `appId: ID!, ${content}`,
    `version { ${VERSION} } isNew`,
  );
  const steps = "steps: [Int!], successPercent: Int, errorPercent: Int, waitMinutes: Int, shadow: RolloutShadowInput";
  const ofSet = "groupId: ID, deviceTag: String, ifRevision: Int";
  const assign = changeBy<AppAssignment>(
    "assignApp",
    `appId: ID!, version: Int!, share: Int, failureLimit: Int, ${steps}, deviceId: ID, ${ofSet}`,
    `assignment { ${ASSIGNMENT} }`,
  );
  const unassign = changeBy<void>("unassignApp", `deviceId: ID, ${ofSet}, purpose: AppPurpose`, "");
  const end = changeBy<void>("endAppRollout", `${ofSet}, purpose: AppPurpose`, "");
  return {
    apps: () => all<App>({ field: "apps", selection: APP, rows: APPS_A_PAGE }),
    app: read("app", "appId: ID!", `{ ${APP} }`),
    appVersions: (appId) =>
      all<AppVersion>({
        ...{ field: "versions", of: { field: "app", args: "appId: ID!" }, values: { appId } },
        ...{ selection: VERSION, rows: VERSIONS_A_PAGE },
      }),
    createApp: changeBy("createApp", "name: String!, identifier: String, tags: [String!], purpose: AppPurpose", app),
    updateApp: (appId, wanted) => update({ appId }, wanted),
    deleteApp: change("deleteApp", "appId: ID!", app),
    saveAppVersion: (appId, wanted) => save({ appId, ...wanted }),
    assignApp: (appId, version, whom, rollout = {}) => assign({ appId, version }, whom, rollout),
    unassignApp: (whom, ifRevision, purpose) => unassign(whom, { ifRevision, purpose }),
    models: () => all<ModelFile>({ field: "models", selection: MODEL, rows: APPS_A_PAGE }),
    removeModel: change("removeModel", "sha256: String!", ""),
    storage: read("storage", "", "{ modelBytes modelBytesLimit snapBytes snapBytesLimit }"),
    endAppRollout: (whom, ifRevision, purpose) =>
      end(typeof whom === "string" ? { groupId: whom } : whom, { ifRevision, purpose }),
  };
}
