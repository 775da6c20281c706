/** The state of all tracks of a tracker: one row per track, in order of birth, as columns that grow. */
import { FILTER } from "./filter.ts";
import type { TrackerFrame } from "./frame.ts";
import { room } from "./lists.ts";

/** Stage of a track. */
export const UNCONFIRMED = 0;
export const TRACKED = 1;
export const LOST = 2;
export const REMOVED = 3;

export class Tracks {
  length = 0;
  private lastId = 0;

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

  /** Removes marked tracks and closes the gaps. */
  sweep(): void {
    let kept = 0;
    for (let row = 0; row < this.length; row++) {
      if (this.stage[row] === REMOVED) continue;
      if (kept !== row) this.move(row, kept);
      kept++;
    }
    this.length = kept;
  }

  /** Copies a row over another one. */
  protected move(from: number, to: number): void {
    this.id[to] = this.id[from];
    this.stage[to] = this.stage[from];
    this.classId[to] = this.classId[from];
    this.streak[to] = this.streak[from];
    this.detection[to] = this.detection[from];
    this.born[to] = this.born[from];
    this.seen[to] = this.seen[from];
    this.filter.copyWithin(to * FILTER, from * FILTER, (from + 1) * FILTER);
    this.box.copyWithin(to * 4, from * 4, (from + 1) * 4);
  }

  /** Makes room for at least one more track. */
  protected grow(): void {
    const n = Math.max(16, 2 * this.id.length);
    this.id = room(this.id, n);
    this.stage = room(this.stage, n);
    this.classId = room(this.classId, n);
    this.streak = room(this.streak, n);
    this.detection = room(this.detection, n);
    this.born = room(this.born, n);
    this.seen = room(this.seen, n);
    this.filter = room(this.filter, n * FILTER);
    this.box = room(this.box, n * 4);
  }
}
