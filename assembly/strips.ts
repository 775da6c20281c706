/**
 * Strips, for suppression across classes.
 *
 * Without classes every box meets every other, though most pairs lie far apart. So kept boxes hang in one chain for each
 * vertical strip of the image, and a candidate searches only the strips it can reach:
 *
 *     strip   0     1     2     3    ...  STRIPS - 1
 *             |     |  [==k==]  |                        a kept box k hangs in the strip of its low edge
 *             |     |     | [==c==]                      a candidate c searches from the strip of (its low edge - widest)
 *                                                        to the strip of its high edge
 *
 *     `widest` is the largest (high edge - low edge) of the kept boxes
 *
 * Low and high edge are not the edges of the box. Each box is first made narrower, by a share of its width on each side:
 *
 *     left   low                high   right
 *      |------[==================]------|
 *       inset                     inset
 *
 * Without strips, suppression took 1.3 to 2.0 times as long across classes.
 *
 * Proof that no pair is missed. Let t be the IoU threshold, and let boxes a and b share a rectangle of w times h.
 *   1. a suppresses b only if w h > t (area a + area b - w h), that is w h (1 + t) > t (area a + area b).
 *   2. h is at most the height of a and of b, so area a >= width a * h, and area b >= width b * h.
 *   3. 1 and 2 give w > t / (1 + t) * (width a + width b).
 *   4. w is at most (right of b - left of a), and at most (right of a - left of b). Take the share t / (1 + t) of its width
 *      off each side of each box. By 3, each low edge still lies below the high edge of the other box. So c finds k:
 *      low of k <= high of c, and low of k >= low of c - (high - low of k) >= low of c - widest.
 *   5. Rounding. The share is a thousandth smaller, for the rounding of areas. Edges move out by eight units in the last
 *      place of their coordinates, for their own rounding. The strip of a coordinate never decreases with it. Boxes so
 *      small that their area has few digits left keep their whole width.
 *
 * Only here: beginOf, perUnitOf. The TypeScript engine stores the measures in an array.
 */
import { P_BOXES, P_ORDER, P_SORTED, STRIPS, STRIP_SAMPLE } from "../src/core/abi";
import { int, ptr } from "./word";

/**
 * Measures the strips: they divide the breadth of the best candidates. Boxes outside go into the first or last strip.
 * Returns two f32: the left edge of strip 0 in the upper half, the strips to a unit in the lower half (0: one strip).
 */
export function measureStrips(plan: usize): u64 {
  const order = ptr(plan, P_ORDER);
  const boxes = ptr(plan, P_BOXES);
  let low: f32 = Infinity;
  let high: f32 = -Infinity;
  for (let i = min(int(plan, P_SORTED), STRIP_SAMPLE); i-- > 0;) {
    const box = boxes + ((<usize>load<u32>(order + ((<usize>i) << 2))) << 4);
    const left = load<f32>(box);
    const right = load<f32>(box, 8);
    if (left < low) low = left;
    if (right > high) high = right;
  }
  const perUnit = <f32>STRIPS / (high - low);
  // No breadth, or no candidate at all: one strip.
  const usable: f32 = perUnit > 0 && perUnit < 1e30 ? perUnit : 0;
  return ((<u64>reinterpret<u32>(low)) << 32) | (<u64>reinterpret<u32>(usable));
}

/** Returns the share of its width that is taken off each side of a box. */
export function sideShare(iou: f32): f32 {
  return iou > 1e-6 ? (iou / (1 + iou)) * <f32>0.999 : 0;
}

// @ts-ignore: decorator
@inline
export function beginOf(strips: u64): f32 {
  return reinterpret<f32>(<u32>(strips >> 32));
}

// @ts-ignore: decorator
@inline
export function perUnitOf(strips: u64): f32 {
  return reinterpret<f32>(<u32>strips);
}

/** Boxes with a smaller area keep their whole width: their area has too few digits for the proof. */
const SMALL_AREA: f32 = 1e-30;

/** Returns how far inside its edges a box is looked for. The last term is eight units in the last place: 8 * 2^-24. */
// @ts-ignore: decorator
@inline
export function inset(left: f32, right: f32, area: f32, share: f32): f32 {
  const off = area > SMALL_AREA ? (right - left) * share : 0;
  return off - ((left < 0 ? -left : left) + (right < 0 ? -right : right)) * <f32>4.8e-7;
}

/** Returns the offset, in the chains, of the strip that x lies in. */
// @ts-ignore: decorator
@inline
export function stripOf(x: f32, begin: f32, perUnit: f32): usize {
  const strip = (x - begin) * perUnit;
  // Written so that a NaN goes into strip 0.
  if (!(strip > 0)) return 0;
  return (strip < <f32>(STRIPS - 1) ? <usize>(<i32>strip) : STRIPS - 1) << 2;
}
