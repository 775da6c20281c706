/**
 * Greedy non-maximum suppression over candidates in order. It stops when enough are kept.
 *
 * Kept boxes hang together in chains: those of one label, or across classes those of one strip (strips.ts). With vectors see nms4.ts.
 * Without, each is a record of its own, with its four edges packed in one word of 64 bits: a pair that is far apart, as most
 * are, takes one subtraction. Its twin says at `pack` why none is missed.
 */
import {
  CHAINS,
  FLAG_NMS_ALL,
  FLAG_NMS_CLASS,
  FLAG_SUPPRESS_EQUAL,
  KEPT_NEXT,
  KEPT_AREA,
  KEPT_BOX,
  KEPT_CLASS_ID,
  KEPT_WORDS,
  P_BOXES,
  P_CHAINS,
  P_DETECTIONS,
  P_FLAGS,
  P_IOU,
  P_KEPT,
  P_CLASS_IDS,
  P_MAX_DETECTIONS,
  P_OFFSET_X,
  P_OFFSET_Y,
  P_ORDER,
  P_ORDERED,
  P_VISITED,
} from "../src/core/abi";
import { detect } from "./detect";
import { suppress4 } from "./nms4";
import { bringNear } from "./near";
import { beginOf, inset, measureStrips, perUnitOf, sideShare, stripOf } from "./strips";
import { clear, flt, int, ptr, setInt } from "./word";

/** The top bit of each quarter of a word. */
const TOPS: u64 = 0x8000800080008000;
const RECORD: usize = KEPT_WORDS << 2;

export function nms(plan: usize): i32 {
  if (ASC_FEATURE_SIMD) return suppress4(plan);
  const n = int(plan, P_ORDERED);
  const max = int(plan, P_MAX_DETECTIONS);
  const flags = int(plan, P_FLAGS);
  const order = ptr(plan, P_ORDER);
  const boxes = ptr(plan, P_BOXES);
  const labels = ptr(plan, P_CLASS_IDS);
  const chains = ptr(plan, P_CHAINS);
  const iou = flt(plan, P_IOU);
  const equal = (flags & FLAG_SUPPRESS_EQUAL) != 0;
  const offsetX = flt(plan, P_OFFSET_X);
  const offsetY = flt(plan, P_OFFSET_Y);
  const suppress = (flags & (FLAG_NMS_CLASS | FLAG_NMS_ALL)) != 0;
  const all = (flags & FLAG_NMS_ALL) != 0;
  const first = ptr(plan, P_KEPT);
  let free = first;
  let kept = 0;
  let i = 0;
  let near = 0;
  const strips = all && !equal && offsetX == 0 && offsetY == 0;
  const measured: u64 = strips ? measureStrips(plan) : 0;
  const share = sideShare(iou);
  let widest: f32 = 0;
  // whether what is kept hangs in more chains than one
  let mixed = strips;
  if (suppress) clear(chains, CHAINS << 2);
  const begin = beginOf(measured);
  const perUnit = perUnitOf(measured);
  for (; i < n && kept < max; i++) {
    if (i == near) near = bringNear(plan, i);
    const c = <usize>load<u32>(order + ((<usize>i) << 2));
    if (suppress) {
      const box = boxes + (c << 4);
      const x1 = load<f32>(box);
      const y1 = load<f32>(box, 4);
      const x2 = load<f32>(box, 8);
      const y2 = load<f32>(box, 12);
      const area = positive(x2 - x1 + offsetX) * positive(y2 - y1 + offsetY);
      const label = all ? 0 : load<i32>(labels + (c << 2));
      let chain = chains;
      let from = chains;
      let last = chains;
      let reach: f32 = 0;
      if (strips) {
        const by = inset(x1, x2, area, share);
        const low = x1 + by;
        const high = x2 - by;
        reach = high - low;
        chain += stripOf(low, begin, perUnit);
        from += stripOf(low - widest, begin, perUnit);
        last += stripOf(high, begin, perUnit);
      } else {
        chain += (<usize>(label & (CHAINS - 1))) << 2;
        from = last = chain;
      }
      // the record it will be if it is kept
      const edges: u64 =
        !equal || iou * area > 0
          ? pack(x1 - positive(offsetX), y1 - positive(offsetY)) |
            ((pack(x2 + positive(offsetX), y2 + positive(offsetY)) ^ 0x7fff7fff) << 32)
          : 0;
      store<u64>(free, edges);
      store<u32>(free, <u32>box, KEPT_BOX << 2);
      store<f32>(free, area, KEPT_AREA << 2);
      store<i32>(free, label, KEPT_CLASS_ID << 2);
      store<u32>(free, load<u32>(chain), KEPT_NEXT << 2);
      // while all that are kept have one label the chain need not be followed
      const oneLabel = !mixed && load<i32>(first, KEPT_CLASS_ID << 2) == label;
      let hit = oneLabel && meetsRow(first, free, equal, iou, offsetX, offsetY);
      for (; !oneLabel && !hit && from <= last; from += 4)
        hit = meetsChain(<usize>load<u32>(from), free, equal, iou, offsetX, offsetY);
      if (hit) continue;
      if (reach > widest) widest = reach;
      if (!oneLabel) mixed = true;
      store<u32>(chain, <u32>free);
      free += RECORD;
    }
    detect(plan, c, kept, flags);
    kept++;
  }
  setInt(plan, P_VISITED, i);
  setInt(plan, P_DETECTIONS, kept);
  return kept;
}

