/** Places a map of the whole network input over the image. Undoes the resizing exactly, then the rotation. */
import { refuseValue } from "../../core/errors.ts";
import { show } from "../../core/tensor.ts";
import { turnPicture, turnedSize, turnsBack } from "../../core/turn.ts";
import { type Frame, affineOf, checkFrame, uprightOf } from "../../decode/frame.ts";
import type { Axis } from "./axis.ts";

/** Options that place a map over the image. */
export interface OverImageOptions {
  /** Width and height of the network's input in pixels. Required with a frame. */
  readonly inputSize?: readonly [width: number, height: number];
  /** The image, and how it was resized to the input. Without a frame, the map has the network's size. */
  readonly frame?: Frame;
}

/** Position of the upright image over the cells of a map. */
export interface OverImage {
  readonly x: Axis;
  readonly y: Axis;
  /** Turns a picture of the upright image back to the image of the frame. */
  readonly finish: <T extends Uint8Array | Uint16Array | Float32Array>(
    data: T,
  ) => { readonly width: number; readonly height: number; readonly data: T };
}

/** Returns the position of the image over a map of `cells`. Throws for other proportions, or a crop with an angle. */
export function placeOverImage(
  cells: readonly [number, number],
  inputSize: OverImageOptions["inputSize"],
  frame: Frame,
): OverImage {
  const [w, h] = cells;
  if (inputSize === undefined)
    refuseValue("inputSize", "none", "[width, height] of the network's input beside a frame");
  checkInputSize(inputSize);
  if (Math.abs(w * inputSize[1] - h * inputSize[0]) >= Math.max(...inputSize))
    refuseValue(
      "inputSize",
      `[${inputSize.join(", ")}] for a map of ${w} x ${h}`,
      "[width, height] of the same proportions",
    );
  checkFrame(frame, inputSize);
  if (frame.crop?.angle)
    refuseValue("frame.crop", `an angle of ${frame.crop.angle}`, "an upright crop: maps are not turned");
  const upright = uprightOf(frame);
  const size = [Math.round(upright.width), Math.round(upright.height)] as const;
  const [scaleX, scaleY, shiftX, shiftY] = affineOf(upright, inputSize);
  const turns = turnsBack(frame.rotation ?? 0);
  const [width, height] = turnedSize(size, turns);
  return {
    x: axisOf(size[0], w, scaleX, shiftX),
    y: axisOf(size[1], h, scaleY, shiftY),
    finish: (data) => ({ width, height, data: turns === 0 ? data : turnPicture(data, size, turns) }),
  };
}

/** Throws a RangeError unless the size is two positive numbers. */
export function checkInputSize(inputSize: unknown): void {
  if (!(Array.isArray(inputSize) && inputSize.length === 2 && inputSize.every((x) => x > 0)))
    refuseValue("inputSize", show(inputSize), "[width, height] of the network's input");
}

/** Returns the position of the image on one axis of the map, in cells. Excludes cells that show only padding. */
function axisOf(pixels: number, cells: number, scale: number, shift: number): Axis {
  const start = (-shift / scale) * cells;
  const length = cells / scale;
  return {
    pixels,
    start,
    length,
    low: Math.max(0, Math.floor(start + 1e-6)),
    high: Math.min(cells, Math.ceil(start + length - 1e-6)),
  };
}
