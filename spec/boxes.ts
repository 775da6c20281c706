/**
 * Boxes: the channels of a cell become corners, normalised to the network's input.
 *
 * `c` and `r` are the column and row of a cell, `u` is the head's `unit`, `f` and `g` are the activations of position
 * and size.
 */
import type { Head } from "../src/heads/head.ts";
import { type ColumnReader } from "./element.ts";
import { activate, softmax } from "./scores.ts";

/** x_min, y_min, x_max, y_max. */
export type Box = readonly [number, number, number, number];

type PlainFn = Parameters<typeof activate>[0];
type Four = readonly [number, number, number, number];

/** Returns corners from a centre and a size. */
const fromCentre = (cx: number, cy: number, w: number, h: number): Box => [
  cx - w / 2,
  cy - h / 2,
  cx + w / 2,
  cy + h / 2,
];

/**
 * Kind "grid": cx = (c + scale f(x) + bias) u, w = g(w) size; y and h alike.
 * Sources: YOLOv2 to v4 (Darknet, with scale_x_y in v4): f = sigmoid, scale s, bias -(s - 1) / 2, g = exp, size =
 * anchor / input. YOLOv5 and v7: f = sigmoid, scale 2, bias -0.5, g = (2 sigmoid)^2. YOLOX and v6 r1: f(x) = x, g =
 * exp, size = stride / input. FastestDet: f = tanh, g = sigmoid, size 1.
 */
function gridBox(head: Head, cell: number, [x, y, w, h]: Four): Box {
  const { gridWidth, xyFn, xyScale, xyBias, whFn, size, unit } = head;
  const position = (v: number): number => xyScale * activate(xyFn as PlainFn, v) + xyBias;
  return fromCentre(
    ((cell % gridWidth) + position(x)) * unit[0],
    (Math.floor(cell / gridWidth) + position(y)) * unit[1],
    activate(whFn as PlainFn, w) * size[0],
    activate(whFn as PlainFn, h) * size[1],
  );
}

/**
 * Kind "distance": x_min = (c + bias - scale left) u, x_max = (c + bias + scale right) u; y alike.
 * Sources: depthai-core TLBR (YOLOv6 r2 and later, v8 and later), NanoDet, PicoDet, PP-YOLOE: bias 0.5, scale 1.
 * RTMDet: bias 0; scale 1 where distances are strides (mmyolo), 1 / stride where they are pixels (mmdetection).
 */
function distanceBox({ gridWidth, xyBias, xyScale, unit }: Head, cell: number, sides: Four): Box {
  const cx = (cell % gridWidth) + xyBias;
  const cy = Math.floor(cell / gridWidth) + xyBias;
  const [l, t, r, b] = sides.map((side) => side * xyScale);
  return [(cx - l) * unit[0], (cy - t) * unit[1], (cx + r) * unit[0], (cy + b) * unit[1]];
}

/**
 * Returns the expected value of a distribution over bins 0, 1, 2, ...: the distance. Source: Distribution Focal Loss
 * (Li et al. 2020), as in YOLOv8 and NanoDet. A NaN among the bins gives NaN.
 */
export function expectedDistance(logits: readonly number[]): number {
  if (logits.some((x) => Number.isNaN(x))) return NaN;
  return softmax(logits).reduce((sum, p, bin) => sum + p * bin, 0);
}

/**
 * Kind "prior": cx = px + v0 x pw, w = g(v2 w) pw; y and h alike.
 * Sources: SSD (Liu et al. 2016), variances v of Caffe's DetectionOutput, or the inverse of TensorFlow's scales: g =
 * exp. BlazeFace: g(x) = x.
 */
function priorBox({ priors, variances: v, whFn }: Head, cell: number, [x, y, w, h]: Four): Box {
  const [px, py, pw, ph] = (priors as Float32Array).subarray(4 * cell, 4 * cell + 4);
  return fromCentre(
    px + v[0] * x * pw,
    py + v[1] * y * ph,
    activate(whFn as PlainFn, v[2] * w) * pw,
    activate(whFn as PlainFn, v[3] * h) * ph,
  );
}

/**
 * Kinds "centre", "corners" and "topleft": the network has decoded the box. The unit is a pixel of the input, or the
 * whole input.
 */
function finishedBox({ kind, unit: [ux, uy] }: Head, [a, b, c, d]: Four): Box {
  if (kind === "centre") return fromCentre(a * ux, b * uy, c * ux, d * uy);
  if (kind === "topleft") return [a * ux, b * uy, a * ux + c * ux, b * uy + d * uy];
  return [a * ux, b * uy, c * ux, d * uy];
}

/** Returns the box of a cell. */
export function boxOf(head: Head, read: ColumnReader, cell: number): Box {
  const channels = head.boxChannels.map((channel): number => {
    const column = { ...head.box, offset: head.box.offset + channel };
    if (head.bins === 0) return read.real(column, cell);
    return expectedDistance(Array.from({ length: head.bins }, (_, bin) => read.real(column, cell, bin)));
  }) as unknown as Four;
  if (head.kind === "grid") return gridBox(head, cell, channels);
  if (head.kind === "distance") return distanceBox(head, cell, channels);
  if (head.kind === "prior") return priorBox(head, cell, channels);
  return finishedBox(head, channels);
}

/** True if a number can be given as an f32: it is not NaN, not infinite, and not beyond the largest f32. */
export const fitsF32 = (x: number): boolean => Number.isFinite(Math.fround(x));

/** Returns the box with each corner inside 0..1. */
export const clampCorners = (box: Box): Box => box.map((x) => Math.min(1, Math.max(0, x))) as unknown as Box;

/**
 * True if a box has no area. Source: depthai-core drops a box with x_max <= x_min or y_max <= y_min after its clamp.
 */
export const isEmpty = ([x1, y1, x2, y2]: Box): boolean => x2 <= x1 || y2 <= y1;
