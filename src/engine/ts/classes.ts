/** Finds the best class of a cell. Twin of `assembly/classes.ts`. */
import { TYPE_F16, TYPE_F32 } from "../../core/abi.ts";
import { INDEX, type Memory } from "../../core/memory.ts";
import { SCORE, scratch32, scratch32Bits } from "./registers.ts";
import { LOWEST, integerKey } from "./value.ts";

/** Returns the k-th class to be read. `list` is the word address of the class list, or 0 if all classes are read. */
export function classAt(i32: Int32Array, list: number, k: number): number {
  return list === 0 ? k : i32[list + k];
}

/** Returns the first class with the largest value; -1 if no value is above -Infinity. */
export function bestClass(
  m: Memory,
  type: number,
  at: number,
  step: number,
  classes: number,
  classList: number,
): number {
  const { i32, f32 } = m;
  let found = -1;
  // Start below all values. In f16, NaN has the lowest key and is skipped. In i32, the same bits are a valid value.
  let best = type === TYPE_F16 ? LOWEST : -Infinity;
  for (let i = 0; i < classes; i++) {
    const c = classAt(i32, classList, i);
    const p = at + c * step;
    const v = type === TYPE_F32 ? f32[p >> 2] : integerKey(m, type, p);
    if (v > best) {
      best = v;
      found = c;
    }
  }
  return found;
}

/**
 * Finds the largest of `n` floats, `step` words apart. Returns the index of the first float with this value, or -1 if
 * the value is below the SCORE register.
 * The loop goes backwards, so that the first of equal floats is found last. It skips four floats at a time if all four
 * are below the best float so far. The bits of such floats are the `span` integers from `lowest` on.
 */
export function largest(m: Memory, at: number, step: number, n: number): number {
  const { i32, f32 } = m;
  let found = -1;
  let best = scratch32[SCORE];
  let bits = scratch32Bits[SCORE];
  let i = n;
  let a = (at + n * step) & INDEX;
  while (i > 0) {
    // Choose the range of bits to skip. For a positive best it holds NaN (from 0x7f800001 on), all negative floats,
    // then the floats from 0 to below the best. For another best it holds the lower floats, whose bits are larger.
    const lowest = bits > 0 ? 0x7f800001 : (bits | -0x80000000) + 1;
    const span = ((bits > 0 ? bits : 0) - lowest) >>> 0;
    for (; i >= 4; i -= 4) {
      const b = (a - step) & INDEX;
      const c = (b - step) & INDEX;
      const d = (c - step) & INDEX;
      const e = (d - step) & INDEX;
      if (
        (i32[b] - lowest) >>> 0 >= span ||
        (i32[c] - lowest) >>> 0 >= span ||
        (i32[d] - lowest) >>> 0 >= span ||
        (i32[e] - lowest) >>> 0 >= span
      )
        break;
      a = e;
    }
    for (const stop = i > 4 ? i - 4 : 0; i > stop;) {
      i--;
      a = (a - step) & INDEX;
      if (f32[a] >= best) {
        best = f32[a];
        bits = i32[a];
        found = i;
      }
    }
  }
  return found;
}

/** Does the work of `largest` for adjacent floats if the SCORE register is above 0: bits then order like floats. */
export function largestInRow(m: Memory, at: number, n: number): number {
  const { i32, f32 } = m;
  let below = scratch32Bits[SCORE] - 1;
  let found = -1;
  const end = at + n;
  // Let `nextAbove` skip whole groups of eight: the inner loop compares the rest.
  const last = end - (n & 7);
  for (let w = at; (w = nextAbove(i32, w, last, below)) < end;)
    for (const stop = Math.min(w + 8, end); w < stop; w++)
      // Exclude a NaN, whose bits are above those of all floats.
      if (i32[w] > below && f32[w] >= 0) {
        below = i32[w];
        found = w - at;
      }
  return found;
}

/**
 * Returns the first word of the first group of eight, from word `w` on, that has a float whose bits exceed `below`.
 * Returns `end` or later if there is none. The loop has no calls: V8 would load the array's address again after each
 * call.
 */
export function nextAbove(i32: Int32Array, w: number, end: number, below: number): number {
  for (w &= INDEX; w < end; w = (w + 8) & INDEX)
    if (
      i32[w] > below ||
      i32[w + 1] > below ||
      i32[w + 2] > below ||
      i32[w + 3] > below ||
      i32[w + 4] > below ||
      i32[w + 5] > below ||
      i32[w + 6] > below ||
      i32[w + 7] > below
    )
      break;
  return w;
}
