/**
 * Reads what was seen: one row for each camera, minute of capture and label. Timelines and searches read these rows,
 * at most 1,440 a day per label, instead of stored detections.
 */
import type { Database, Queries, Value } from "boxwright-service/database";
import { EVERY_FRAME, type Seen, UNITS, settleForReader } from "./count-seen.ts";

export type Unit = keyof typeof UNITS;

/** Largest number of rows that a search reads. */
const MOST_ROWS = 20_000;
/** Number of rows that a search of events reads first. More rows are needed only if events are long. */
const FIRST_ROWS = 1000;
/** Largest number of minutes between two sightings of a label in the same event. */
const SAME_EVENT_MINUTES = 2;

/** Deletes the counts of the minutes before the earliest stored frame. */
export async function deleteSeen(tx: Queries): Promise<void> {
  await tx.all(
    `DELETE FROM seen WHERE minute < (SELECT coalesce(substr(min(time), 1, ${UNITS.minute}), '~') FROM frames)`,
  );
}

export interface SeenFilter {
  readonly source?: string | undefined;
  readonly subject?: string | undefined;
  readonly label?: string | undefined;
  /** Range of sortable times. `to` itself is not included. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

function whereOf({ source, subject, label, from, to }: SeenFilter): { readonly where: string; params: Value[] } {
  const given: readonly (readonly [string, string | undefined])[] = [
    ["source = ?", source],
    ["subject = ?", subject],
    ["label = ?", label],
    ["minute >= ?", from?.slice(0, UNITS.minute)],
    // Include the minute in which the range ends, unless the range ends exactly at the start of this minute.
    ["minute < ?", to?.replace(/:00\.0+Z$/, "")],
  ];
  const used = given.filter((one): one is readonly [string, string] => one[1] !== undefined);
  return { where: used.map(([text]) => text).join(" AND ") || "1 = 1", params: used.map(([, value]) => value) };
}

/** Counts of a label in one span of a timeline. */
export interface Span {
  /** Start of the span, shortened as UNITS says. */
  readonly start: string;
  readonly label: string;
  readonly frames: number;
  readonly detections: number;
  readonly best: number;
}

/** Returns the timeline of a camera: for each label and span, its counts. */
export const timeline = async (db: Database, filter: SeenFilter, unit: Unit): Promise<Span[]> => {
  await settleForReader(db);
  const { where, params } = whereOf(filter);
  return db.all<Span>(
    `SELECT substr(minute, 1, ${UNITS[unit]}) AS start, label, CAST(sum(frames) AS BIGINT) AS frames,
      CAST(sum(detections) AS BIGINT) AS detections, max(best) AS best FROM seen WHERE ${where}
      GROUP BY substr(minute, 1, ${UNITS[unit]}), label ORDER BY 1, 2 LIMIT ${MOST_ROWS}`,
    params,
  );
};

/**
 * A label on a camera, seen without a pause of more than SAME_EVENT_MINUTES. Its minutes are shortened as UNITS says.
 */
export interface SeenEvent {
  readonly source: string;
  readonly subject: string;
  readonly label: string;
  /** First minute and last minute of the event. */
  first: string;
  readonly last: string;
  frames: number;
  detections: number;
  best: number;
}

const minutesBetween = (earlier: string, later: string): number =>
  (Date.parse(`${later}Z`) - Date.parse(`${earlier}Z`)) / 60_000;

const keyOf = ({ source, subject, label }: Pick<SeenEvent, "source" | "subject" | "label">): string =>
  [source, subject, label].join("\n");

/**
 * Returns events, the latest first.
 * @param most number of rows to read. If this limit cuts an event, reads MOST_ROWS rows.
 * @returns `isWhole` is false if there may be earlier events, for which the caller passes a smaller `to`
 */
export async function findEvents(
  db: Database,
  filter: SeenFilter,
  limit: number,
  most = FIRST_ROWS,
): Promise<{ readonly events: readonly SeenEvent[]; readonly isWhole: boolean }> {
  await settleForReader(db);
  const { where, params } = whereOf(filter);
  // Order all columns downwards, as in an index that is read backwards. Any other order would sort the whole table.
  const rows = await db.all<Seen>(
    `SELECT source, subject, minute, label, frames, detections, best FROM seen WHERE ${where}
      AND label <> '${EVERY_FRAME}' ORDER BY minute DESC, source DESC, subject DESC, label DESC LIMIT ${most}`,
    params,
  );
  const events: SeenEvent[] = [];
  const open = new Map<string, SeenEvent>();
  for (const { source, subject, minute, label, frames, detections, best } of rows) {
    const key = keyOf({ source, subject, label });
    const event = open.get(key);
    if (event && minutesBetween(minute, event.first) <= SAME_EVENT_MINUTES) {
      event.first = minute;
      event.frames += frames;
      event.detections += detections;
      event.best = Math.max(event.best, best);
      continue;
    }
    const fresh = { source, subject, label, first: minute, last: minute, frames, detections, best };
    open.set(key, fresh);
    events.push(fresh);
  }
  events.sort((a, b) => (a.last === b.last ? (keyOf(a) < keyOf(b) ? -1 : 1) : a.last < b.last ? 1 : -1));
  const shown = events.slice(0, limit);
  const isEnded = ({ first }: SeenEvent): boolean => minutesBetween(rows.at(-1)!.minute, first) > SAME_EVENT_MINUTES;
  const isEnough = rows.length < most || (events.length > limit && shown.every(isEnded));
  if (!isEnough && most < MOST_ROWS) return findEvents(db, filter, limit, MOST_ROWS);
  return { events: shown, isWhole: rows.length < most && events.length <= limit };
}

/** Returns all labels that were seen, on one camera or on all cameras. */
export const labelsSeen = async (db: Database, filter: SeenFilter): Promise<string[]> => {
  await settleForReader(db);
  const { where, params } = whereOf(filter);
  const rows = await db.all<{ label: string }>(
    `SELECT DISTINCT label FROM seen WHERE ${where} AND label <> '${EVERY_FRAME}' ORDER BY label LIMIT 1000`,
    params,
  );
  return rows.map(({ label }) => label);
};

/** Yields the minutes in which a camera has seen a label, starting at a time, forwards or backwards. */
export async function* minutesSeen(
  db: Database,
  {
    source,
    subject,
    label,
    time,
    isBackwards,
  }: {
    readonly source: string;
    readonly subject: string;
    readonly label: string;
    readonly time: string | undefined;
    readonly isBackwards: boolean;
  },
): AsyncGenerator<string> {
  await settleForReader(db);
  const [sign, order, start] = isBackwards ? ["<", "DESC", "~"] : [">", "ASC", ""];
  for (let from = `${sign}= ?`, at = time?.slice(0, UNITS.minute) ?? start; ; from = `${sign} ?`) {
    const rows = await db.all<{ minute: string }>(
      `SELECT minute FROM seen WHERE source = ? AND subject = ? AND label = ? AND minute ${from}
        ORDER BY minute ${order} LIMIT 100`,
      [source, subject, label, at],
    );
    for (const { minute } of rows) yield minute;
    if (rows.length < 100) return;
    at = rows.at(-1)!.minute;
  }
}
