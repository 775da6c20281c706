/** Snaps: pictures from devices, with their detections. */
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
  /** Address of the file. GET it with the same API key. */
  readonly url: string;
}

/**
 * Filter of snaps. All given fields must match. A snap must have all entries of `tags` and `extras`. For other lists,
 * one matching entry is enough.
 */
export interface SnapFilter {
  /** Range of creation times, in ISO 8601 with an offset. The range ends before `to`. */
  readonly createdAt?: { readonly from?: string; readonly to?: string };
  readonly sourceDeviceIds?: readonly string[];
  readonly sourceAppIdentifiers?: readonly string[];
  readonly names?: readonly string[];
  readonly tags?: readonly string[];
  /** Extras that a snap must have. Without `value`, any value matches. */
  readonly extras?: readonly { readonly key: string; readonly value?: string }[];
  readonly fileClassifications?: readonly string[];
}

export interface SnapOperations {
  /**
   * Reads the snaps that match the filter, the newest first, page by page.
   *
   *     for await (const snap of hub.snaps({ tags: ["night"] })) console.log(snap.id, snap.createdAt);
   */
  snaps(filter?: SnapFilter): AsyncGenerator<Snap, void, undefined>;
  /** Returns a snap with its detections, or null if the team has no snap with this id. */
  snap(snapId: string): Promise<SnapDetail | null>;
  /** Returns all tags that snaps of the team have, at most 1,000. */
  snapsTags(): Promise<string[]>;
  snapsExtrasKeys(): Promise<string[]>;
  snapsExtrasKeyValues(key: string): Promise<string[]>;
  eventFile(fileId: string): Promise<EventFile | null>;
  /** Deletes snaps. Returns the number of deleted snaps. */
  deleteSnapsByIds(snapIds: readonly string[]): Promise<number>;
  /** Deletes at most 10,000 matching snaps, the newest first. Returns their number. The hub refuses an empty filter. */
  deleteSnapsByFilter(filter: SnapFilter): Promise<number>;
  /** Asks a device for a snap of its next frame. The answer to the device's next heartbeat carries the request. */
  requestSnap(deviceId: string): Promise<void>;
}

const SNAPS_A_PAGE = 200;
const FILE = "id name classification contentType size sha256 url";
const SNAP = `id name createdAt tags extras files { ${FILE} } sourceDeviceId sourceAppIdentifier`;

export function createSnapOperations({ read, each, change }: Toolbox): SnapOperations {
  return {
    snaps: (filter = {}) =>
      each<Snap>({
        ...{ field: "snaps", selection: SNAP, rows: SNAPS_A_PAGE },
        ...{ args: "filter: EventSnapFilterInput", values: { filter } },
      }),
    snap: read("snap", "snapId: ID!", `{ ${SNAP} event }`),
    snapsTags: read("snapsTags", "", ""),
    snapsExtrasKeys: read("snapsExtrasKeys", "", ""),
    snapsExtrasKeyValues: read("snapsExtrasKeyValues", "key: String!", ""),
    eventFile: read("eventFile", "fileId: ID!", `{ ${FILE} }`),
    deleteSnapsByIds: change("deleteSnapsByIds", "snapIds: [ID!]!", "deletedCount"),
    deleteSnapsByFilter: change("deleteSnapsByFilter", "filter: EventSnapFilterInput!", "deletedCount"),
    requestSnap: change("requestSnap", "deviceId: ID!", ""),
  };
}
