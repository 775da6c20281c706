/**
 * The way in for a caller's array where a copy would cost more than the decode: of heads gated by objectness, only
 * the rows that pass are copied, side by side, with their cell numbers beside them.
 */
import * as A from "./abi.ts";
import { type Image, gatherRegion, type SlotArray } from "./image.ts";
import type { Plan } from "./plan.ts";
import { ELEMENTS } from "./tensor.ts";

/**
 * Gathers what passes and returns the plan block that decodes it; 0: copy everything instead, because too much
 * passes for gathering to pay, or because the data is not of the slot's own array type.
 */
export function gatherRows(image: Image, arrays: readonly unknown[], slots: readonly SlotArray[]): number {
  const { memory: m, plan, layout } = image;
  const gather = plan.gather as NonNullable<Plan["gather"]>;
  const { i32 } = m;
  let source = 0;
  for (let k = 0; k < gather.length; k++) {
    const g = gather[k];
    const h = plan.heads[k];
    const spec = plan.tensors[g.tensor];
    const data = arrays[g.tensor] as Float32Array;
    const slot = slots[g.tensor];
    if (data.constructor !== slot.constructor || data.buffer === slot.buffer) return 0;
    const r = (layout.records[plan.batch] >> 2) + k * A.HEAD_WORDS;
    const objectness = h.objectness as NonNullable<typeof h.objectness>;
    // bits of half floats are in order as they stand only above zero
    if (spec.type === "f16" && i32[r + A.H_OBJ_GATE] <= 0) return 0;
    const list = (layout.gatherIndex >> 2) + source;
    const passed = passing(
      data,
      objectness.offset,
      objectness.cell,
      h.cells,
      // the gate stays in memory: a number with a fraction handed over would be garbage
      spec.type === "f32" ? m.f32 : i32,
      r + A.H_OBJ_GATE,
      spec.type === "f16",
      i32,
      list,
    );
    // scattered reads cost several times a streamed copy, rows that lie side by side about the same
    const cost = g.channel === 1 ? 2 : 12;
    if (passed * g.channels * cost > h.cells * g.channels) return 0;
    const size = ELEMENTS[spec.type].bytes;
    copyRows(
      data,
      g.offset,
      g.channel,
      g.cell,
      g.channels,
      i32,
      list,
      passed,
      slot,
      (gatherRegion(image, k) - layout.slots[g.tensor]) / size,
    );
    i32[r + A.H_CELLS] = passed;
    source += h.cells;
  }
  return layout.gatherPlan;
}

/** Cells whose objectness passes, in order; the list is written always and counted only where it passes. */
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
    for (let i = 0; i < cells; i++, at += cell) if (data[at] >= gate && data[at] <= 0x7fff) i32[n++] = i;
  } else {
    for (let i = 0; i < cells; i++, at += cell) if (data[at] >= gate) i32[n++] = i;
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
  for (let i = 0; i < n; i++) {
    let at = offset + i32[list + i] * cell;
    for (let c = 0; c < channels; c++, at += channel) slot[to++] = data[at];
  }
}
