/**
 * Greedy non-maximum suppression with vectors: four kept boxes at a time. nms.ts defines which boxes are kept.
 *
 * Kept boxes stand in blocks of four, in columns (KEPT4_* in abi.ts). The blocks of a class, or of a strip (strips.ts),
 * are linked in a chain, the newest first:
 *
 *     chains[chainOf(class id)] -> | x1 x1 x1 x1 | y1 ... | x2 ... | y2 ... | area ... | next  class id  count | -> ...
 *
 * Unused places of a block have an infinite area: the union is infinite, and no threshold is reached.
 */
import {
  CHAINS,
  FLAG_NMS_ALL,
  FLAG_NMS_CLASS,
  FLAG_SUPPRESS_EQUAL,
  KEPT4_BYTES,
  KEPT4_CLASS_ID,
  KEPT4_COUNT,
  KEPT4_NEXT,
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
import { sortMore } from "./sort";
import { beginOf, inset, measureStrips, perUnitOf, sideShare } from "./strips";
import { clear, flt, int, ptr, setInt } from "./word";

export function suppress4(plan: usize): i32 {
  const count = int(plan, P_ORDERED);
  const most = int(plan, P_MAX_DETECTIONS);
  const flags = int(plan, P_FLAGS);
  const order = ptr(plan, P_ORDER);
  const boxes = ptr(plan, P_BOXES);
  const classIds = ptr(plan, P_CLASS_IDS);
  const chains = ptr(plan, P_CHAINS);
  const iou = flt(plan, P_IOU);
  const leasts = f32x4.splat(iou * NEARLY_ONE);
  const offsetX = flt(plan, P_OFFSET_X);
  const offsetY = flt(plan, P_OFFSET_Y);
  const offsets = f32x4(offsetX, offsetY, 0, 0);
  const equal = (flags & FLAG_SUPPRESS_EQUAL) != 0;
  const acrossClasses = (flags & FLAG_NMS_ALL) != 0;
  const suppress = acrossClasses || (flags & FLAG_NMS_CLASS) != 0;

  // Strips need suppression at `>` and no pixel offset (proof in strips.ts).
  const inStrips = acrossClasses && !equal && offsetX == 0 && offsetY == 0;
  if (suppress) clear(chains, (inStrips ? STRIPS : CHAINS) << 2);
  const measured: u64 = inStrips ? measureStrips(plan) : 0;
  const begin = f32x4.splat(beginOf(measured));
  const perUnit = f32x4.splat(perUnitOf(measured));
  const share = sideShare(iou);
  let widest: f32 = 0;

  let free = ptr(plan, P_KEPT);
  let sorted = int(plan, P_SORTED);
  let kept = 0;
  let i = 0;
  while (i < count && kept < most) {
    // Go through one wave of the sort. With the call in the inner loop, 100 to 1,000 boxes took 1.03 times as long.
    if (i == sorted) sorted = sortMore(plan);
    for (const end = min(count, sorted); i < end && kept < most; i++) {
      const candidate = <usize>load<u32>(order + ((<usize>i) << 2));
      if (suppress) {
        const box = boxes + (candidate << 4);
        const edges = v128.load(box);
        const lengths = f32x4.sub(v128.shuffle<u32>(edges, edges, 2, 3, 2, 3), edges);
        const sides = f32x4.pmax(f32x4.splat(0), f32x4.add(lengths, offsets));
        const area = f32x4.extract_lane(sides, 0) * f32x4.extract_lane(sides, 1);
        const left = v128.load_splat<f32>(box);
        const top = v128.load_splat<f32>(box, 4);
        const right = v128.load_splat<f32>(box, 8);
        const bottom = v128.load_splat<f32>(box, 12);
        const areas = f32x4.splat(area);
        const classId = acrossClasses ? 0 : load<i32>(classIds + (candidate << 2));

        // Search the chains. Find the chain for this box, and its block with a free place.
        let chain = chains;
        let room: usize = 0;
        let isSuppressed = false;
        if (inStrips) {
          const x1 = f32x4.extract_lane(edges, 0);
          const x2 = f32x4.extract_lane(edges, 2);
          const off = inset(x1, x2, area, share);
          const low = x1 + off;
          const high = x2 - off;
          const places = stripsOf(f32x4(low, low - widest, high, 0), begin, perUnit);
          const last = chains + <usize>i32x4.extract_lane(places, 2);
          chain += <usize>i32x4.extract_lane(places, 0);
          for (let at = chains + <usize>i32x4.extract_lane(places, 1); at <= last && !isSuppressed; at += 4) {
            for (let block = <usize>load<u32>(at); block != 0; block = <usize>load<u32>(block, KEPT4_NEXT)) {
              const width = sharedWidth(block, left, right);
              const height = sharedHeight(block, top, bottom);
              // Do not clamp a negative height: the product is then 0 or less, which never suppresses here.
              if (overlaps(plan, block, width, height, areas, leasts, false)) {
                isSuppressed = true;
                break;
              }
            }
          }
          if (isSuppressed) continue;
          if (high - low > widest) widest = high - low;
          // Only the newest block of a strip may have room.
          room = <usize>load<u32>(chain);
          if (room != 0 && load<i32>(room, KEPT4_COUNT) == 4) room = 0;
        } else {
          chain += chainOf(classId);
          for (let block = <usize>load<u32>(chain); block != 0; block = <usize>load<u32>(block, KEPT4_NEXT)) {
            if (load<i32>(block, KEPT4_CLASS_ID) != classId) continue;
            const width = f32x4.add(sharedWidth(block, left, right), f32x4.splat(offsetX));
            const height = f32x4.add(sharedHeight(block, top, bottom), f32x4.splat(offsetY));
            if (overlaps(plan, block, width, f32x4.pmax(f32x4.splat(0), height), areas, leasts, equal)) {
              isSuppressed = true;
              break;
            }
            if (load<i32>(block, KEPT4_COUNT) < 4) room = block;
          }
          if (isSuppressed) continue;
        }

        // Keep the box.
        if (room == 0) {
          room = free;
          free += KEPT4_BYTES;
          beginBlock(room, chain, classId);
        }
        appendBox(room, edges, area);
      }
      detect(plan, candidate, kept, flags);
      kept++;
    }
  }
  setInt(plan, P_VISITED, i);
  setInt(plan, P_DETECTIONS, kept);
  return kept;
}

/** Returns, for four x coordinates, the offsets of their strips in the chains. */
// @ts-ignore: decorator
@inline
function stripsOf(x: v128, begin: v128, perUnit: v128): v128 {
  const strip = i32x4.trunc_sat_f32x4_s(f32x4.mul(f32x4.sub(x, begin), perUnit));
  return i32x4.shl(i32x4.max_s(i32x4.min_s(strip, i32x4.splat(STRIPS - 1)), i32x4.splat(0)), 2);
}

/** Returns the width that each box of a block shares with the candidate. A negative width is a gap between them. */
// @ts-ignore: decorator
@inline
function sharedWidth(block: usize, left: v128, right: v128): v128 {
  return f32x4.sub(f32x4.pmin(right, v128.load(block, 32)), f32x4.pmax(left, v128.load(block)));
}

/** Returns the height that each box of a block shares with the candidate. A negative height is a gap between them. */
// @ts-ignore: decorator
@inline
function sharedHeight(block: usize, top: v128, bottom: v128): v128 {
  return f32x4.sub(f32x4.pmin(bottom, v128.load(block, 48)), f32x4.pmax(top, v128.load(block, 16)));
}

/**
 * True if a box of a block suppresses the candidate. `nms.ts` explains when a division is needed. Only then is the
 * threshold loaded: one more vector in the loop took 1.05 times as long.
 */
// @ts-ignore: decorator
@inline
function overlaps(
  plan: usize,
  block: usize,
  width: v128,
  height: v128,
  areas: v128,
  leasts: v128,
  equal: bool,
): bool {
  const shared = f32x4.mul(f32x4.pmax(f32x4.splat(0), width), height);
  const union = f32x4.sub(f32x4.add(areas, v128.load(block, 64)), shared);
  const near = f32x4.ge(shared, f32x4.mul(leasts, union));
  if (!v128.any_true(near)) return false;
  const quotients = f32x4.div(shared, union);
  const ious = v128.load_splat<f32>(plan + (P_IOU << 2));
  return v128.any_true(v128.and(equal ? f32x4.ge(quotients, ious) : f32x4.gt(quotients, ious), near));
}

/** Makes an empty block, the newest of a chain. */
// @ts-ignore: decorator
@inline
function beginBlock(block: usize, chain: usize, classId: i32): void {
  for (let column: usize = 0; column < 64; column += 16) v128.store(block + column, f32x4.splat(0));
  v128.store(block, f32x4.splat(Infinity), 64);
  store<u32>(block, load<u32>(chain), KEPT4_NEXT);
  store<i32>(block, classId, KEPT4_CLASS_ID);
  store<i32>(block, 0, KEPT4_COUNT);
  store<u32>(chain, <u32>block);
}

/** Puts a box into the next place of a block. */
// @ts-ignore: decorator
@inline
function appendBox(block: usize, edges: v128, area: f32): void {
  const count = load<i32>(block, KEPT4_COUNT);
  const place = block + ((<usize>count) << 2);
  v128.store_lane<f32>(place, edges, 0);
  v128.store_lane<f32>(place, edges, 1, 16);
  v128.store_lane<f32>(place, edges, 2, 32);
  v128.store_lane<f32>(place, edges, 3, 48);
  store<f32>(place, area, 64);
  store<i32>(block, count + 1, KEPT4_COUNT);
}
