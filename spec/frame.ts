/** From the network's input to the original image. */
import type { Conventions } from "../src/core/conventions.ts";
import { type Box, clampCorners } from "./boxes.ts";

/** Size of the original image in pixels, and how it was brought to the input size. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly resize: "letterbox" | "letterbox-topleft" | "stretch";
}

/**
 * Returns where the image lies in the input, in pixels of the input: left, top, width, height.
 * A letterbox scales both sides by the same factor, to whole pixels, and centres: left = floor((input - width) / 2).
 * Source: Ultralytics' LetterBox. Sizes that end in exactly one half are rounded up here; Python rounds them to even.
 */
export function placeInInput(frame: Frame, input: readonly [number, number]): Box {
  if (frame.resize === "stretch") return [0, 0, input[0], input[1]];
  const scale = Math.min(input[0] / frame.width, input[1] / frame.height);
  const width = Math.max(1, Math.round(frame.width * scale));
  const height = Math.max(1, Math.round(frame.height * scale));
  if (frame.resize === "letterbox-topleft") return [0, 0, width, height];
  return [Math.floor((input[0] - width) / 2), Math.floor((input[1] - height) / 2), width, height];
}

/** Returns a box normalised to the image, from one that is normalised to the input. */
export function undoResize(box: Box, frame: Frame | undefined, input: readonly [number, number] | null): Box {
  // A stretched image fills the input, so both are normalised alike.
  if (frame === undefined || frame.resize === "stretch" || input === null) return box;
  const [left, top, width, height] = placeInInput(frame, input);
  const x = (v: number): number => (v * input[0] - left) / width;
  const y = (v: number): number => (v * input[1] - top) / height;
  return [x(box[0]), y(box[1]), x(box[2]), y(box[3])];
}

/**
 * Returns the box as it is given out.
 * - "after": corners inside 0..1 of the image. Source: Ultralytics.
 * - "centre": cx, cy, w and h each inside 0..1; corners may lie outside. Source: depthai-nodes.
 * - "before" has clamped the candidates already, and "none" clamps nothing.
 */
export function clampDetection(box: Box, clamp: Conventions["clamp"]): Box {
  if (clamp === "after") return clampCorners(box);
  if (clamp !== "centre") return box;
  const [cx, cy, w, h] = clampCorners([
    (box[0] + box[2]) / 2,
    (box[1] + box[3]) / 2,
    box[2] - box[0],
    box[3] - box[1],
  ]);
  return [cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2];
}
