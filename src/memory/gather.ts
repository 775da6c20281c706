/**
 * The way in for a caller's array where a copy would cost more than the decode: of heads gated by objectness, only
 * the rows that pass are copied, side by side, with their cell numbers beside them.
 */
import * as A from "../core/abi.ts";
import { type MemoryImage, gatherRegion, type SlotArray, writeHead } from "./write.ts";
import { INDEX } from "../core/memory.ts";
import type { Plan } from "../plan/plan.ts";
import type { Head } from "../heads/head.ts";
import { ELEMENTS, volume } from "../core/tensor.ts";

/**
 * Brings the arrays in and returns the plan block that decodes them: of a tensor of which little passes only the rows
 * that do, of another one everything. 0: nothing was done, because data is not of its slot's own array type.
 */
export function gatherRows(
  image: MemoryImage,
  arrays: readonly unknown[],
  slots: readonly SlotArray[],
): number {
  const { memory: m, plan, layout } = image;
  const gather = plan.gather as NonNullable<Plan["gather"]>;
  const { i32 } = m;
  // plans that gather are of one image: the block after its own is the one for gathered rows
  const [whole, gathered] = layout.records;
  for (let t = 0; t < slots.length; t++) {
    const data = arrays[t] as Float32Array;
    if (data.constructor !== slots[t].constructor || data.buffer === slots[t].buffer) return 0;
  }
  for (let t = 0; t < slots.length; t++) {
    const data = arrays[t] as Float32Array;
    let room = 0;
    let cost = 0;
    // whether rows would fill the slot to its end, where the mark is
    let full = false;
    for (let k = 0; k < gather.length; k++)
      if (gather[k].tensor === t) room += plan.heads[k].cells * gather[k].channels;
    for (let k = 0, list = layout.gatherIndex >> 2; k < gather.length; list += plan.heads[k++].cells) {
      const g = gather[k];
      // once it is known that gathering does not pay, the rest need not be looked at
      if (g.tensor !== t || cost > room) continue;
      const r = recordOf(gathered, k);
      const objectness = plan.heads[k].objectness as NonNullable<Head["objectness"]>;
      const { type } = plan.tensors[t];
      const passed = passing(
        data,
        objectness.offset,
        objectness.cell,
        plan.heads[k].cells,
        // the gate stays in memory: a number with a fraction handed over would be garbage
        type === "f32" ? m.f32 : i32,
        r + A.H_OBJ_RAW_THRESHOLD,
        type === "f16",
        i32,
        list,
      );
      // of a head of which no class is wanted, nothing is
      i32[r + A.H_CELLS] = i32[recordOf(whole, k) + A.H_CELLS] === 0 ? 0 : passed;
      full = passed === plan.heads[k].cells;
      // an element by itself costs several times one of a streamed copy, the more the smaller it is; one that lies apart waits for memory
      cost += passed * g.channels * (g.channel === 1 ? 16 / ELEMENTS[type].bytes : 12);
    }
    const copied = full || cost > room;
    if (copied) slots[t].set(data);
    else i32[lastWord(image, t)] = GATHERED;
    for (let k = 0, list = layout.gatherIndex >> 2; k < gather.length; list += plan.heads[k++].cells) {
      const g = gather[k];
      if (g.tensor !== t) continue;
      const r = recordOf(gathered, k);
      if (copied) {
        const from = recordOf(whole, k);
        i32.copyWithin(r, from, from + A.HEAD_WORDS);
        continue;
      }
      const passed = i32[r + A.H_CELLS];
      if (i32[r + A.H_INDEX] === 0) writeHead(image, 1, k);
      i32[r + A.H_CELLS] = passed;
      const to = (gatherRegion(image, k) - layout.slots[t]) / ELEMENTS[plan.tensors[t].type].bytes;
      copyRows(data, g.offset, g.channel, g.cell, g.channels, i32, list, passed, slots[t], to);
    }
  }
  return layout.gatherBlock;
}

/**
 * A word that hardly any tensor ends in (as a float, a NaN of these very bits), put at the end of a slot whose beginning was overwritten with gathered rows, which
 * never reach that far: as long as it stands, nobody has written the tensor there since.
 */
const GATHERED = 0x7fb0c4e5;

const lastWord = ({ plan, layout }: MemoryImage, t: number): number => {
  const { dims, type } = plan.tensors[t];
  return ((layout.slots[t] + volume(dims) * ELEMENTS[type].bytes) >> 2) - 1;
};

/** Whether a slot holds gathered rows in the place of the tensor they were taken from. */
export function holdsRows(image: MemoryImage): boolean {
  const { memory, plan } = image;
  if (plan.gather !== null)
    for (let t = 0; t < plan.tensors.length; t++)
      if (memory.i32[lastWord(image, t)] === GATHERED) return true;
  return false;
}

const recordOf = (heads: number, k: number): number => (heads >> 2) + k * A.HEAD_WORDS;

/** Lists the cells whose objectness passes, in order, and returns how many. */
function passing(
  data: Float32Array,
  offset: number,
  cell: number,
  cells: number,
  gates: Float32Array | Int32Array,
  gateAt: number,
  half: boolean,
  i32: Int32Array,
  list: number,
): number {
  const gate = gates[gateAt];
  let at = offset;
  let n = list;
  if (half) {
    // bits of half floats are in order as they stand only above zero; else all may pass
    if (gate <= 0) return cells;
    for (let i = 0; i < cells; i++, at += cell) if (data[at] >= gate && data[at] <= 0x7fff) i32[n++] = i;
  } else {
    // four at a time, which a core fetches side by side; always written, and counted if it counts
    let i = 0;
    n &= INDEX;
    for (at &= INDEX; i + 4 <= cells; i += 4, at = (at + 4 * cell) & INDEX) {
      const a = data[at];
      const b = data[at + cell];
      const c = data[at + 2 * cell];
      const d = data[at + 3 * cell];
      i32[n] = i;
      n = (n + (a >= gate ? 1 : 0)) & INDEX;
      i32[n] = i + 1;
      n = (n + (b >= gate ? 1 : 0)) & INDEX;
      i32[n] = i + 2;
      n = (n + (c >= gate ? 1 : 0)) & INDEX;
      i32[n] = i + 3;
      n = (n + (d >= gate ? 1 : 0)) & INDEX;
    }
    for (; i < cells; i++, at += cell) if (data[at] >= gate) i32[n++] = i;
  }
  return n - list;
}

function copyRows(
  data: Float32Array,
  offset: number,
  channel: number,
  cell: number,
  channels: number,
  i32: Int32Array,
  list: number,
  n: number,
  slot: SlotArray,
  to: number,
): void {
  if (channel === 1) {
    for (let i = 0; i < n; i += 2) {
      // of an odd number the last one is copied twice
      const j = Math.min(i + 1, n - 1);
      const a = offset + i32[list + i] * cell;
      const b = offset + i32[list + j] * cell;
      copyTwo(data, a, b, slot, to + i * channels, to + j * channels, channels);
    }
    return;
  }
  for (let i = 0; i < n; i++) {
    let at = offset + i32[list + i] * cell;
    for (let c = 0; c < channels; c++, at += channel) slot[to++] = data[at];
  }
}

/** Two rows side by side, so that a core waits for the memory of both at once: a seventh of the whole decode where many pass. */
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
