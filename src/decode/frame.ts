/** Converts boxes from the network's input to the image, by a scale and a shift per axis. */
import * as A from "../core/abi.ts";
import { type Crop, checkCrop, mapOfCrop } from "../core/crop.ts";
import { refuseValue, refuseFor } from "../core/errors.ts";
import { clampToUnit } from "../core/number.ts";
import { nameComplaint } from "../core/options.ts";
import { placeOf } from "../core/place.ts";
import type { PrepareResize } from "../core/prepare-rule.ts";
import type { Rules } from "../core/rules.ts";
import { show } from "../core/tensor.ts";
import { type QuarterTurns, rotationProblem, turnedSize } from "../core/turn.ts";
import { type Affine, IDENTITY } from "../memory/write.ts";

/** The original image, and how it was resized to the network's input. */
export interface Frame {
  /** Width of the original image in pixels. */
  readonly width: number;
  readonly height: number;
  /**
   * `"stretch"`: each side was scaled by its own factor. `"letterbox"`: both sides were scaled by the same factor, the
   * image was centred, and the rest was padded. `"letterbox-topleft"`: the same, but the image is in the upper left
   * corner. `"crop"`: both sides were scaled by the same factor until the image filled the input, and the surplus was
   * cut off on both sides.
   */
  readonly resize: PrepareResize;
  /**
   * Rectangle of the whole resized image in the input: [left, top, width, height] in pixels of the input, as `prepare`
   * placed it. Left and top are negative for "crop". Default: the rectangle that follows from `resize` (`placeOf`).
   */
  readonly placed?: readonly [number, number, number, number];
  /**
   * The part of the image that became the input. Requires `resize: "stretch"`. Only networks that output the points of
   * one object accept a crop with an angle.
   */
  readonly crop?: Crop;
  /**
   * Quarter turns clockwise that turned the image upright before its resize. Default 0. Width, height and all results
   * refer to the image before the turn, as the camera delivered it. `placed` refers to the turned image.
   */
  readonly rotation?: QuarterTurns;
}

const KEYS: readonly string[] = ["width", "height", "resize", "placed", "crop", "rotation"];

const RESIZES: readonly unknown[] = ["letterbox", "letterbox-topleft", "stretch", "crop"];

const isPlace = (placed: readonly unknown[]): boolean =>
  Array.isArray(placed) &&
  placed.length === 4 &&
  placed.every(Number.isFinite) &&
  placed.slice(2).every(isSize);

/** True for a side in pixels. A side below 1 must be a fraction of the image. */
const isSize = (x: unknown): boolean => typeof x === "number" && x >= 1 && x < Infinity;

/** True if `placed` is a rectangle that the frame's `resize` can produce. */
function isPlaceOf(
  { width, height, resize }: Frame,
  [left, top, w, h]: NonNullable<Frame["placed"]>,
  input: readonly [number, number] | null | undefined,
): boolean {
  // Allow one pixel for rounding.
  const isLess = (a: number, b: number): boolean => a <= b + 1;
  const isFar = (a: number): boolean => Math.abs(a) > 1;
  // Refuse a size of at most one pixel: the caller gave the rectangle in 0..1.
  if (w <= 1 && h <= 1) return false;
  if (resize === "letterbox-topleft" && (isFar(left) || isFar(top))) return false;
  if (input) {
    const isWithin =
      isLess(0, left) && isLess(0, top) && isLess(left + w, input[0]) && isLess(top + h, input[1]);
    const isFilled =
      isLess(left, 0) && isLess(top, 0) && isLess(input[0], left + w) && isLess(input[1], top + h);
    if (resize !== "crop" && !isWithin) return false;
    if ((resize === "crop" || resize === "stretch") && !isFilled) return false;
  }
  // Both sides must have the same scale. Allow a difference of a tenth, since sides may be rounded to whole blocks.
  const [a, b] = [w * height, h * width];
  return resize === "stretch" || Math.abs(a - b) <= Math.max(a, b) / 10 + width + height;
}

/**
 * Checks a frame before anything is copied, so that a refused frame leaves the decoder unchanged.
 * @param input size of the network input. Null if the plan states none, undefined before the plan
 * @throws RangeError for a wrong frame, TensorError for a letterbox that cannot be undone
 */
