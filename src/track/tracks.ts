/** The state of all tracks of a tracker: one row per track, oldest first, in columns that grow. */
import { FILTER } from "./filter.ts";
import type { TrackerFrame } from "./frame.ts";
import { type Column, room } from "./lists.ts";

/** Stage of a track. */
export const UNCONFIRMED = 0;
export const TRACKED = 1;
export const LOST = 2;
export const REMOVED = 3;

/** A column by name, and how many values of it a track has. */
type Width = readonly [column: string, values: number];

const WIDTHS: readonly Width[] = [
  ["id", 1],
  ["stage", 1],
  ["classId", 1],
  ["streak", 1],
  ["detection", 1],
  ["born", 1],
  ["seen", 1],
  ["filter", FILTER],
  ["box", 4],
];

export class Tracks {
  length = 0;
  private lastId = 0;
  private readonly widths: readonly Width[];

  id = new Int32Array(0);
  stage = new Uint8Array(0);
  classId = new Int32Array(0);
  /** Count of consecutive frames in which the track was found. */
  streak = new Int32Array(0);
  /** Detection matched in this frame, -1 for none. */
  detection = new Int32Array(0);
  /** Times of birth and of the last match, in frames. */
  born = new Float64Array(0);
  seen = new Float64Array(0);
  filter = new Float64Array(0);
  /** Corners of the filter's box: x1, y1, x2, y2 in pixels. */
  box = new Float64Array(0);

  /** @param more columns of a derived class */
  constructor(more: readonly Width[] = []) {
    this.widths = [...WIDTHS, ...more];
  }

  /** Adds a track for a detection, with the next id. Returns its row. */
  add(frame: TrackerFrame, detection: number): number {
    const row = this.length++;
    if (row >= this.id.length) this.grow();
    this.id[row] = ++this.lastId;
    this.stage[row] = UNCONFIRMED;
    this.classId[row] = frame.classIds[detection];
    this.streak[row] = 0;
    this.detection[row] = detection;
    this.born[row] = this.seen[row] = frame.time;
    return row;
  }

  beginFrame(): void {
    this.detection.fill(-1, 0, this.length);
  }

  /** Removes tracks whose last detection was before a time, in frames. */
  giveUp(time: number): void {
    for (let row = 0; row < this.length; row++) if (this.seen[row] < time) this.stage[row] = REMOVED;
    this.sweep();
  }

  /** Removes tracks whose stage is REMOVED, and closes the gaps. */
  sweep(): void {
    let kept = 0;
    for (let row = 0; row < this.length; row++) {
      if (this.stage[row] === REMOVED) continue;
      if (kept !== row) this.move(row, kept);
      kept++;
    }
    this.length = kept;
  }

  /** Records that a track was found. */
  find(row: number, detection: number, frame: TrackerFrame): void {
    this.detection[row] = detection;
    this.seen[row] = frame.time;
    this.streak[row]++;
  }

  /** Copies a row over another one. */
  private move(from: number, to: number): void {
    const columns = this as unknown as Record<string, Column>;
    for (const [name, n] of this.widths) columns[name].copyWithin(to * n, from * n, (from + 1) * n);
  }

  /** Makes room for at least one more track. */
  private grow(): void {
    const columns = this as unknown as Record<string, Column>;
    const rows = Math.max(16, 2 * this.id.length);
    for (const [name, n] of this.widths) columns[name] = room(columns[name], rows * n);
  }
}
