/** The tracks of OC-SORT. */
import { FILTER } from "./filter.ts";
import type { TrackerFrame } from "./frame.ts";
import { Tracks } from "./tracks.ts";

/** Tracks that remember their detections, except the first, as published. */
export class ObservedTracks extends Tracks {
  /** Count of detections in the track's ring, the newest ones. */
  remembered = new Int32Array(0);
  /** Position of the newest detection in the ring. */
  newest = new Int32Array(0);
  /** Rings of corners and times, `ring` entries per track. */
  ringBoxes = new Float64Array(0);
  ringTimes = new Float64Array(0);
  /** The track's last detection. */
  last = new Float64Array(0);
  /** Unit vector of the direction, y before x; 0, 0 if unknown. */
  direction = new Float64Array(0);
  /** Centre, area and ratio of the last detection with which the filter was corrected. */
  measured = new Float64Array(0);
  /** Filter and time at the first frame of a gap. The time is NaN outside gaps. */
  frozen = new Float64Array(0);
  frozenAt = new Float64Array(0);
  private readonly ring: number;

  /** @param ring count of detections that a track remembers */
  constructor(ring: number) {
    super([
      ["remembered", 1],
      ["newest", 1],
      ["ringBoxes", ring * 4],
      ["ringTimes", ring],
      ["last", 4],
      ["direction", 2],
      ["measured", 4],
      ["frozen", FILTER],
      ["frozenAt", 1],
    ]);
    this.ring = ring;
  }

  override add(frame: TrackerFrame, detection: number): number {
    const row = super.add(frame, detection);
    this.remembered[row] = 0;
    this.newest[row] = -1;
    this.direction[row * 2] = this.direction[row * 2 + 1] = 0;
    this.frozenAt[row] = NaN;
    return row;
  }

  /** Remembers a detection. A detection within half a frame of the last one replaces it. */
  remember(row: number, detection: number, frame: TrackerFrame): void {
    const { ring } = this;
    const { boxes, time } = frame;
    const n = this.remembered[row];
    const isNear = n > 0 && time - this.ringTimes[row * ring + this.newest[row]] < 0.5;
    if (!isNear) {
      this.newest[row] = (this.newest[row] + 1) % ring;
      this.remembered[row] = Math.min(ring, n + 1);
    }
    const place = row * ring + this.newest[row];
    this.ringTimes[place] = time;
    for (let i = 0; i < 4; i++)
      this.ringBoxes[place * 4 + i] = this.last[row * 4 + i] = boxes[detection * 4 + i];
  }

  /** Returns the index in `ringBoxes` of the detection from `frames` ago, or the oldest; -1 for none. */
  earlier(row: number, frame: TrackerFrame, frames: number): number {
    const { ring, ringTimes } = this;
    const { time } = frame;
    const n = this.remembered[row];
    if (n === 0) return -1;
    for (let ago = frames; ago > 0; ago--)
      for (let i = 0; i < n; i++) {
        const place = row * ring + i;
        if (Math.abs(time - ago - ringTimes[place]) < 0.5) return place * 4;
      }
    return (row * ring + this.newest[row]) * 4;
  }
}
