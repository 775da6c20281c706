/** Writes the detections: the candidates that suppression kept. */
import {
  FLAG_CLAMP_AFTER,
  FLAG_CLAMP_CENTRE,
  P_BOXES,
  P_CLASS_IDS,
  P_DET_BOXES,
  P_DET_CLASS_IDS,
  P_DET_SCORES,
  P_DET_SOURCES,
  P_SCALE_X,
  P_SCALE_Y,
  P_SCORES,
  P_SHIFT_X,
  P_SHIFT_Y,
  P_SOURCES,
} from "../src/core/abi";
import { clamp } from "./box";
import { flt, ptr } from "./word";

/** Writes a candidate as a detection, in the coordinates of the frame. */
export function detect(plan: usize, candidate: usize, detection: i32, flags: i32): void {
  const box = ptr(plan, P_BOXES) + (candidate << 4);
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
    const halfWidth = clamp(x2 - x1) * <f32>0.5;
    const halfHeight = clamp(y2 - y1) * <f32>0.5;
    x1 = cx - halfWidth;
    y1 = cy - halfHeight;
    x2 = cx + halfWidth;
    y2 = cy + halfHeight;
  }
  const i = (<usize>detection) << 2;
  const out = ptr(plan, P_DET_BOXES) + (i << 2);
  store<f32>(out, x1);
  store<f32>(out, y1, 4);
  store<f32>(out, x2, 8);
  store<f32>(out, y2, 12);
  store<f32>(ptr(plan, P_DET_SCORES) + i, load<f32>(ptr(plan, P_SCORES) + (candidate << 2)));
  store<i32>(ptr(plan, P_DET_CLASS_IDS) + i, load<i32>(ptr(plan, P_CLASS_IDS) + (candidate << 2)));
  store<i32>(ptr(plan, P_DET_SOURCES) + i, load<i32>(ptr(plan, P_SOURCES) + (candidate << 2)));
}
