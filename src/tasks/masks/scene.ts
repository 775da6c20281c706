/** Makes masks of the detections of one image. */
import { refuseValue } from "../../core/errors.ts";
import { show } from "../../core/tensor.ts";
import { type QuarterTurns, turnBoxes, turnPicture, turnedSize, turnsBack } from "../../core/turn.ts";
import type { Detections } from "../../decode/detections.ts";
import type { Frame } from "../../decode/frame.ts";
import type { Mask, MaskOptions } from "../../decode/mask.ts";
import type { Placement } from "./axis.ts";
import { type MaskInput, openSpace, makeMask } from "./make.ts";
import { PixelMask } from "./mask.ts";
import { type KnownSizes, type Wanted, readMaskOptions } from "./rules.ts";
import type { MaskSource } from "./source.ts";

/** The data that make the masks of one image: in a decoder's memory (`LiveScene`), or copied. */
export interface Scene {
  readonly source: MaskSource;
  readonly inputSize: readonly [number, number] | null;
  readonly placement: Placement;
  /** Returns the source of a row's mask: the prototypes of the scene, or the row's own map. */
  sourceOf(detections: Detections, row: number): MaskSource;
  /** Returns the coefficients of a row. The next call may overwrite them. */
  coefficientsOf(detections: Detections, row: number): Float32Array;
}

/** Returns the placement of a frame. Words `at` to `at + 3` hold the scale in x and y, then the shift in x and y. */
export const placementOf = (frame: Frame | undefined, f32: Float32Array, at: number): Placement => ({
  scale: [f32[at], f32[at + 1]],
  shift: [f32[at + 2], f32[at + 3]],
  // Copy the frame unless it is frozen: the caller may change the frame after decode().
  frame: frame ? (Object.isFrozen(frame) ? frame : { ...frame }) : null,
});

/** Returns width and height for each value of the option `size`. */
export function sizesOf({
  source: { prototypes, isMapOfRow = false },
  inputSize,
  placement: { frame },
}: Pick<Scene, "source" | "inputSize" | "placement">): KnownSizes & { readonly isUncut: boolean } {
  return {
    isUncut: isMapOfRow,
    prototype: [prototypes.width, prototypes.height],
    network: inputSize,
    frame: frame && turnedSize([Math.round(frame.width), Math.round(frame.height)], frame.rotation ?? 0),
  };
}

/** Returns the box and coefficients of a row. */
export function inputOf(scene: Scene, detections: Detections, row: number): MaskInput {
  const { boxes } = detections;
  const b = 4 * row;
  return {
    ...boxesOf([boxes[b], boxes[b + 1], boxes[b + 2], boxes[b + 3]], scene.placement),
    coefficients: scene.coefficientsOf(detections, row),
  };
}

/** Returns a box of the frame in the upright image and in the network's input. Overwrites `imageBox`. */
export function boxesOf(imageBox: number[], placement: Placement): Pick<MaskInput, "imageBox" | "inputBox"> {
  turnBoxes(imageBox, 1, placement.frame?.rotation ?? 0);
  return { imageBox, inputBox: inputBoxOf(imageBox, placement) };
}

/** Converts a box of the upright image to a box of the network's input, both normalised. */
const inputBoxOf = (
  [x1, y1, x2, y2]: readonly number[],
  { scale: [scaleX, scaleY], shift: [shiftX, shiftY] }: Placement,
): number[] => [
  (x1 - shiftX) / scaleX,
  (y1 - shiftY) / scaleY,
  (x2 - shiftX) / scaleX,
  (y2 - shiftY) / scaleY,
];

/** Makes the mask of row `i`. A negative `i` counts from the end. Throws a RangeError for a wrong `i` or option. */
export function maskIn(scene: Scene, detections: Detections, i: number, options?: MaskOptions): Mask {
  const row = rowAt(detections, i);
  const wanted = readMaskOptions(options, sizesOf(scene));
  return maskOfInput(
    scene.sourceOf(detections, row),
    scene.placement,
    inputOf(scene, detections, row),
    wanted,
  );
}

/** Returns the row for an index. Negative indices count from the end. Throws a RangeError if there is no such row. */
export function rowAt({ length }: Detections, i: number): number {
  const row = i < 0 ? length + i : i;
  if (!(Number.isInteger(row) && row >= 0 && row < length))
    refuseValue(
      "mask",
      `row ${show(i)}`,
      length > 0
        ? `0 to ${length - 1}, or a negative one from the end`
        : "a frame with detections: this one has none",
    );
  return row;
}

/** Largest allowed count of a mask's pixels: 32,768 x 32,768. */
const MOST_PIXELS = 2 ** 30;

const NO_PIXELS = /* @__PURE__ */ new Uint8Array(0);

/** Returns the options for the upright image. Prototypes and input are already upright. */
export function uprightWanted<W extends Pick<Wanted, "picture" | "size">>(
  wanted: W,
  { frame }: Placement,
): W {
  if (wanted.picture !== "image" || !frame?.rotation) return wanted;
  return { ...wanted, size: turnedSize(wanted.size, frame.rotation) };
}

/** Makes one mask with its own memory. */
export function maskOfInput(
  source: MaskSource,
  placement: Placement,
  input: MaskInput,
  wanted: Wanted,
): Mask {
  const upright = uprightWanted(wanted, placement);
  const mask = uprightMask(source, placement, input, upright);
  return upright === wanted ? mask : turnMaskBack(mask, placement.frame?.rotation ?? 0);
}

/** Turns a mask of the upright image into a mask of the frame. */
export function turnMaskBack(mask: PixelMask, rotation: QuarterTurns): PixelMask {
  const { x, y, width, height, size, data } = mask;
  const turns = turnsBack(rotation);
  const [left, top] =
    turns === 1
      ? [size[1] - y - height, x]
      : turns === 2
        ? [size[0] - x - width, size[1] - y - height]
        : [y, size[0] - x - width];
  const [turnedWidth, turnedHeight] = turnedSize([width, height], turns);
  const turned = turnPicture(data, [width, height], turns);
  // An empty mask is always at 0, 0.
  return data.length === 0
    ? new PixelMask(x, y, width, height, turnedSize(size, turns), data)
    : new PixelMask(left, top, turnedWidth, turnedHeight, turnedSize(size, turns), turned);
}

function uprightMask(source: MaskSource, placement: Placement, input: MaskInput, wanted: Wanted): PixelMask {
  const { space, axes } = openSpace(source, wanted, placement);
  let data = NO_PIXELS;
  let [left, top, width, height] = [0, 0, 0, 0];
  makeMask(space, axes, source, input, wanted, (x, y) => {
    if (x.to > x.from && y.to > y.from)
      [left, top, width, height] = [x.from, y.from, x.to - x.from, y.to - y.from];
    if (width * height > MOST_PIXELS)
      refuseValue(
        "mask",
        `a box of ${width}x${height} pixels`,
        `at most ${MOST_PIXELS}: give a size, "network" or [width, height]`,
      );
    return ({ u8, at }, _, first, rows) => {
      // Most masks are a single strip. Copying the strip is faster than writing to an array of zeros.
      if (rows === height) data = u8.slice(at.strip, at.strip + rows * width);
      else {
        if (first === top) data = new Uint8Array(width * height);
        data.set(u8.subarray(at.strip, at.strip + rows * width), (first - top) * width);
      }
    };
  });
  return new PixelMask(left, top, width, height, wanted.size, data);
}
