/**
 * Greedy non-maximum suppression without vectors; nms4.ts is the version with vectors.
 *
 * A candidate is kept unless a kept box of its class (or of any class) overlaps it too much. The overlap is IoU =
 * intersection / union, with union = area a + area b - intersection. Widths and heights below 0 count as 0. The pixel
 * offset is added to every width and height.
 *
 * The f32 quotient is compared with the f32 threshold t, as OpenCV and ONNX Runtime do. Most pairs need no division:
 * with least = t * NEARLY_ONE, a pair with intersection < least * union has an IoU below t. Proof, for a normal f32 t:
 * an exact quotient that is rounded to t or more is at least t (1 - 2^-24), which is above least. So intersection >
 * least * union, and it stays >= when the product is rounded. Pairs above t are divided, but the first of them removes
 * the candidate.
 *
 * Every kept box has a record (KEPT_* in abi.ts). Records are linked in chains, so that a candidate meets few of them.
 * There is a chain for each class (`chainOf`), or for each strip if suppression crosses classes (strips.ts).
 *
 * Only here: fillRecord, order, turned, meetsChain, overlaps. The TypeScript engine keeps these steps in `nms`, where
 * calls took 1.2 times as long.
 */
import {
  CHAINS,
  FLAG_NMS_ALL,
  FLAG_NMS_CLASS,
  FLAG_SUPPRESS_EQUAL,
  KEPT_AREA,
  KEPT_BOX,
  KEPT_CLASS_ID,
  KEPT_NEXT,
  KEPT_WORDS,
  P_BOXES,
  P_CHAINS,
  P_CLASS_IDS,
  P_DETECTIONS,
  P_FLAGS,
  P_IOU,
  P_KEPT,
  P_MAX_DETECTIONS,
  P_OFFSET_X,
  P_OFFSET_Y,
  P_ORDER,
  P_ORDERED,
  P_SORTED,
  P_VISITED,
  STRIPS,
} from "../src/core/abi";
import { NEARLY_ONE, chainOf } from "./chains";
import { detect } from "./detect";
import { suppress4 } from "./nms4";
import { sortMore } from "./sort";
import { beginOf, inset, measureStrips, perUnitOf, sideShare, stripOf } from "./strips";
import { clear, flt, int, ptr, setInt } from "./word";

/** The top bit of each 16-bit lane of a u64. */
const TOPS: u64 = 0x8000800080008000;
const RECORD_BYTES: usize = KEPT_WORDS << 2;

