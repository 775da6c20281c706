/** The gate where values of a cell stand anywhere. Twin of `assembly/gate.ts`. */
import * as A from "../../core/abi.ts";
import { type Memory } from "../../core/memory.ts";
import { passesRaw } from "./admit.ts";
import { classAt, integerKey } from "./value.ts";

/** One column of values, anywhere: cells that reach the gate to the list, of which the end is returned. */
export function passColumn(
  m: Memory,
  type: number,
  gate: number,
  at: number,
  step: number,
  from: number,
  n: number,
  to: number,
): number {
  const { i32, f32 } = m;
  const end = from + n;
  if (type !== A.TYPE_F32) {
    const least = i32[gate];
    for (; from < end; from++, at += step) if (integerKey(m, type, at) >= least) i32[to++] = from;
    return to;
  }
  const least = f32[gate];
  let w = at >> 2;
  const s = step >> 2;
  if (least > 0) {
    // always written, counted by the sign: a branch would be guessed wrong where many pass. Negative numbers may be
    // among them
    const below = (i32[gate] - 1) | 0;
    for (; from + 4 <= end; from += 4, w += 4 * s) {
      const a = (below - i32[w]) >>> 31;
      const b = (below - i32[w + s]) >>> 31;
      const c = (below - i32[w + 2 * s]) >>> 31;
      const d = (below - i32[w + 3 * s]) >>> 31;
      i32[to] = from;
      i32[(to += a)] = from + 1;
      i32[(to += b)] = from + 2;
      i32[(to += c)] = from + 3;
      to += d;
    }
  }
  for (; from < end; from++, w += s) if (f32[w] >= least) i32[to++] = from;
  return to;
}

/** Cells whose classes stand next to each other (rows), or nowhere near each other; `admitCommon` does without. */
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
