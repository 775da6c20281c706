/**
 * Greedy non-maximum suppression over candidates in order. Twin of `assembly/nms.ts`, and the definition:
 * a candidate is kept unless a kept one of its class (or of any class) overlaps it too much.
 *
 * IoU of boxes a, b: intersection / (area a + area b - intersection), 0 where that union is empty; compared as
 * intersection > threshold x union. Widths below 0 count as 0; `pixelOffset` is added to each width and height.
 *
 * Kept boxes stand one after the other in records of six words, those of a class, or across classes of a strip (strips.ts), in a
 * chain through them. Most pairs are far apart, which two subtractions tell for both axes, see `pack`: no arithmetic, and one
 * branch that is seldom wrong.
 */
import * as A from "../../core/abi.ts";
import type { Memory } from "../../core/memory.ts";
import { detect } from "./detect.ts";
import { bringNear } from "./near.ts";
import { inset, measureStrips, stripOf, strips } from "./strips.ts";
import { fround, reg, regBits } from "./value.ts";

/** The top bit of either half of a word. */
const TOPS = 0x80008000 | 0;

export function nms(m: Memory, at: number): number {
  const { i32, f32 } = m;
  const plan = at >> 2;
  const n = i32[plan + A.P_ORDERED];
  const max = i32[plan + A.P_MAX_DETECTIONS];
  const flags = i32[plan + A.P_FLAGS];
  const order = i32[plan + A.P_ORDER] >> 2;
  const boxes = i32[plan + A.P_BOXES] >> 2;
  const labels = i32[plan + A.P_CLASS_IDS] >> 2;
  const chains = i32[plan + A.P_CHAINS] >> 2;
  const iou = f32[plan + A.P_IOU];
  const equal = (flags & A.FLAG_SUPPRESS_EQUAL) !== 0;
  const offsetX = f32[plan + A.P_OFFSET_X];
  const offsetY = f32[plan + A.P_OFFSET_Y];
  const all = (flags & A.FLAG_NMS_ALL) !== 0;
  const moved = offsetX !== 0 || offsetY !== 0;
  const suppress = all || (flags & A.FLAG_NMS_CLASS) !== 0;
  const first = i32[plan + A.P_KEPT] >> 2;
  let free = first;
  let kept = 0;
  let i = 0;
  let near = 0;
  const inStrips = all && !equal && !moved;
  if (inStrips) measureStrips(m, plan);
  // of an earlier call where there are none: not used then
  const begin = strips[0];
  const perUnit = strips[1];
  const share = strips[2];
  let widest = 0;
  // whether what is kept hangs in more chains than one
  let mixed = inStrips;
  if (suppress) i32.fill(0, chains, chains + A.CHAINS);
  candidate: for (; i < n && kept < max; i++) {
    if (i === near) near = bringNear(m, at, i);
    const c = i32[order + i];
    if (suppress) {
      const box = boxes + c * 4;
      const x1 = f32[box];
      const y1 = f32[box + 1];
      const x2 = f32[box + 2];
      const y2 = f32[box + 3];
      const area = fround(
        positive(fround(fround(x2 - x1) + offsetX)) * positive(fround(fround(y2 - y1) + offsetY)),
      );
      const label = all ? 0 : i32[labels + c];
      let chain = chains + (label & (A.CHAINS - 1));
      let strip = chain;
      let last = chain;
      let reach = 0;
      if (inStrips) {
        const by = inset(x1, x2, area, share);
        const low = x1 + by;
        const high = x2 - by;
        reach = high - low;
        chain = chains + stripOf(low, begin, perUnit);
        strip = chains + stripOf(low - widest, begin, perUnit);
        last = chains + stripOf(high, begin, perUnit);
      }
      // its edges in two words; zeros: every box is looked at
      let edges = 0;
      let opposite = 0;
      if (!equal || fround(iou * area) > 0) {
        let l = i32[box];
        let t = i32[box + 1];
        let r = i32[box + 2];
        let b = i32[box + 3];
        // else they are their own bits, but for the sign of a zero, which nothing overlaps by
        if (moved) {
          reg[0] = x1 - positive(offsetX);
          reg[1] = y1 - positive(offsetY);
          reg[2] = x2 + positive(offsetX);
          reg[3] = y2 + positive(offsetY);
          l = regBits[0];
          t = regBits[1];
          r = regBits[2];
          b = regBits[3];
        }
        edges = pack(l, t);
        opposite = pack(r, b) ^ ~TOPS;
      }
      // while all that are kept have one label the chain need not be followed
      const oneLabel: boolean = !mixed && (kept === 0 || i32[first + A.KEPT_CLASS_ID] === label);
      let k = oneLabel ? first : i32[strip];
      for (;;) {
        k = oneLabel
          ? nearInRow(i32, k, free, ~opposite, ~edges)
          : nearInChain(i32, k, label, ~opposite, ~edges);
        if (oneLabel ? k >= free : k === 0) {
          if (strip >= last) break;
          k = i32[++strip];
          continue;
        }
        const other = i32[k + A.KEPT_BOX];
        const left = f32[other];
        const top = f32[other + 1];
        const right = f32[other + 2];
        const bottom = f32[other + 3];
        const w = fround(fround((right < x2 ? right : x2) - (x1 < left ? left : x1)) + offsetX);
        const h = fround(fround((bottom < y2 ? bottom : y2) - (y1 < top ? top : y1)) + offsetY);
        const shared = fround(positive(w) * positive(h));
        const union = fround(fround(area + f32[k + A.KEPT_AREA]) - shared);
        const limit = fround(iou * union);
        if (equal ? shared >= limit && union > 0 : shared > limit) continue candidate;
        k = oneLabel ? k + A.KEPT_WORDS : i32[k + A.KEPT_NEXT];
      }
      mixed ||= !oneLabel;
      if (reach > widest) widest = reach;
      i32[free] = edges;
      i32[free + A.KEPT_FAR] = opposite;
      i32[free + A.KEPT_BOX] = box;
      f32[free + A.KEPT_AREA] = area;
      i32[free + A.KEPT_CLASS_ID] = label;
      i32[free + A.KEPT_NEXT] = i32[chain];
      i32[chain] = free;
      free += A.KEPT_WORDS;
    }
    detect(m, plan, c, kept, flags);
    kept++;
  }
  i32[plan + A.P_VISITED] = i;
  i32[plan + A.P_DETECTIONS] = kept;
  return kept;
}

