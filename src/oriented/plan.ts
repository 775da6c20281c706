/** What a plan says of oriented boxes. Plain data. */
import type { TaskPlan } from "../heads/head.ts";

/** What the angle channel holds. "logits": angle = (sigmoid(v) - 0.25) pi. "sigmoid": angle = (v - 0.25) pi. */
export const ANGLE_ACTIVATIONS = ["radians", "logits", "sigmoid"] as const;
export type AngleActivation = (typeof ANGLE_ACTIVATIONS)[number];

/** How oriented boxes suppress each other, by name. */
export const ORIENTED_NMS = {
  /** ProbIoU, and a suppressed box suppresses too. */
  ultralytics: { iou: "probiou", method: "fast", orEqual: true },
  /** ProbIoU, greedily: @ultralytics/yolo, and most ports. */
  probiou: { iou: "probiou", method: "hard", orEqual: false },
  /** The IoU of the polygons, greedily: OpenCV's NMSBoxesRotated. */
  opencv: { iou: "polygon", method: "hard", orEqual: false },
} as const;
export type OrientedNms = keyof typeof ORIENTED_NMS;

export interface OrientedPlan extends TaskPlan {
  readonly angle: AngleActivation;
  /** Angles of the network's own range lie here; `null`: anywhere. */
  readonly range: readonly [number, number] | null;
  /** The angles of results are in [0, pi/2). */
  readonly regular: boolean;
  readonly suppression: OrientedNms;
  /** Suppress at the threshold too. */
  readonly orEqual: boolean;
}
