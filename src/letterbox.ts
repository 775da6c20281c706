/**
 * Network input -> original image. Boxes leave the kernel normalised to the network input; where the image was
 * resized into a part of that input, one scale and one shift per axis bring them back.
 */

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

export interface Affine {
  readonly scaleX: number;
  readonly scaleY: number;
  readonly shiftX: number;
  readonly shiftY: number;
}

const IDENTITY: Affine = { scaleX: 1, scaleY: 1, shiftX: 0, shiftY: 0 };

/**
 * x_image = x_input * scale + shift, both normalised.
 *
 * The resized image is round(width * scale) pixels wide and the padding on the left and top is
 * floor((input - resized) / 2) whole pixels, as resizers write it; taking the exact quotient instead moves boxes
 * by up to a pixel.
 */
export function affineOf(frame: Frame, input: readonly [number, number]): Affine {
  if (frame.resize === "stretch") return IDENTITY;
  const [w, h] = input;
  const scale = Math.min(w / frame.width, h / frame.height);
  const rw = Math.round(frame.width * scale);
  const rh = Math.round(frame.height * scale);
  const centred = frame.resize === "letterbox";
  const left = centred ? Math.floor((w - rw) / 2) : 0;
  const top = centred ? Math.floor((h - rh) / 2) : 0;
  return { scaleX: w / rw, scaleY: h / rh, shiftX: -left / rw, shiftY: -top / rh };
}

/** Checks a frame; the message says got and expected. */
export function checkFrame(frame: Frame): void {
  const ok = (x: unknown): boolean => typeof x === "number" && x > 0 && Number.isFinite(x);
  if (!ok(frame.width) || !ok(frame.height))
    throw new RangeError(
      `frame: got width ${String(frame.width)}, height ${String(frame.height)}, expected the original image's size in pixels`,
    );
  if (!["letterbox", "letterbox-topleft", "stretch"].includes(frame.resize))
    throw new RangeError(
      `frame: got resize ${JSON.stringify(frame.resize)}, expected "letterbox", "letterbox-topleft" or "stretch"`,
    );
}
