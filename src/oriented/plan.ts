/** The part of a plan about oriented boxes. Plain data. */
import type { TaskPlan } from "../heads/head.ts";

/**
 * Content v of the angle channel. "radians": v is the angle. "logits": angle = (sigmoid(v) - 0.25) pi. "sigmoid":
 * angle = (v - 0.25) pi.
 */
export const ANGLE_ACTIVATIONS = ["radians", "logits", "sigmoid"] as const;
export type AngleActivation = (typeof ANGLE_ACTIVATIONS)[number];

/** Methods of suppression for oriented boxes, by the name that the option `orientedNms` takes. */
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
  /** Range of the network's angles in radians; `null` if the family has none. Angles outside get a note. */
  readonly range: readonly [number, number] | null;
  /** True: angles of detections are in [0, pi/2). False: they are those of the network. */
  readonly regular: boolean;
  readonly suppression: OrientedNms;
  /** True: an overlap equal to the threshold suppresses too. */
  readonly orEqual: boolean;
}
