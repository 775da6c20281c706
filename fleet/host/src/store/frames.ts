/** Defines a stored frame, and stores many frames in a transaction. */
import { millisecondsOf } from "../core/time.ts";
import type { Queries } from "boxwright-service/database";
import { inserter } from "./insert.ts";
import { countSeen } from "./count-seen.ts";

/** A frame with its detections. `source` and `id` together identify the frame. */
export interface StoredFrame {
  readonly source: string;
  readonly id: string;
  /** The camera; "" if the packet names none. */
  readonly subject: string;
  /** Time of capture, as `sortableTime` writes it. */
  readonly time: string;
  /**
   * Sequence number of the frame; -1 if the packet has none. It grows by 1 from frame to frame of a camera. Each start
   * of an agent begins at the next multiple of SEQUENCES_PER_START.
   */
  readonly sequence: number;
  readonly config: string | null;
  readonly kind: "raw" | "detection";
  /** JSON of the image's size and resizing. Null: boxes are relative to the network's input. */
  readonly frame: string | null;
  readonly count: number;
  /** JSON list of detections. */
  readonly detections: string;
  /** Milliseconds since 1970. */
  readonly stored_at: number;
}

/** A frame to store. */
export interface NewFrame extends StoredFrame {
  /** From `labelCounts`. */
  readonly labels: string;
}

const COLUMNS = [
  ...["source", "id", "subject", "time", "sequence", "config", "kind", "frame", "count", "detections", "stored_at"],
] as readonly (keyof StoredFrame)[];

/** Count of sequence numbers that an agent reserves for each of its starts (agent/src/core/starts.ts). */
export const SEQUENCES_PER_START = 2 ** 32;

/** Inserts frames. Returns those that were not stored before. */
const addFrames = inserter<StoredFrame, { source: string; id: string }>({
  into: "frames",
  columns: COLUMNS,
  onConflict: "(source, id) DO NOTHING RETURNING source, id",
});

const keyOf = ({ source, id }: { readonly source: string; readonly id: string }): string => `${source}\n${id}`;

/**
 * Stores frames, each once, and updates the counts of their cameras.
 * @returns for each frame, true if it is new
 */
export async function insertFrames(tx: Queries, frames: readonly NewFrame[]): Promise<boolean[]> {
  // Sort the frames: two hosts that store the same frames wait for each other's rows, and a common order prevents
  // deadlocks.
  const sorted = [...frames].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const found = await addFrames(tx, sorted);
  const fresh = new Set(found.map(keyOf));
  // Delete each found key, so that a frame that is twice in the batch counts as new only once.
  const isNew = frames.map((frame) => fresh.delete(keyOf(frame)));
  const added = frames.filter((_, i) => isNew[i]);
  await countFrames(tx, added);
  await countSeen(tx, added);
  return isNew;
}

/** Milliseconds by which a clock may be ahead without counting as wrong. */
export const CLOCK_SLACK_MS = 60_000;

/**
 * SQL: true if the camera's stored last frame was captured later than the new one. Ignores a stored frame from the
 * future: that frame of a wrong clock would stay the camera's last picture until its time comes.
 */
const IS_NEWER = `cameras.last_time > excluded.last_time AND cameras.latency >= -${CLOCK_SLACK_MS}`;

/** A row of `cameras`: the counts of a camera over all hosts of the database. */
export interface Camera {
  readonly source: string;
  readonly subject: string;
  readonly frames: number;
  readonly detections: number;
  /** Number of frames that have a sequence. */
  readonly numbered: number;
  readonly first_sequence: number | null;
  readonly last_sequence: number | null;
  readonly last_time: string;
  readonly last_id: string;
  /** Milliseconds from capture to storing of the newest frame. */
  readonly latency: number;
  readonly stored_at: number;
}

