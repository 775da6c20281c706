/** Places a resized image in the network's input. */
import type { PrepareResize } from "../../core/prepare-rule.ts";

/** Sizes and shifts of one picture, in whole pixels. */
export interface Place {
  /** Left edge of the whole resized image in the input. Negative where it is cropped. */
  readonly left: number;
  readonly top: number;
  /** Size of the whole resized image. */
  readonly width: number;
  readonly height: number;
}

/**
 * Returns the place of an image. Sizes are rounded as Python's `round` does it, halves to even. The left and upper
 * padding is Ultralytics' round(half - 0.1): the smaller half. A crop cuts the smaller half off at the left and at the
 * top, as `cv2.dnn.blobFromImage` does.
 */
export function placeOf(
  [width, height]: readonly [number, number],
  [inputWidth, inputHeight]: readonly [number, number],
  resize: PrepareResize,
): Place {
  if (resize === "stretch") return { left: 0, top: 0, width: inputWidth, height: inputHeight };
  const isCrop = resize === "crop";
  const scale = Math[isCrop ? "max" : "min"](inputWidth / width, inputHeight / height);
  // Keep one pixel of an image a thousand times as wide as high. Never let rounding leave a crop's input uncovered.
  const resized = (side: number, input: number): number =>
    Math.max(isCrop ? input : 1, roundToEven(side * scale));
  const place = { width: resized(width, inputWidth), height: resized(height, inputHeight) };
  if (resize === "letterbox-topleft") return { left: 0, top: 0, ...place };
  return {
    left: Math.trunc((inputWidth - place.width) / 2),
    top: Math.trunc((inputHeight - place.height) / 2),
    ...place,
  };
}

/** Returns the nearest integer, an even one of two that are as near. */
export function roundToEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  return rest < 0.5 || (rest === 0.5 && floor % 2 === 0) ? floor : floor + 1;
}
