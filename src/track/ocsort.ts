/**
 * OC-SORT (Cao et al., "Observation-Centric SORT", 2023): SORT that trusts detections more than its filter. Matching
 * prefers detections in the direction of a track. What is left is matched with the last detections of the tracks. When
 * a track is found again, its filter goes back to the gap and follows a straight line through it.
 */
import { AreaFilter, FILTER } from "./filter.ts";
import type { TrackerFrame } from "./frame.ts";
import { room } from "./lists.ts";
import { Matching, addOverlaps, dropBelow } from "./match.ts";
import { type Method, framesOf } from "./method.ts";
import type { Complete, OcSortOptions } from "./options.ts";
import { iou } from "./overlap.ts";
import { measureArea, predictAreas } from "./sort.ts";
import { Tracks } from "./tracks.ts";

/** Keeps heights and distances from being 0, as published. */
const LITTLE = 1e-6;
/** Detections at or below this score are never used. */
const LOW_SCORE = 0.1;

/** Tracks that remember their detections. The first detection of a track does not count as one, as published. */
class ObservedTracks extends Tracks {
  /** Count of detections that the track remembers in its ring, the newest ones. */
  remembered = new Int32Array(0);
  /** Place of the newest detection in the ring. */
  newest = new Int32Array(0);
  /** Rings of corners and of times, `ring` places a track. */
  ringBoxes = new Float64Array(0);
  ringTimes = new Float64Array(0);
  /** The last detection, or the first one of a new track. */
  last = new Float64Array(0);
  /** Unit vector of the direction, y before x; 0, 0 if it is not known. */
  direction = new Float64Array(0);
  /** Centre, area and ratio of the last detection that the filter took. */
  measured = new Float64Array(0);
  /** Filter and time of the first frame of a gap. The time is NaN outside of gaps. */
  frozen = new Float64Array(0);
  frozenAt = new Float64Array(0);
  private readonly ring: number;

  /** @param ring count of detections that a track remembers */
  constructor(ring: number) {
    super();
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

  /** Remembers a detection. Of two within half a frame, the later one counts. */
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

  /**
   * Returns where `ringBoxes` holds the detection from `frames` ago, or from so few less as there is one; else the
   * newest. -1 if the track has none.
   */
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

  protected override move(from: number, to: number): void {
    super.move(from, to);
    const { ring } = this;
    this.remembered[to] = this.remembered[from];
    this.newest[to] = this.newest[from];
    this.ringBoxes.copyWithin(to * ring * 4, from * ring * 4, (from + 1) * ring * 4);
    this.ringTimes.copyWithin(to * ring, from * ring, (from + 1) * ring);
    this.last.copyWithin(to * 4, from * 4, (from + 1) * 4);
    this.direction.copyWithin(to * 2, from * 2, (from + 1) * 2);
    this.measured.copyWithin(to * 4, from * 4, (from + 1) * 4);
    this.frozen.copyWithin(to * FILTER, from * FILTER, (from + 1) * FILTER);
    this.frozenAt[to] = this.frozenAt[from];
  }

  protected override grow(): void {
    super.grow();
    const n = this.id.length;
    this.remembered = room(this.remembered, n);
    this.newest = room(this.newest, n);
    this.ringBoxes = room(this.ringBoxes, n * this.ring * 4);
    this.ringTimes = room(this.ringTimes, n * this.ring);
    this.last = room(this.last, n * 4);
    this.direction = room(this.direction, n * 2);
    this.measured = room(this.measured, n * 4);
    this.frozen = room(this.frozen, n * FILTER);
    this.frozenAt = room(this.frozenAt, n);
  }
}

export class OcSort implements Method {
  readonly tracks: ObservedTracks;
  private readonly options: Complete<OcSortOptions>;
  private readonly filter = new AreaFilter();
  private readonly matching = new Matching();
  private readonly low = new Matching();
  private readonly measured = new Float64Array(4);
  private readonly virtual = new Float64Array(4);

  constructor(options: Complete<OcSortOptions>) {
    this.options = options;
    this.tracks = new ObservedTracks(options.directionFrames + 1);
  }

