/**
 * Network input -> original image. Boxes leave the kernel normalised to the network input; where the image was
 * resized into a part of that input, one scale and one shift per axis bring them back.
 */
import { refuse } from "../core/errors.ts";
import { show } from "../core/tensor.ts";

/** The original image and how it was brought to the network's input size. */
export interface Frame {
  /** Pixels of the original image. */
  readonly width: number;
  readonly height: number;
  /**
   * `"stretch"`: both sides scaled on their own. `"letterbox"`: scaled alike, centred, the rest padded.
   * `"letterbox-topleft"`: scaled alike, in the top left corner.
   */
  readonly resize: "letterbox" | "letterbox-topleft" | "stretch";
}

/** x_image = x_input * scale + shift, both normalised: scales of x and y, shifts of x and y, as in the plan block. */
export type Affine = readonly [scaleX: number, scaleY: number, shiftX: number, shiftY: number];

/** What to remember of the frame that memory holds now: only a frozen one, since another could be changed in place unseen. `null`: write it anew. */
export const remembered = (frame: Frame | undefined): Frame | undefined | null =>
  frame === undefined || Object.isFrozen(frame) ? frame : null;

export const IDENTITY: Affine = [1, 1, 0, 0];

const isSize = (x: unknown): boolean => typeof x === "number" && x > 0 && x < Infinity;

/**
 * What undoes the resizing of a frame, which is checked; nothing to undo without one.
 *
 * The resized image is round(width * scale) pixels wide and the padding on the left and top is
 * floor((input - resized) / 2) whole pixels, as resizers write it; taking the exact quotient instead moves boxes
 * by up to a pixel.
 */
export function affineOf(frame: Frame | undefined, input: readonly [number, number] | null): Affine {
  if (frame === undefined) return IDENTITY;
  if (Array.isArray(frame))
    refuse("frame", "a list", "one frame, which holds for all images of a batch", RangeError);
  const { width, height, resize } = frame;
  if (!isSize(width) || !isSize(height))
    refuse(
      "frame",
      `width ${show(width)}, height ${show(height)}`,
      "the original image's size in pixels",
      RangeError,
    );
  if (!["letterbox", "letterbox-topleft", "stretch"].includes(resize))
    refuse("frame", `resize ${show(resize)}`, '"letterbox", "letterbox-topleft" or "stretch"', RangeError);
  if (resize === "stretch") return IDENTITY;
  if (input === null)
    return refuse(
      "frame",
      `resize "${resize}" and no input size`,
      "inputSize: [width, height], without which it cannot be undone (a plan file has that of its config)",
    );
  const [w, h] = input;
  const scale = Math.min(w / width, h / height);
  // a frame of a thousand times the input's proportions still has a row of pixels
  const rw = Math.max(1, Math.round(width * scale));
  const rh = Math.max(1, Math.round(height * scale));
  const centred = resize === "letterbox";
  const left = centred ? Math.floor((w - rw) / 2) : 0;
  const top = centred ? Math.floor((h - rh) / 2) : 0;
  return [w / rw, h / rh, -left / rw, -top / rh];
}