export function nms(plan: usize): i32 {
  if (ASC_FEATURE_SIMD) return suppress4(plan);
  const count = int(plan, P_ORDERED);
  const most = int(plan, P_MAX_DETECTIONS);
  const flags = int(plan, P_FLAGS);
  const order = ptr(plan, P_ORDER);
  const boxes = ptr(plan, P_BOXES);
  const classIds = ptr(plan, P_CLASS_IDS);
  const chains = ptr(plan, P_CHAINS);
  const acrossClasses = (flags & FLAG_NMS_ALL) != 0;
  const suppress = acrossClasses || (flags & FLAG_NMS_CLASS) != 0;

  // The proof of the strips needs an intersection above 0 and boxes without an offset.
  const inStrips =
    acrossClasses &&
    (flags & FLAG_SUPPRESS_EQUAL) == 0 &&
    flt(plan, P_OFFSET_X) == 0 &&
    flt(plan, P_OFFSET_Y) == 0;
  if (suppress) clear(chains, (inStrips ? STRIPS : CHAINS) << 2);
  const measured: u64 = inStrips ? measureStrips(plan) : 0;
  const begin = beginOf(measured);
  const perUnit = perUnitOf(measured);
  const share = sideShare(flt(plan, P_IOU));
  const least = flt(plan, P_IOU) * NEARLY_ONE;
  let widest: f32 = 0;

  let record = ptr(plan, P_KEPT);
  let sorted = int(plan, P_SORTED);
  let kept = 0;
  let i = 0;
  while (i < count && kept < most) {
    // Go through one wave of the sort.
    if (i == sorted) sorted = sortMore(plan);
    for (const end = min(count, sorted); i < end && kept < most; i++) {
      const candidate = <usize>load<u32>(order + ((<usize>i) << 2));
      if (suppress) {
        // Write the record first: the next candidate overwrites the record of a box that is not kept.
        const box = boxes + (candidate << 4);
        const classId = acrossClasses ? 0 : load<i32>(classIds + (candidate << 2));
        fillRecord(plan, record, box, classId);

        // Choose the chains to search, and the chain for this box.
        let chain = chains + chainOf(classId);
        let at = chain;
        let last = chain;
        let width: f32 = 0;
        if (inStrips) {
          const left = load<f32>(box);
          const right = load<f32>(box, 8);
          const off = inset(left, right, load<f32>(record, KEPT_AREA << 2), share);
          const low = left + off;
          const high = right - off;
          width = high - low;
          chain = chains + stripOf(low, begin, perUnit);
          at = chains + stripOf(low - widest, begin, perUnit);
          last = chains + stripOf(high, begin, perUnit);
        }
        while (at <= last && !meetsChain(plan, <usize>load<u32>(at), record, least)) at += 4;
        if (at <= last) continue;

        // Keep the box.
        if (width > widest) widest = width;
        store<u32>(record, load<u32>(chain), KEPT_NEXT << 2);
        store<u32>(chain, <u32>record);
        record += RECORD_BYTES;
      }
      detect(plan, candidate, kept, flags);
      kept++;
    }
  }
  setInt(plan, P_VISITED, i);
  setInt(plan, P_DETECTIONS, kept);
  return kept;
}

/**
 * Writes the record of a candidate, except for the link.
 *
 * The first u64 holds the edges of the box in four lanes of 16 bits, 15 bits each (`pack`). An offset above 0 moves
 * the edges out:
 *
 *     lane 0   left - offset            lane 2   0x7fff - (right + offset)
 *     lane 1   top - offset             lane 3   0x7fff - (bottom + offset)
 *
 * A u64 of 0 is a box that covers everything. Write 0 if boxes without an intersection suppress each other: equal
 * overlap suppresses, and the threshold is 0.
 */
function fillRecord(plan: usize, record: usize, box: usize, classId: i32): void {
  const offsetX = flt(plan, P_OFFSET_X);
  const offsetY = flt(plan, P_OFFSET_Y);
  const x1 = load<f32>(box);
  const y1 = load<f32>(box, 4);
  const x2 = load<f32>(box, 8);
  const y2 = load<f32>(box, 12);
  const area = positive(x2 - x1 + offsetX) * positive(y2 - y1 + offsetY);
  const needsIntersection = (int(plan, P_FLAGS) & FLAG_SUPPRESS_EQUAL) == 0 || flt(plan, P_IOU) > 0;
  const edges: u64 = needsIntersection
    ? pack(x1 - positive(offsetX), y1 - positive(offsetY)) |
      ((pack(x2 + positive(offsetX), y2 + positive(offsetY)) ^ 0x7fff7fff) << 32)
    : 0;
  store<u64>(record, edges);
  store<u32>(record, <u32>box, KEPT_BOX << 2);
  store<f32>(record, area, KEPT_AREA << 2);
  store<i32>(record, classId, KEPT_CLASS_ID << 2);
}

// @ts-ignore: decorator
@inline
function positive(x: f32): f32 {
  return x > 0 ? x : 0;
}

/** Returns x in the low 16 bits and y in the next 16, as 15-bit numbers that order like x and y. */
// @ts-ignore: decorator
@inline
function pack(x: f32, y: f32): u64 {
  return <u64>(((order(x) >>> 17) | ((order(y) >>> 1) & 0x7fff0000)) ^ 0x40004000);
}

