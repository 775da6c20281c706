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
  COLUMN_BYTES,
  FIRST_ADDRESS,
  GROUPS,
  GROUP_ROWS_BYTES,
  HEAD_WORDS,
  KEPT4_BYTES,
  ONE_WAVE,
  PLAIN_ROWS_BYTES,
  PLAN_WORDS,
  ROW_BYTES,
  SCAN_BYTES,
  SCAN_SCALAR_BYTES,
  STRIPS,
} from "../core/abi.ts";
import type { Plan } from "../plan/plan.ts";
import { cellsOf } from "../heads/match.ts";
import type { Head } from "../heads/head.ts";
import { ELEMENTS, volume } from "../core/tensor.ts";

/** The sort's counts, one for each bucket. */
const COUNT_BYTES = 4 << BUCKET_BITS;

/** Scratch of the scan in bytes: three columns, and rows behind them (see `SCAN_BYTES`). */
export interface ScanRoom {
  readonly column: number;
  readonly rows: number;
}

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
  /** Scratch of the scan, and what its parts measure. */
  readonly scratch: number;
  readonly scan: ScanRoom;
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
  readonly classThresholds: readonly number[];
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
 * scratch.
 */
export function columnsOf(
  words: Words,
  capacity: number,
  maxDetections: number,
  labels: number,
  images = 1,
  gathered = 0,
  room: ScanRoom = { column: 0, rows: 0 },
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
  const scan = { gatherIndex: inScan(gathered), scratch: inScan((3 * room.column + room.rows) / 4) };
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
    scan: room,
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

/**
 * Room for a block of the scan. Planes are read fastest in long runs (of 8,400 cells in runs of 2,100 in place of 800 a twelfth of the time of
 * the scan is saved), and rows of the groups' maxima are as long as those; it grows with the cells, so that all memory stays in 40 bytes a
 * cell and 64 KiB (but for multi-label plans, whose candidates are more than the cells).
 */
function scanRoom(heads: readonly Head[], tensors: Plan["tensors"]): ScanRoom {
  if (heads.every(oneColumn)) return { column: COLUMN_BYTES, rows: PLAIN_ROWS_BYTES };
  let column = COLUMN_BYTES;
  let rows = GROUP_ROWS_BYTES;
  const most = SCAN_BYTES + 11 * cellsOf(heads);
  for (const h of heads) {
    const { bytes } = ELEMENTS[tensors[h.score.tensor].type];
    if (oneColumn(h) || h.score.cell !== 1) continue;
    // a row for each group of eight classes, or as many eights as keep the groups at sixteen, and one for all
    const count = 1 + Math.ceil(h.classes / (8 * Math.ceil(h.classes / (8 * GROUPS))));
    const fit = most / (12 + count * bytes);
    // of blocks of one length
    const n = Math.ceil(h.cells / Math.max(1, Math.ceil(h.cells / fit)));
    const row = Math.ceil((n * bytes) / 16) * 16 + 16;
    column = Math.max(column, (row / bytes) * 4);
    // behind the first two of the plain rows stands a word for each candidate, once the maxima are used
    rows = Math.max(rows, count * row, 2 * ROW_BYTES + column);
  }
  return { column, rows };
}

/** `scalarOnly`: for the kernel without vectors and no other engine, which needs less. */
export function layoutOf(plan: Plan, scalarOnly = false): Layout {
  const { heads, keep, batch } = plan;
  const words = wordsFrom(FIRST_ADDRESS);
  const gathers = plan.gather !== null;
  const perBlock = (count: number): number[] =>
    Array.from({ length: gathers ? batch + 1 : batch }, () => words(count));
  const classesOf = (h: Head, labels: number): number => (h.classId ? labels : h.classes);
  // heads that share a table (the images of a batch, or one tensor in parts) hold it once
  const tables = new Map<Float32Array | null, number>([[null, 0]]);
  const blocks = perBlock(PLAN_WORDS);
  return {
    blocks,
    imageBlocks: blocks.slice(0, batch),
    gatherBlock: blocks[batch] ?? 0,
    records: perBlock(heads.length * HEAD_WORDS),
    classLists: heads.map((h) => (keep ? words(classesOf(h, keep.length)) : 0)),
    // classes to look for may be more than are known of: a label column may hold any number
    classThresholds: heads.map((h) =>
      words(Math.max(classesOf(h, plan.classes), classesOf(h, keep?.length ?? 0))),
    ),
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
      plan.rules.nms === "all" ? 1 : heads.some((h) => h.classId) ? Infinity : plan.classes + 1,
      batch,
      gathers ? cellsOf(heads) : 0,
      scalarOnly ? { column: SCAN_SCALAR_BYTES / 3, rows: 0 } : scanRoom(heads, plan.tensors),
    ),
  };
}
