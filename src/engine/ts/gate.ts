/**
 * The gate finds the cells that may hold an object, by comparing raw values. Twin of `assembly/gate.ts`. This file
 * handles cells whose values are not adjacent; planes.ts handles adjacent ones.
 */
import * as A from "../../core/abi.ts";
import { type Memory } from "../../core/memory.ts";
import { classAt } from "./classes.ts";
import { integerKey } from "./value.ts";

/** True if the raw value at byte address `at` reaches the raw threshold in word `threshold`. */
export function passesRaw(m: Memory, type: number, threshold: number, at: number): boolean {
  if (type === A.TYPE_F32) return m.f32[at >> 2] >= m.f32[threshold];
  return integerKey(m, type, at) >= m.i32[threshold];
}

/** Lists the cells of one column that reach the raw threshold, from word `to` on. Returns the end of the list. */
export function passColumn(
  m: Memory,
  type: number,
  threshold: number,
  at: number,
  step: number,
  from: number,
  n: number,
  to: number,
): number {
  const { i32, f32 } = m;
  const end = from + n;
  if (type !== A.TYPE_F32) {
    const least = i32[threshold];
    for (; from < end; from++, at += step) if (integerKey(m, type, at) >= least) i32[to++] = from;
    return to;
  }
  const least = f32[threshold];
  let w = at >> 2;
  const stride = step >> 2;
  if (least > 0) {
    // Write every cell and advance by the sign of a difference: a branch would be mispredicted if many cells pass.
    // Above 0, bits order like the floats. Negative floats have negative bits.
    const below = (i32[threshold] - 1) | 0;
    for (; from + 4 <= end; from += 4, w += 4 * stride) {
      const a = (below - i32[w]) >>> 31;
      const b = (below - i32[w + stride]) >>> 31;
      const c = (below - i32[w + 2 * stride]) >>> 31;
      const d = (below - i32[w + 3 * stride]) >>> 31;
      i32[to] = from;
      i32[(to += a)] = from + 1;
      i32[(to += b)] = from + 2;
      i32[(to += c)] = from + 3;
      to += d;
    }
  }
  for (; from < end; from++, w += stride) if (f32[w] >= least) i32[to++] = from;
  return to;
}

/** Lists the cells with a class that reaches the raw threshold, from word `to` on. Returns the end of the list. */
export function passRows(
  m: Memory,
  head: number,
  type: number,
  at: number,
  step: number,
  from: number,
  n: number,
  to: number,
): number {
  const { i32 } = m;
  const classes = i32[head + A.H_CLASSES];
  const channel = i32[head + A.H_SCORE_CHANNEL];
  const list = i32[head + A.H_CLASS_LIST] >> 2;
  for (const end = from + n; from < end; from++, at += step) {
    for (let c = 0; c < classes; c++) {
      if (passesRaw(m, type, head + A.H_SCORE_RAW_THRESHOLD, at + classAt(i32, list, c) * channel)) {
        i32[to++] = from;
        break;
      }
    }
  }
  return to;
}
