/** Maps boxes from the network's input to the original image. */
import type { Rules } from "../src/core/rules.ts";
import { type Box, clampCorners } from "./boxes.ts";

/** Size of the original image in pixels, and how it was brought to the input size. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly resize: "letterbox" | "letterbox-topleft" | "stretch" | "crop";
  /** Quarter turns clockwise that brought the image upright before it was resized. Default 0. */
  readonly rotation?: 0 | 1 | 2 | 3;
}

/** Returns the frame of the upright image. */
export const upright = (frame: Frame): Frame => {
  const { width, height, rotation = 0 } = frame;
  return rotation % 2 === 0 ? frame : { ...frame, width: height, height: width };
};

/**
 * Converts a box of the upright image to a box of the image before it was turned. A quarter turn clockwise moves the
 * point (x, y) to (1 - y, x).
 */
export function turnBack(box: Box, rotation: 0 | 1 | 2 | 3 = 0): Box {
  const [x1, y1, x2, y2] = box;
  if (rotation === 1) return [y1, 1 - x2, y2, 1 - x1];
  if (rotation === 2) return [1 - x2, 1 - y2, 1 - x1, 1 - y1];
  if (rotation === 3) return [1 - y2, x1, 1 - y1, x2];
  return box;
}

/**
 * Returns the place of the image in the input, in pixels of the input: left, top, width, height. A letterbox scales
 * both sides by the same factor, to whole pixels, and centres: left = floor((input - width) / 2). Source: Ultralytics'
 * LetterBox. Sizes that end in exactly one half are rounded to the even neighbour, as in Python. A crop scales by the
 * exact f32 factor that fills the input. The smaller half of the surplus pixels is cut off at the left or top. Source:
 * cv2.dnn.blobFromImage with crop=True.
 */
export function placeInInput(frame: Frame, input: readonly [number, number]): Box {
  if (frame.resize === "stretch") return [0, 0, input[0], input[1]];
  const [across, down] = [input[0] / frame.width, input[1] / frame.height];
  if (frame.resize === "crop") {
    const factor = Math.fround(Math.max(across, down));
    const cut = (side: number, end: number): number => -Math.floor((roundToEven(side * factor) - end) / 2);
    return [
      cut(frame.width, input[0]),
      cut(frame.height, input[1]),
      frame.width * factor,
      frame.height * factor,
    ];
  }
  const width = Math.max(1, roundToEven(frame.width * Math.min(across, down)));
  const height = Math.max(1, roundToEven(frame.height * Math.min(across, down)));
  if (frame.resize === "letterbox-topleft") return [0, 0, width, height];
  return [Math.floor((input[0] - width) / 2), Math.floor((input[1] - height) / 2), width, height];
}

/** Rounds as Python's round and OpenCV's cvRound do: halves to even. */
export function roundToEven(x: number): number {
  const rounded = Math.round(x);
  return Math.abs(x - Math.trunc(x)) === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
}

/** Converts a box normalised to the input to a box normalised to the image. */
export function undoResize(box: Box, frame: Frame | undefined, input: readonly [number, number] | null): Box {
  // A stretched image fills the input, so a box has the same normalised coordinates in the image and in the input.
  if (frame === undefined || frame.resize === "stretch" || input === null) return box;
  const [left, top, width, height] = placeInInput(frame, input);
  const x = (v: number): number => (v * input[0] - left) / width;
  const y = (v: number): number => (v * input[1] - top) / height;
  return [x(box[0]), y(box[1]), x(box[2]), y(box[3])];
}

/**
 * Returns the box of a result.
 * - "after": clamps corners to 0..1 of the image. Source: Ultralytics.
 * - "centre": clamps each of cx, cy, w and h to 0..1, so corners may lie outside. Source: depthai-nodes.
 * - "before": the candidates are already clamped. "none": nothing is clamped.
 */
export function clampDetection(box: Box, clamp: Rules["clamp"]): Box {
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
