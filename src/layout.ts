/**
 * Room 3: Plan -> addresses. Pure arithmetic; the memory map is drawn here, once:
 *
 *       0  nothing: a zero address is a bug, not data
 *      64  plan block of image 0, 1, ... of the batch, then one for gathered input
 *          head records of each plan block
 *          class lists, class gates, prior tables
 *          tensor slots            16-aligned, 16 bytes of slack after each: a vector load of the last element stays inside
 *          candidates              scores f32 | class ids i32 | sources u32 | boxes f32 x 4       28 bytes a cell
 *          work                    by phase, one over the other:
 *
 *              scan  gathered cell numbers u32 | scratch of scan
 *              sort  order u32 | spare u32 | counts
 *              nms   order u32                       | chains | kept     further waves are sorted beside the kept boxes,
 *                    order u32 | chains | kept                           unless there is only the one
 *
 *          detections of image 0, 1, ...: boxes f32 x 4 | scores f32 | class ids i32 | sources u32
 */
import {
  BUCKET_BITS,
  CHAINS,
  FIRST_ADDRESS,
  HEAD_WORDS,
  KEPT4_BYTES,
  ONE_WAVE,
  PLAN_WORDS,
  SCAN_BYTES,
  SCAN_COLUMN_BYTES,
  SCAN_SCALAR_BYTES,
  STRIPS,
} from "./abi.ts";
import type { Plan } from "./plan.ts";
import { cellsOf } from "./places.ts";
import type { Head } from "./reading.ts";
import { ELEMENTS, volume } from "./tensor.ts";

/** The sort's counts, one for each bucket. */
const COUNT_BYTES = 4 << BUCKET_BITS;

/** Addresses of the columns that the kernel writes. */
export interface DetectionColumns {
  readonly boxes: number;
  readonly scores: number;
  readonly classIds: number;
  readonly sources: number;
}

/** What every engine writes to: candidates, scratch, detections. Suppression alone needs no more. */
export interface Columns {
  readonly capacity: number;
  readonly scores: number;
  readonly classIds: number;
  readonly sources: number;
  readonly boxes: number;
  readonly gatherIndex: number;
  /** Scratch of the scan. */
  readonly scratch: number;
  readonly order: number;
  readonly spare: number;
  readonly counts: number;
  readonly chains: number;
  readonly kept: number;
  /** Scratch ends here: from `order` on engines may differ, but for the part of `order` that is sorted. */
  readonly workEnd: number;
  readonly detections: readonly DetectionColumns[];
  /** All of it. */
  readonly bytes: number;
}

export interface Layout extends Columns {
  /** All plan blocks and their head records: one for each image, then the one for gathered input. */
  readonly blocks: readonly number[];
  readonly records: readonly number[];
  /** Those of the images. */
  readonly imageBlocks: readonly number[];
  /** That of gathered input; 0 where the plan cannot gather. */
  readonly gatherBlock: number;
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
    // rounded without bit operations, which would wrap: an image that is too large is refused with its size
    at = Math.ceil((at + count * 4) / 16) * 16;
    return here;
  };
}

/**
 * Kept blocks that nms can need: a block is opened only when the newest one of its label, or of its strip, is full, so at most
 * one of each is not full.
 */
function keptBlocks(maxDetections: number, labels: number): number {
  return Math.min(maxDetections, Math.ceil(maxDetections / 4) + Math.max(labels, STRIPS));
}

/**
 * Columns for so many candidates and detections of so many labels. The scan may need cell numbers of gathered input, and
 * bytes of scratch.
 */
export function columnsOf(
  words: Words,
  capacity: number,
  maxDetections: number,
  labels: number,
  images = 1,
  gathered = 0,
  scanBytes = 0,
): Columns {
  // properties are evaluated in their order, which is the order in memory
  const candidates = {
    capacity,
    scores: words(capacity),
    classIds: words(capacity),
    sources: words(capacity),
    boxes: words(capacity * 4),
  };
  const work = words(0);
  const inScan = wordsFrom(work);
  const scan = { gatherIndex: inScan(gathered), scratch: inScan(scanBytes / 4) };
  const inSort = wordsFrom(work);
  const order = inSort(capacity);
  const behind = inSort(0);
  const sort = { order, spare: inSort(capacity), counts: inSort(COUNT_BYTES / 4) };
  const inNms = capacity <= ONE_WAVE ? wordsFrom(behind) : inSort;
  const suppression = {
    chains: inNms(CHAINS),
    kept: inNms((keptBlocks(maxDetections, labels) * KEPT4_BYTES) / 4),
  };
  words((Math.max(inScan(0), inSort(0), inNms(0)) - work) / 4);
  return {
    ...candidates,
    ...scan,
    ...sort,
    ...suppression,
    workEnd: words(0),
    detections: Array.from({ length: images }, () => ({
      boxes: words(maxDetections * 4),
      scores: words(maxDetections),
      classIds: words(maxDetections),
      sources: words(maxDetections),
    })),
    bytes: words(0),
  };
}

/** Whether one number a cell decides, so that no maxima of groups of classes are needed. */
const oneColumn = (h: Head): boolean => h.objectness !== null || h.classes === 1;

/** `scalarOnly`: for the kernel without vectors and no other engine, which needs less. */
export function layoutOf(plan: Plan, scalarOnly = false): Layout {
  const { heads, keep, batch } = plan;
  const words = wordsFrom(FIRST_ADDRESS);
  const gathers = plan.gather !== null;
  const perBlock = (count: number): number[] =>
    Array.from({ length: gathers ? batch + 1 : batch }, () => words(count));
  const classesOf = (h: Head, labels: number): number => (h.label ? labels : h.classes);
  // heads that share a table (the images of a batch, or one tensor in parts) hold it once
  const tables = new Map<Float32Array | null, number>([[null, 0]]);
  const blocks = perBlock(PLAN_WORDS);
  return {
    blocks,
    imageBlocks: blocks.slice(0, batch),
    gatherBlock: blocks[batch] ?? 0,
    records: perBlock(heads.length * HEAD_WORDS),
    classLists: heads.map((h) => (keep ? words(classesOf(h, keep.length)) : 0)),
    classGates: heads.map((h) => words(classesOf(h, plan.classes))),
    priors: heads.map(({ priors }) => {
      const here = tables.get(priors) ?? words((priors as Float32Array).length);
      tables.set(priors, here);
      return here;
    }),
    slots: plan.tensors.map((t) => words((volume(t.dims) * ELEMENTS[t.type].bytes + 16) / 4)),
    ...columnsOf(
      words,
      plan.capacity,
      plan.maxDetections,
      // a label column may hold any label
      plan.rules.nms === "all" ? 1 : heads.some((h) => h.label) ? Infinity : plan.classes + 1,
      batch,
      gathers ? cellsOf(heads) : 0,
      scalarOnly ? SCAN_SCALAR_BYTES : heads.every(oneColumn) ? SCAN_COLUMN_BYTES : SCAN_BYTES,
    ),
  };
}
