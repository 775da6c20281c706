/** Finds the rectangle of a resized image in the network's input. Preparation, decoding and masks share this rule. */
import type { PrepareResize } from "./prepare-rule.ts";

/** Rectangle of the resized image in the network's input, in pixels of the input. May extend beyond the input. */
export interface Place {
  /** Left edge, a whole number. Negative if the image is cropped. */
  readonly left: number;
  readonly top: number;
  /** Width of the resized image. A whole number unless the image is cropped. */
  readonly width: number;
  readonly height: number;
}

/**
 * Returns the place of an image in the input.
 *
 * - A letterboxed image has whole sizes, rounded as by Python's `round`: halves to even. The padding at the left and
 *   the top is the smaller half, Ultralytics' round(half - 0.1).
 * - A crop is that of `cv2.dnn.blobFromImage`, which scales by the exact factor, an f32. The size returned is not
 *   rounded, so it may differ from OpenCV's whole pixels by a fraction of a pixel. The smaller half of the surplus is
 *   cut off at the left and at the top.
 * - A margin makes a letterboxed image smaller by that many pixels. The input keeps its size.
 *
 *     |<- left ->|<------- width ------->|<- rest ->|
 *     |<----------------- input ------------------->|
 */
export function placeOf(
  [width, height]: readonly [number, number],
  [inputWidth, inputHeight]: readonly [number, number],
  resize: PrepareResize,
  margin: number = 0,
): Place {
  if (resize === "stretch") return { left: 0, top: 0, width: inputWidth, height: inputHeight };
  if (resize === "crop") {
    const factor = Math.fround(Math.max(inputWidth / width, inputHeight / height));
    const [cropWidth, cropHeight] = [width * factor, height * factor];
    return {
      left: smallerHalf(inputWidth - roundToEven(cropWidth)),
      top: smallerHalf(inputHeight - roundToEven(cropHeight)),
      width: cropWidth,
      height: cropHeight,
    };
  }
  const scale = Math.min((inputWidth - margin) / width, (inputHeight - margin) / height);
  // Keep at least one pixel, since a 1000:1 image rounds to 0.
  const place = {
    width: Math.max(1, roundToEven(width * scale)),
    height: Math.max(1, roundToEven(height * scale)),
  };
  if (resize === "letterbox-topleft") return { left: 0, top: 0, ...place };
  return {
    left: smallerHalf(inputWidth - place.width),
    top: smallerHalf(inputHeight - place.height),
    ...place,
  };
}

const smallerHalf = (pixels: number): number => Math.trunc(pixels / 2);

/** Returns the nearest integer. A half is rounded to the even neighbour. */
export function roundToEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  return rest < 0.5 || (rest === 0.5 && floor % 2 === 0) ? floor : floor + 1;
}
