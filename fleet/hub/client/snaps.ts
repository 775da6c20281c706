/** Snaps: pictures that devices sent, with their detections. */
import type { Toolbox } from "./toolbox.ts";

export interface Snap {
  readonly id: string;
  readonly name: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly tags: readonly string[];
  readonly extras: Readonly<Record<string, string>>;
  readonly files: readonly EventFile[];
  readonly sourceDeviceId: string;
  readonly sourceAppIdentifier: string | null;
}

export interface SnapDetail extends Snap {
  /** CloudEvent with the detections. */
  readonly event: Readonly<Record<string, unknown>>;
}

export interface EventFile {
  readonly id: string;
  readonly name: string;
  readonly classification: string;
  readonly contentType: string;
  readonly size: number;
  readonly sha256: string;
  /** GET it with the same key. */
  readonly url: string;
}

/** A snap passes if it fits all fields that are given. One value of a list is enough; tags and extras must all fit. */
export interface SnapFilter {
  /** ISO 8601 with an offset; `to` is not included. */
  readonly createdAt?: { readonly from?: string; readonly to?: string };
  readonly sourceDeviceIds?: readonly string[];
  readonly sourceAppIdentifiers?: readonly string[];
  readonly names?: readonly string[];
  readonly tags?: readonly string[];
  /** Without `value`: any value. */
  readonly extras?: readonly { readonly key: string; readonly value?: string }[];
  readonly fileClassifications?: readonly string[];
}

export interface SnapOperations {
  /**
   * Reads the snaps that pass, the newest first, one page after the other.
   *
   *     for await (const snap of hub.snaps({ tags: ["night"] })) console.log(snap.id, snap.createdAt);
   */
  snaps(filter?: SnapFilter): AsyncGenerator<Snap, void, undefined>;
  /** Returns a snap with its detections, or null if the team has none of this id. */
  snap(snapId: string): Promise<SnapDetail | null>;
  /** Returns every tag of a snap, at most 1000. */
  snapsTags(): Promise<string[]>;
  snapsExtrasKeys(): Promise<string[]>;
  snapsExtrasKeyValues(key: string): Promise<string[]>;
  eventFile(fileId: string): Promise<EventFile | null>;
  /** Returns how many snaps were deleted. */
  deleteSnapsByIds(snapIds: readonly string[]): Promise<number>;
  /** Deletes at most 10,000 snaps, the newest first. Returns how many. The hub refuses an empty filter. */
  deleteSnapsByFilter(filter: SnapFilter): Promise<number>;
  /** Asks a device for a snap of its next frame. The device hears of it with its next heartbeat. */
  requestSnap(deviceId: string): Promise<void>;
}

const SNAPS_A_PAGE = 200;
const FILE = "id name classification contentType size sha256 url";
const SNAP = `id name createdAt tags extras files { ${FILE} } sourceDeviceId sourceAppIdentifier`;

export function createSnapOperations({ read, each, mutation }: Toolbox): SnapOperations {
  const one = read<SnapDetail | null>("snap", { snapId: "ID!" }, `{ ${SNAP} event }`);
  const file = read<EventFile | null>("eventFile", { fileId: "ID!" }, `{ ${FILE} }`);
  const tags = read<string[]>("snapsTags", {}, "");
  const keys = read<string[]>("snapsExtrasKeys", {}, "");
  const values = read<string[]>("snapsExtrasKeyValues", { key: "String!" }, "");
  const counted = "deletedCount";
  const byIds = mutation<{ deletedCount: number }>("deleteSnapsByIds", { snapIds: "[ID!]!" }, counted);
  const byFilter = mutation<{ deletedCount: number }>(
    "deleteSnapsByFilter",
    { filter: "EventSnapFilterInput!" },
    counted,
  );
  const request = mutation("requestSnap", { deviceId: "ID!" }, "");
  return {
    snaps: (filter = {}) =>
      each<Snap>({
        ...{ field: "snaps", selection: SNAP, rows: SNAPS_A_PAGE },
        ...{ args: { filter: "EventSnapFilterInput" }, values: { filter } },
      }),
    snap: (snapId) => one({ snapId }),
    snapsTags: () => tags({}),
    snapsExtrasKeys: () => keys({}),
    snapsExtrasKeyValues: (key) => values({ key }),
    eventFile: (fileId) => file({ fileId }),
    deleteSnapsByIds: async (snapIds) => (await byIds({ snapIds })).deletedCount,
    deleteSnapsByFilter: async (filter) => (await byFilter({ filter })).deletedCount,
    requestSnap: async (deviceId) => void (await request({ deviceId })),
  };
}
