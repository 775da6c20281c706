/**
 * Computes the address of every part of a plan. The memory map:
 *
 *       0  unused: address 0 means "none"
 *      64  plan block of image 0, 1, ... of the batch, then one for gathered rows
 *          head records of each plan block
 *          class lists, class thresholds, prior tables
 *          tensor slots            16-aligned, with 16 bytes of slack after each for a vector load of the last element
 *          candidates              scores f32 | class ids i32 | sources u32 | boxes f32 x 4       28 bytes a row
 *          work                    the phases use the same bytes one after the other:
 *
 *              scan  gathered cell numbers u32 | scratch of scan      after the bytes of sort if `multiLabel`
 *              sort  order u32 | spare u32 | counts
 *              nms   order u32 | spare u32 | counts | chains | kept   above ONE_WAVE candidates: the sort goes on
 *                    order u32 | chains | kept                        at most ONE_WAVE: the sort is done
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
import { cellsOf } from "../shapes/grids.ts";
import type { Head } from "../heads/head.ts";
import { ELEMENTS, volume } from "../core/tensor.ts";

/** Bytes of the counts of the sort, one word per bucket. */
const COUNT_BYTES = 4 << BUCKET_BITS;

/** Sizes of the scan's scratch: bytes of each of its three columns, and of the rows after them (see `SCAN_BYTES`). */
export interface ScanRoom {
  readonly column: number;
  readonly rows: number;
}

/** Byte addresses of the detection columns of one image. */
export interface DetectionColumns {
  readonly boxes: number;
  readonly scores: number;
  readonly classIds: number;
  readonly sources: number;
}

/** Byte addresses of the columns and the scratch that a kernel writes. Suppression alone needs no other addresses. */
export interface Columns {
  readonly capacity: number;
  readonly scores: number;
  readonly classIds: number;
  readonly sources: number;
  readonly boxes: number;
  readonly gatherIndex: number;
  /** Address of the scan's scratch, and the sizes of its parts. */
  readonly scratch: number;
  readonly scan: ScanRoom;
  readonly order: number;
  readonly spare: number;
  readonly counts: number;
  readonly chains: number;
  readonly kept: number;
  /** End of the scratch. From `order` to here, engines may write different values, except for the sorted `order`. */
  readonly workEnd: number;
  readonly detections: readonly DetectionColumns[];
  /** Bytes of the whole memory. */
  readonly bytes: number;
}

export interface MemoryLayout extends Columns {
  /** Addresses of the plan blocks with their head records: one per image, then one for gathered rows if any. */
  readonly blocks: readonly number[];
  readonly records: readonly number[];
  /** Addresses of the plan blocks of the images. */
  readonly imageBlocks: readonly number[];
  /** Address of the plan block for gathered rows. 0 if the plan cannot gather. */
  readonly gatherBlock: number;
  /** Addresses of each head's class list, class thresholds and prior table. 0 stands for none. */
  readonly classLists: readonly number[];
  readonly classThresholds: readonly number[];
  readonly priors: readonly number[];
  /** Address of each tensor's slot. */
  readonly slots: readonly number[];
}

/** Reserves `count` words and returns their byte address. */
export type Words = (count: number) => number;

/** Returns a function that reserves words from byte address `first` on. Each address is a multiple of 16. */
export function wordsFrom(first: number): Words {
  let at = first;
  return (count) => {
    const here = at;
    // Round without bit operations, which would overflow at 2 GiB: the error about too large a plan states the size.
    at = Math.ceil((at + count * 4) / 16) * 16;
    return here;
  };
}

/**
 * Returns the largest count of blocks that suppression needs. A block holds four kept boxes of one class or strip. A
 * class or strip starts a new block only if its other blocks are full, so it has at most one block that is not full.
 */
export function keptBlocks(maxDetections: number, classes: number): number {
  return Math.min(maxDetections, Math.ceil(maxDetections / 4) + Math.max(classes, STRIPS));
}

/**
 * Reserves the columns and the scratch.
 * @param capacity rows of the candidate columns
 * @param maxDetections rows of the detection columns
 * @param classes count of classes that suppression keeps apart; Infinity if a column holds class ids
 * @param gathered largest count of cells in the list of gathered rows
 * @param room sizes of the scan's scratch
 * @param scanSorts true if the scan may sort, to keep the best of too many candidates. Scan and sort then need separate
 * scratch
 */
