/**
 * From the network's input back to the original image. Boxes leave the kernel normalised to the network input. The
 * image was resized into a part of that input, so one scale and one shift per axis bring a box back.
 */
import { refuse, refuseFor } from "../core/errors.ts";
import { show } from "../core/tensor.ts";
import { type Affine, IDENTITY } from "../memory/write.ts";

/** The original image, and how it was brought to the network's input size. */
export interface Frame {
  /** Width of the original image in pixels. */
  readonly width: number;
  /** Height of the original image in pixels. */
  readonly height: number;
  /**
   * `"stretch"`: each side was scaled on its own. `"letterbox"`: both sides were scaled alike, the image was centred
   * and the rest padded. `"letterbox-topleft"`: the same with the image in the top left corner.
   */
  readonly resize: "letterbox" | "letterbox-topleft" | "stretch";
}

const RESIZES: readonly unknown[] = ["letterbox", "letterbox-topleft", "stretch"];

const isSize = (x: unknown): boolean => typeof x === "number" && x > 0 && x < Infinity;

/**
 * Checks a frame before anything is copied, so that a refused frame leaves the decoder as it was.
 * @param input size of the network input; null if it is not known, undefined if it is not known yet
 * @throws RangeError for a frame that is none, TensorError for a letterbox that cannot be undone
 */
export function checkFrame(frame: Frame, input: readonly [number, number] | null | undefined): void {
  if (typeof frame !== "object" || frame === null || Array.isArray(frame))
    refuse(
      "frame",
      Array.isArray(frame) ? "a list" : show(frame),
      "one frame, {width, height, resize}. decodeBatch() takes a list, one frame for each image",
      RangeError,
    );
  const { width, height, resize } = frame;
  if (!isSize(width) || !isSize(height))
    refuse(
      "frame",
      `width ${show(width)}, height ${show(height)}`,
      "the original image's size in pixels",
      RangeError,
    );
  if (!RESIZES.includes(resize))
    refuse("frame", `resize ${show(resize)}`, '"letterbox", "letterbox-topleft" or "stretch"', RangeError);
  if (resize !== "stretch" && input === null)
    refuseFor(
      [{ option: "inputSize" }],
      "frame",
      `resize "${resize}" and no input size`,
      "inputSize: [width, height], without which it cannot be undone (a plan file has that of its config)",
    );
}

/**
 * Returns what undoes the resizing of a checked frame: x_image = x_input * scale + shift, both normalised.
 *
 * Resizers round: the resized image is round(width * scale) pixels wide, and its left edge lies at
 * floor((input - resized) / 2). The exact quotients would move boxes by up to a pixel.
 *
 *     |<- left ->|<------ resized ------>|<- rest ->|      scale  input / resized
 *     |<---------------- input -------------------->|      shift  -left / resized
 */
export function affineOf({ width, height, resize }: Frame, input: readonly [number, number] | null): Affine {
  if (resize === "stretch" || input === null) return IDENTITY;
  const [w, h] = input;
  const scale = Math.min(w / width, h / height);
  // Keep one pixel: an image a thousand times as wide as high would vanish.
  const resizedWidth = Math.max(1, Math.round(width * scale));
  const resizedHeight = Math.max(1, Math.round(height * scale));
  const isCentred = resize === "letterbox";
  const left = isCentred ? Math.floor((w - resizedWidth) / 2) : 0;
  const top = isCentred ? Math.floor((h - resizedHeight) / 2) : 0;
  return [w / resizedWidth, h / resizedHeight, -left / resizedWidth, -top / resizedHeight];
}
