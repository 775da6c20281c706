/**
 * Gathering copies only the rows of a caller's array whose objectness passes the gate, and lists their cells. Usually
 * few rows pass, and copying the whole array would take longer than decoding it.
 */
import * as A from "../core/abi.ts";
import { INDEX } from "../core/memory.ts";
import { ELEMENTS, type SlotArray } from "../core/tensor.ts";
import type { Head } from "../heads/head.ts";
import type { GatherHead, Plan } from "../plan/plan.ts";
import { type MemoryImage, gatherRegion, writeHead } from "./write.ts";

/** The caller's tensors, one per slot, and the slots. */
interface Arrays {
  readonly given: readonly ({ readonly data: unknown } | null)[];
  readonly slots: readonly SlotArray[];
}

/** Cost of a gathered element, if an element of a whole copy costs 1. In contiguous rows, divided by its bytes. */
const COST_IN_ROW = 16;
const COST_APART = 12;

/** True if rows can be gathered: each array has its slot's class, and is outside the decoder's memory. */
export function canGather({ plan }: MemoryImage, { given, slots }: Arrays): boolean {
  if (plan.gather === null) return false;
  for (let t = 0; t < slots.length; t++) {
    const data = given[t]?.data as Float32Array;
    if (data.constructor !== slots[t].constructor || data.buffer === slots[t].buffer) return false;
  }
  return true;
}

/**
 * Copies the arrays into the slots: only the rows that pass the gate if they are few, else all rows. The plan block
 * `layout.gatherBlock` then describes the slots. `canGather` must have returned true.
 * @returns true if a slot now holds gathered rows in place of its whole tensor
 */
export function gatherRows(image: MemoryImage, { given, slots }: Arrays): boolean {
  let anyGathered = false;
  for (let t = 0; t < slots.length; t++) {
    const data = given[t]?.data as Float32Array;
    if (!listRows(image, t, data)) {
      slots[t].set(data);
      useWholeRows(image, t);
    } else {
      copyListed(image, t, data, slots[t]);
      anyGathered = true;
    }
  }
  return anyGathered;
}

/** Lists the cells that pass the gate in each head of tensor `t`. Returns false if a whole copy is cheaper. */
function listRows(
  { memory: { i32, f32 }, plan, layout }: MemoryImage,
  t: number,
  data: Float32Array,
): boolean {
  const gather = plan.gather as NonNullable<Plan["gather"]>;
  const { type } = plan.tensors[t];
  const [whole, gathered] = layout.records;
  let room = 0;
  for (let k = 0; k < gather.length; k++)
    if (gather[k].tensor === t) room += plan.heads[k].cells * gather[k].channels;
  let cost = 0;
  for (let k = 0, list = layout.gatherIndex >> 2; k < gather.length; list += plan.heads[k++].cells) {
    const g = gather[k];
    if (g.tensor !== t) continue;
    const record = recordOf(gathered, k);
    const { cells } = plan.heads[k];
    const objectness = plan.heads[k].objectness as NonNullable<Head["objectness"]>;
    // Pass the address of the threshold: V8 would allocate a heap number for a fraction passed as an argument.
    const thresholds = type === "f32" ? f32 : i32;
    const at = record + A.H_OBJ_RAW_THRESHOLD;
    const passed =
      type === "f16"
        ? listHalves(data, objectness.offset, objectness.cell, cells, thresholds, at, i32, list)
        : listPassing(data, objectness.offset, objectness.cell, cells, thresholds, at, i32, list);
    // Keep 0 cells for a head without a kept class.
    i32[record + A.H_CELLS] = i32[recordOf(whole, k) + A.H_CELLS] === 0 ? 0 : passed;
    cost += passed * g.channels * (g.channel === 1 ? COST_IN_ROW / ELEMENTS[type].bytes : COST_APART);
    // Copy the tensor whole if all cells pass: `listHalves` may then have listed none.
    if (passed === cells || cost > room) return false;
  }
  return true;
}

/**
 * Copies the records of the heads in tensor `t` from the first plan block into the block for gathered rows. Called if
 * this tensor was copied whole.
 */
function useWholeRows({ memory: { i32 }, plan, layout }: MemoryImage, t: number): void {
  const gather = plan.gather as NonNullable<Plan["gather"]>;
  const [whole, gathered] = layout.records;
  for (let k = 0; k < gather.length; k++) {
    if (gather[k].tensor !== t) continue;
    const from = recordOf(whole, k);
    i32.copyWithin(recordOf(gathered, k), from, from + A.HEAD_WORDS);
  }
}

/** Copies the listed rows of a tensor to the start of its slot, head after head. */
function copyListed(image: MemoryImage, t: number, data: Float32Array, slot: SlotArray): void {
  const { memory, plan, layout } = image;
  const { i32 } = memory;
  const gather = plan.gather as NonNullable<Plan["gather"]>;
  const { bytes } = ELEMENTS[plan.tensors[t].type];
  for (let k = 0, list = layout.gatherIndex >> 2; k < gather.length; list += plan.heads[k++].cells) {
    const g = gather[k];
    if (g.tensor !== t) continue;
    const record = recordOf(layout.records[1], k);
    const passed = i32[record + A.H_CELLS];
    // Write the record again if `useWholeRows` has overwritten it for the last frame.
    if (i32[record + A.H_INDEX] === 0) writeHead(image, 1, k);
    i32[record + A.H_CELLS] = passed;
    const to = (gatherRegion(image, k) - layout.slots[t]) / bytes;
    if (g.channel === 1) copyRows(data, g, i32, list, passed, slot, to);
    else copyElements(data, g, i32, list, passed, slot, to);
  }
}