export function columnsOf(
  words: Words,
  capacity: number,
  maxDetections: number,
  classes: number,
  images = 1,
  gathered = 0,
  room: ScanRoom = { column: 0, rows: 0 },
  scanSorts = false,
): Columns {
  // Keep the order of these properties: it is the order in memory.
  const candidates = {
    capacity,
    scores: words(capacity),
    classIds: words(capacity),
    sources: words(capacity),
    boxes: words(capacity * 4),
  };
  const work = words(0);
  const inSort = wordsFrom(work);
  const order = inSort(capacity);
  const orderEnd = inSort(0);
  const sort = { order, spare: inSort(capacity), counts: inSort(COUNT_BYTES / 4) };
  const inScan = wordsFrom(scanSorts ? inSort(0) : work);
  const scan = { gatherIndex: inScan(gathered), scratch: inScan((3 * room.column + room.rows) / 4) };
  const inNms = capacity <= ONE_WAVE ? wordsFrom(orderEnd) : inSort;
  const suppression = {
    chains: inNms(CHAINS),
    kept: inNms((keptBlocks(maxDetections, classes) * KEPT4_BYTES) / 4),
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

/**
 * True if a single value of a cell decides if the cell passes the gate: the objectness, or the score of a single class.
 */
const hasOneColumn = (h: Head): boolean => h.objectness !== null || h.classes === 1;

/**
 * Returns the size of the scan's scratch. The scan reads planes in runs of cells, and long runs are fastest: runs of
 * 2,100 cells in place of 800 save a twelfth of the time for 8,400 cells. Each group of classes needs a row of maxima,
 * as long as a run. The scratch grows with the cells, so that all memory stays within 40 bytes a cell plus 64 KiB.
 * Multi-label plans have more candidates than cells, and may exceed this limit.
 */
function scanRoom(heads: readonly Head[], tensors: Plan["tensors"]): ScanRoom {
  if (heads.every(hasOneColumn)) return { column: COLUMN_BYTES, rows: PLAIN_ROWS_BYTES };
  let column = COLUMN_BYTES;
  let rows = GROUP_ROWS_BYTES;
  const most = SCAN_BYTES + 11 * cellsOf(heads);
  for (const h of heads) {
    const { bytes } = ELEMENTS[tensors[h.score.tensor].type];
    if (hasOneColumn(h) || h.score.cell !== 1) continue;
    // Count one row for all classes, and one per group. A group has 8 classes, or the smallest multiple of 8 with at
    // most 16 groups.
    const count = 1 + Math.ceil(h.classes / (8 * Math.ceil(h.classes / (8 * GROUPS))));
    const fit = most / (12 + count * bytes);
    // Divide the cells into runs of equal length.
    const n = Math.ceil(h.cells / Math.max(1, Math.ceil(h.cells / fit)));
    const row = Math.ceil((n * bytes) / 16) * 16 + 16;
    column = Math.max(column, (row / bytes) * 4);
    // Once the maxima are used, the scan reuses the space after the first two plain rows, one word per candidate.
    rows = Math.max(rows, count * row, 2 * ROW_BYTES + column);
  }
  return { column, rows };
}

/** Lays out a plan. `scalarOnly`: only the scalar kernel will run, which needs less scratch. */
export function layoutOf(plan: Plan, scalarOnly = false): MemoryLayout {
  const { heads, keep, batch } = plan;
  const words = wordsFrom(FIRST_ADDRESS);
  const gathers = plan.gather !== null;
  const perBlock = (count: number): number[] =>
    Array.from({ length: gathers ? batch + 1 : batch }, () => words(count));
  const classesOf = (h: Head, ofColumn: number): number => (h.classId ? ofColumn : h.classes);
  // Store a prior table once, even if several heads use it.
  const tables = new Map<Float32Array | null, number>([[null, 0]]);
  const blocks = perBlock(PLAN_WORDS);
  return {
    blocks,
    imageBlocks: blocks.slice(0, batch),
    gatherBlock: blocks[batch] ?? 0,
    records: perBlock(heads.length * HEAD_WORDS),
    classLists: heads.map((h) => (keep ? words(classesOf(h, keep.length)) : 0)),
    // Reserve at least the length of `keep`, which may exceed the known class count if a column holds the class ids.
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
      // A column of class ids may hold any count of classes.
      plan.rules.suppress === "all" ? 1 : heads.some((h) => h.classId) ? Infinity : plan.classes + 1,
      batch,
      gathers ? cellsOf(heads) : 0,
      scalarOnly ? { column: SCAN_SCALAR_BYTES / 3, rows: 0 } : scanRoom(heads, plan.tensors),
      plan.rules.multiLabel,
    ),
  };
}
