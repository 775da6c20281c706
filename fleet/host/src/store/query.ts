/** Reads stored frames and cameras. */
import { millisecondsOf, sortableNow, sortableTime } from "../core/time.ts";
import type { Database, Queries, Value } from "boxwright-service/database";
import { labelOf } from "./count-seen.ts";
import { minutesSeen } from "./seen.ts";
import { type Camera, CLOCK_SLACK_MS, SEQUENCES_PER_START, type StoredFrame } from "./frames.ts";

/** Position in the order of frames: time, sequence, id, source. */
export type Cursor = readonly [time: string, sequence: number, id: string, source: string];

export interface FrameFilter {
  readonly source?: string | undefined;
  readonly subject?: string | undefined;
  readonly after?: Cursor | undefined;
  /** Only frames before this position, the latest first. */
  readonly before?: Cursor | undefined;
  /** Only frames with this label. Needs `source` and `subject`. */
  readonly label?: string | undefined;
  /**
   * The host's time. Frames from the future are left out until their time comes. Otherwise, a reader that continues
   * after the last frame would find no new frames until that time.
   */
  readonly now: number;
  /** True: only frames from the future. */
  readonly isFuture?: boolean;
}

const PAGE = 500;

/** Yields frames ordered by time of capture, sequence and id. With `before`, the order is reversed. */
export async function* framesInOrder(db: Database, filter: FrameFilter, limit: number): AsyncGenerator<StoredFrame> {
  const { source, subject, label } = filter;
  const isBackwards = filter.before !== undefined;
  if (label === undefined || source === undefined || subject === undefined) {
    yield* framesOf(db, filter, limit);
    return;
  }
  const [time] = filter.before ?? filter.after ?? [];
  let left = limit;
  // Read only minutes in which the label was seen, since a label may be in one frame of a million.
  for await (const minute of minutesSeen(db, { source, subject, label, time, isBackwards }))
    for await (const frame of framesOf(db, { ...filter, minute }, Infinity)) {
      if (!(JSON.parse(frame.detections) as object[]).some((one) => labelOf(one) === label)) continue;
      yield frame;
      if (--left === 0) return;
    }
}

/** @param filter its field `minute` is a minute of capture, in the form that `seen` stores */
async function* framesOf(
  db: Queries,
  { source, subject, after, before, now, isFuture = false, minute }: FrameFilter & { readonly minute?: string },
  limit: number,
): AsyncGenerator<StoredFrame> {
  const [sign, order] = before === undefined ? [">", "ASC"] : ["<", "DESC"];
  let from = before ?? after;
  for (let left = limit; left > 0;) {
    const size = Math.min(left, PAGE);
    const wheres: string[] = [];
    const params: Value[] = [];
    const add = (where: string, ...values: Value[]): void => {
      wheres.push(where);
      params.push(...values);
    };
    if (source !== undefined) add("source = ?", source);
    if (subject !== undefined) add("subject = ?", subject);
    if (minute !== undefined) add("time >= ? AND time < ?", minute, `${minute}~`);
    add(isFuture ? "time > ?" : "time <= ?", sortableNow(now + CLOCK_SLACK_MS));
    if (from !== undefined) add(`(time, sequence, id, source) ${sign} (?, ?, ?, ?)`, ...from);
    const by = ["time", "sequence", "id", "source"].map((name) => `${name} ${order}`).join(", ");
    const sql = `SELECT * FROM frames WHERE ${wheres.join(" AND ")} ORDER BY ${by} LIMIT ?`;
    const rows = await db.all<StoredFrame>(sql, [...params, size]);
    yield* rows;
    if (rows.length < size) return;
    left -= size;
    from = cursorOf(rows.at(-1)!);
  }
}

const cursorOf = ({ time, sequence, id, source }: StoredFrame): Cursor => [time, sequence, id, source];

/** Returns the position of a frame as text for a URL. */
export const cursorText = (frame: StoredFrame): string =>
  Buffer.from(JSON.stringify(cursorOf(frame))).toString("base64url");

/**
 * Parses `after` or `before`. A cursor is returned as it is. An RFC 3339 time becomes the position after all frames of
 * that time, or before them. Returns undefined for other text.
 */
export function readCursor(text: string, name: "after" | "before" = "after"): Cursor | undefined {
  const time = sortableTime(text);
  if (time !== undefined) return [time, name === "after" ? Number.MAX_SAFE_INTEGER : -2, "", ""];
  try {
    const found: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    const forms = ["string", "number", "string", "string"];
    if (Array.isArray(found) && found.length === 4 && found.every((value, i) => typeof value === forms[i]))
      return Number.isSafeInteger(found[1]) ? (found as unknown as Cursor) : undefined;
  } catch {
    // Ignore the error: the text is neither a cursor nor a time.
  }
  return undefined;
}

