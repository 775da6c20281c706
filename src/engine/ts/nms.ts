/**
 * Suppresses greedily. Twin of `assembly/nms.ts`, which describes the records of kept boxes and proves that no pair is
 * missed.
 *
 * `nms` is one long function: split into functions, as in the twin, it took 1.2 times as long for 1,000 boxes. V8 does
 * not inline functions of that size, and each call loads the typed arrays again.
 */
import * as A from "../../core/abi.ts";
import type { Memory } from "../../core/memory.ts";
import { detect } from "./detect.ts";
import { scratch32, scratch32Bits } from "./registers.ts";
import { sortMore } from "./sort.ts";
import { inset, measureStrips, stripOf, strips } from "./strips.ts";
import { fround } from "./value.ts";

/** Slightly below 1, by 2^-22. This is more than the rounding errors of a quotient and of its bound together. */
const NEARLY_ONE = 0.9999997615814209;

/** The top bit of each 16-bit lane of a word. */
const TOPS = 0x80008000 | 0;

export function nms(m: Memory, at: number): number {
  const { i32, f32 } = m;
  const plan = at >> 2;
  const count = i32[plan + A.P_ORDERED];
  const most = i32[plan + A.P_MAX_DETECTIONS];
  const flags = i32[plan + A.P_FLAGS];
  const order = i32[plan + A.P_ORDER] >> 2;
  const boxes = i32[plan + A.P_BOXES] >> 2;
  const classIds = i32[plan + A.P_CLASS_IDS] >> 2;
  const chains = i32[plan + A.P_CHAINS] >> 2;
  const iou = f32[plan + A.P_IOU];
  const least = fround(iou * NEARLY_ONE);
  const offsetX = f32[plan + A.P_OFFSET_X];
  const offsetY = f32[plan + A.P_OFFSET_Y];
  const hasOffset = offsetX !== 0 || offsetY !== 0;
  const equal = (flags & A.FLAG_SUPPRESS_EQUAL) !== 0;
  const acrossClasses = (flags & A.FLAG_NMS_ALL) !== 0;
  const suppress = acrossClasses || (flags & A.FLAG_NMS_CLASS) !== 0;

  // Use strips only under the assumptions of their proof: no offset, and suppression only by an intersection above 0.
  const inStrips = acrossClasses && !equal && !hasOffset;
  if (suppress) i32.fill(0, chains, chains + (inStrips ? A.STRIPS : A.CHAINS));
  if (inStrips) measureStrips(m, plan);
  const begin = strips[0];
  const perUnit = strips[1];
  const share = strips[2];
  let widest = 0;

  let record = i32[plan + A.P_KEPT] >> 2;
  let sorted = i32[plan + A.P_SORTED];
  let kept = 0;
  let i = 0;
  while (i < count && kept < most) {
    // Sort the next wave if all sorted candidates are used.
    if (i === sorted) sorted = sortMore(m, at);
    candidate: for (const end = Math.min(count, sorted); i < end && kept < most; i++) {
      const candidate = i32[order + i];
      if (suppress) {
        const box = boxes + candidate * 4;
        const x1 = f32[box];
        const y1 = f32[box + 1];
        const x2 = f32[box + 2];
        const y2 = f32[box + 3];
        const fullWidth = fround(fround(x2 - x1) + offsetX);
        const fullHeight = fround(fround(y2 - y1) + offsetY);
        const area = fround(positive(fullWidth) * positive(fullHeight));
        const classId = acrossClasses ? 0 : i32[classIds + candidate];

        // Pack the edges. If boxes without an intersection may suppress, use 0, which stands for a box that covers
        // everything.
        let near = 0;
        let far = 0;
        if (!equal || iou > 0) {
          // Without an offset, the edges are the words of the box. A zero edge may differ in sign from the kernel's
          // record. This is harmless: boxes that only meet at 0 have no intersection.
          let bits = i32;
          let edge = box;
          if (hasOffset) {
            bits = scratch32Bits;
            edge = 0;
            scratch32[0] = x1 - positive(offsetX);
            scratch32[1] = y1 - positive(offsetY);
            scratch32[2] = x2 + positive(offsetX);
            scratch32[3] = y2 + positive(offsetY);
          }
          near = pack(bits[edge], bits[edge + 1]);
          far = pack(bits[edge + 2], bits[edge + 3]) ^ ~TOPS;
        }

        // Choose the chains to search, and the chain that gets this box.
        let chain = chains + ((classId ^ (Math.imul(classId >>> 8, 0x9e3779b1) >>> 24)) & (A.CHAINS - 1));
        let search = chain;
        let last = chain;
        let reach = 0;
        if (inStrips) {
          const off = inset(x1, x2, area, share);
          const low = x1 + off;
          const high = x2 - off;
          reach = high - low;
          chain = chains + stripOf(low, begin, perUnit);
          search = chains + stripOf(low - widest, begin, perUnit);
          last = chains + stripOf(high, begin, perUnit);
        }

        // Compare with nearby boxes. Divide only if the IoU may reach the threshold.
        for (; search <= last; search++) {
          let k = i32[search];
          while ((k = nearInChain(i32, k, classId, ~far, ~near)) !== 0) {
            const other = i32[k + A.KEPT_BOX];
            const left = f32[other];
            const top = f32[other + 1];
            const right = f32[other + 2];
            const bottom = f32[other + 3];
            const width = fround(fround((right < x2 ? right : x2) - (x1 < left ? left : x1)) + offsetX);
            const height = fround(fround((bottom < y2 ? bottom : y2) - (y1 < top ? top : y1)) + offsetY);
            const shared = fround(positive(width) * positive(height));
            const union = fround(fround(area + f32[k + A.KEPT_AREA]) - shared);
            if (shared >= fround(least * union)) {
              const quotient = fround(shared / union);
              if (equal ? quotient >= iou : quotient > iou) continue candidate;
            }
            k = i32[k + A.KEPT_NEXT];
          }
        }

        // Keep the box.
        if (reach > widest) widest = reach;
        i32[record] = near;
        i32[record + A.KEPT_FAR] = far;
        i32[record + A.KEPT_BOX] = box;
        f32[record + A.KEPT_AREA] = area;
        i32[record + A.KEPT_CLASS_ID] = classId;
        i32[record + A.KEPT_NEXT] = i32[chain];
        i32[chain] = record;
        record += A.KEPT_WORDS;
      }
      detect(m, plan, candidate, kept, flags);
      kept++;
    }
  }
  i32[plan + A.P_VISITED] = i;
  i32[plan + A.P_DETECTIONS] = kept;
  return kept;
}

function positive(x: number): number {
  return x > 0 ? x : 0;
}

/** Packs the bits of two floats, x into the low 16 bits and y above, as 15-bit numbers that order like the floats. */
function pack(x: number, y: number): number {
  const a = x ^ ((x >> 31) & 0x7fffffff);
  const b = y ^ ((y >> 31) & 0x7fffffff);
  return ((a >>> 17) | ((b >>> 1) & 0x7fff0000)) ^ 0x40004000;
}

/**
 * Searches a chain from record `k` on for the first record of this class that may overlap a box. Returns 0 if there is
 * none. The box's edges `far` and `near` come inverted, so that the top bit of each lane is set: see `turned` in the
 * twin.
 */
function nearInChain(i32: Int32Array, k: number, classId: number, far: number, near: number): number {
  const tops = TOPS;
  for (; k !== 0; k = i32[k + A.KEPT_NEXT])
    if (
      ((far - i32[k]) & (near - i32[k + A.KEPT_FAR]) & tops) === tops &&
      i32[k + A.KEPT_CLASS_ID] === classId
    )
      break;
  return k;
}