  get shownBoxes(): Float64Array {
    return this.tracks.last;
  }

  isShown(row: number, frame: TrackerFrame): boolean {
    const { minHits } = this.options;
    return this.tracks.streak[row] >= minHits || frame.count <= minHits;
  }

  step(frame: TrackerFrame): void {
    const { tracks, filter, matching: m, low, options } = this;
    const { confidenceThreshold, useLowScores } = options;
    predictAreas(tracks, filter, frame);
    m.clear();
    for (let row = 0; row < tracks.length; row++) m.tracks.push(row);
    for (let d = 0; d < frame.length; d++) if (frame.scores[d] > confidenceThreshold) m.detections.push(d);
    this.matchByDirection(frame);

    if (useLowScores) {
      low.clear();
      for (let row = 0; row < tracks.length; row++) if (tracks.detection[row] < 0) low.tracks.push(row);
      for (let d = 0; d < frame.length; d++)
        if (frame.scores[d] > LOW_SCORE && frame.scores[d] < confidenceThreshold) low.detections.push(d);
      this.matchBoxes(low, tracks.box, frame);
    }

    // What is left is matched with the last detections, which a track that changed its speed is nearer to.
    m.keepFreeDetections();
    m.tracks.length = 0;
    for (let row = 0; row < tracks.length; row++)
      if (tracks.detection[row] < 0 && tracks.remembered[row] > 0) m.tracks.push(row);
    this.matchBoxes(m, tracks.last, frame);

    for (let row = 0; row < tracks.length; row++) if (tracks.detection[row] < 0) this.miss(row, frame);
    for (let c = 0; c < m.detections.length; c++) if (!m.isTaken(c)) this.start(m.detections.at(c), frame);
    tracks.giveUp(frame.time - framesOf(options));
  }

  /** Makes the sum of IoUs largest, drops the pairs below the threshold and updates the tracks of the others. */
  private matchBoxes(m: Matching, boxes: Float64Array, frame: TrackerFrame): void {
    const { iouThreshold } = this.options;
    addOverlaps(m, this.tracks, boxes, frame, iouThreshold);
    m.assignment.solve();
    dropBelow(m, boxes, frame, iouThreshold);
    this.findMatches(m, frame);
  }

  /** Matches as SORT does, but adds the agreement of directions to the IoUs wherever a sum decides. */
  private matchByDirection(frame: TrackerFrame): void {
    const { tracks, matching: m } = this;
    const { iouThreshold } = this.options;
    if (addOverlaps(m, tracks, tracks.box, frame, iouThreshold)) m.assignment.takeAbove(iouThreshold);
    else {
      m.assignment.begin(m.tracks.length, m.detections.length);
      for (let row = 0; row < tracks.length; row++) this.addDirections(row, frame);
      m.assignment.solve();
    }
    dropBelow(m, tracks.box, frame, iouThreshold);
    this.findMatches(m, frame);
  }

  /**
   * Adds the pairs of a track with all detections. As published, every track gets a detection if there are enough, so
   * each weight has 1 added: then the largest sum is that of the most pairs.
   */
  private addDirections(row: number, frame: TrackerFrame): void {
    const { tracks, matching: m } = this;
    const { inertia, directionFrames } = this.options;
    const dy = tracks.direction[row * 2];
    const dx = tracks.direction[row * 2 + 1];
    const { ringBoxes } = tracks;
    const from = tracks.earlier(row, frame, directionFrames);
    for (let c = 0; c < m.detections.length; c++) {
      const d = m.detections.at(c);
      if (tracks.classId[row] !== frame.classIds[d]) continue;
      let agreement = 0;
      if (from >= 0) {
        const x = centre(frame.boxes, d * 4) - centre(ringBoxes, from);
        const y = centre(frame.boxes, d * 4 + 1) - centre(ringBoxes, from + 1);
        const cosine = (dx * x + dy * y) / (Math.sqrt(x * x + y * y) + LITTLE);
        const angle = Math.acos(Math.max(-1, Math.min(1, cosine)));
        agreement = (0.5 - angle / Math.PI) * inertia * frame.scores[d];
      }
      const pair = m.assignment.add(row, c);
      m.assignment.weights[pair] = 1 + iou(tracks.box, row * 4, frame.boxes, d * 4, 0) + agreement;
    }
  }

