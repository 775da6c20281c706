/** Makes oriented boxes from the candidates of a frame: reads the angles, suppresses, and writes boxes and corners. */
import { refuseFor } from "../../core/errors.ts";
import * as A from "../../core/abi.ts";
import { exp } from "../../core/elementary.ts";
import { CORNER_VALUES, type Detections, setLength } from "../../decode/detections.ts";
import type { Frame } from "../../decode/frame.ts";
import type { AfterImageOfTask, TaskMemory, TaskWork } from "../../decode/tasks.ts";
import type { Column } from "../../heads/channels.ts";
import { imageStart } from "../../memory/write.ts";
import { firstSource, headIndexOf, readChannels } from "../../memory/extra.ts";
import { OrientedKeeper } from "../suppression/oriented-keep.ts";
import { ORIENTED_WIDTH as WIDTH } from "../suppression/oriented-overlap.ts";
import { cornersInto, fitInto, regulariseInto, rotateCentreInto, turnAngleBack } from "./geometry.ts";
import { ORIENTED_NMS, type OrientedPlan, type OrientedTask, orientedHeadOf } from "./plan.ts";
import { addOrientedColumns } from "./rows.ts";

/** Radians by which an angle may exceed its range without a note, since f16 and quantised angles are rounded. */
const SLACK = 1e-3;

/** Attaches the task of a plan. */
export function attachPlan(work: TaskWork): AfterImageOfTask {
  const { about, heads, inputSize } = work.plan;
  const task = work.plan.task as OrientedPlan;
  return attachOriented(work, {
    ...task,
    about,
    nms: task.rules?.suppress ?? "class",
    iouThreshold: () => work.thresholds().iouThreshold,
    heads: heads.map((head) => orientedHeadOf(head, inputSize as readonly [number, number])),
  });
}

/** Adds columns for angles and corners to the detections of a plan. Returns the function that fills all columns. */
export function attachOriented(work: TaskMemory, task: OrientedTask): AfterImageOfTask {
  const { detections } = work;
  const rows = detections[0].scores.length;
  addOrientedColumns(detections);
  const maker = new OrientedMaker(work, task, rows);
  return (image, block, frame) => maker.make(image, block >> 2, frame);
}

// Return b if both are equal, even for +0 and -0, as the C port does. Math.min and Math.max would order the two zeros.
const lesser = (a: number, b: number): number => (a < b ? a : b);
const greater = (a: number, b: number): number => (a > b ? a : b);

/** The facts about a head that the loop over candidates needs. */
interface HeadCells {
  /** Source index of the head's first cell. */
  readonly first: number;
  readonly extra: Column;
  /** Step from one angle to the next in words, if angles are f32. 0 for other types, which `readChannels` reads. */
  readonly step: number;
  /** Word address of the first angle of the current image. */
  start: number;
  /** True for heads with distances: the angle also rotates the vector from the cell to the box centre. */
  readonly rotatesCentre: boolean;
  readonly gridWidth: number;
  readonly bias: number;
  /** Width and height of a cell in pixels of the input. */
  readonly cell: readonly [number, number];
}

/** Makes the oriented boxes of one plan. The arrays grow with the longest list of candidates, and are reused. */
class OrientedMaker {
  readonly #work: TaskMemory;
  readonly #task: OrientedTask;
  readonly #keeper: OrientedKeeper;
  readonly #heads: readonly HeadCells[];
  readonly #input: readonly [number, number];
  /** Rows of the candidate columns, best first. */
  #order = new Int32Array(0);
  /** Boxes of the candidates in this order, in pixels of the input. `#classIds`: class ids in this order. */
  #boxes = new Float64Array(0);
  #classIds = new Int32Array(0);
  readonly #angle = new Float64Array(1);
  /** Angles from `#minAngle` to `#maxAngle`, in radians, get no note. */
  readonly #minAngle: number;
  readonly #maxAngle: number;
  /** Boxes of the detections. `#corners`: their corners. */
  readonly #results: Float64Array;
  readonly #corners: Float64Array;

