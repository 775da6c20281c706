/** The part of a plan about oriented boxes. Plain data. */
import type { TaskFields } from "../../config/types.ts";
import type { Rules } from "../../core/rules.ts";
import type { Column } from "../../heads/channels.ts";
import type { Head, TaskPlan } from "../../heads/head.ts";

/**
 * Content v of the angle channel. "radians": v is the angle. "logits": angle = (sigmoid(v) - 0.25) pi. "fractions":
 * angle = (v - 0.25) pi.
 */
export type AngleForm = NonNullable<TaskFields["angleForm"]>;

/** Range of angles that are (sigmoid - 0.25) pi. */
export const SIGMOID_RANGE = [-Math.PI / 4, (3 * Math.PI) / 4] as const;

/** Methods of suppression for oriented boxes, by the name that the option `orientedSuppression` takes. */
export const ORIENTED_NMS = {
  /** ProbIoU, and a suppressed box suppresses too. */
  ultralytics: { iou: "probiou", method: "fast", orEqual: true },
  /** ProbIoU, greedily: @ultralytics/yolo, and most ports. */
  probiou: { iou: "probiou", method: "hard", orEqual: false },
  /** The IoU of the polygons, greedily: OpenCV's NMSBoxesRotated. */
  opencv: { iou: "polygon", method: "hard", orEqual: false },
} as const satisfies Record<NonNullable<TaskFields["orientedSuppression"]>, object>;
export type OrientedNms = keyof typeof ORIENTED_NMS;

export interface OrientedPlan extends TaskPlan {
  readonly angle: AngleForm;
  /** Range of the network's angles in radians; `null`: any angle up to two turns. An angle outside gets a note. */
  readonly range: readonly [number, number] | null;
  /** True: angles of detections are in [0, pi/2). False: they are those of the network. */
  readonly regular: boolean;
  readonly suppression: OrientedNms;
  /** True: an overlap equal to the threshold suppresses too. */
  readonly orEqual: boolean;
}

/** A head of oriented boxes: its cells, and the column of its angles. */
export interface OrientedHead extends Pick<Head, "cells" | "gridWidth"> {
  /** Column of the angles. */
  readonly extra: Column;
  /** True for heads with distances: the angle also rotates the vector from the cell to the centre of the box. */
  readonly rotatesCentre: boolean;
  /** Position of a cell's centre, in cells from its corner. */
  readonly bias: number;
  /** Width and height of a cell in pixels of the input. */
  readonly cell: readonly [number, number];
}

/** Returns the fields of a head that the oriented task needs. */
export const orientedHeadOf = (
  { cells, extra, kind, gridWidth, xyBias, unit }: Head,
  [width, height]: readonly [number, number],
): OrientedHead => ({
  cells,
  gridWidth,
  extra: extra as Column,
  rotatesCentre: kind === "distance",
  bias: xyBias,
  cell: [unit[0] * width, unit[1] * height],
});

/** Facts that `attachOriented` needs. A plan file contains them too. */
export interface OrientedTask extends Pick<
  OrientedPlan,
  "about" | "angle" | "range" | "regular" | "suppression" | "orEqual"
> {
  readonly nms: Rules["suppress"];
  /** Returns the current IoU threshold, which may change from frame to frame. */
  readonly iouThreshold: () => number;
  readonly heads: readonly OrientedHead[];
}
