/**
 * Greedy non-maximum suppression over candidates in order.
 *
 * With vectors kept boxes stand in blocks of four, in columns, and the blocks of one label hang together in a chain, so that
 * a candidate meets only boxes of its own class, four at a time:
 *
 *     chains[label & 255] -> | x1 x1 x1 x1 | y1 ... | x2 ... | y2 ... | area ... | next label count |  -> ...
 *
 * Unused places of a block have infinite area: their IoU is 0 whatever the candidate.
 * Without, each is a record of its own, with its four edges packed in one word of 64 bits: a pair that is far apart, as most
 * are, takes one subtraction. Its twin says at `pack` why none is missed.
 * Suppression across classes is the same with one label for all. It stops when enough are kept.
 */
import {
  CHAINS,
  FLAG_CLAMP_AFTER,
  FLAG_CLAMP_CENTRE,
  FLAG_NMS_ALL,
  FLAG_NMS_CLASS,
  FLAG_SUPPRESS_EQUAL,
  KEPT_NEXT,
  KEPT_AREA,
  KEPT_BOX,
  KEPT4_BYTES,
  KEPT4_COUNT,
  KEPT4_LABEL,
  KEPT4_NEXT,
  KEPT_LABEL,
  KEPT_WORDS,
  P_BOXES,
  P_CHAINS,
  P_DETECTIONS,
  P_DET_BOXES,
  P_DET_CLASS_IDS,
  P_DET_SCORES,
  P_DET_SOURCES,
  P_FLAGS,
  P_IOU,
  P_KEPT,
  P_CLASS_IDS,
  P_MAX_DETECTIONS,
  P_OFFSET_X,
  P_OFFSET_Y,
  P_ORDER,
  P_ORDERED,
  P_SCALE_X,
  P_SCALE_Y,
  P_SCORES,
  P_SHIFT_X,
  P_SHIFT_Y,
  P_SORTED,
  P_SOURCES,
  P_VISITED,
} from "../src/abi";
import { clamp } from "./box";
import { sortMore } from "./sort";
import { clear, flt, int, ptr, setInt } from "./word";

/** The top bit of each quarter of a word. */
const TOPS: u64 = 0x8000800080008000;
const RECORD: usize = KEPT_WORDS << 2;

