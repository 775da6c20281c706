/** Reads the extra channels of single rows from a decoder's memory. Only tasks import this file. */
import { ELEMENTS } from "../core/tensor.ts";
import { dequantise, halfToFloat } from "../core/number.ts";
import type { Column } from "../heads/channels.ts";
import type { Memory } from "../core/memory.ts";
import type { Head } from "../heads/head.ts";
import type { Plan } from "../plan/plan.ts";
import type { MemoryLayout } from "./layout.ts";
import { imageStart } from "./write.ts";

/** A decoder's memory, with the plan and layout that locate its tensors. */
export interface TensorsInMemory {
  readonly memory: Memory;
  readonly plan: Pick<Plan, "tensors" | "batch">;
  readonly layout: Pick<MemoryLayout, "slots">;
}

type Cells = Pick<Head, "cells">;

/**
 * Returns the index k of the head that holds a source, a cell number across all heads. The cell within the head is
 * `source - firstSource(heads, k)`.
 */
export function headIndexOf(heads: readonly Cells[], source: number): number {
  let k = 0;
  for (let first = heads[0].cells; source >= first && k + 1 < heads.length; first += heads[k].cells) k++;
  return k;
}

/** Returns the source of the first cell of head `k`. */
export function firstSource(heads: readonly Cells[], k: number): number {
  let first = 0;
  for (let i = 0; i < k; i++) first += heads[i].cells;
  return first;
}

/** Writes `count` channels of a cell to `to` from `at` on, as (raw - zeroPoint) * scale in f32 like the kernel. */
export function readChannels(
  { memory, plan, layout }: TensorsInMemory,
  column: Column,
  image: number,
  cell: number,
  count: number,
  to: Float64Array | Float32Array,
  at = 0,
): void {
  const spec = plan.tensors[column.tensor];
  const { type, zeroPoint } = spec;
  const { bytes } = ELEMENTS[type];
  const first = layout.slots[column.tensor] + imageStart(plan, column, image) * bytes;
  const from = first + (column.offset + cell * column.cell) * bytes;
  const step = column.channel * bytes;
  // Copy contiguous f32 channels at once, which takes a tenth of the time of the loop.
  if (type === "f32" && step === bytes) to.set(memory.f32.subarray(from >> 2, (from >> 2) + count), at);
  else if (type === "f32") for (let c = 0; c < count; c++) to[at + c] = memory.f32[(from + c * step) >> 2];
  else
    for (let c = 0; c < count; c++) {
      const here = from + c * step;
      // Read every type through `i32`, as engine/ts/value.ts does: one array type keeps the access monomorphic.
      const word = memory.i32[here >> 2] >> ((here & 3) << 3);
      const raw =
        bytes === 4
          ? word
          : bytes === 2
            ? (word << 16) >> 16
            : type === "u8"
              ? word & 255
              : (word << 24) >> 24;
      to[at + c] = type === "f16" ? halfToFloat(raw) : dequantise(raw, spec.scale ?? 1, zeroPoint);
    }
}
