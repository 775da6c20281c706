/**
 * Counts what new frames show. The transaction that stores frames adds one row with all their counts to `seen_waiting`.
 * `settle` moves waiting counts to `seen` in a transaction of its own, so a kill loses none and counts none twice.
 *
 * A row of `seen` for each label would cost more than all the rest: 100 of 210 µs per frame with 20 labels.
 */
import { randomUUID } from "node:crypto";
import type { Database, Queries } from "boxwright-service/database";
import { UnavailableError } from "boxwright-service/errors";
import { inserter } from "./insert.ts";

/** Label of the row that counts all frames of a minute. No detection has this label. */
export const EVERY_FRAME = "";

/** Number of leading characters of a sortable time that identify a minute, ten minutes, an hour and a day, in UTC. */
export const UNITS = { minute: 16, "10 minutes": 15, hour: 13, day: 10 } as const;

/** Largest number of labels per frame that are counted, since a network can have 10,000. */
const MOST_LABELS = 100;
/** Largest number of characters of a counted label. */
const LABEL_LENGTH = 200;
/** Number of new frames after which counts are settled. */
const FRAMES = 512;
/**
 * Largest number of waiting rows that a transaction settles, and of their characters, unless one row has more. Other
 * writes wait 5 ms for 64 rows of 8 frames with 20 labels, which have about that many characters.
 */
const ROWS = 64;
const CHARACTERS = 250_000;
/** Longest time in milliseconds for which counts wait, unless somebody reads them. */
const WAIT_MS = 5000;

/** Fields of a row of `seen`. */
export interface Seen {
  readonly source: string;
  readonly subject: string;
  /** Minute of capture, shortened as UNITS says. */
  readonly minute: string;
  readonly label: string;
  frames: number;
  detections: number;
  /** Highest confidence of the label. */
  best: number;
}

interface Labelled {
  readonly label?: unknown;
  readonly class_id?: unknown;
  readonly confidence?: unknown;
}

interface LabelCount {
  count: number;
  /** Highest confidence. */
  best: number;
}

/** Replaces what PostgreSQL does not take: a zero byte, and half of a surrogate pair. */
const clean = (label: string): string => label.replace(/[\0\p{Cs}]/gu, "\ufffd");

/** Returns the label of a detection, or the class id as text if there is no label. */
export const labelOf = ({ label, class_id }: Labelled): string =>
  // Clean after the cut, which may halve a pair.
  clean((typeof label === "string" && label !== "" ? label : `class ${String(class_id)}`).slice(0, LABEL_LENGTH));

/** Returns how often each label occurs in a frame, and its highest confidence. @param most limits the labels */
export function countLabels(detections: readonly Labelled[], most = Infinity): ReadonlyMap<string, LabelCount> {
  const labels = new Map<string, LabelCount>();
  for (const one of detections) {
    const label = labelOf(one);
    const { confidence } = one;
    const best = typeof confidence === "number" && Number.isFinite(confidence) ? Math.max(confidence, 0) : 0;
    const known = labels.get(label);
    if (known) {
      known.count++;
      known.best = Math.max(known.best, best);
    } else if (labels.size < most) labels.set(label, { count: 1, best });
  }
  return labels;
}

/** Count of a label as a waiting row holds it. */
type WaitingLabel = readonly [label: string, count: number, best: number];
/** Counts of a frame as a waiting row holds them. `count` is the number of detections. */
type WaitingFrame = readonly [
  ...[source: string, subject: string, minute: string, count: number],
  labels: readonly WaitingLabel[],
];

/** Returns the counts of a frame's labels as JSON of WaitingLabels. */
export function labelCounts(detections: readonly Labelled[]): string {
  const counts: WaitingLabel[] = [];
  for (const [label, { count, best }] of countLabels(detections, MOST_LABELS)) counts.push([label, count, best]);
  return JSON.stringify(counts);
}

/** Fields of a new frame that are counted. */
export interface CountedFrame {
  readonly source: string;
  readonly subject: string;
  readonly time: string;
  readonly count: number;
  /** From `labelCounts`. */
  readonly labels: string;
}