/**
 * Two edges in one word, fifteen bits each: the first of their bits as floats, so turned that they order like the numbers.
 * Right and bottom are stored as what is left to the largest, so that of two boxes a, b
 *
 *     ~(a's right and bottom) - (b's left and top)   and   ~(a's left and top) - (b's right and bottom)
 *
 * have the top bit of a half set where a's right is not below b's left, a's bottom not below b's top, and so on: the `~`
 * has set it before, and it is taken away where fifteen bits are not enough. A pair in which one of the four is clear is
 * passed over. It is none that suppresses: an edge that is below in fifteen bits is below as a number, so the boxes have
 * no width or no height in common, and shared is 0 (or, times infinity, NaN). An offset above 0 has moved the edges out
 * by itself: fround(right + o) < fround(left - o) takes right - left < -2 o, and what is left of that, rounded, + o is
 * below 0. Where equality suppresses, a shared of 0 does not if the limit is above 0, which it is if iou x the area of
 * one of the two is: rounding keeps order. Else the words are 0, and every box is looked at.
 */
function pack(x: number, y: number): number {
  const a = x ^ ((x >> 31) & 0x7fffffff);
  const b = y ^ ((y >> 31) & 0x7fffffff);
  return ((a >>> 17) | ((b >>> 1) & 0x7fff0000)) ^ 0x40004000;
}

/** Of the records from `k` on, one after the other, the first near a box with these edges, turned over; `free` or behind it: none. */
function nearInRow(i32: Int32Array, k: number, free: number, far: number, near: number): number {
  const tops = TOPS;
  for (; k + 3 * A.KEPT_WORDS < free; k += 4 * A.KEPT_WORDS) {
    const a = (far - i32[k]) & (near - i32[k + 1]);
    const b = (far - i32[k + 6]) & (near - i32[k + 7]);
    const c = (far - i32[k + 12]) & (near - i32[k + 13]);
    const d = (far - i32[k + 18]) & (near - i32[k + 19]);
    if (((a & (a << 16)) | (b & (b << 16)) | (c & (c << 16)) | (d & (d << 16))) < 0) break;
  }
  for (; k < free; k += A.KEPT_WORDS)
    if (((far - i32[k]) & (near - i32[k + A.KEPT_FAR]) & tops) === tops) break;
  return k;
}

/** The same along a chain; 0: none. */
function nearInChain(i32: Int32Array, k: number, label: number, far: number, near: number): number {
  const tops = TOPS;
  for (; k !== 0; k = i32[k + A.KEPT_NEXT])
    if (((far - i32[k]) & (near - i32[k + A.KEPT_FAR]) & tops) === tops && i32[k + A.KEPT_CLASS_ID] === label)
      break;
  return k;
}

function positive(x: number): number {
  return x > 0 ? x : 0;
}
