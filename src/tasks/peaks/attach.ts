/** Makes detections from the candidates: keeps peaks, suppresses, adds points. */
import * as A from "../../core/abi.ts";
import { placeInFrame } from "../../decode/frame.ts";
import { type Detections, setLength } from "../../decode/detections.ts";
import type { AfterImageOfTask, TaskWork } from "../../decode/tasks.ts";
import type { Column } from "../../heads/channels.ts";
import type { Head } from "../../heads/head.ts";
import { readChannels } from "../../memory/extra.ts";
import { KEYPOINT_WIDTH, addPointColumns } from "../pose/rows.ts";
import { attachCells } from "./attach-cells.ts";
import { type PeakPlan, cellTaskOf } from "./plan.ts";

/** Returns the function that turns an image's candidates into detections. */
export function attachPeaks(work: TaskWork): AfterImageOfTask {
  const task = work.plan.task as PeakPlan;
  if (task.form === "cells") return attachCells(work, cellTaskOf(work.plan, task));
  if (task.points > 0) addPointColumns(work.detections, { count: task.points });
  const maker = new PeakMaker(work, task);
  // `block` is a byte address, while `make` takes a word address.
  return (image, block) => maker.make(image, block >> 2);
}

/** Largest plausible offset of a centre, in cells. Trained offsets lie in 0..1. */
const FARTHEST_OFFSET = 1.5;

/** The candidates of a frame. The arrays grow with the longest list, and are reused. */
class Candidates {
  /** Row of each candidate in the kernel's columns. */
  row = new Int32Array(0);
  cell = new Int32Array(0);
  /** Raw scores, for sorting: the sigmoids of two different raw scores may be rounded to the same f32. */
  raw = new Float64Array(0);
  count = 0;

  grow(rows: number): void {
    if (this.row.length >= rows) return;
    this.row = new Int32Array(rows);
    this.cell = new Int32Array(rows);
    this.raw = new Float64Array(rows);
  }
}

/** Makes the detections of one plan. */
class PeakMaker {
  readonly #work: TaskWork;
  readonly #task: PeakPlan;
  readonly #head: Head;
  readonly #candidates = new Candidates();
  readonly #value = new Float64Array(1);
  readonly #pair = new Float64Array(2);
  readonly #points: Float64Array;

