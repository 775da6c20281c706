/** Suppression with vectors: four kept boxes at a time. Vector builds only. */
import {
  CHAINS,
  FLAG_NMS_ALL,
  FLAG_NMS_CLASS,
  FLAG_SUPPRESS_EQUAL,
  KEPT4_BYTES,
  KEPT4_COUNT,
  KEPT4_CLASS_ID,
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
import { detect } from "./detect";
import { sortMore } from "./sort";
import { beginOf, inset, measureStrips, perUnitOf, sideShare } from "./strips";
import { clear, flt, int, ptr, setInt } from "./word";

/**
 * Kept boxes stand in blocks of four, in columns, and the blocks of one label hang together in a chain, so that a candidate meets only
 * boxes of its own class, four at a time:
 *
 *     chains[label & 255] -> | x1 x1 x1 x1 | y1 ... | x2 ... | y2 ... | area ... | next label count |  -> ...
 *
 * Unused places of a block have infinite area: their IoU is 0 whatever the candidate. Across classes each strip of the image has a
 * chain instead (strips.ts).
 */
export function suppress4(plan: usize): i32 {
  const n = int(plan, P_ORDERED);
  const max = int(plan, P_MAX_DETECTIONS);
  const flags = int(plan, P_FLAGS);
  const order = ptr(plan, P_ORDER);
  const boxes = ptr(plan, P_BOXES);
  const labels = ptr(plan, P_CLASS_IDS);
  const chains = ptr(plan, P_CHAINS);
  const iou = flt(plan, P_IOU);
  const equal = (flags & FLAG_SUPPRESS_EQUAL) != 0;
  const all = (flags & FLAG_NMS_ALL) != 0;
  const suppress = (flags & (FLAG_NMS_CLASS | FLAG_NMS_ALL)) != 0;
  const offsetX = flt(plan, P_OFFSET_X);
  const offsetY = flt(plan, P_OFFSET_Y);
  const offsets = f32x4(offsetX, offsetY, 0, 0);
  const limits = f32x4.splat(iou);
  const strips = all && !equal && offsetX == 0 && offsetY == 0;
  const measured: u64 = strips ? measureStrips(plan) : 0;
  const share = sideShare(iou);
  let widest: f32 = 0;
  if (suppress) clear(chains, CHAINS << 2);
  const begin = f32x4.splat(beginOf(measured));
  const perUnit = f32x4.splat(perUnitOf(measured));
  let free = ptr(plan, P_KEPT);
  let sorted = int(plan, P_SORTED);
  let kept = 0;
  let i = 0;
  for (; i < n && kept < max; i++) {
    if (i == sorted) sorted = sortMore(plan);
    const c = <usize>load<u32>(order + ((<usize>i) << 2));
    if (suppress) {
      const box = boxes + (c << 4);
      const edges = v128.load(box);
      const sides = f32x4.pmax(
        f32x4.splat(0),
        f32x4.add(f32x4.sub(v128.shuffle<u32>(edges, edges, 2, 3, 2, 3), edges), offsets),
      );
      const area = f32x4.extract_lane(sides, 0) * f32x4.extract_lane(sides, 1);
      const left = v128.load_splat<f32>(box);
      const top = v128.load_splat<f32>(box, 4);
      const right = v128.load_splat<f32>(box, 8);
      const bottom = v128.load_splat<f32>(box, 12);
      const areas = f32x4.splat(area);
      const label = all ? 0 : load<i32>(labels + (c << 2));
      // the chain that this box will hang in, and its newest block if that has room
      let chain = chains;
      let room: usize = 0;
      let hit = false;
      if (strips) {
        const x1 = f32x4.extract_lane(edges, 0);
        const x2 = f32x4.extract_lane(edges, 2);
        const by = inset(x1, x2, area, share);
        const low = x1 + by;
        const high = x2 - by;
        const places = stripsOf(f32x4(low, low - widest, high, 0), begin, perUnit);
        const last = chains + <usize>i32x4.extract_lane(places, 2);
        chain += <usize>i32x4.extract_lane(places, 0);
        for (let at = chains + <usize>i32x4.extract_lane(places, 1); at <= last && !hit; at += 4) {
          for (let block = <usize>load<u32>(at); block != 0; block = <usize>load<u32>(block, KEPT4_NEXT)) {
            const over = over4(
              block,
              wide4(block, left, right),
              high4(block, top, bottom),
              areas,
              limits,
              false,
            );
            if (v128.any_true(over)) {
              hit = true;
              break;
            }
          }
        }
        if (hit) continue;
        if (high - low > widest) widest = high - low;
        room = <usize>load<u32>(chain);
        if (room != 0 && load<i32>(room, KEPT4_COUNT) == 4) room = 0;
      } else {
        chain += (<usize>(label & (CHAINS - 1))) << 2;
        for (let block = <usize>load<u32>(chain); block != 0; block = <usize>load<u32>(block, KEPT4_NEXT)) {
          if (load<i32>(block, KEPT4_CLASS_ID) != label) continue;
          const w = f32x4.add(wide4(block, left, right), f32x4.splat(offsetX));
          const h = f32x4.add(high4(block, top, bottom), f32x4.splat(offsetY));
          const over = over4(block, w, h, areas, limits, equal);
          if (v128.any_true(over)) {
            hit = true;
            break;
          }
          if (load<i32>(block, KEPT4_COUNT) < 4) room = block;
        }
        if (hit) continue;
      }
      if (room == 0) {
        room = free;
        free += KEPT4_BYTES;
        for (let j: usize = 0; j < 64; j += 16) v128.store(room + j, f32x4.splat(0));
        v128.store(room, f32x4.splat(Infinity), 64);
        store<u32>(room, load<u32>(chain), KEPT4_NEXT);
        store<i32>(room, label, KEPT4_CLASS_ID);
        store<i32>(room, 0, KEPT4_COUNT);
        store<u32>(chain, <u32>room);
      }
      const count = load<i32>(room, KEPT4_COUNT);
      const place = room + ((<usize>count) << 2);
      v128.store_lane<f32>(place, edges, 0);
      v128.store_lane<f32>(place, edges, 1, 16);
      v128.store_lane<f32>(place, edges, 2, 32);
      v128.store_lane<f32>(place, edges, 3, 48);
      store<f32>(place, area, 64);
      store<i32>(room, count + 1, KEPT4_COUNT);
    }
    detect(plan, c, kept, flags);
    kept++;
  }
  setInt(plan, P_VISITED, i);
  setInt(plan, P_DETECTIONS, kept);
  return kept;
}

/** Offsets in `chains` of the strips that these stand in. */
// @ts-ignore: decorator
@inline
function stripsOf(x: v128, begin: v128, perUnit: v128): v128 {
  const strip = i32x4.trunc_sat_f32x4_s(f32x4.mul(f32x4.sub(x, begin), perUnit));
  return i32x4.shl(i32x4.max_s(i32x4.min_s(strip, i32x4.splat(STRIPS - 1)), i32x4.splat(0)), 2);
}

/** How wide the four boxes of a block overlap this one; below zero: how far they lie apart. */
// @ts-ignore: decorator
@inline
function wide4(block: usize, left: v128, right: v128): v128 {
  return f32x4.sub(f32x4.pmin(right, v128.load(block, 32)), f32x4.pmax(left, v128.load(block)));
}

/** The same, of the height. */
// @ts-ignore: decorator
@inline
function high4(block: usize, top: v128, bottom: v128): v128 {
  return f32x4.sub(f32x4.pmin(bottom, v128.load(block, 48)), f32x4.pmax(top, v128.load(block, 16)));
}

/** Which of the four boxes of a block suppress this one, that overlap it by so much: intersection > iou x union. */
// @ts-ignore: decorator
@inline
function over4(block: usize, w: v128, h: v128, areas: v128, limits: v128, equal: bool): v128 {
  const zero = f32x4.splat(0);
  const shared = f32x4.mul(f32x4.pmax(zero, w), f32x4.pmax(zero, h));
  const union = f32x4.sub(f32x4.add(areas, v128.load(block, 64)), shared);
  const limit = f32x4.mul(limits, union);
  return equal ? v128.and(f32x4.ge(shared, limit), f32x4.gt(union, zero)) : f32x4.gt(shared, limit);
}