export function nms(plan: usize): i32 {
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
  let sorted = int(plan, P_SORTED);
  let mixed = false;
  if (suppress) clear(chains, CHAINS << 2);
  for (; i < n && kept < max; i++) {
    if (i == sorted) sorted = sortMore(plan);
    const c = <usize>load<u32>(order + ((<usize>i) << 2));
    if (suppress) {
      const box = boxes + (c << 4);
      const x1 = load<f32>(box);
      const y1 = load<f32>(box, 4);
      const x2 = load<f32>(box, 8);
      const y2 = load<f32>(box, 12);
      const area = positive(x2 - x1 + offsetX) * positive(y2 - y1 + offsetY);
      const label = all ? 0 : load<i32>(labels + (c << 2));
      const chain = chains + ((<usize>(label & (CHAINS - 1))) << 2);
      if (ASC_FEATURE_SIMD) {
        let hit = false;
        // only the newest block of a label, the first in the chain, can have room
        let room: usize = 0;
        const left = f32x4.splat(x1);
        const top = f32x4.splat(y1);
        const right = f32x4.splat(x2);
        const bottom = f32x4.splat(y2);
        const areas = f32x4.splat(area);
        const limits = f32x4.splat(iou);
        if (all && !equal && offsetX == 0 && offsetY == 0) {
          // blocks of one label lie one after the other; the newest may be half of a pair, the other half is empty
          for (let block = first; block < free; block += 2 * KEPT4_BYTES) {
            const next = block + KEPT4_BYTES;
            const a = over4(
              block,
              wide4(block, left, right),
              high4(block, top, bottom),
              areas,
              limits,
              false,
            );
            const b = over4(next, wide4(next, left, right), high4(next, top, bottom), areas, limits, false);
            if (v128.any_true(v128.or(a, b))) {
              hit = true;
              break;
            }
          }
          if ((kept & 3) != 0) room = free - KEPT4_BYTES;
        } else {
          const offsetXs = f32x4.splat(offsetX);
          const offsetYs = f32x4.splat(offsetY);
          for (let block = <usize>load<u32>(chain); block != 0; block = <usize>load<u32>(block, KEPT4_NEXT)) {
            if (load<i32>(block, KEPT4_LABEL) != label) continue;
            const w = f32x4.add(wide4(block, left, right), offsetXs);
            const h = f32x4.add(high4(block, top, bottom), offsetYs);
            const over = over4(block, w, h, areas, limits, equal);
            if (v128.any_true(over)) {
              hit = true;
              break;
            }
            if (load<i32>(block, KEPT4_COUNT) < 4) room = block;
          }
        }
        if (hit) continue;
        if (room == 0) {
          room = free;
          free += KEPT4_BYTES;
          // empty places, for all labels of the other half of the pair too
          const end: usize = all ? 2 * KEPT4_BYTES : KEPT4_BYTES;
          for (let k: usize = 0; k < end; k += KEPT4_BYTES) {
            for (let j: usize = 0; j < 64; j += 4) store<f32>(room + k + j, 0);
            for (let j: usize = 64; j < 80; j += 4) store<f32>(room + k + j, Infinity);
          }
          store<u32>(room, load<u32>(chain), KEPT4_NEXT);
          store<i32>(room, label, KEPT4_LABEL);
          store<i32>(room, 0, KEPT4_COUNT);
          store<u32>(chain, <u32>room);
        }
        const count = load<i32>(room, KEPT4_COUNT);
        const place = room + ((<usize>count) << 2);
        store<f32>(place, x1);
        store<f32>(place, y1, 16);
        store<f32>(place, x2, 32);
        store<f32>(place, y2, 48);
        store<f32>(place, area, 64);
        store<i32>(room, count + 1, KEPT4_COUNT);
      } else {
        // the record it will be if it is kept
        const edges: u64 =
          !equal || iou * area > 0
            ? pack(x1 - positive(offsetX), y1 - positive(offsetY)) |
              ((pack(x2 + positive(offsetX), y2 + positive(offsetY)) ^ 0x7fff7fff) << 32)
            : 0;
        store<u64>(free, edges);
        store<u32>(free, <u32>box, KEPT_BOX << 2);
        store<f32>(free, area, KEPT_AREA << 2);
        store<i32>(free, label, KEPT_LABEL << 2);
        store<u32>(free, load<u32>(chain), KEPT_NEXT << 2);
        // while all that are kept have one label the chain need not be followed
        const oneLabel = !mixed && load<i32>(first, KEPT_LABEL << 2) == label;
        const hit = oneLabel
          ? meetsRow(first, free, equal, iou, offsetX, offsetY)
          : meetsChain(<usize>load<u32>(chain), free, equal, iou, offsetX, offsetY);
        if (hit) continue;
        if (!oneLabel) mixed = true;
        store<u32>(chain, <u32>free);
        free += RECORD;
      }
    }
    detect(plan, c, kept, flags);
    kept++;
  }
  setInt(plan, P_VISITED, i);
  setInt(plan, P_DETECTIONS, kept);
  return kept;
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
  const label = load<i32>(free, KEPT_LABEL << 2);
  for (; k != 0; k = <usize>load<u32>(k, KEPT_NEXT << 2)) {
    if (((edges - load<u64>(k)) & TOPS) != TOPS || load<i32>(k, KEPT_LABEL << 2) != label) continue;
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

/** Writes candidate `c` as detection `d`, in the frame's coordinates. */
function detect(plan: usize, c: usize, d: i32, flags: i32): void {
  const box = ptr(plan, P_BOXES) + (c << 4);
  const scaleX = flt(plan, P_SCALE_X);
  const scaleY = flt(plan, P_SCALE_Y);
  const shiftX = flt(plan, P_SHIFT_X);
  const shiftY = flt(plan, P_SHIFT_Y);
  let x1: f32 = load<f32>(box) * scaleX + shiftX;
  let y1: f32 = load<f32>(box, 4) * scaleY + shiftY;
  let x2: f32 = load<f32>(box, 8) * scaleX + shiftX;
  let y2: f32 = load<f32>(box, 12) * scaleY + shiftY;
  if (flags & FLAG_CLAMP_AFTER) {
    x1 = clamp(x1);
    y1 = clamp(y1);
    x2 = clamp(x2);
    y2 = clamp(y2);
  } else if (flags & FLAG_CLAMP_CENTRE) {
    const cx = clamp((x1 + x2) * <f32>0.5);
    const cy = clamp((y1 + y2) * <f32>0.5);
    const w = clamp(x2 - x1) * <f32>0.5;
    const h = clamp(y2 - y1) * <f32>0.5;
    x1 = cx - w;
    y1 = cy - h;
    x2 = cx + w;
    y2 = cy + h;
  }
  const i = (<usize>d) << 2;
  const out = ptr(plan, P_DET_BOXES) + (i << 2);
  store<f32>(out, x1);
  store<f32>(out, y1, 4);
  store<f32>(out, x2, 8);
  store<f32>(out, y2, 12);
  store<f32>(ptr(plan, P_DET_SCORES) + i, load<f32>(ptr(plan, P_SCORES) + (c << 2)));
  store<i32>(ptr(plan, P_DET_CLASS_IDS) + i, load<i32>(ptr(plan, P_CLASS_IDS) + (c << 2)));
  store<i32>(ptr(plan, P_DET_SOURCES) + i, load<i32>(ptr(plan, P_SOURCES) + (c << 2)));
}
