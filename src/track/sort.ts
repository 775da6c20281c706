/** SORT (Bewley et al., 2016, "Simple Online and Realtime Tracking"). Every detection starts a track. */
import { AreaFilter, FILTER } from "./filter.ts";
import type { TrackerFrame } from "./frame.ts";
import { Matching, addOverlaps, dropBelow } from "./match.ts";
import { type Method, framesOf } from "./method.ts";
import type { Complete, SortOptions } from "./options.ts";
import { REMOVED, Tracks } from "./tracks.ts";

export class Sort implements Method {
  readonly tracks = new Tracks();
  private readonly options: Complete<SortOptions>;
  private readonly filter = new AreaFilter();
  private readonly matching = new Matching();
  /** Centre x, centre y, area and aspect ratio of a detection. */
  private readonly measured = new Float64Array(4);

  constructor(options: Complete<SortOptions>) {
    this.options = options;
  }

  get wasCut(): boolean {
    return this.matching.assignment.wasCut;
  }

  get shownBoxes(): Float64Array {
    return this.tracks.box;
  }

  isShown(row: number, frame: TrackerFrame): boolean {
    const { minHits } = this.options;
    return this.tracks.streak[row] >= minHits || frame.count <= minHits;
  }

  step(frame: TrackerFrame): void {
    const { tracks, filter, matching: m, options } = this;
    predictAreas(tracks, filter, frame);
    listAll(m, tracks, frame);
    const isOneToOne = addOverlaps(m, tracks, tracks.box, frame, options.iouThreshold);
    if (isOneToOne) m.assignment.takeAbove(options.iouThreshold);
    else m.assignment.solve();
    dropBelow(m, tracks.box, frame, options.iouThreshold);

    for (let row = 0; row < m.tracks.length; row++) {
      const d = m.detectionAt(row);
      if (d >= 0) this.find(row, d, frame);
      else tracks.streak[row] = 0;
    }
    for (let d = 0; d < frame.length; d++) if (!m.isTaken(d)) this.start(d, frame);
    tracks.giveUp(frame.time - framesOf(options));
  }

  private find(row: number, detection: number, frame: TrackerFrame): void {
    const { tracks, filter, measured } = this;
    measureArea(frame.boxes, detection * 4, measured, 0);
    filter.update(tracks.filter, row * FILTER, measured);
    filter.corners(tracks.filter, row * FILTER, tracks.box, row * 4);
    tracks.find(row, detection, frame);
  }

  private start(detection: number, frame: TrackerFrame): void {
    const { tracks, filter, measured } = this;
    const row = tracks.add(frame, detection);
    measureArea(frame.boxes, detection * 4, measured, 0);
    filter.start(tracks.filter, row * FILTER, measured);
    filter.corners(tracks.filter, row * FILTER, tracks.box, row * 4);
  }
}

/** Predicts all tracks, writes their boxes, and removes those with a box that is not finite. */
export function predictAreas(tracks: Tracks, filter: AreaFilter, frame: TrackerFrame): void {
  tracks.beginFrame();
  filter.setFrames(frame.elapsed);
  for (let row = 0; row < tracks.length; row++) {
    const at = row * FILTER;
    filter.keepArea(tracks.filter, at);
    filter.predict(tracks.filter, at);
    filter.corners(tracks.filter, at, tracks.box, row * 4);
    // Corners are NaN if area or ratio is negative.
    if (!Number.isFinite(tracks.box[row * 4] + tracks.box[row * 4 + 3])) tracks.stage[row] = REMOVED;
  }
  tracks.sweep();
}

function listAll(m: Matching, tracks: Tracks, frame: TrackerFrame): void {
  m.clear();
  for (let row = 0; row < tracks.length; row++) m.tracks.push(row);
  for (let d = 0; d < frame.length; d++) m.detections.push(d);
}

/** Writes centre x, centre y, area and width / height of a box. `extra` is added to the height in the ratio. */
export function measureArea(boxes: Float64Array, box: number, to: Float64Array, extra: number): void {
  const width = boxes[box + 2] - boxes[box];
  const height = boxes[box + 3] - boxes[box + 1];
  to[0] = boxes[box] + width / 2;
  to[1] = boxes[box + 1] + height / 2;
  to[2] = width * height;
  to[3] = width / (height + extra);
}
