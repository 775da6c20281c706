/**
 * Room 3: Plan -> addresses. Pure arithmetic; the memory map is drawn here, once:
 *
 *       0  nothing: a zero address is a bug, not data
 *      64  plan block of image 0, 1, ... of the batch, then one for gathered input
 *          head records of each plan block
 *          class lists, class gates, prior tables
 *          tensor slots            16-aligned, 16 bytes of slack after each: a vector load of the last element stays inside
 *          gathered cell numbers u32                                                          4 bytes a cell
 *          candidates              scores f32 | labels i32 | sources u32 | boxes f32 x 4       28 bytes a cell
 *          order u32 | spare u32                                                              8 bytes a cell
 *          scratch                 of scan; in the same place that of nms, and behind it that of sort, which nms calls for more
 *          detections of image 0, 1, ...: boxes f32 x 4 | scores f32 | labels i32 | sources u32
 */
import { CHAINS, HEAD_WORDS, KEPT_BYTES, PLAN_WORDS, SCAN_BYTES } from "./abi.ts";
import type { Plan } from "./plan.ts";
import { cellsOf } from "./places.ts";
import type { Head } from "./reading.ts";
import { ELEMENTS, volume } from "./tensor.ts";

/** The sort's counts, one for each bucket. */
const COUNT_BYTES = 2048 * 4;

export interface DetectionColumns {
  readonly boxes: number;
  readonly scores: number;
  readonly labels: number;
  readonly sources: number;
}

/** What every engine writes to: candidates, scratch, detections. Suppression alone needs no more. */
export interface Columns {
  readonly capacity: number;
  readonly scores: number;
  readonly labels: number;
  readonly sources: number;
  readonly boxes: number;
  readonly order: number;
  readonly spare: number;
  /** Scratch of the three phases: [scratch, scratchEnd) and the spare column may differ between engines. */
  readonly scratch: number;
  readonly chains: number;
  readonly kept: number;
  readonly counts: number;
  readonly scratchEnd: number;
  readonly detections: readonly DetectionColumns[];
  /** All of it. */
  readonly bytes: number;
}

export interface Layout extends Columns {
  /** All plan blocks and their head records: one for each image, then the one for gathered input. */
  readonly blocks: readonly number[];
  readonly records: readonly number[];
  /** Plan blocks, one per image. */
  readonly plans: readonly number[];
  /** Plan block and cell numbers of gathered input; 0 where the plan cannot gather. */
  readonly gatherPlan: number;
  readonly gatherIndex: number;
  /** Per head: address of its class list and class gates (room for all its classes), and prior table; 0: none. */
  readonly classLists: readonly number[];
  readonly classGates: readonly number[];
  readonly priors: readonly number[];
  /** Per tensor. */
  readonly slots: readonly number[];
}

/** Hands out places for so many words, one after the other. */
export type Words = (count: number) => number;

/** From the first address on. */
export function wordsFrom(first: number): Words {
  let at = first;
  return (count) => {
    const here = at;
    at = (at + count * 4 + 15) & ~15;
    return here;
  };
}

/**
 * Kept blocks that nms can need: a block is opened only when the newest one of its label is full, so at most
 * one per label is not full. One more stands empty at the end, where blocks are read in pairs.
 */
function keptBlocks(maxDetections: number, labels: number): number {
  return Math.min(maxDetections, Math.ceil(maxDetections / 4) + Math.min(maxDetections, labels)) + 1;
}

/** Columns for so many candidates and detections of so many labels. `least`: bytes of scratch that are needed anyway. */
export function columnsOf(
  words: Words,
  capacity: number,
  maxDetections: number,
  labels: number,
  images = 1,
  least = 0,
): Columns {
  const chains = CHAINS * 4;
  const kept = keptBlocks(maxDetections, labels) * KEPT_BYTES;
  // properties are evaluated in their order, which is the order in memory
  const candidates = {
    capacity,
    scores: words(capacity),
    labels: words(capacity),
    sources: words(capacity),
    boxes: words(capacity * 4),
    order: words(capacity),
    spare: words(capacity),
    // nms sorts more while its kept blocks stand
    scratch: words(Math.max(least, chains + kept + COUNT_BYTES) / 4),
  };
  const { scratch } = candidates;
  return {
    ...candidates,
    chains: scratch,
    kept: scratch + chains,
    counts: scratch + chains + kept,
    scratchEnd: words(0),
    detections: Array.from({ length: images }, () => ({
      boxes: words(maxDetections * 4),
      scores: words(maxDetections),
      labels: words(maxDetections),
      sources: words(maxDetections),
    })),
    bytes: words(0),
  };
}

export function layoutOf(plan: Plan): Layout {
  const { heads, keep, batch } = plan;
  const words = wordsFrom(64);
  const gathers = plan.gather !== null;
  const perBlock = (count: number): number[] =>
    Array.from({ length: gathers ? batch + 1 : batch }, () => words(count));
  const classesOf = (h: Head, labels: number): number => (h.label !== null ? labels : h.classes);
  // heads that share a table (the images of a batch, or one tensor in parts) hold it once
  const tables = new Map<Float32Array | null, number>([[null, 0]]);
  const blocks = perBlock(PLAN_WORDS);
  return {
    blocks,
    plans: blocks.slice(0, batch),
    gatherPlan: blocks[batch] ?? 0,
    records: perBlock(heads.length * HEAD_WORDS),
    classLists: heads.map((h) => (keep === null ? 0 : words(classesOf(h, keep.length)))),
    classGates: heads.map((h) => words(classesOf(h, plan.classes))),
    priors: heads.map(({ priors }) => {
      const here = tables.get(priors) ?? words((priors as Float32Array).length);
      tables.set(priors, here);
      return here;
    }),
    slots: plan.tensors.map((t) => words((volume(t.dims) * ELEMENTS[t.type].bytes + 16) / 4)),
    gatherIndex: gathers ? words(cellsOf(heads)) : 0,
    ...columnsOf(
      words,
      plan.capacity,
      plan.maxDetections,
      // a label column may hold any label
      plan.rules.nms === "all" ? 1 : heads.some((h) => h.label !== null) ? Infinity : plan.classes + 1,
      batch,
      SCAN_BYTES,
    ),
  };
}