export function checkFrame(frame: Frame, input: readonly [number, number] | null | undefined): void {
  if (typeof frame !== "object" || frame === null || Array.isArray(frame))
    refuseValue(
      "frame",
      Array.isArray(frame) ? "a list" : show(frame),
      "one frame, {width, height, resize}. decodeBatch() takes a list, one frame for each image",
    );
  // Check inherited keys too: Object.create may have made the frame.
  for (const key in frame) {
    const complaint = nameComplaint(key, KEYS);
    if (complaint) refuseValue(`frame.${key}`, ...complaint);
  }
  const { width, height, resize, placed, crop, rotation } = frame;
  if (!isSize(width) || !isSize(height))
    refuseValue(
      "frame",
      `width ${show(width)}, height ${show(height)}`,
      "the original image's size in pixels",
    );
  if (!RESIZES.includes(resize))
    refuseValue("frame", `resize ${show(resize)}`, '"letterbox", "letterbox-topleft", "stretch" or "crop"');
  const turned = rotationProblem(rotation);
  if (turned) refuseValue("frame.rotation", ...turned);
  if (placed !== undefined && !(isPlace(placed) && isPlaceOf(uprightOf(frame), placed, input)))
    refuseValue(
      "frame",
      `placed ${show(placed)} and resize "${resize}" of ${width}x${height}`,
      `[left, top, width, height] of the resized image, in pixels of the ${input?.join("x") ?? ""} input`,
    );
  if (crop !== undefined) checkCrop(crop, "frame.crop");
  if (crop !== undefined && (resize !== "stretch" || placed !== undefined))
    refuseValue(
      "frame",
      `a crop and ${placed === undefined ? `resize "${resize}"` : "placed"}`,
      'resize: "stretch" beside crop: the crop is scaled to the whole input, as prepare does it',
    );
  if (crop !== undefined && rotation)
    refuseValue("frame", `a crop and rotation ${rotation}`, "the angle of the crop: it can turn the picture");
  if (resize !== "stretch" && input === null)
    refuseFor(
      ["inputSize"],
      "frame",
      `resize "${resize}" and no input size`,
      "inputSize: [width, height], without which it cannot be undone (a plan file has that of its config)",
    );
}

/** Returns the frame with the size of the upright image. Keeps `rotation`. */
export function uprightOf(frame: Frame): Frame {
  const { width, height, rotation = 0 } = frame;
  if (rotation === 0) return frame;
  const [uprightWidth, uprightHeight] = turnedSize([width, height], rotation);
  return Object.freeze({ ...frame, width: uprightWidth, height: uprightHeight });
}

/**
 * Returns the transform that undoes the resize of a checked, upright frame: x_image = x_input * scale + shift, both
 * normalised. Scale is input / placed size, shift is -left / placed width. With `inPhoto`, boxes are in pixels of the
 * photo: then undoes only their division by the input size.
 */
export function affineOf(
  frame: Frame,
  input: readonly [number, number] | null,
  inPhoto: boolean = false,
): Affine {
  const { resize, placed, crop } = frame;
  if (inPhoto && input) return [input[0] / frame.width, input[1] / frame.height, 0, 0];
  if (crop) {
    const [xx, , x0, , yy, y0] = mapOfCrop({ ...crop, angle: 0 }, [frame.width, frame.height]);
    return [xx, yy, x0, y0];
  }
  if (resize === "stretch" || input === null) return IDENTITY;
  const { left, top, width, height } = placed
    ? { left: placed[0], top: placed[1], width: placed[2], height: placed[3] }
    : placeOf([frame.width, frame.height], input, resize);
  return [input[0] / width, input[1] / height, -left / width, -top / height];
}

/** Converts a coordinate of the input to the image, both 0..1. Clamps by the rule. `plan`: word address of a block. */
export function placeInFrame(
  x: number,
  axis: number,
  clamp: Rules["clamp"],
  f32: Float32Array,
  plan: number,
): number {
  const inside = clamp === "before" ? clampToUnit(x) : x;
  const placed = inside * f32[plan + A.P_SCALE_X + axis] + f32[plan + A.P_SHIFT_X + axis];
  return clamp === "after" || clamp === "centre" ? clampToUnit(placed) : placed;
}