// @ts-ignore: decorator
@inline
function positive(x: f32): f32 {
  return x > 0 ? x : 0;
}

/** Two edges in 32 bits; see the twin. */
// @ts-ignore: decorator
@inline
function pack(x: f32, y: f32): u64 {
  return <u64>(((order(x) >>> 17) | ((order(y) >>> 1) & 0x7fff0000)) ^ 0x40004000);
}

/** Bits that order as numbers do. */
// @ts-ignore: decorator
@inline
function order(x: f32): u32 {
  const bits = reinterpret<i32>(x);
  return bits ^ ((bits >> 31) & 0x7fffffff);
}

/** The edges of a record, each opposite to that of another with which it is compared. */
// @ts-ignore: decorator
@inline
function turned(record: usize): u64 {
  const edges = load<u64>(record);
  return ~((edges << 32) | (edges >> 32));
}

/** Whether one of the records [k, free), one after the other, suppresses that at `free`. */
function meetsRow(k: usize, free: usize, equal: bool, iou: f32, offsetX: f32, offsetY: f32): bool {
  const edges = turned(free);
  for (; k < free; k += RECORD) {
    if (((edges - load<u64>(k)) & TOPS) != TOPS) continue;
    if (overlaps(k, free, equal, iou, offsetX, offsetY)) return true;
  }
  return false;
}

/** The same along a chain. */
function meetsChain(k: usize, free: usize, equal: bool, iou: f32, offsetX: f32, offsetY: f32): bool {
  const edges = turned(free);
  const label = load<i32>(free, KEPT_CLASS_ID << 2);
  for (; k != 0; k = <usize>load<u32>(k, KEPT_NEXT << 2)) {
    if (((edges - load<u64>(k)) & TOPS) != TOPS || load<i32>(k, KEPT_CLASS_ID << 2) != label) continue;
    if (overlaps(k, free, equal, iou, offsetX, offsetY)) return true;
  }
  return false;
}

/** Whether the box of one record suppresses that of another: intersection > iou * union, without a division. */
function overlaps(a: usize, b: usize, equal: bool, iou: f32, offsetX: f32, offsetY: f32): bool {
  const other = <usize>load<u32>(a, KEPT_BOX << 2);
  const own = <usize>load<u32>(b, KEPT_BOX << 2);
  const left = load<f32>(other);
  const top = load<f32>(other, 4);
  const right = load<f32>(other, 8);
  const bottom = load<f32>(other, 12);
  const x1 = load<f32>(own);
  const y1 = load<f32>(own, 4);
  const x2 = load<f32>(own, 8);
  const y2 = load<f32>(own, 12);
  const w = (right < x2 ? right : x2) - (x1 < left ? left : x1) + offsetX;
  const h = (bottom < y2 ? bottom : y2) - (y1 < top ? top : y1) + offsetY;
  const shared = positive(w) * positive(h);
  const union = load<f32>(b, KEPT_AREA << 2) + load<f32>(a, KEPT_AREA << 2) - shared;
  const limit = iou * union;
  return equal ? shared >= limit && union > 0 : shared > limit;
}
