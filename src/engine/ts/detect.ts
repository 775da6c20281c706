/** Writes kept candidates as detections. Twin of `assembly/detect.ts`. */
import * as A from "../../core/abi.ts";
import type { Memory } from "../../core/memory.ts";
import { clamp } from "./box.ts";
import { fround } from "./value.ts";

/** Writes a candidate as a detection, in the coordinates of the frame. */
export function detect(m: Memory, plan: number, candidate: number, detection: number, flags: number): void {
  const { i32, f32 } = m;
  const box = (i32[plan + A.P_BOXES] >> 2) + candidate * 4;
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
    const halfWidth = fround(clamp(fround(x2 - x1)) * 0.5);
    const halfHeight = fround(clamp(fround(y2 - y1)) * 0.5);
    x1 = fround(cx - halfWidth);
    y1 = fround(cy - halfHeight);
    x2 = fround(cx + halfWidth);
    y2 = fround(cy + halfHeight);
  }
  const out = (i32[plan + A.P_DET_BOXES] >> 2) + detection * 4;
  f32[out] = x1;
  f32[out + 1] = y1;
  f32[out + 2] = x2;
  f32[out + 3] = y2;
  f32[(i32[plan + A.P_DET_SCORES] >> 2) + detection] = f32[(i32[plan + A.P_SCORES] >> 2) + candidate];
  i32[(i32[plan + A.P_DET_CLASS_IDS] >> 2) + detection] = i32[(i32[plan + A.P_CLASS_IDS] >> 2) + candidate];
  i32[(i32[plan + A.P_DET_SOURCES] >> 2) + detection] = i32[(i32[plan + A.P_SOURCES] >> 2) + candidate];
}