/** Returns bits that order, as a signed integer, like the float. */
// @ts-ignore: decorator
@inline
function order(x: f32): u32 {
  const bits = reinterpret<i32>(x);
  return bits ^ ((bits >> 31) & 0x7fffffff);
}

/**
 * Returns the edges of a record, from which the edges of another record k are then subtracted. Each far edge is in the
 * lane of k's near edge, each near edge in that of k's far edge, and the top bit of every lane is set.
 *
 *     lane 0   0x8000 + right  - left of k       lane 2   0x8000 + right of k  - left
 *     lane 1   0x8000 + bottom - top of k        lane 3   0x8000 + bottom of k - top
 *
 * Lanes stay above 0, so none borrows from the next. A top bit is cleared if the far edge lies below the near edge.
 *
 * Proof that a pair with a cleared bit never suppresses:
 *
 *   1. An edge that is below in 15 bits is below as a number, because rounding down keeps order. So the boxes share no
 *      width or no height. The intersection is 0, or NaN for 0 times infinity. The IoU is 0 or NaN, so not above t.
 *   2. With an offset o > 0, a cleared bit means right + o < left - o after rounding. Then right - left < -2 o. The
 *      shared width, right - left + o, is below 0.
 *   3. If equal overlap suppresses, t is above 0: else the record is 0, and a record of 0 clears no bit. So an IoU of
 *      0 does not reach t.
 */
// @ts-ignore: decorator
@inline
function turned(record: usize): u64 {
  const edges = load<u64>(record);
  return ~((edges << 32) | (edges >> 32));
}

/** True if a box in the chain that begins at record `k` suppresses the box of `record`. */
function meetsChain(plan: usize, k: usize, record: usize, least: f32): bool {
  const edges = turned(record);
  const classId = load<i32>(record, KEPT_CLASS_ID << 2);
  for (; (k = nearInChain(k, classId, edges)) != 0; k = <usize>load<u32>(k, KEPT_NEXT << 2))
    if (overlaps(plan, k, record, least)) return true;
  return false;
}

/**
 * Returns the first record of a chain, from `k` on, that has this class and may overlap these edges. Returns 0 if there
 * is none.
 */
function nearInChain(k: usize, classId: i32, edges: u64): usize {
  for (; k != 0; k = <usize>load<u32>(k, KEPT_NEXT << 2))
    if (((edges - load<u64>(k)) & TOPS) == TOPS && load<i32>(k, KEPT_CLASS_ID << 2) == classId) break;
  return k;
}

/** True if one of the two records' boxes suppresses the other. */
function overlaps(plan: usize, a: usize, b: usize, least: f32): bool {
  const boxA = <usize>load<u32>(a, KEPT_BOX << 2);
  const boxB = <usize>load<u32>(b, KEPT_BOX << 2);
  const left = load<f32>(boxA);
  const top = load<f32>(boxA, 4);
  const right = load<f32>(boxA, 8);
  const bottom = load<f32>(boxA, 12);
  const x1 = load<f32>(boxB);
  const y1 = load<f32>(boxB, 4);
  const x2 = load<f32>(boxB, 8);
  const y2 = load<f32>(boxB, 12);
  const width = (right < x2 ? right : x2) - (x1 < left ? left : x1) + flt(plan, P_OFFSET_X);
  const height = (bottom < y2 ? bottom : y2) - (y1 < top ? top : y1) + flt(plan, P_OFFSET_Y);
  const shared = positive(width) * positive(height);
  const union = load<f32>(b, KEPT_AREA << 2) + load<f32>(a, KEPT_AREA << 2) - shared;
  // Negate the comparison, so that a NaN counts as below the bound.
  if (!(shared >= least * union)) return false;
  const iou = flt(plan, P_IOU);
  return int(plan, P_FLAGS) & FLAG_SUPPRESS_EQUAL ? shared / union >= iou : shared / union > iou;
}
