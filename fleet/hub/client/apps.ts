/** Applications: what devices run. Every save is a version, which never changes. */
import type { Toolbox } from "./toolbox.ts";

export interface App {
  readonly id: string;
  /** Unique in the team. It never changes. */
  readonly identifier: string;
  readonly name: string;
  readonly purpose: AppPurpose;
  readonly tags: readonly string[];
  /** ISO 8601. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** null: nobody has saved a version yet. */
  readonly newestVersion: { readonly number: number; readonly hash: string } | null;
  /** Who is given which version. */
  readonly assignments: readonly AppAssignment[];
}

/** What versions are: networks, or releases of the agent. A device is given one application of each. */
export type AppPurpose = "NETWORK" | "AGENT";

export interface AppVersion {
  /** Counts from 1. */
  readonly number: number;
  /** SHA-256 of the content. */
  readonly hash: string;
  /** What devices name the version by: `DeviceDetail.application.version`. */
  readonly etag: string;
  /** null: the model file says how to decode. */
  readonly config: Readonly<Record<string, unknown>> | null;
  readonly options: Readonly<Record<string, unknown>>;
  readonly snaps: readonly SnapRule[];
  readonly model: { readonly sha256: string; readonly size: number; readonly name: string } | null;
  /** The signed release of an agent; null: a network. */
  readonly release: { readonly release: string; readonly signature: string } | null;
  /** What boxwright takes each tensor for. */
  readonly description: string;
  readonly createdAt: string;
  readonly createdBy: string;
  /** Devices that reported this version last, and use it. */
  readonly appliedCount: number;
  /** Devices that reported this version last, and cannot use it. */
  readonly failedCount: number;
}

/** When a device sends a picture. */
export interface SnapRule {
  readonly name: string;
  /** A label of the network; without it every class counts. */
  readonly class?: string;
  /** 0 to 1. */
  readonly min_confidence: number;
  readonly per_hour: number;
}

export interface AppAssignment {
  /** One of `deviceId` and `groupId` is null. */
  readonly deviceId: string | null;
  readonly groupId: string | null;
  /** Version of all devices outside of the share of a roll-out. */
  readonly version: number | null;
  /** null: no roll-out. */
  readonly rolloutVersion: number | null;
  /** Per cent of the group that get `rolloutVersion`. */
  readonly rolloutShare: number | null;
  readonly rolloutState: "RUNNING" | "STOPPED" | null;
  /** Count of devices that cannot use the version at which the roll-out stops. */
  readonly rolloutFailureLimit: number | null;
  /** Shares that open by themselves; null: only a person widens the roll-out. */
  readonly rolloutSteps: readonly number[] | null;
  readonly rolloutSuccessPercent: number | null;
  readonly rolloutErrorPercent: number | null;
  readonly rolloutWaitMinutes: number | null;
  /** When the present share was set; null: a roll-out without steps. ISO 8601. */
  readonly rolloutStepOpenedAt: string | null;
  readonly rolloutProgress: RolloutProgress | null;
  /** How the version agrees with the old one on the same frames; null: it was not asked for. */
  readonly rolloutShadow: RolloutShadow | null;
  /** Pass it as `ifRevision`, so that you do not overwrite the change of another person. */
  readonly revision: number;
  readonly changedAt: string;
  readonly changedBy: string;
}

/** Counts of devices in the share of a roll-out. */
export interface RolloutProgress {
  readonly devices: number;
  readonly applied: number;
  readonly failed: number;
  /** They have not said yet if they can use the version. */
  readonly waiting: number;
  /** Among those that wait. */
  readonly offline: number;
}

/** Limits of a shadow: before the first step, some devices decode frames by the new version as well. */
export interface ShadowLimits {
  /** Per cent of the group that compare, and at least one device. */
  readonly sharePercent: number;
  /** They compare each of so many frames. */
  readonly every: number;
  /** Per cent of boxes that have to agree. */
  readonly minAgreementPercent: number;
  /** Frames with boxes that have to be compared, in all. */
  readonly minFrames: number;
  /** Per cent that a frame may take longer. */
  readonly maxSlowdownPercent: number;
  /** True: devices send snaps of their largest disagreements. */
  readonly snaps: boolean;
}

export interface RolloutShadow extends ShadowLimits {
  /** True while devices compare. No device has the version then. */
  readonly isRunning: boolean;
  readonly result: ShadowResult;
  /** The hundred that agree least. */
  readonly devices: readonly ShadowDevice[];
}

/** A value of the old version and one of the new; null: nothing was compared. */
export interface ShadowPair {
  readonly old: number | null;
  readonly new: number | null;
}