  private findMatches(m: Matching, frame: TrackerFrame): void {
    for (let r = 0; r < m.tracks.length; r++) {
      const d = m.detectionAt(r);
      if (d >= 0) this.find(m.tracks.at(r), d, frame);
    }
  }

  private find(row: number, detection: number, frame: TrackerFrame): void {
    const { tracks, filter, measured } = this;
    const box = detection * 4;
    const from = tracks.earlier(row, frame, this.options.directionFrames);
    if (from >= 0) {
      const x = centre(frame.boxes, box) - centre(tracks.ringBoxes, from);
      const y = centre(frame.boxes, box + 1) - centre(tracks.ringBoxes, from + 1);
      const length = Math.sqrt(x * x + y * y) + LITTLE;
      tracks.direction[row * 2] = y / length;
      tracks.direction[row * 2 + 1] = x / length;
    }
    tracks.remember(row, detection, frame);
    measureArea(frame.boxes, box, measured, LITTLE);
    if (tracks.frozenAt[row] === tracks.frozenAt[row]) this.replay(row, frame);
    filter.update(tracks.filter, row * FILTER, measured);
    tracks.measured.set(measured, row * 4);
    tracks.detection[row] = detection;
    tracks.seen[row] = frame.time;
    tracks.streak[row]++;
  }

  /** Notes that a track was not found. In the first frame of a gap the filter is kept for `replay`. */
  private miss(row: number, frame: TrackerFrame): void {
    const { tracks } = this;
    tracks.streak[row] = 0;
    if (tracks.remembered[row] === 0 || tracks.frozenAt[row] === tracks.frozenAt[row]) return;
    tracks.frozenAt[row] = frame.time;
    for (let i = row * FILTER; i < (row + 1) * FILTER; i++) tracks.frozen[i] = tracks.filter[i];
  }

  /** Leads the filter through a gap: from its state at the beginning along a straight line to this detection. */
  private replay(row: number, frame: TrackerFrame): void {
    const { tracks, filter, measured, virtual } = this;
    const at = row * FILTER;
    const before = tracks.measured;
    const z = row * 4;
    const gap = frame.time - tracks.seen[row];
    const first = tracks.frozenAt[row] - tracks.seen[row];
    const steps = Math.max(1, Math.round(gap - first));
    const step = (gap - first) / steps;
    const width = Math.sqrt(before[z + 2] * before[z + 3]);
    const height = Math.sqrt(before[z + 2] / before[z + 3]);
    const widthChange = Math.sqrt(measured[2] * measured[3]) - width;
    const heightChange = Math.sqrt(measured[2] / measured[3]) - height;
    for (let i = at; i < at + FILTER; i++) tracks.filter[i] = tracks.frozen[i];
    filter.setFrames(step);
    for (let i = 0; i <= steps; i++) {
      const part = (first + i * step) / gap;
      const w = width + part * widthChange;
      const h = height + part * heightChange;
      virtual[0] = before[z] + part * (measured[0] - before[z]);
      virtual[1] = before[z + 1] + part * (measured[1] - before[z + 1]);
      virtual[2] = w * h;
      virtual[3] = w / h;
      filter.update(tracks.filter, at, virtual);
      if (i < steps) filter.predict(tracks.filter, at);
    }
    tracks.frozenAt[row] = NaN;
  }

  private start(detection: number, frame: TrackerFrame): void {
    const { tracks, filter, measured } = this;
    const row = tracks.add(frame, detection);
    measureArea(frame.boxes, detection * 4, measured, LITTLE);
    filter.start(tracks.filter, row * FILTER, measured);
    filter.corners(tracks.filter, row * FILTER, tracks.last, row * 4);
  }
}

/** Returns the middle of the coordinates at `i` and `i + 2`. */
const centre = (boxes: Float64Array, i: number): number => (boxes[i] + boxes[i + 2]) / 2;
