/** Reads the detections of a stored frame for announcements. */
import type { StoredFrame } from "../store/frames.ts";
import { labelOf } from "../store/count-seen.ts";

export interface Detection {
  readonly x_min: number;
  readonly y_min: number;
  readonly x_max: number;
  readonly y_max: number;
  readonly confidence: number;
  readonly label: string;
  /** Id that the device's tracker gave to the object; absent without a tracker. */
  readonly track_id?: number;
}

/** Returns the detections of a frame, each with a label. Leaves out detections without a valid box. */
export function detectionsOf({ detections }: Pick<StoredFrame, "detections">): Detection[] {
  const all = JSON.parse(detections) as Partial<Detection>[];
  return all.flatMap((one) => {
    const { x_min, y_min, x_max, y_max, confidence, track_id } = one;
    const numbers = [x_min, y_min, x_max, y_max, confidence];
    if (!numbers.every((value) => typeof value === "number" && Number.isFinite(value))) return [];
    return [{ ...(one as Detection), label: labelOf(one), ...(Number.isInteger(track_id) && { track_id: track_id! }) }];
  });
}
