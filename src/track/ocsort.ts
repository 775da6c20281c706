/**
 * OC-SORT (Cao et al., "Observation-Centric SORT", 2023): SORT that relies on detections more than on its filter.
 * Matching prefers detections in a track's direction. Unmatched detections are compared with the tracks' last
 * detections. When a track is found again, its filter repeats the gap along a straight line.
 */
import { ROUNDING } from "./assign.ts";
import { AreaFilter, FILTER } from "./filter.ts";
import type { TrackerFrame } from "./frame.ts";
import { IndexList, room } from "./lists.ts";
import { Matching, addOverlaps, dropBelow } from "./match.ts";
import { type Method, framesOf } from "./method.ts";
import type { Complete, OcSortOptions } from "./options.ts";
import { iou } from "./overlap.ts";
import { ObservedTracks } from "./observed-tracks.ts";
import { measureArea, predictAreas } from "./sort.ts";

/** Added to heights and distances so that they are never 0, as published. */
const LITTLE = 1e-6;
/** Detections at or below this score are never used. */
const LOW_SCORE = /* @__PURE__ */ Math.fround(0.1);

export class OcSort implements Method {
  readonly tracks: ObservedTracks;
  private readonly options: Complete<OcSortOptions>;
  private readonly filter = new AreaFilter();
  private readonly matching = new Matching();
  private readonly low = new Matching();
  private readonly measured = new Float64Array(4);
  private readonly virtual = new Float64Array(4);
  private isFullRow = new Uint8Array(0);
  private isFullColumn = new Uint8Array(0);
  private readonly fullColumns = new IndexList();
  /** For each detection, the worth (`worthOfRow`) below which a track's pair with the detection might raise the sum. */
  private needed = new Float64Array(0);

  constructor(options: Complete<OcSortOptions>) {
    this.options = options;
    this.tracks = new ObservedTracks(options.directionFrames + 1);
  }

  get wasCut(): boolean {
    return this.matching.assignment.wasCut || this.low.assignment.wasCut;
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

    // Match the rest with the tracks' last detections, which are nearer than predictions if a track changed its speed.
    m.keepFreeDetections();
    m.tracks.length = 0;
    for (let row = 0; row < tracks.length; row++)
      if (tracks.detection[row] < 0 && tracks.remembered[row] > 0) m.tracks.push(row);
    this.matchBoxes(m, tracks.last, frame);

    for (let row = 0; row < tracks.length; row++) if (tracks.detection[row] < 0) this.miss(row, frame);
    for (let c = 0; c < m.detections.length; c++) if (!m.isTaken(c)) this.start(m.detections.at(c), frame);
    tracks.giveUp(frame.time - framesOf(options));
  }

  /** Maximises the sum of IoUs, drops pairs below the threshold, and updates the tracks of the remaining pairs. */
  private matchBoxes(m: Matching, boxes: Float64Array, frame: TrackerFrame): void {
    const { iouThreshold } = this.options;
    addOverlaps(m, this.tracks, boxes, frame, iouThreshold);
    m.assignment.solve();
    dropBelow(m, boxes, frame, iouThreshold);
    this.findMatches(m, frame);
  }

  /** Matches as SORT does. If the sum of several pairs decides, adds the agreement of directions to the IoUs. */
  private matchByDirection(frame: TrackerFrame): void {
    const { tracks, matching: m } = this;
    const { iouThreshold } = this.options;
    if (addOverlaps(m, tracks, tracks.box, frame, iouThreshold)) m.assignment.takeAbove(iouThreshold);
    else this.solveWithDirections(frame);
    dropBelow(m, tracks.box, frame, iouThreshold);
    this.findMatches(m, frame);
  }

  /**
   * Maximises the sum of IoUs and agreements over all pairs. 1 is added to each weight, so that the largest sum has the
   * most pairs: as published, every track gets a detection if there are enough. Pairs without overlap are rarely
   * chosen, so they are added only if prices show that one may raise the sum.
   */
  private solveWithDirections(frame: TrackerFrame): void {
    const { matching: m } = this;
    this.isFullRow = room(this.isFullRow, m.tracks.length);
    this.isFullColumn = room(this.isFullColumn, m.detections.length);
    this.isFullRow.fill(m.isSparse ? 0 : 1);
    this.isFullColumn.fill(0);
    this.fullColumns.length = 0;
    do {
      m.assignment.begin(m.tracks.length, m.detections.length);
      for (let row = 0; row < m.tracks.length; row++) this.addDirections(row, frame);
      m.assignment.solve();
    } while (m.isSparse && !m.assignment.isCut && this.hasMissed(frame));
  }

