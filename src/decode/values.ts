/** Reads values of a plan's columns before or after a scan. Long loops run in the kernel. */
import * as A from "../core/abi.ts";
import { ELEMENTS } from "../core/tensor.ts";
import { value } from "../engine/ts/value.ts";
import type { Column } from "../heads/channels.ts";
import { type MemoryImage, imageStart } from "../memory/write.ts";
import type { Ready } from "./loop.ts";

/** A plan in memory, and the engine that runs it. */
export type PlanInMemory = MemoryImage & Ready;

/** Largest finite f32. */
export const LARGEST = 3.4028234663852886e38;

/** Returns the value of a column for one cell. */
export function valueIn(
  { memory, plan, layout }: MemoryImage,
  image: number,
  f: Column,
  cell: number,
): number {
  const s = plan.tensors[f.tensor];
  const { bytes, code } = ELEMENTS[s.type];
  const at = imageStart(plan, f, image) + f.offset + cell * f.cell;
  return value(memory, code, layout.slots[f.tensor] + at * bytes, s.scale ?? 1, s.zeroPoint);
}

/**
 * Writes a column record for a tensor's values from `element` on, and returns its address. The record lies in the
 * buckets of the sort, which are free before a scan and after suppression.
 */
export function columnOf(work: PlanInMemory, tensor: number, element: number): number {
  const { i32, f32 } = work.memory;
  const { type, scale, zeroPoint } = work.plan.tensors[tensor];
  const { bytes, code } = ELEMENTS[type];
  const column = i32[(work.blocks[0] >> 2) + A.P_COUNTS];
  const word = column >> 2;
  i32[word + A.C_TYPE] = code;
  f32[word + A.C_SCALE] = scale ?? 1;
  f32[word + A.C_ZERO] = zeroPoint;
  i32[word + A.C_AT] = work.layout.slots[tensor] + element * bytes;
  return column;
}

/** Called for a value outside the range. Returns false to end the search. */
type Outsider = (value: number, cell: number, channel: number) => boolean;

const isNone: Outsider = () => false;

/**
 * True if every value of a column lies in `low`..`high`, in `channels` channels and all images. Values for which
 * `allows` returns true pass too. NaN is outside every range.
 */
export function everyValue(
  work: PlanInMemory,
  cells: number,
  f: Column,
  channels: number,
  [low, high]: readonly [low: number, high: number],
  allows: Outsider = isNone,
): boolean {
  const { engine, memory, plan } = work;
  const s = plan.tensors[f.tensor];
  const { bytes, code } = ELEMENTS[s.type];
  // Read memory in order: along the smaller of the two steps.
  const byCell = f.cell > f.channel;
  const [run, runs] = byCell ? [channels, cells] : [cells, channels];
  const [step, runStep] = byCell ? [f.channel, f.cell] : [f.cell, f.channel];
  const count = run * runs;
  for (let image = 0; image < plan.batch && count > 0; image++) {
    const column = columnOf(work, f.tensor, imageStart(plan, f, image) + f.offset);
    memory.i32.set([run, step * bytes, runs, runStep * bytes], (column >> 2) + A.C_RUN);
    memory.f32.set([low, high], (column >> 2) + A.C_LOW);
    const first = memory.i32[(column >> 2) + A.C_AT];
    for (let i = engine.within(column, 0); i < count; i = engine.within(column, i + 1)) {
      const [r, k] = [Math.floor(i / run), i % run];
      const v = value(memory, code, first + (r * runStep + k * step) * bytes, s.scale ?? 1, s.zeroPoint);
      if (!allows(v, byCell ? r : k, byCell ? k : r)) return false;
    }
  }
  return true;
}
