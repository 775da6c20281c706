/** Twin of `assembly/strips.ts`, which says why no pair is missed. In doubles, whose rounding the share leaves room for by itself. */
import * as A from "../../core/abi.ts";
import type { Memory } from "../../core/memory.ts";

/**
 * What `measureStrips` found, in an array since as results they would be new heap objects each: where the first strip begins, how many
 * there are to a unit (0 where all is one strip), and the share of its width that is taken off each side of a box.
 */
export const strips = new Float64Array(3);

/** Strips over the breadth that the best candidates have. Others may stand outside, in the first strip or the last. */
export function measureStrips({ i32, f32 }: Memory, plan: number): void {
  const order = i32[plan + A.P_ORDER] >> 2;
  const boxes = i32[plan + A.P_BOXES] >> 2;
  let low = Infinity;
  let high = -Infinity;
  for (let i = Math.min(i32[plan + A.P_SORTED], A.STRIP_SAMPLE); i-- > 0;) {
    const box = boxes + i32[order + i] * 4;
    if (f32[box] < low) low = f32[box];
    if (f32[box + 2] > high) high = f32[box + 2];
  }
  const per = A.STRIPS / (high - low);
  const iou = f32[plan + A.P_IOU];
  strips[0] = low;
  strips[1] = per > 0 && per < 1e30 ? per : 0;
  strips[2] = iou > 1e-6 ? (iou / (1 + iou)) * 0.999 : 0;
}

/** Areas below this keep the whole width of their box. */
const SMALL_AREA = 1e-30;

/** How far inside its edges a box is looked for. */
export function inset(left: number, right: number, area: number, share: number): number {
  return area > SMALL_AREA ? (right - left) * share : 0;
}

/** The strip that this stands in. */
export function stripOf(x: number, begin: number, perUnit: number): number {
  const strip = (x - begin) * perUnit;
  // in this order a NaN stands in the first
  return strip > 0 ? (strip < A.STRIPS - 1 ? strip | 0 : A.STRIPS - 1) : 0;
}