  constructor(work: TaskWork, task: PeakPlan) {
    this.#work = work;
    this.#task = task;
    [this.#head] = work.plan.heads;
    this.#points = new Float64Array(2 * task.points);
  }

  /** Keeps the peaks, best first. Suppresses if the rules say so. `plan`: word address of the block. */
  make(image: number, plan: number): void {
    const detections = this.#work.detections[image];
    const { i32, f32 } = this.#work.memory;
    const { unit, extra } = this.#head;
    const isOffset = this.#task.form === "centres" && extra !== undefined;
    const classIds = i32[plan + A.P_CLASS_IDS] >> 2;
    const scores = i32[plan + A.P_SCORES] >> 2;
    const boxesAt = i32[plan + A.P_BOXES] >> 2;
    const most = i32[plan + A.P_MAX_DETECTIONS];
    const order = this.#sortedPeaks(image, plan);
    const { row, cell: cellOf } = this.#candidates;
    let length = 0;
    let hasNonFinite = false;
    let farOffsets = 0;
    let hasLostPoints = false;
    const kept: number[][] = [];
    for (const i of order) {
      if (length === most) break;
      const box = [0, 1, 2, 3].map((k) => f32[boxesAt + 4 * row[i] + k]);
      const cell = cellOf[i];
      if (isOffset) {
        readChannels(this.#work, extra, image, cell, 2, this.#pair);
        for (let k = 0; k < 4; k++) box[k] += this.#pair[k & 1] * unit[k & 1];
        if (!box.every(Number.isFinite)) {
          hasNonFinite = true;
          continue;
        }
        if (Math.max(...this.#pair.map(Math.abs)) > FARTHEST_OFFSET) farOffsets++;
      }
      const classId = i32[classIds + row[i]];
      if (this.#isSuppressed(box, classId, kept, plan)) continue;
      kept.push([...box, classId]);
      this.#writeBox(detections, length, plan, box);
      detections.scores[length] = f32[scores + row[i]];
      detections.classIds[length] = classId;
      detections.sources[length] = cell;
      if (this.#task.points > 0) {
        this.#placePoints(detections, length, image, cell, plan);
        hasLostPoints ||= !this.#points.every(Number.isFinite);
      }
      length++;
    }
    if (hasNonFinite) this.#work.note("offsets of centres are NaN or infinite: these objects are dropped");
    if (farOffsets * 2 > length)
      this.#work.note(
        `offsets of ${farOffsets} of ${length} centres lie outside their cells: are the maps of sizes and offsets exchanged?`,
      );
    if (hasLostPoints) this.#work.note("keypoints are NaN or infinite, and are given as they are");
    setLength(detections, length);
  }

  /** Returns the candidates that no neighbour of the same class exceeds, as indices of `#candidates`, best first. */
  #sortedPeaks(image: number, plan: number): Int32Array {
    const { i32 } = this.#work.memory;
    const { score } = this.#head;
    const list = this.#candidates;
    const all = i32[plan + A.P_CANDIDATES];
    const sources = i32[plan + A.P_SOURCES] >> 2;
    const classIds = i32[plan + A.P_CLASS_IDS] >> 2;
    list.grow(all);
    list.count = 0;
    for (let i = 0; i < all; i++) {
      const cell = i32[sources + i];
      const column = { ...score, offset: score.offset + i32[classIds + i] * score.channel };
      const raw = this.#rawOf(column, image, cell);
      if (!this.#isPeak(column, image, cell, raw)) continue;
      list.row[list.count] = i;
      list.cell[list.count] = cell;
      list.raw[list.count++] = raw;
    }
    const order = Int32Array.from({ length: list.count }, (_, i) => i);
    const classOf = (i: number): number => i32[classIds + list.row[i]];
    return order.sort(
      (a, b) => list.raw[b] - list.raw[a] || classOf(a) - classOf(b) || list.cell[a] - list.cell[b],
    );
  }

  #rawOf(column: Column, image: number, cell: number): number {
    readChannels(this.#work, column, image, cell, 1, this.#value);
    return this.#value[0];
  }

  /** True if a value is the largest among the 3 x 3 cells around it. Two equal neighbours are both peaks. */
  #isPeak(column: Column, image: number, cell: number, value: number): boolean {
    const { gridWidth } = this.#head;
    const { height } = this.#task;
    const x = cell % gridWidth;
    const y = (cell - x) / gridWidth;
    for (let j = Math.max(0, y - 1); j <= Math.min(height - 1, y + 1); j++)
      for (let i = Math.max(0, x - 1); i <= Math.min(gridWidth - 1, x + 1); i++)
        if (this.#rawOf(column, image, j * gridWidth + i) > value) return false;
    return true;
  }

  /** True if a better box overlaps this box too much. Boxes are normalised. Compares at most `maxDetections` boxes. */
  #isSuppressed(box: readonly number[], classId: number, kept: readonly number[][], plan: number): boolean {
    const { suppress, iouGate, pixelOffset } = this.#task.rules ?? this.#work.plan.rules;
    if (suppress === "none") return false;
    const threshold = this.#work.memory.f32[plan + A.P_IOU];
    const [width, height] = this.#work.plan.inputSize ?? [1, 1];
    const pixelPad = [pixelOffset / width, pixelOffset / height];
    const areaOf = (b: readonly number[]): number =>
      (b[2] - b[0] + pixelPad[0]) * (b[3] - b[1] + pixelPad[1]);
    return kept.some((other) => {
      if (suppress === "class" && other[4] !== classId) return false;
      const across = Math.min(box[2], other[2]) - Math.max(box[0], other[0]) + pixelPad[0];
      const down = Math.min(box[3], other[3]) - Math.max(box[1], other[1]) + pixelPad[1];
      if (!(across > 0 && down > 0)) return false;
      const iou = (across * down) / (areaOf(box) + areaOf(other) - across * down);
      return iouGate === ">=" ? iou >= threshold : iou > threshold;
    });
  }

  /** Converts a box of the network's input to the coordinates of the frame, and writes it to a row. */
  #writeBox(detections: Detections, row: number, plan: number, box: readonly number[]): void {
    for (let k = 0; k < 4; k++) detections.boxes[4 * row + k] = this.#inFrame(box[k], k & 1, plan);
  }

  /** Converts a coordinate to the frame. Clamps it as the config states. */
  #inFrame(x: number, axis: number, plan: number): number {
    const { clamp } = this.#task.rules ?? this.#work.plan.rules;
    return placeInFrame(x, axis, clamp, this.#work.memory.f32, plan);
  }

  /**
   * Writes the points of a cell to a row. The channels are x of all points, then y of all points, in cells from the
   * cell's upper left corner.
   */
  #placePoints(detections: Detections, row: number, image: number, cell: number, plan: number): void {
    const { points: count } = this.#task;
    const { extra, unit, gridWidth } = this.#head;
    readChannels(this.#work, extra as Column, image, cell, 2 * count, this.#points);
    const x = cell % gridWidth;
    const y = (cell - x) / gridWidth;
    const keypoints = detections.keypoints as Float32Array;
    for (let k = 0, at = row * count * KEYPOINT_WIDTH; k < count; k++, at += KEYPOINT_WIDTH) {
      keypoints[at] = this.#inFrame((x + this.#points[k]) * unit[0], 0, plan);
      keypoints[at + 1] = this.#inFrame((y + this.#points[count + k]) * unit[1], 1, plan);
      keypoints[at + 2] = 1;
    }
  }
}