/** What the devices of a shadow say together. */
export interface ShadowResult {
  readonly devices: number;
  readonly reported: number;
  /** They count as agreeing in nothing. */
  readonly failed: number;
  /** Their reports did not fit, and do not count. */
  readonly refused: number;
  /** Frames with boxes that count. */
  readonly frames: number;
  /** 0 to 1. */
  readonly agreement: number | null;
  /** Boxes whose class changed, 0 to 1. */
  readonly changed: number | null;
  /** 1.2: a frame takes a fifth longer. */
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
  /** Why it failed or was refused. */
  readonly message: string | null;
  readonly frames: number;
  /** Frames in which neither version found anything. */
  readonly emptyFrames: number;
  readonly matched: number;
  readonly changed: number;
  readonly onlyOld: number;
  readonly onlyNew: number;
  readonly agreement: number | null;
}

/** A model file that was sent to `/models`. */
export interface ModelFile {
  readonly sha256: string;
  readonly size: number;
  readonly name: string;
  readonly createdAt: string;
  /** False while bytes are missing. */
  readonly isComplete: boolean;
  /** Applications with versions that name it. */
  readonly appIdentifiers: readonly string[];
  /** Devices that should run such a version. */
  readonly deviceCount: number;
}

/** Bytes of the team's files, and its limits. */
export interface TeamStorage {
  readonly modelBytes: number;
  readonly modelBytesLimit: number;
  readonly snapBytes: number;
  readonly snapBytesLimit: number;
}

export interface NewApp {
  readonly name: string;
  /** By default made of the name. */
  readonly identifier?: string;
  readonly tags?: readonly string[];
  /** By default NETWORK. */
  readonly purpose?: AppPurpose;
}

/** Content of a version. */
export interface NewAppVersion {
  /** NN_config, nn_config or an NN Archive's config.json. Without it the model file says how to decode. */
  readonly config?: Readonly<Record<string, unknown>> | null;
  /** Options of boxwright's createDetector. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly snaps?: readonly SnapRule[];
  /** A model file that was sent to `/models`. */
  readonly modelSha256?: string | null;
  /** Alone, for an application of the purpose AGENT: what `boxwright-agent release sign` printed. */
  readonly release?: { readonly release: string; readonly signature: string };
  /** Number of the newest version that you saw, 0 for none. The hub refuses the save if there is a newer one. */
  readonly ifNewest?: number;
}

/** Who is given a version: one device, or a group. */
export type AppTarget = { readonly deviceId: string } | { readonly groupId: string };

export interface Rollout {
  /** Per cent of the group that get the version first. Repeat with more to widen the roll-out. */
  readonly share?: number;
  /**
   * Count of devices that cannot use the version at which the roll-out stops. By default what it had before, else 1, or
   * 5 with `steps`.
   */
  readonly failureLimit?: number;
  /** Instead of `share`: ascending shares. The hub opens the next one by itself. */
  readonly steps?: readonly number[];
  /** Per cent of a step's devices that use the version before the next step opens. By default 90. */
  readonly successPercent?: number;
  /** Per cent of failing devices at which the roll-out stops, once `failureLimit` is reached as well. By default 5. */
  readonly errorPercent?: number;
  /** Minutes that a step is open at least. By default 60. */
  readonly waitMinutes?: number;
  /** Beside `steps`: before the first one, some devices decode frames by the version in shadow of the old one. */
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
  /** The hub refuses it while a device or a group is given the application. */
  deleteApp(appId: string): Promise<App>;
  /** Checks content with boxwright and saves it. `isNew` is false if the application had this content before. */
  saveAppVersion(
    appId: string,
    content: NewAppVersion,
  ): Promise<{ readonly version: AppVersion; readonly isNew: boolean }>;
  /** Gives a version to a device or a group. An older version goes back to it. */
  assignApp(appId: string, version: number, target: AppTarget, rollout?: Rollout): Promise<AppAssignment>;
  /** Takes the application away. Devices go on with what they have. */
  unassignApp(target: AppTarget, ifRevision?: number, purpose?: AppPurpose): Promise<void>;
  /** All devices of the group get the version that the others have. */
  endAppRollout(groupId: string, ifRevision?: number, purpose?: AppPurpose): Promise<void>;
  models(): Promise<ModelFile[]>;
  /** The hub refuses it while a version of an application names the file. */
  removeModel(sha256: string): Promise<void>;
  storage(): Promise<TeamStorage>;
}

