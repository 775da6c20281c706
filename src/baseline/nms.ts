/**
 * Greedy non-maximum suppression over candidates in order. Twin of `assembly/nms.ts`, and the definition:
 * a candidate is kept unless a kept one of its class (or of any class) overlaps it too much.
 *
 * IoU of boxes a, b: intersection / (area a + area b - intersection), 0 where that union is empty; compared as
 * intersection > threshold x union. Widths below 0 count as 0; `pixelOffset` is added to each width and height.
 *
 * Kept boxes of one class stand together in blocks of four, see the drawing in the twin.
 */
import * as A from "../abi.ts";
import type { Memory } from "../memory.ts";
import { clamp } from "./box.ts";
import { sortMore } from "./sort.ts";

const fround = Math.fround;
const NEXT = A.KEPT_NEXT >> 2;
const LABEL = A.KEPT_LABEL >> 2;
const COUNT = A.KEPT_COUNT >> 2;

export function nms(m: Memory, at: number): number {
  const { i32, f32 } = m;
  const plan = at >> 2;
  const n = i32[plan + A.P_ORDERED];
  const max = i32[plan + A.P_MAX_DETECTIONS];
  const flags = i32[plan + A.P_FLAGS];
  const order = i32[plan + A.P_ORDER] >> 2;
  const boxes = i32[plan + A.P_BOXES] >> 2;
  const labels = i32[plan + A.P_LABELS] >> 2;
  const chains = i32[plan + A.P_CHAINS] >> 2;
  const iou = f32[plan + A.P_IOU];
  const equal = (flags & A.FLAG_SUPPRESS_EQUAL) !== 0;
  const offsetX = f32[plan + A.P_OFFSET_X];
  const offsetY = f32[plan + A.P_OFFSET_Y];
  // whether boxes without a point in common cannot suppress each other
  const apart = offsetX === 0 && offsetY === 0 && (!equal || iou > 0);
  const suppress = (flags & (A.FLAG_NMS_CLASS | A.FLAG_NMS_ALL)) !== 0;
  let free = i32[plan + A.P_KEPT] >> 2;
  let kept = 0;
  let i = 0;
  let sorted = i32[plan + A.P_SORTED];
  if (suppress) i32.fill(0, chains, chains + A.CHAINS);
  for (; i < n && kept < max; i++) {
    if (i === sorted) sorted = sortMore(m, at);
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
      const label = flags & A.FLAG_NMS_ALL ? 0 : i32[labels + c];
      const chain = chains + (label & (A.CHAINS - 1));
      let hit = false;
      let room = 0;
      for (let block = i32[chain]; block !== 0; block = i32[block + NEXT]) {
        if (i32[block + LABEL] !== label) continue;
        const end = block + i32[block + COUNT];
        for (let k = block; k < end; k++) {
          const left = f32[k];
          const right = f32[k + 8];
          const top = f32[k + 4];
          const bottom = f32[k + 12];
          // most boxes lie apart, which is told without arithmetic
          if (apart && (left >= x2 || right <= x1 || top >= y2 || bottom <= y1)) continue;
          const w = fround(fround((right < x2 ? right : x2) - (x1 < left ? left : x1)) + offsetX);
          const h = fround(fround((bottom < y2 ? bottom : y2) - (y1 < top ? top : y1)) + offsetY);
          const shared = fround(positive(w) * positive(h));
          const union = fround(fround(area + f32[k + 16]) - shared);
          const limit = fround(iou * union);
          if (equal ? shared >= limit && union > 0 : shared > limit) {
            hit = true;
            break;
          }
        }
        if (hit) break;
        if (i32[block + COUNT] < 4) room = block;
      }
      if (hit) continue;
      if (room === 0) {
        room = free;
        free += A.KEPT_BYTES >> 2;
        i32[room + NEXT] = i32[chain];
        i32[room + LABEL] = label;
        i32[room + COUNT] = 0;
        i32[chain] = room;
      }
      const place = room + i32[room + COUNT]++;
      f32[place] = x1;
      f32[place + 4] = y1;
      f32[place + 8] = x2;
      f32[place + 12] = y2;
      f32[place + 16] = area;
    }
    detect(m, plan, c, kept, flags);
    kept++;
  }
  i32[plan + A.P_VISITED] = i;
  i32[plan + A.P_DETECTIONS] = kept;
  return kept;
}

function positive(x: number): number {
  return x > 0 ? x : 0;
}

/** Writes candidate `c` as detection `d`, in the frame's coordinates. */
function detect(m: Memory, plan: number, c: number, d: number, flags: number): void {
  const { i32, f32 } = m;
  const box = (i32[plan + A.P_BOXES] >> 2) + c * 4;
  const scaleX = f32[plan + A.P_SCALE_X];
  const scaleY = f32[plan + A.P_SCALE_Y];
  const shiftX = f32[plan + A.P_SHIFT_X];
  const shiftY = f32[plan + A.P_SHIFT_Y];
  let x1 = fround(fround(f32[box] * scaleX) + shiftX);
  let y1 = fround(fround(f32[box + 1] * scaleY) + shiftY);
  let x2 = fround(fround(f32[box + 2] * scaleX) + shiftX);
  let y2 = fround(fround(f32[box + 3] * scaleY) + shiftY);
  if (flags & A.FLAG_CLAMP_AFTER) {
    x1 = clamp(x1);
    y1 = clamp(y1);
    x2 = clamp(x2);
    y2 = clamp(y2);
  } else if (flags & A.FLAG_CLAMP_CENTRE) {
    const cx = clamp(fround(fround(x1 + x2) * 0.5));
    const cy = clamp(fround(fround(y1 + y2) * 0.5));
    const w = fround(clamp(fround(x2 - x1)) * 0.5);
    const h = fround(clamp(fround(y2 - y1)) * 0.5);
    x1 = fround(cx - w);
    y1 = fround(cy - h);
    x2 = fround(cx + w);
    y2 = fround(cy + h);
  }
  const out = (i32[plan + A.P_DET_BOXES] >> 2) + d * 4;
  f32[out] = x1;
  f32[out + 1] = y1;
  f32[out + 2] = x2;
  f32[out + 3] = y2;
  f32[(i32[plan + A.P_DET_SCORES] >> 2) + d] = f32[(i32[plan + A.P_SCORES] >> 2) + c];
  i32[(i32[plan + A.P_DET_LABELS] >> 2) + d] = i32[(i32[plan + A.P_LABELS] >> 2) + c];
  i32[(i32[plan + A.P_DET_SOURCES] >> 2) + d] = i32[(i32[plan + A.P_SOURCES] >> 2) + c];
}