  /**
   * Adds a track's pairs with detections that may overlap it, or with all detections if `hasMissed` marked the track.
   */
  private addDirections(row: number, frame: TrackerFrame): void {
    const { tracks, matching: m, isFullColumn, fullColumns } = this;
    const from = tracks.earlier(row, frame, this.options.directionFrames);
    if (this.isFullRow[row] !== 0) {
      for (let c = 0; c < m.detections.length; c++) this.addPair(row, c, from, frame);
      return;
    }
    m.findNear(tracks.box, row);
    for (let k = 0; k < m.nearCount; k++)
      if (isFullColumn[m.near[k]] === 0) this.addPair(row, m.near[k], from, frame);
    for (let k = 0; k < fullColumns.length; k++) this.addPair(row, fullColumns.at(k), from, frame);
  }

  private addPair(row: number, column: number, from: number, frame: TrackerFrame): void {
    const { assignment, detections } = this.matching;
    const d = detections.at(column);
    if (this.tracks.classId[row] !== frame.classIds[d]) return;
    const pair = assignment.add(row, column);
    assignment.weights[pair] = this.weightOf(row, d, from, frame);
  }

  /** Returns 1 + IoU + agreement of directions. `from` is the index of the track's earlier box in its ring. */
  private weightOf(row: number, d: number, from: number, frame: TrackerFrame): number {
    const { tracks } = this;
    const overlap = 1 + iou(tracks.box, row * 4, frame.boxes, d * 4, 0);
    if (from < 0) return overlap;
    const x = centre(frame.boxes, d * 4) - centre(tracks.ringBoxes, from);
    const y = centre(frame.boxes, d * 4 + 1) - centre(tracks.ringBoxes, from + 1);
    const along = tracks.direction[row * 2 + 1] * x + tracks.direction[row * 2] * y;
    const cosine = along / (Math.sqrt(x * x + y * y) + LITTLE);
    const angle = Math.acos(Math.max(-1, Math.min(1, cosine)));
    return overlap + (0.5 - angle / Math.PI) * this.options.inertia * frame.scores[d];
  }

  /** Marks each track or detection that lacks a pair which would raise the sum. Returns true if there is one. */
  private hasMissed(frame: TrackerFrame): boolean {
    const { tracks, matching: m, isFullRow, isFullColumn, fullColumns } = this;
    const { inertia, directionFrames } = this.options;
    const { length } = m.detections;
    const isTurned = length < m.tracks.length;
    this.needed = room(this.needed, length);
    const { needed } = this;
    // A pair without overlap weighs at most 1 + half of the inertia. All pairs with overlap are already added.
    for (let c = 0; c < length; c++)
      needed[c] =
        1 + 0.5 * inertia * frame.scores[m.detections.at(c)] - m.assignment.worthOfColumn(c) - ROUNDING;
    let hasMissed = false;
    for (let row = 0; row < m.tracks.length; row++) {
      if (isFullRow[row] !== 0) continue;
      const worth = m.assignment.worthOfRow(row);
      const from = tracks.earlier(row, frame, directionFrames);
      for (let c = 0; c < length; c++) {
        if (needed[c] <= worth || isFullColumn[c] !== 0) continue;
        const d = m.detections.at(c);
        if (tracks.classId[row] !== frame.classIds[d]) continue;
        const most = worth + m.assignment.worthOfColumn(c) + ROUNDING;
        if (this.weightOf(row, d, from, frame) <= most) continue;
        hasMissed = true;
        if (!isTurned) {
          isFullRow[row] = 1;
          break;
        }
        isFullColumn[c] = 1;
        fullColumns.push(c);
      }
    }
    return hasMissed;
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
    tracks.find(row, detection, frame);
  }

  /** Records that a track was not found. At the first frame of a gap, keeps the filter for `replay`. */
  private miss(row: number, frame: TrackerFrame): void {
    const { tracks } = this;
    tracks.streak[row] = 0;
    if (tracks.remembered[row] === 0 || tracks.frozenAt[row] === tracks.frozenAt[row]) return;
    tracks.frozenAt[row] = frame.time;
    for (let i = row * FILTER; i < (row + 1) * FILTER; i++) tracks.frozen[i] = tracks.filter[i];
  }

  /** Replays the gap: restores the filter's state before the gap, and moves it in a straight line to this detection. */
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

const centre = (boxes: Float64Array, i: number): number => (boxes[i] + boxes[i + 2]) / 2;
