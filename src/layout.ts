/**
 * Room 3: Plan -> addresses. Pure arithmetic; the memory map is drawn here, once:
 *
 *       0  nothing: a zero address is a bug, not data
 *      64  plan block of image 0, 1, ... of the batch, then one for gathered input
 *          head records of each plan block
 *          class lists, class gates, prior tables
 *          tensor slots            16-aligned, 16 bytes of slack after each: a vector load of the last element stays inside
 *          candidates              scores f32 | labels i32 | sources u32 | boxes f32 x 4       28 bytes a cell
 *          work                    by phase, one over the other:
 *
 *              scan  gathered cell numbers u32 | scratch of scan
 *              sort  order u32 | spare u32 | counts
 *              nms   order u32                       | chains | kept     further waves are sorted beside the kept boxes,
 *                    order u32 | chains | kept                           unless there is only the one
 *
 *          detections of image 0, 1, ...: boxes f32 x 4 | scores f32 | labels i32 | sources u32
 */
import {
  CHAINS,
  HEAD_WORDS,
  KEPT_BYTES,
  ONE_WAVE,
  PLAN_WORDS,
  SCAN_BYTES,
  SCAN_COLUMN_BYTES,
} from "./abi.ts";
import type { Plan } from "./plan.ts";
import type { Head } from "./reading.ts";
import { ELEMENTS, volume } from "./tensor.ts";

export interface DetectionColumns {
  readonly boxes: number;
  readonly scores: number;
  readonly labels: number;
  readonly sources: number;
}

export interface Layout {
  /** All plan blocks and their head records: one for each image, then the one for gathered input. */
  readonly blocks: readonly number[];
  readonly records: readonly number[];
  /** Plan blocks, one per image. */
  readonly plans: readonly number[];
  /** Head records of each plan block. */
  readonly heads: readonly number[];
  /** Plan block and head records for gathered input; 0 where the plan cannot gather. */
  readonly gatherPlan: number;
  readonly gatherHeads: number;
  readonly gatherIndex: number;
  /** Per head: address of its class list and class gates (room for all its classes), and prior table; 0: none. */
  readonly classLists: readonly number[];
  readonly classGates: readonly number[];
  readonly priors: readonly number[];
  /** Per tensor. */
  readonly slots: readonly number[];
  readonly capacity: number;
  readonly scores: number;
  readonly labels: number;
  readonly sources: number;
  readonly boxes: number;
  readonly order: number;
  readonly spare: number;
  /** Scratch of the scan. */
  readonly scratch: number;
  readonly counts: number;
  readonly chains: number;
  readonly kept: number;
  /** From `order` to here engines may differ, but for the candidates in order. */
  readonly workEnd: number;
  readonly detections: readonly DetectionColumns[];
  /** All of it. */
  readonly bytes: number;
}

export const WORD = 4;
/** The sort's counts, one for each bucket. */
export const COUNT_BYTES = 2048 * WORD;

/**
 * Kept blocks that nms can need: a block is opened only when the newest one of its label is full, so at most
 * one per label is not full. One more stands empty at the end, where blocks are read in pairs.
 */
export function keptBlocks(maxDetections: number, labels: number): number {
  return Math.min(maxDetections, Math.ceil(maxDetections / 4) + Math.min(maxDetections, labels)) + 1;
}

/** Whether one number a cell decides, so that no maxima of groups of classes are needed. */
const oneColumn = (h: Head): boolean => h.objectness !== null || h.classes === 1;

export function layoutOf(plan: Plan): Layout {
  let at = 64;
  const take = (bytes: number): number => {
    const here = at;
    at = (at + bytes + 15) & ~15;
    return here;
  };
  const words = (count: number): number => take(count * WORD);
  const { heads, keep, batch, capacity, maxDetections } = plan;
  const gathers = plan.gather !== null;
  const records = (): number => words(heads.length * HEAD_WORDS);
  const classesOf = (h: Head, labels: number): number => (h.label !== null ? labels : h.classes);
  // heads that share a table (the images of a batch, or one tensor in parts) hold it once
  const tables = new Map<Float32Array | null, number>([[null, 0]]);
  // a label column may hold any label
  const kinds =
    plan.rules.nms === "all" ? 1 : heads.some((h) => h.label !== null) ? Infinity : plan.classes + 1;
  // properties are evaluated in their order, which is the order in memory
  const places = {
    plans: Array.from({ length: batch }, () => words(PLAN_WORDS)),
    gatherPlan: gathers ? words(PLAN_WORDS) : 0,
    heads: Array.from({ length: batch }, records),
    gatherHeads: gathers ? records() : 0,
    classLists: heads.map((h) => (keep === null ? 0 : words(classesOf(h, keep.length)))),
    classGates: heads.map((h) => words(classesOf(h, plan.classes))),
    priors: heads.map(({ priors }) => {
      const here = tables.get(priors) ?? words((priors as Float32Array).length);
      tables.set(priors, here);
      return here;
    }),
    slots: plan.tensors.map((t) => take(volume(t.dims) * ELEMENTS[t.type].bytes + 16)),
    capacity,
    scores: words(capacity),
    labels: words(capacity),
    sources: words(capacity),
    boxes: words(capacity * 4),
  };
  const work = at;
  const scan = {
    gatherIndex: gathers ? words(heads.reduce((c, h) => c + h.cells, 0)) : 0,
    scratch: take(heads.every(oneColumn) ? SCAN_COLUMN_BYTES : SCAN_BYTES),
  };
  const scanned = at;
  at = work;
  const order = words(capacity);
  const sorts = at;
  const sort = { spare: words(capacity), counts: take(COUNT_BYTES) };
  const sorted = at;
  if (capacity <= ONE_WAVE) at = sorts;
  const suppression = {
    chains: words(CHAINS),
    kept: take(keptBlocks(maxDetections, kinds) * KEPT_BYTES),
  };
  at = Math.max(at, scanned, sorted);
  const workEnd = at;
  const { plans, gatherPlan, gatherHeads } = places;
  return {
    ...places,
    ...scan,
    order,
    ...sort,
    ...suppression,
    workEnd,
    blocks: gathers ? [...plans, gatherPlan] : plans,
    records: gathers ? [...places.heads, gatherHeads] : places.heads,
    detections: plans.map(() => ({
      boxes: words(maxDetections * 4),
      scores: words(maxDetections),
      labels: words(maxDetections),
      sources: words(maxDetections),
    })),
    bytes: at,
  };
}
