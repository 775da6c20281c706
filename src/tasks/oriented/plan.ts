/** The part of a plan for oriented boxes. Plain data. */
import type { TaskFields } from "../../config/types.ts";
import type { Rules } from "../../core/rules.ts";
import type { Column } from "../../heads/channels.ts";
import type { Head, TaskPlan } from "../../heads/head.ts";

/** Angle for a network's value v: v ("radians"), (sigmoid(v) - 0.25) pi ("logits"), (v - 0.25) pi ("fractions"). */
export type AngleForm = NonNullable<TaskFields["angleForm"]>;

/** Range of (sigmoid(v) - 0.25) pi. */
export const SIGMOID_RANGE = [-Math.PI / 4, (3 * Math.PI) / 4] as const;

/** Methods of suppression for oriented boxes, by the names that the option `orientedSuppression` accepts. */
export const ORIENTED_NMS = {
  /** ProbIoU. Suppressed boxes also suppress others. */
  ultralytics: { iou: "probiou", method: "fast", orEqual: true },
  /** ProbIoU, greedily: as @ultralytics/yolo and most ports do. */
  probiou: { iou: "probiou", method: "hard", orEqual: false },
  /** IoU of the polygons, greedily: as OpenCV's NMSBoxesRotated does. */
  opencv: { iou: "polygon", method: "hard", orEqual: false },
} as const satisfies Record<NonNullable<TaskFields["orientedSuppression"]>, object>;
export type OrientedNms = keyof typeof ORIENTED_NMS;

export interface OrientedPlan extends TaskPlan {
  readonly angle: AngleForm;
  /** Range of the network's angles in radians. An angle outside gets a note. `null`: up to two turns are allowed. */
  readonly range: readonly [number, number] | null;
  /** True: angles of detections are converted to [0, pi/2). False: detections keep the network's angles. */
  readonly regular: boolean;
  readonly suppression: OrientedNms;
  /** True: an overlap equal to the threshold also suppresses. */
  readonly orEqual: boolean;
}

/** A head of oriented boxes: its cells, and the column of its angles. */
export interface OrientedHead extends Pick<Head, "cells" | "gridWidth"> {
  readonly extra: Column;
  /** True for heads with distances: the angle also rotates the vector from the cell to the box centre. */
  readonly rotatesCentre: boolean;
  /** Position of a cell's centre, in cells from the cell's upper left corner. */
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

/** Facts that `attachOriented` needs. Plan files contain the same facts. */
export interface OrientedTask extends Pick<
  OrientedPlan,
  "about" | "angle" | "range" | "regular" | "suppression" | "orEqual"
> {
  readonly nms: Rules["suppress"];
  /** Returns the current IoU threshold. Each frame may have another one. */
  readonly iouThreshold: () => number;
  readonly heads: readonly OrientedHead[];
}