const APPS_A_PAGE = 100;
/** A version holds its config and a description: some ten kilobytes each. */
const VERSIONS_A_PAGE = 20;
const GATES = "rolloutSteps rolloutSuccessPercent rolloutErrorPercent rolloutWaitMinutes rolloutStepOpenedAt";
const LIMITS = "sharePercent every minAgreementPercent minFrames maxSlowdownPercent snaps";
const PAIRS = ["confidence", "decodeMs", "memoryBytes"].map((name) => `${name} { old new }`).join(" ");
const RESULT = `result { devices reported failed refused frames agreement changed slowdown ${PAIRS} }`;
const COMPARED = "frames emptyFrames matched changed onlyOld onlyNew agreement";
const SHADOW = `rolloutShadow { ${LIMITS} isRunning ${RESULT} devices { deviceId reportedAt state message ${COMPARED} } }`;
const ASSIGNMENT = `deviceId groupId version rolloutVersion rolloutShare rolloutState rolloutFailureLimit ${GATES} rolloutProgress { devices applied failed waiting offline } ${SHADOW} revision changedAt changedBy`;
const APP = `id identifier name purpose tags createdAt updatedAt newestVersion { number hash } assignments { ${ASSIGNMENT} }`;
const MODEL = "sha256 size name createdAt isComplete appIdentifiers deviceCount";
const VERSION =
  "number hash etag config options snaps model { sha256 size name } release description createdAt createdBy appliedCount failedCount";

export function createAppOperations({ read, all, mutation }: Toolbox): AppOperations {
  const id = { appId: "ID!" };
  const gates = { steps: "[Int!]", successPercent: "Int", errorPercent: "Int", waitMinutes: "Int" };
  const shadow = { shadow: "RolloutShadowInput" };
  const target = { deviceId: "ID", groupId: "ID", ifRevision: "Int" };
  const one = read<App | null>("app", id, `{ ${APP} }`);
  const create = mutation<{ app: App }>(
    "createApp",
    { name: "String!", identifier: "String", tags: "[String!]", purpose: "AppPurpose" },
    `app { ${APP} }`,
  );
  const update = mutation<{ app: App }>("updateApp", { ...id, name: "String", tags: "[String!]" }, `app { ${APP} }`);
  const remove = mutation<{ app: App }>("deleteApp", id, `app { ${APP} }`);
  const save = mutation<{ version: AppVersion; isNew: boolean }>(
    "saveAppVersion",
    { ...id, config: "JSON", options: "JSON", snaps: "JSON", modelSha256: "String", release: "JSON", ifNewest: "Int" },
    `version { ${VERSION} } isNew`,
  );
  const assign = mutation<{ assignment: AppAssignment }>(
    "assignApp",
    { ...id, version: "Int!", share: "Int", failureLimit: "Int", ...gates, ...shadow, ...target },
    `assignment { ${ASSIGNMENT} }`,
  );
  const unassign = mutation("unassignApp", { ...target, purpose: "AppPurpose" }, "");
  const end = mutation("endAppRollout", { groupId: "ID!", ifRevision: "Int", purpose: "AppPurpose" }, "");
  const removeModel = mutation("removeModel", { sha256: "String!" }, "");
  const storage = read<TeamStorage>("storage", {}, "{ modelBytes modelBytesLimit snapBytes snapBytesLimit }");
  return {
    apps: () => all<App>({ field: "apps", selection: APP, rows: APPS_A_PAGE }),
    app: (appId) => one({ appId }),
    appVersions: (appId) =>
      all<AppVersion>({
        ...{ field: "versions", of: { field: "app", args: id }, values: { appId } },
        ...{ selection: VERSION, rows: VERSIONS_A_PAGE },
      }),
    createApp: async (wanted) => (await create(wanted)).app,
    updateApp: async (appId, wanted) => (await update({ appId, ...wanted })).app,
    deleteApp: async (appId) => (await remove({ appId })).app,
    saveAppVersion: async (appId, content) => {
      const { version, isNew } = await save({ appId, ...content });
      return { version, isNew };
    },
    assignApp: async (appId, version, whom, rollout) =>
      (await assign({ appId, version, ...whom, ...rollout })).assignment,
    unassignApp: async (whom, ifRevision, purpose) => void (await unassign({ ...whom, ifRevision, purpose })),
    models: () => all<ModelFile>({ field: "models", selection: MODEL, rows: APPS_A_PAGE }),
    removeModel: async (sha256) => void (await removeModel({ sha256 })),
    storage: () => storage({}),
    endAppRollout: async (groupId, ifRevision, purpose) => void (await end({ groupId, ifRevision, purpose })),
  };
}