const recordOf = (heads: number, k: number): number => (heads >> 2) + k * A.HEAD_WORDS;

/** Lists, from word `list` on, the cells whose raw objectness passes the gate. Returns their count. */
function listPassing(
  data: Float32Array,
  offset: number,
  step: number,
  cells: number,
  thresholds: Float32Array | Int32Array,
  thresholdAt: number,
  i32: Int32Array,
  list: number,
): number {
  const threshold = thresholds[thresholdAt];
  let at = offset & INDEX;
  let n = list & INDEX;
  // Write every cell and advance only if it passes: a branch would be mispredicted too often. Load four cells per step,
  // so that the CPU waits for the memory of all four at once. With one cell per step, a YOLOv5 array at threshold 0.25
  // takes 1.2 to 1.3 times as long.
  let i = 0;
  for (; i + 4 <= cells; i += 4, at = (at + 4 * step) & INDEX) {
    const a = data[at];
    const b = data[at + step];
    const c = data[at + 2 * step];
    const d = data[at + 3 * step];
    i32[n] = i;
    n = (n + (a >= threshold ? 1 : 0)) & INDEX;
    i32[n] = i + 1;
    n = (n + (b >= threshold ? 1 : 0)) & INDEX;
    i32[n] = i + 2;
    n = (n + (c >= threshold ? 1 : 0)) & INDEX;
    i32[n] = i + 3;
    n = (n + (d >= threshold ? 1 : 0)) & INDEX;
  }
  for (; i < cells; i++, at += step) if (data[at] >= threshold) i32[n++] = i;
  return n - list;
}

/** Does as `listPassing` for f16, on the bits. Only the bits of positive values have the order of the values. */
function listHalves(
  data: Float32Array,
  offset: number,
  step: number,
  cells: number,
  thresholds: Float32Array | Int32Array,
  thresholdAt: number,
  i32: Int32Array,
  list: number,
): number {
  const threshold = thresholds[thresholdAt];
  // If negative values may pass, report that all cells pass, so that the tensor is copied whole.
  if (threshold <= 0) return cells;
  let n = list;
  for (let i = 0, at = offset; i < cells; i++, at += step)
    // Bits above 0x7fff are negative values. NaN (bits 0x7c01..0x7fff) may pass: the scan drops it.
    if (data[at] >= threshold && data[at] <= 0x7fff) i32[n++] = i;
  return n - list;
}

/** Copies listed rows with adjacent channels, two rows at a time. */
function copyRows(
  data: Float32Array,
  { offset, cell, channels }: GatherHead,
  i32: Int32Array,
  list: number,
  n: number,
  slot: SlotArray,
  to: number,
): void {
  for (let i = 0; i < n; i += 2) {
    // If the count is odd, copy the last row twice to the same place.
    const j = Math.min(i + 1, n - 1);
    const a = offset + i32[list + i] * cell;
    const b = offset + i32[list + j] * cell;
    copyTwo(data, a, b, slot, to + i * channels, to + j * channels, channels);
  }
}

/** Copies listed rows whose channels are not adjacent. */
function copyElements(
  data: Float32Array,
  { offset, channel, cell, channels }: GatherHead,
  i32: Int32Array,
  list: number,
  n: number,
  slot: SlotArray,
  to: number,
): void {
  for (let i = 0; i < n; i++) {
    let at = offset + i32[list + i] * cell;
    for (let c = 0; c < channels; c++, at += channel) slot[to++] = data[at];
  }
}

/**
 * Copies two rows in one loop, so that the CPU waits for the memory of both at once. With one row per loop, a decode
 * takes 1.3 to 1.9 times as long if many rows pass.
 */
function copyTwo(
  data: Float32Array,
  a: number,
  b: number,
  slot: SlotArray,
  toA: number,
  toB: number,
  n: number,
): void {
  const end = toA + n;
  const last = end - (n & 3);
  a &= INDEX;
  b &= INDEX;
  toA &= INDEX;
  toB &= INDEX;
  for (
    ;
    toA < last;
    toA = (toA + 4) & INDEX, toB = (toB + 4) & INDEX, a = (a + 4) & INDEX, b = (b + 4) & INDEX
  ) {
    slot[toA] = data[a];
    slot[toB] = data[b];
    slot[toA + 1] = data[a + 1];
    slot[toB + 1] = data[b + 1];
    slot[toA + 2] = data[a + 2];
    slot[toB + 2] = data[b + 2];
    slot[toA + 3] = data[a + 3];
    slot[toB + 3] = data[b + 3];
  }
  for (; toA < end; toA++, toB++, a++, b++) {
    slot[toA] = data[a];
    slot[toB] = data[b];
  }
}
