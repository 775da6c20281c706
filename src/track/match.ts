/** Pairs tracks with detections and assigns them. */
import { BoxGrid } from "../core/box-grid.ts";
import { Assignment } from "./assign.ts";
import type { TrackerFrame } from "./frame.ts";
import { IndexList, room } from "./lists.ts";
import { iou } from "./overlap.ts";
import type { Tracks } from "./tracks.ts";

/** Largest count of pairs that are all compared. A grid costs more than 128 x 128 comparisons. */
const FEW_PAIRS = 16384;

/** Lists of tracks and detections, and the assignment of one to the other. */
export class Matching {
  readonly tracks = new IndexList();
  readonly detections = new IndexList();
  readonly assignment = new Assignment();
  /** Positions of the detections that may overlap a track. The first `nearCount` are valid. */
  near = new Int32Array(0);
  nearCount = 0;
  private partners = new Uint8Array(0);
  private readonly grid = new BoxGrid();
  /** True if `findNear` finds only detections that may overlap the track, false if it finds all. */
  isSparse = false;

  /** Returns an array with a 0 for each detection. */
  clearPartners(detections: number): Uint8Array {
    this.partners = room(this.partners, detections);
    this.partners.fill(0, 0, detections);
    return this.partners;
  }

  /** Prepares `findNear` for the listed tracks and detections. `offset` is the pixel offset of the IoU. */
  listNear(frame: TrackerFrame, offset: number): void {
    const count = this.detections.length;
    this.isSparse = this.tracks.length * count > FEW_PAIRS;
    if (this.isSparse) {
      this.grid.fill(frame.boxes, this.detections.indices, count, offset);
      this.near = this.grid.places;
      return;
    }
    this.near = room(this.near === this.grid.places ? new Int32Array(0) : this.near, count);
    for (let c = 0; c < count; c++) this.near[c] = c;
    this.nearCount = count;
  }

  /** Finds the positions of detections that may overlap a track's box, in rising order. */
  findNear(boxes: Float64Array, track: number): void {
    if (!this.isSparse) return;
    this.grid.findInOrder(boxes, track * 4);
    this.nearCount = this.grid.count;
  }

  /** Empties both lists. */
  clear(): void {
    this.tracks.length = this.detections.length = 0;
  }

  keepFreeDetections(): void {
    const { detections } = this;
    const n = detections.length;
    detections.length = 0;
    for (let c = 0; c < n; c++) if (!this.isTaken(c)) detections.push(detections.at(c));
  }

  /** Returns the detection matched to a position in the list of tracks, -1 if there is none. */
  detectionAt(place: number): number {
    const column = this.assignment.columnOf[place];
    return column < 0 ? -1 : this.detections.at(column);
  }

  /** True if the detection at a position in the list has a track. */
  isTaken(place: number): boolean {
    return this.assignment.rowOf[place] >= 0;
  }

  /** Undoes the match of the track at a position in the list. */
  release(place: number): void {
    const { columnOf, rowOf } = this.assignment;
    rowOf[columnOf[place]] = -1;
    columnOf[place] = -1;
  }
}

/** Adds the IoU of every overlapping pair. True if no track or detection has two partners above it. */
export function addOverlaps(
  m: Matching,
  tracks: Tracks,
  boxes: Float64Array,
  frame: TrackerFrame,
  threshold: number,
): boolean {
  const rows = m.tracks.length;
  const columns = m.detections.length;
  const hasPartner = m.clearPartners(columns);
  m.assignment.begin(rows, columns);
  let isOneToOne = true;
  m.listNear(frame, 0);
  for (let r = 0; r < rows; r++) {
    const track = m.tracks.at(r);
    let rowHasPartner = false;
    m.findNear(boxes, track);
    for (let k = 0; k < m.nearCount; k++) {
      const c = m.near[k];
      const d = m.detections.at(c);
      if (tracks.classId[track] !== frame.classIds[d]) continue;
      const overlap = iou(boxes, track * 4, frame.boxes, d * 4, 0);
      if (overlap <= 0) continue;
      const pair = m.assignment.add(r, c);
      m.assignment.weights[pair] = overlap;
      if (overlap <= threshold) continue;
      if (rowHasPartner || hasPartner[c] !== 0) isOneToOne = false;
      rowHasPartner = true;
      hasPartner[c] = 1;
    }
  }
  return isOneToOne;
}

/** Undoes matches whose IoU is below the threshold. */
export function dropBelow(m: Matching, boxes: Float64Array, frame: TrackerFrame, threshold: number): void {
  for (let r = 0; r < m.tracks.length; r++) {
    const d = m.detectionAt(r);
    if (d >= 0 && iou(boxes, m.tracks.at(r) * 4, frame.boxes, d * 4, 0) < threshold) m.release(r);
  }
}