/** Counts new frames, in the transaction that stores them. */
export async function countSeen(tx: Queries, frames: readonly CountedFrame[]): Promise<void> {
  if (frames.length === 0) return;
  const counts = frames.map(({ source, subject, time, count, labels }) => {
    const names = JSON.stringify([source, subject, time.slice(0, UNITS.minute)]);
    return `${names.slice(0, -1)},${count},${labels}]`;
  });
  await tx.all("INSERT INTO seen_waiting (id, counts) VALUES (?, ?)", [randomUUID(), `[${counts.join()}]`]);
}

const addRows = inserter<Seen>({
  into: "seen",
  columns: ["source", "subject", "minute", "label", "frames", "detections", "best"],
  onConflict: `(source, subject, minute, label) DO UPDATE SET frames = seen.frames + excluded.frames,
    detections = seen.detections + excluded.detections,
    best = CASE WHEN seen.best > excluded.best THEN seen.best ELSE excluded.best END`,
});

const compareNames = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

/** Returns one row for each camera, minute and label. */
function sumOf(frames: readonly WaitingFrame[]): Seen[] {
  const minutes = new Map<string, Map<string, Seen>>();
  for (const [source, subject, minute, count, labels] of frames) {
    const names = `${source}\n${subject}\n${minute}`;
    const rows = minutes.get(names) ?? new Map<string, Seen>();
    minutes.set(names, rows);
    const add = ([label, detections, best]: WaitingLabel): void => {
      const row = rows.get(label);
      if (row === undefined)
        return void rows.set(label, { source, subject, minute, label, frames: 1, detections, best });
      row.frames++;
      row.detections += detections;
      row.best = Math.max(row.best, best);
    };
    add([EVERY_FRAME, count, 0]);
    // Clean the labels again: rows of an earlier version may wait.
    for (const [label, ...counts] of labels) add([clean(label), ...counts]);
  }
  // Sort the rows: two hosts that count the same minutes wait for each other, and a common order prevents deadlocks.
  return [...minutes].sort(compareNames).flatMap(([, rows]) => [...rows].sort(compareNames).map(([, row]) => row));
}

/** Settles the counts of at most `limit` rows. */
async function settleSome(tx: Queries, limit: number): Promise<void> {
  const rows = await tx.all<{ counts: string }>(
    "DELETE FROM seen_waiting WHERE id IN (SELECT id FROM seen_waiting ORDER BY id LIMIT ?) RETURNING counts",
    [limit],
  );
  await addRows(tx, sumOf(rows.flatMap(({ counts }) => JSON.parse(counts) as WaitingFrame[])));
}

/** Moves the waiting counts to `seen`. */
export async function settle(db: Database): Promise<void> {
  for (;;) {
    const rows = await db.all<{ size: number }>(
      `SELECT length(counts) AS size FROM seen_waiting ORDER BY id LIMIT ${ROWS}`,
    );
    if (rows.length === 0) return;
    let [limit, sum] = [1, rows[0]!.size];
    while (limit < rows.length && (sum += rows[limit]!.size) <= CHARACTERS) limit++;
    // Do not wait for the disk: a power failure that undoes the transaction brings the waiting rows back.
    await db.write((tx) => settleSome(tx, limit), { durable: false });
    if (limit === rows.length && limit < ROWS) return;
  }
}

/** Settles counts before they are read. If the database takes no writes, the reader gets the settled counts. */
export const settleForReader = (db: Database): Promise<void> =>
  settle(db).catch((error: unknown) => {
    if (!(error instanceof UnavailableError)) throw error;
  });

/** Settles the counts of new frames every WAIT_MS, and more often under load. */
export class Settler {
  readonly #db: Database;
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  /** Number of new frames since the counts were last settled. */
  #waiting = 0;

  constructor(db: Database, onError: (error: unknown) => void) {
    this.#db = db;
    this.#onError = onError;
    // A killed host may have left counts.
    this.#settleLater();
  }

  /** Notes a number of new frames. */
  note(frames: number): void {
    this.#settleLater();
    this.#waiting += frames;
    if (this.#waiting >= FRAMES) this.#settle();
  }

  #settleLater(): void {
    this.#timer ??= setTimeout(() => this.#settle(), WAIT_MS).unref();
  }

  #settle(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting = 0;
    this.#running = this.#running.then(() => settle(this.#db)).catch(this.#onError);
  }

  /** Settles all counts for the last time. */
  async stop(): Promise<void> {
    this.#settle();
    await this.#running;
  }
}