/** Returns a frame as a line of NDJSON. `detections` and `frame` already are JSON. */
export function frameLine(row: StoredFrame): string {
  const { source, id, subject, time, sequence, config, kind, frame, detections, stored_at } = row;
  const ahead = millisecondsOf(time) - stored_at;
  const head = JSON.stringify({
    source,
    id,
    subject: subject === "" ? null : subject,
    time,
    sequence: sequence < 0 ? null : sequence,
    config,
    kind,
    storedAt: new Date(stored_at).toISOString(),
    ...(ahead > CLOCK_SLACK_MS && { clockAheadMs: ahead }),
    cursor: cursorText(row),
  });
  return `${head.slice(0, -1)},"frame":${frame ?? "null"},"detections":${detections}}\n`;
}

export async function frameById(db: Queries, source: string, id: string): Promise<StoredFrame | undefined> {
  const [row] = await db.all<StoredFrame>("SELECT * FROM frames WHERE source = ? AND id = ?", [source, id]);
  return row;
}

/** Returns the frame of a camera with exactly this time of capture. */
export async function frameByTime(
  db: Queries,
  source: string,
  subject: string,
  time: string,
): Promise<StoredFrame | undefined> {
  const [row] = await db.all<StoredFrame>(
    "SELECT * FROM frames WHERE source = ? AND subject = ? AND time = ? ORDER BY sequence, id LIMIT 1",
    [source, subject, time],
  );
  return row;
}

/** A camera with what is missing, and the name of its device. */
export interface CameraRow extends Camera {
  /**
   * Number of sequences without a frame, between the first and last sequence of each start. Negative if a sequence came
   * twice.
   */
  readonly gaps: number | null;
  /** Name of the device in its hub; null if its packets came without a hub's token. */
  readonly name: string | null;
}

/**
 * SQL of the first sequence of a start. An agent counts from `start * SEQUENCES_PER_START`, so dropped frames before
 * the first arrival count as missing too. Start 0 belongs to other senders, which may begin at any sequence.
 */
const FIRST = `(CASE WHEN start > 0 THEN start * ${SEQUENCES_PER_START} ELSE first_sequence END)`;

/** SQL that counts the missing sequences of a camera. The result is negative if sequences of a start came twice. */
const GAPS = `SELECT CASE WHEN min(last_sequence - ${FIRST} + 1 - frames) < 0 THEN -1
  ELSE CAST(sum(last_sequence - ${FIRST} + 1 - frames) AS BIGINT) END
  FROM camera_starts AS s WHERE s.source = cameras.source AND s.subject = cameras.subject`;

/** Counts over all cameras, whichever host stored their frames. */
export interface FleetTotals {
  readonly cameras: number;
  readonly frames: number;
  readonly detections: number;
}

export async function fleetTotals(db: Queries): Promise<FleetTotals> {
  const [row] = await db.all<FleetTotals>(
    `SELECT count(*) AS cameras, CAST(coalesce(sum(frames), 0) AS BIGINT) AS frames,
      CAST(coalesce(sum(detections), 0) AS BIGINT) AS detections FROM cameras`,
  );
  return row ?? { cameras: 0, frames: 0, detections: 0 };
}

/** Returns the mean milliseconds between arrivals of a camera's last frames; null for fewer than two frames. */
export async function arrivalInterval(db: Queries, source: string, subject: string): Promise<number | null> {
  const [row] = await db.all<{ first: number; last: number; n: number }>(
    `SELECT min(stored_at) AS first, max(stored_at) AS last, count(*) AS n FROM
      (SELECT stored_at FROM frames WHERE source = ? AND subject = ? ORDER BY time DESC LIMIT 10) AS newest`,
    [source, subject],
  );
  return row && row.n > 1 ? (row.last - row.first) / (row.n - 1) : null;
}

/** Returns the cameras whose packets arrived last. */
export const cameras = (db: Queries, limit: number): Promise<CameraRow[]> =>
  db.all<CameraRow>(
    `SELECT cameras.*, n.name AS name, (${GAPS}) AS gaps FROM cameras LEFT JOIN device_names n
      ON n.source = cameras.source ORDER BY stored_at DESC, cameras.source, subject LIMIT ?`,
    [limit],
  );

/**
 * Returns how many frames are missing: dropped, or not arrived yet. Counts within each start of the agent, since the
 * sequence jumps at a start. Returns null if some frames have no sequence, or if an agent used sequences twice, as
 * after it lost its state.
 */
export const missingOf = ({ frames, numbered, gaps }: CameraRow): number | null =>
  numbered < frames || gaps === null || gaps < 0 ? null : gaps;
