/**
 * ByteTrack (Zhang et al., 2022). Detections with a high score are matched first. Detections with a low score only keep
 * tracks alive. A track that starts after the first frame is confirmed by its second detection.
 */
import { FILTER, HeightFilter } from "./filter.ts";
import type { TrackerFrame } from "./frame.ts";
import { Matching } from "./match.ts";
import { type Method, framesOf } from "./method.ts";
import type { ByteTrackOptions, Complete } from "./options.ts";
import { iou } from "./overlap.ts";
import { LOST, REMOVED, TRACKED, Tracks, UNCONFIRMED } from "./tracks.ts";

/** Largest cost of a match with a low score, and of a match of an unconfirmed track. */
const LOW_LIMIT = 0.5;
const UNCONFIRMED_LIMIT = 0.7;
/** Distance (1 - IoU) below which a followed and a lost track are the same object. */
const DUPLICATE = 0.15;

export class ByteTrack implements Method {
  readonly tracks = new Tracks();
  private readonly options: Complete<ByteTrackOptions>;
  private readonly filter = new HeightFilter();
  private readonly high = new Matching();
  private readonly low = new Matching();
  /** Centre x, centre y, width / height and height of a detection. */
  private readonly measured = new Float64Array(4);

  constructor(options: Complete<ByteTrackOptions>) {
    this.options = options;
  }

  get wasCut(): boolean {
    return this.high.assignment.wasCut || this.low.assignment.wasCut;
  }

  get shownBoxes(): Float64Array {
    return this.tracks.box;
  }

  isShown(row: number): boolean {
    return this.tracks.stage[row] === TRACKED;
  }

  step(frame: TrackerFrame): void {
    const { tracks, high, low, options } = this;
    const { highThreshold, lowThreshold, newThreshold, matchThreshold, fuseScore } = options;
    this.predict(frame);

    // First match all confirmed tracks, also lost ones, with the high scores.
    high.clear();
    for (let row = 0; row < tracks.length; row++)
      if (tracks.stage[row] !== UNCONFIRMED) high.tracks.push(row);
    for (let d = 0; d < frame.length; d++) if (frame.scores[d] > highThreshold) high.detections.push(d);
    this.match(high, frame, matchThreshold, fuseScore);

    // Then match the low scores with unmatched tracks that the last frame followed.
    low.clear();
    for (let row = 0; row < tracks.length; row++)
      if (tracks.stage[row] === TRACKED && tracks.detection[row] < 0) low.tracks.push(row);
    for (let d = 0; d < frame.length; d++)
      if (frame.scores[d] > lowThreshold && frame.scores[d] < highThreshold) low.detections.push(d);
    this.match(low, frame, LOW_LIMIT, false);
    setStage(low, tracks, LOST);

    // Then match unconfirmed tracks with the remaining high scores.
    high.keepFreeDetections();
    high.tracks.length = 0;
    for (let row = 0; row < tracks.length; row++)
      if (tracks.stage[row] === UNCONFIRMED) high.tracks.push(row);
    this.match(high, frame, UNCONFIRMED_LIMIT, fuseScore);
    setStage(high, tracks, REMOVED);

    for (let c = 0; c < high.detections.length; c++) {
      const d = high.detections.at(c);
      if (!high.isTaken(c) && frame.scores[d] >= newThreshold) this.start(d, frame);
    }
    const limit = framesOf(options);
    for (let row = 0; row < tracks.length; row++)
      if (tracks.stage[row] === LOST && frame.time - tracks.seen[row] > limit) tracks.stage[row] = REMOVED;
    tracks.sweep();
    this.removeDuplicates();
  }

  private predict(frame: TrackerFrame): void {
    const { tracks, filter } = this;
    tracks.beginFrame();
    filter.setFrames(frame.elapsed);
    for (let row = 0; row < tracks.length; row++) {
      if (tracks.stage[row] === UNCONFIRMED) continue;
      if (tracks.stage[row] === LOST) filter.holdHeight(tracks.filter, row * FILTER);
      filter.predict(tracks.filter, row * FILTER);
      filter.corners(tracks.filter, row * FILTER, tracks.box, row * 4);
    }
  }

