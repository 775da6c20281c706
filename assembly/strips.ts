/**
 * Across classes every box meets every other, and most pairs are far apart. So kept boxes hang in chains by where they stand:
 *
 *      0     1     2     3    ...  STRIPS - 1
 *      |     |  [==k==]  |                        a kept box hangs in the strip of its low edge
 *      |     |     | [==c==]                      a candidate meets the strips from its low edge less `widest` to its high edge
 *
 * The edges are not those of the boxes: from each side a share of the width is taken off first. For boxes a, b that share w x h,
 * suppression needs w h > t (areas - w h), and h is at most the height of either, so w (1 + t) > t (width a + width b): with
 * t / (1 + t) of its width taken off each side of each box, they still touch. The share is a thousandth less, for the rounding of
 * areas, and edges go out by eight units in the last place of their coordinates, for their own; rounding keeps order, so no pair that
 * suppresses is ever missed. Boxes so small that their area has few digits left keep their whole width.
 */
import { P_BOXES, P_ORDER, P_SORTED, STRIPS, STRIP_SAMPLE } from "../src/core/abi";
import { int, ptr } from "./word";

/**
 * Strips over the breadth that the best candidates have; others may stand outside, in the first strip or the last. The upper half of the
 * result is the f32 where the first strip begins, the lower how many there are to a unit: 0 where all is one strip.
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
  const per = <f32>STRIPS / (high - low);
  return ((<u64>reinterpret<u32>(low)) << 32) | (<u64>reinterpret<u32>(per > 0 && per < 1e30 ? per : 0));
}

/** The share of its width that is taken off each side of a box. */
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

/** Areas below this keep the whole width of their box. */
const SMALL_AREA: f32 = 1e-30;

/** How far inside its edges a box is looked for. */
// @ts-ignore: decorator
@inline
export function inset(left: f32, right: f32, area: f32, share: f32): f32 {
  const off = area > SMALL_AREA ? (right - left) * share : 0;
  return off - ((left < 0 ? -left : left) + (right < 0 ? -right : right)) * <f32>4.8e-7;
}

/** Offset in the chains of the strip that this stands in. */
// @ts-ignore: decorator
@inline
export function stripOf(x: f32, begin: f32, perUnit: f32): usize {
  const strip = (x - begin) * perUnit;
  // in this order a NaN stands in the first
  if (!(strip > 0)) return 0;
  return (strip < <f32>(STRIPS - 1) ? <usize>(<i32>strip) : STRIPS - 1) << 2;
}
