/**
 * Divides the picture's width into strips, for suppression across classes. Twin of `assembly/strips.ts`, which proves
 * that no pair is missed. This file uses doubles: the proof's margin of a thousandth covers their rounding.
 */
import * as A from "../../core/abi.ts";
import type { Memory } from "../../core/memory.ts";

/** Results of `measureStrips`: left edge of strip 0, strips per unit of length (0: a single strip), and `sideShare`. */
export const strips = new Float64Array(3);

/** Divides the width that the best candidates span into strips. The outer strips also take what lies outside. */
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
  const perUnit = A.STRIPS / (high - low);
  strips[0] = low;
  // Use a single strip if the extent is 0, or if there is no candidate.
  strips[1] = perUnit > 0 && perUnit < 1e30 ? perUnit : 0;
  strips[2] = sideShare(f32[plan + A.P_IOU]);
}

/** Returns the fraction of a box's width that is cut off on each side. */
function sideShare(iou: number): number {
  return iou > 1e-6 ? (iou / (1 + iou)) * 0.999 : 0;
}

/** Area below which a box keeps its whole width: such areas are too inexact for the proof. */
const SMALL_AREA = 1e-30;

/** Returns the distance by which a box is narrowed on each side for the search. */
export function inset(left: number, right: number, area: number, share: number): number {
  return area > SMALL_AREA ? (right - left) * share : 0;
}

/** Returns the strip that x lies in. */
export function stripOf(x: number, begin: number, perUnit: number): number {
  const strip = (x - begin) * perUnit;
  // Compare so that a NaN goes into strip 0.
  return strip > 0 ? (strip < A.STRIPS - 1 ? strip | 0 : A.STRIPS - 1) : 0;
}