  /** Matches the listed tracks and detections so that the sum of costs is smallest. An unmatched pair costs `limit`. */
  private match(m: Matching, frame: TrackerFrame, limit: number, fuseScore: boolean): void {
    const { tracks } = this;
    const offset = this.options.pixelOffset;
    m.assignment.begin(m.tracks.length, m.detections.length);
    m.listNear(frame, offset);
    for (let r = 0; r < m.tracks.length; r++) {
      const track = m.tracks.at(r);
      m.findNear(tracks.box, track);
      for (let k = 0; k < m.nearCount; k++) {
        const c = m.near[k];
        const d = m.detections.at(c);
        if (tracks.classId[track] !== frame.classIds[d]) continue;
        const overlap = iou(tracks.box, track * 4, frame.boxes, d * 4, offset);
        const gain = limit - 1 + (fuseScore ? overlap * frame.scores[d] : overlap);
        if (overlap <= 0 || gain <= 0) continue;
        const pair = m.assignment.add(r, c);
        m.assignment.weights[pair] = gain;
      }
    }
    m.assignment.solve();
    for (let r = 0; r < m.tracks.length; r++) {
      const d = m.detectionAt(r);
      if (d >= 0) this.find(m.tracks.at(r), d, frame);
    }
  }

  private find(row: number, detection: number, frame: TrackerFrame): void {
    const { tracks, filter, measured } = this;
    measureHeight(frame.boxes, detection * 4, measured);
    filter.update(tracks.filter, row * FILTER, measured);
    filter.corners(tracks.filter, row * FILTER, tracks.box, row * 4);
    tracks.stage[row] = TRACKED;
    // Write out `tracks.find`: a call here makes garbage in every frame (test/laws/garbage-track.test.ts).
    tracks.detection[row] = detection;
    tracks.seen[row] = frame.time;
    tracks.streak[row]++;
  }

  private start(detection: number, frame: TrackerFrame): void {
    const { tracks, filter, measured } = this;
    const row = tracks.add(frame, detection);
    measureHeight(frame.boxes, detection * 4, measured);
    filter.start(tracks.filter, row * FILTER, measured);
    filter.corners(tracks.filter, row * FILTER, tracks.box, row * 4);
    if (frame.count === 1) tracks.stage[row] = TRACKED;
  }

  /** Removes the younger of a followed and a lost track at the same place. At equal ages, removes the followed one. */
  private removeDuplicates(): void {
    const { tracks, options } = this;
    const { box, stage, seen, born, classId } = tracks;
    this.low.clear();
    const { tracks: lost, detections: doomed } = this.low;
    for (let row = 0; row < tracks.length; row++) if (stage[row] === LOST) lost.push(row);
    if (lost.length === 0) return;
    for (let row = 0; row < tracks.length; row++) {
      if (stage[row] === LOST) continue;
      for (let i = 0; i < lost.length; i++) {
        const other = lost.at(i);
        if (classId[row] !== classId[other]) continue;
        if (1 - iou(box, row * 4, box, other * 4, options.pixelOffset) >= DUPLICATE) continue;
        doomed.push(seen[row] - born[row] > seen[other] - born[other] ? other : row);
      }
    }
    // Compare all pairs before removing any, as published.
    for (let i = 0; i < doomed.length; i++) stage[doomed.at(i)] = REMOVED;
    tracks.sweep();
  }
}

/** Sets the stage of the listed tracks without a match. */
function setStage(m: Matching, tracks: Tracks, stage: number): void {
  for (let r = 0; r < m.tracks.length; r++) if (m.detectionAt(r) < 0) tracks.stage[m.tracks.at(r)] = stage;
}

function measureHeight(boxes: Float64Array, box: number, to: Float64Array): void {
  const width = boxes[box + 2] - boxes[box];
  const height = boxes[box + 3] - boxes[box + 1];
  to[0] = boxes[box] + width / 2;
  to[1] = boxes[box + 1] + height / 2;
  to[2] = width / height;
  to[3] = height;
}