  constructor(work: TaskMemory, task: OrientedTask, rows: number) {
    const { plan } = work;
    const { suppression, orEqual, heads } = task;
    this.#work = work;
    this.#results = new Float64Array(rows * WIDTH);
    this.#corners = new Float64Array(rows * CORNER_VALUES);
    this.#task = task;
    this.#input = plan.inputSize as readonly [number, number];
    this.#minAngle = task.range ? task.range[0] - SLACK : -4 * Math.PI;
    this.#maxAngle = task.range ? task.range[1] + SLACK : 4 * Math.PI;
    this.#keeper = new OrientedKeeper({ ...ORIENTED_NMS[suppression], orEqual });
    this.#heads = heads.map(({ extra, rotatesCentre, gridWidth, bias, cell }, k) => ({
      first: firstSource(heads, k),
      extra,
      step: plan.tensors[extra.tensor].type === "f32" ? extra.cell : 0,
      start: 0,
      rotatesCentre,
      gridWidth,
      bias,
      cell,
    }));
  }

  /** Makes the detections of an image. `plan`: word address of its plan block. */
  make(image: number, plan: number, frame: Frame | undefined): void {
    const { i32 } = this.#work.memory;
    const count = this.#read(image, plan);
    const { nms } = this.#task;
    const limit = Math.min(count, i32[plan + A.P_MAX_DETECTIONS]);
    const keptCount =
      nms === "none"
        ? limit
        : this.#keeper.keep(
            this.#boxes,
            count,
            nms === "class" ? this.#classIds : null,
            limit,
            this.#task.iouThreshold(),
          );
    const detections = this.#work.detections[image];
    this.#write(detections, keptCount, nms === "none" ? null : this.#keeper.kept, plan, frame);
  }

  /**
   * Reads the candidates into `#boxes`, best first. Returns the count of candidates with a finite angle.
   *
   * This loop and the first loop of `#readAngles` contain no calls. After each call, V8 would load the addresses of all
   * arrays again, and the loops would take twice as long.
   */
  #read(image: number, plan: number): number {
    const { i32, f32 } = this.#work.memory;
    const ordered = this.#sort(plan);
    if (this.#classIds.length < ordered) {
      this.#boxes = new Float64Array(ordered * WIDTH);
      this.#classIds = new Int32Array(ordered);
    }
    const count = this.#readAngles(image, plan, ordered);
    const width = this.#input[0];
    const height = this.#input[1];
    const corners = i32[plan + A.P_BOXES] >> 2;
    const classIds = i32[plan + A.P_CLASS_IDS] >> 2;
    const boxes = this.#boxes;
    const order = this.#order;
    const ids = this.#classIds;
    for (let i = 0, box = 0; i < count; i++, box += WIDTH) {
      const candidate = order[i];
      const at = corners + candidate * 4;
      const left = f32[at];
      const top = f32[at + 1];
      const right = f32[at + 2];
      const bottom = f32[at + 3];
      boxes[box] = ((left + right) / 2) * width;
      boxes[box + 1] = ((top + bottom) / 2) * height;
      boxes[box + 2] = (right - left) * width;
      boxes[box + 3] = (bottom - top) * height;
      ids[i] = i32[classIds + candidate];
    }
    if (this.#heads.some(({ rotatesCentre }) => rotatesCentre))
      this.#rotateCentres(count, i32[plan + A.P_SOURCES] >> 2);
    return count;
  }

  /** Reads the angles into `#boxes`. Drops candidates without a finite angle. Returns the count of the others. */
  #readAngles(image: number, plan: number, ordered: number): number {
    const { i32, f32 } = this.#work.memory;
    const { layout } = this.#work;
    const { heads } = this.#task;
    for (const head of this.#heads)
      head.start =
        (layout.slots[head.extra.tensor] >> 2) +
        imageStart(this.#work.plan, head.extra, image) +
        head.extra.offset;
    const sources = i32[plan + A.P_SOURCES] >> 2;
    const boxes = this.#boxes;
    const order = this.#order;
    let i = 0;
    // Copy the angles directly in the usual case: one head with f32 radians in range.
    const { step, start } = this.#heads[0];
    if (heads.length === 1 && step > 0 && this.#task.angle === "radians") {
      const lowest = this.#minAngle;
      const highest = this.#maxAngle;
      for (; i < ordered; i++) {
        const angle = f32[start + i32[sources + order[i]] * step];
        if (!(angle >= lowest && angle <= highest)) break;
        boxes[i * WIDTH + 4] = angle;
      }
    }
    let count = i;
    for (; i < ordered; i++) {
      const source = i32[sources + order[i]];
      const head = this.#heads[headIndexOf(heads, source)];
      const angle = this.#angleOf(head, image, source - head.first);
      if (angle !== angle) continue;
      boxes[count * WIDTH + 4] = angle;
      order[count++] = order[i];
    }
    if (count < ordered && !this.#hasToldLost) {
      // Add this note once. The decoder drops notes with equal text, but this text contains a count.
      this.#hasToldLost = true;
      this.#work.note(
        `${ordered - count} boxes have an angle that is NaN or infinite, and are dropped: has the network overflowed?`,
      );
    }
    return count;
  }

  #rotateCentres(count: number, sources: number): void {
    const { i32 } = this.#work.memory;
    const { heads } = this.#task;
    const boxes = this.#boxes;
    for (let i = 0; i < count; i++) {
      const source = i32[sources + this.#order[i]];
      const head = this.#heads[headIndexOf(heads, source)];
      if (!head.rotatesCentre) continue;
      const cell = source - head.first;
      const column = cell % head.gridWidth;
      const x = (column + head.bias) * head.cell[0];
      const y = ((cell - column) / head.gridWidth + head.bias) * head.cell[1];
      rotateCentreInto(boxes, i * WIDTH, x, y, boxes, i * WIDTH);
    }
  }

  /** Returns the angle of a cell. NaN if it is not finite. Throws for a value that should be a sigmoid, but is not. */
  #angleOf({ extra, step, start }: HeadCells, image: number, cell: number): number {
    const { angle: form } = this.#task;
    if (step === 0) readChannels(this.#work, extra, image, cell, 1, this.#angle);
    const raw = step === 0 ? this.#angle[0] : this.#work.memory.f32[start + cell * step];
    if (!Number.isFinite(raw)) return NaN;
    if (form === "radians") {
      if (raw < this.#minAngle || raw > this.#maxAngle) this.#noteRange(raw);
      return raw;
    }
    if (form === "fractions" && (raw < -0.01 || raw > 1.01))
      refuseFor(
        ["angleForm"],
        this.#task.about,
        `${raw} where an angle is the sigmoid of a value`,
        'a number in 0..1. Say angleForm: "logits" if the network has not applied the sigmoid, "radians" ' +
          "if the angles are decoded",
      );
    return ((form === "logits" ? 1 / (1 + exp(-raw)) : raw) - 0.25) * Math.PI;
  }

  #noteRange(angle: number): void {
    const { range } = this.#task;
    const told = "an angle in radians lies outside";
    // Add this note once. The decoder drops notes with equal text, but this text contains an angle.
    if (this.#hasToldRange) return;
    this.#hasToldRange = true;
    this.#work.note(
      `${told} ${range ? "[-pi/4, 3pi/4), the range of its family" : "two turns"}: ${Number(angle.toPrecision(4))}. ` +
        'Are the angles in degrees, or raw (angleForm: "logits")?',
    );
  }
  #hasToldRange = false;
  #hasToldLost = false;

  /** Writes the rows of the candidates to `#order`, best first. Returns the count of these rows, at most P_ORDERED. */
  #sort(plan: number): number {
    const { i32, f32 } = this.#work.memory;
    const all = i32[plan + A.P_CANDIDATES];
    const ordered = Math.min(all, i32[plan + A.P_ORDERED]);
    if (this.#order.length < all) this.#order = new Int32Array(all);
    const order = i32[plan + A.P_ORDER] >> 2;
    // Use the kernel's order if it has enough rows. The kernel sorts only the best of many candidates.
    if (i32[plan + A.P_SORTED] >= ordered) {
      for (let i = 0; i < ordered; i++) this.#order[i] = i32[order + i];
      return ordered;
    }
    const scores = i32[plan + A.P_SCORES] >> 2;
    for (let i = 0; i < all; i++) this.#order[i] = i;
    this.#order.subarray(0, all).sort((a, b) => f32[scores + b] - f32[scores + a] || a - b);
    return ordered;
  }

  /**
   * Writes the rows of the detections, in the coordinates of the frame. V8 must inline every call in these loops (see
   * `#read`).
   * @param kept indices of the kept candidates; null: the first `count`
   */
  #write(detections: Detections, count: number, kept: Int32Array | null, plan: number, frame?: Frame): void {
    const { i32, f32 } = this.#work.memory;
    const boxes = this.#results;
    const at = this.#corners;
    const candidates = this.#boxes;
    for (let row = 0; row < count; row++) {
      const from = (kept === null ? row : kept[row]) * WIDTH;
      if (this.#task.regular) regulariseInto(candidates, from, boxes, row * WIDTH);
      else for (let k = 0; k < WIDTH; k++) boxes[row * WIDTH + k] = candidates[from + k];
    }
    for (let row = 0; row < count; row++) cornersInto(boxes, row * WIDTH, at, row * CORNER_VALUES);
    if (frame?.resize === "stretch") this.#unstretch(frame, count);
    else this.#toFrame(plan, count);
    if (frame?.rotation) {
      const range = this.#task.regular ? null : this.#task.range;
      for (let row = 0; row < count; row++)
        turnAngleBack(boxes, row * WIDTH, at, row * CORNER_VALUES, frame.rotation, this.#task.regular, range);
    }
    const { angles, corners } = detections as { angles: Float32Array; corners: Float32Array };
    for (let c = 0; c < count * CORNER_VALUES; c++) corners[c] = at[c];
    writeBounds(corners, count, detections.boxes);
    const { scores, classIds, sources } = detections;
    const ids = this.#classIds;
    const order = this.#order;
    const scoresAt = i32[plan + A.P_SCORES] >> 2;
    const sourcesAt = i32[plan + A.P_SOURCES] >> 2;
    for (let row = 0; row < count; row++) {
      const i = kept === null ? row : kept[row];
      angles[row] = boxes[row * WIDTH + 4];
      scores[row] = f32[scoresAt + order[i]];
      classIds[row] = ids[i];
      sources[row] = i32[sourcesAt + order[i]];
    }
    setLength(detections, count);
  }

  /** Maps the corners from the network's input to the frame, 0..1. */
  #toFrame(plan: number, count: number): void {
    const { f32 } = this.#work.memory;
    const at = this.#corners;
    const scaleX = f32[plan + A.P_SCALE_X] / this.#input[0];
    const scaleY = f32[plan + A.P_SCALE_Y] / this.#input[1];
    const shiftX = f32[plan + A.P_SHIFT_X];
    const shiftY = f32[plan + A.P_SHIFT_Y];
    for (let k = 0; k < count * CORNER_VALUES; k += 2) {
      at[k] = at[k] * scaleX + shiftX;
      at[k + 1] = at[k + 1] * scaleY + shiftY;
    }
  }

  /**
   * Maps the corners from the network's input to a stretched frame, 0..1. Stretching turns a rectangle into a
   * parallelogram, so fits the smallest rectangle around the parallelogram, and takes its angle.
   */
  #unstretch({ width, height }: Frame, count: number): void {
    const at = this.#corners;
    const boxes = this.#results;
    const [w, h] = this.#input;
    for (let k = 0; k < count * CORNER_VALUES; k += 2) {
      at[k] *= width / w;
      at[k + 1] *= height / h;
    }
    for (let row = 0; row < count; row++) {
      const box = row * WIDTH;
      fitInto(at, row * CORNER_VALUES, boxes, box);
      if (this.#task.regular) regulariseInto(boxes, box, boxes, box);
      cornersInto(boxes, box, at, row * CORNER_VALUES);
    }
    for (let k = 0; k < count * CORNER_VALUES; k += 2) {
      at[k] /= width;
      at[k + 1] /= height;
    }
  }
}

/** Writes the upright boxes around oriented boxes with these corners. */
function writeBounds(corners: Float32Array, count: number, boxes: Float32Array): void {
  for (let row = 0; row < count; row++)
    for (let k = 0; k < 2; k++) {
      const c = row * CORNER_VALUES + k;
      const p = corners[c];
      const q = corners[c + 2];
      const r = corners[c + 4];
      const s = corners[c + 6];
      boxes[row * 4 + k] = lesser(lesser(p, q), lesser(r, s));
      boxes[row * 4 + k + 2] = greater(greater(p, q), greater(r, s));
    }
}