const addCameras = inserter<Camera>({
  into: "cameras",
  columns: [
    ...(["source", "subject", "frames", "detections", "numbered", "first_sequence", "last_sequence"] as const),
    ...(["last_time", "last_id", "latency", "stored_at"] as const),
  ],
  onConflict: `(source, subject) DO UPDATE SET
  frames = cameras.frames + excluded.frames,
  detections = cameras.detections + excluded.detections,
  numbered = cameras.numbered + excluded.numbered,
  first_sequence = CASE WHEN cameras.first_sequence <= excluded.first_sequence OR excluded.first_sequence IS NULL
    THEN cameras.first_sequence ELSE excluded.first_sequence END,
  last_sequence = CASE WHEN cameras.last_sequence >= excluded.last_sequence OR excluded.last_sequence IS NULL
    THEN cameras.last_sequence ELSE excluded.last_sequence END,
  last_id = CASE WHEN ${IS_NEWER} THEN cameras.last_id ELSE excluded.last_id END,
  latency = CASE WHEN ${IS_NEWER} THEN cameras.latency ELSE excluded.latency END,
  last_time = CASE WHEN ${IS_NEWER} THEN cameras.last_time ELSE excluded.last_time END,
  stored_at = excluded.stored_at`,
});

interface CameraStart {
  readonly source: string;
  readonly subject: string;
  readonly start: number;
  readonly frames: number;
  readonly first_sequence: number;
  readonly last_sequence: number;
}

const addStarts = inserter<CameraStart>({
  into: "camera_starts",
  columns: ["source", "subject", "start", "frames", "first_sequence", "last_sequence"],
  onConflict: `(source, subject, start) DO UPDATE SET
  frames = camera_starts.frames + excluded.frames,
  first_sequence = CASE WHEN camera_starts.first_sequence <= excluded.first_sequence
    THEN camera_starts.first_sequence ELSE excluded.first_sequence END,
  last_sequence = CASE WHEN camera_starts.last_sequence >= excluded.last_sequence
    THEN camera_starts.last_sequence ELSE excluded.last_sequence END`,
});

/** Adds new frames to the counts of their cameras, and to the counts of each start of an agent. */
async function countFrames(tx: Queries, frames: readonly StoredFrame[]): Promise<void> {
  const cameras = groupBy(frames, ({ source, subject }) => `${source}\n${subject}`);
  await addCameras(tx, cameras.map(cameraOf));
  const numbered = frames.filter(({ sequence }) => sequence >= 0);
  const starts = groupBy(numbered, (frame) => `${frame.source}\n${frame.subject}\n${startOf(frame)}`);
  await addStarts(tx, starts.map(cameraStartOf));
}

/** Groups frames by name, and sorts the groups by name: a common order prevents deadlocks. */
function groupBy(frames: readonly StoredFrame[], nameOf: (frame: StoredFrame) => string): StoredFrame[][] {
  const groups = new Map<string, StoredFrame[]>();
  for (const frame of frames) {
    const name = nameOf(frame);
    const group = groups.get(name);
    if (group) group.push(frame);
    else groups.set(name, [frame]);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

/** Returns how many starts the agent had before the start that captured a frame. */
const startOf = ({ sequence }: StoredFrame): number => Math.floor(sequence / SEQUENCES_PER_START);

function cameraStartOf(group: readonly StoredFrame[]): CameraStart {
  const { source, subject } = group[0]!;
  const sequences = group.map(({ sequence }) => sequence);
  return {
    ...{ source, subject, start: startOf(group[0]!), frames: group.length },
    ...{ first_sequence: Math.min(...sequences), last_sequence: Math.max(...sequences) },
  };
}

function cameraOf(group: readonly StoredFrame[]): Camera {
  const { source, subject } = group[0]!;
  const sequences = group.map(({ sequence }) => sequence).filter((sequence) => sequence >= 0);
  const isPossible = ({ time, stored_at }: StoredFrame): boolean => millisecondsOf(time) <= stored_at + CLOCK_SLACK_MS;
  const possible = group.filter(isPossible);
  const last = (possible.length > 0 ? possible : group).reduce((a, b) => (b.time >= a.time ? b : a));
  return {
    source,
    subject,
    frames: group.length,
    detections: group.reduce((sum, { count }) => sum + count, 0),
    numbered: sequences.length,
    first_sequence: sequences.length > 0 ? Math.min(...sequences) : null,
    last_sequence: sequences.length > 0 ? Math.max(...sequences) : null,
    last_time: last.time,
    last_id: last.id,
    latency: last.stored_at - millisecondsOf(last.time),
    stored_at: last.stored_at,
  };
}
