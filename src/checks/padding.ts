/** Detects candidates outside the picture: in the padding of a letterbox, or beyond the edges of a photo. */
import type { Moment } from "./check.ts";
import * as A from "../core/abi.ts";
import { refuse } from "../core/errors.ts";
import { type Frame, affineOf } from "../decode/frame.ts";

/** Count of candidates in the padding that may be false, if earlier candidates lay in the picture. */
const FEW = 4;
/** The check for exchanged sides ends after this many frames with candidates. */
const FRAMES_OF_SIDES = 16;
/** Smallest fraction of likely candidates in the padding for a note on exchanged sides. */
const STRAYING = 0.1;
/** Smallest fraction of likely candidates in the padding for a note on another resize, instead of exchanged sides. */
const STRAYING_FAR = 0.2;
/** Smallest score of a likely candidate. Candidates with a lower score may lie anywhere. */
const LEAST_SCORE = 0.25;

/** Detects frames whose candidates lie in the padding. The picture then has another place than the frame states. */
export class PaddingCheck {
  /** True if an earlier frame had a candidate with its centre in the picture. */
  #hasSeenPicture = false;
  /** Count of frames with candidates in the picture. */
  #frames = 0;
  /** Count of likely candidates in the frames that `#frames` counts. */
  #likely = 0;
  /** Count of likely candidates with their centre in the padding. */
  #stray = 0;
  /** True while exchanged sides of the frames would put all candidates into the picture. */
  #mayBeExchanged = true;

  /** Returns a note if all candidates have their centre outside the picture, or the first show another resize. */
  noteOf({ work, block, frame }: Moment): string | null {
    const { inputSize, inPhoto } = work;
    if (inPhoto || inputSize === null || !frame?.resize.startsWith("letterbox")) return null;
    const { i32, f32 } = work.engine.memory;
    const p = block >> 2;
    const count = i32[p + A.P_CANDIDATES];
    const boxes = i32[p + A.P_BOXES] >> 2;
    let stray = 0;
    while (stray < count && isInPadding(f32, p, boxes + 4 * stray, inputSize)) stray++;
    if (stray < count) {
      this.#hasSeenPicture = true;
      return ++this.#frames > FRAMES_OF_SIDES || frame.placed
        ? null
        : this.#noteOfSides(i32, f32, p, inputSize, frame);
    }
    if (count < (this.#hasSeenPicture ? FEW : 1)) return null;
    return `all ${count} candidates ${inPaddingOf(frame)}`;
  }

  /**
   * Returns a note if a fifth of the likely candidates lies in the padding, or a tenth with sides that seem exchanged.
   */
  #noteOfSides(
    i32: Int32Array,
    f32: Float32Array,
    p: number,
    inputSize: readonly [number, number],
    frame: Frame,
  ): string | null {
    const first = i32[p + A.P_BOXES] >> 2;
    const scores = i32[p + A.P_SCORES] >> 2;
    const end = first + 4 * i32[p + A.P_CANDIDATES];
    const before = this.#stray;
    for (let box = first; box < end; box += 4) {
      if (!(f32[scores + ((box - first) >> 2)] >= LEAST_SCORE)) continue;
      this.#likely++;
      if (isInPadding(f32, p, box, inputSize)) this.#stray++;
    }
    // Return early, since most frames have no candidate in the padding.
    if (this.#stray === before) return null;
    const { width, height } = frame;
    const [x, y, left, top] = affineOf({ ...frame, width: height, height: width }, inputSize);
    // A candidate that lies in the padding even with exchanged sides shows that the sides are right.
    for (let box = first; box < end; box += 4)
      if (isOutside(f32, box, 0, x, left, inputSize) || isOutside(f32, box, 1, y, top, inputSize))
        this.#mayBeExchanged = false;
    const [stray, likely] = [this.#stray, this.#likely];
    if (stray < FEW) return null;
    const exchanged = this.#mayBeExchanged ? `are width and height exchanged (${height}x${width})?` : null;
    if (stray >= STRAYING_FAR * likely)
      return (
        `${stray} of the first ${likely} candidates ${inPaddingOf(frame)}` +
        (exchanged ? ` Or ${exchanged}` : "")
      );
    return exchanged && stray >= STRAYING * likely
      ? `${stray} of the first ${likely} candidates are centred in the padding of a frame of ` +
          `${width}x${height}, and would not be in one of ${height}x${width}: ${exchanged}`
      : null;
  }
}

/** Returns the end of the note about candidates in the padding: the values of `resize` that would explain them. */
function inPaddingOf({ width, height, resize }: Frame): string {
  const other =
    resize === "letterbox"
      ? 'in the left upper corner (resize: "letterbox-topleft")'
      : 'in the middle (resize: "letterbox")';
  return (
    `of a frame of ${width}x${height} are centred in the padding of its resize "${resize}": was the picture ` +
    `stretched (resize: "stretch"), or placed ${other}, by the step before the network?`
  );
}

/** Checks boxes in pixels of the photo if `decode` got no frame. Throws for boxes beyond the input. */
export function checkWithoutFrame({ work, block, frame }: Moment): string | null {
  const { inputSize } = work;
  if (frame !== undefined || inputSize === null) return null;
  const { i32, f32 } = work.engine.memory;
  const p = block >> 2;
  const boxes = i32[p + A.P_BOXES] >> 2;
  let most = 0;
  for (let i = boxes; i < boxes + 4 * i32[p + A.P_CANDIDATES]; i += 4)
    most = Math.max(most, f32[i + 2], f32[i + 3]);
  const expected =
    'the frame, { width, height, resize }: these boxes are in pixels of the photo (coordinates "photo")';
  const size = inputSize.join("x");
  // Without a frame, the photo must be as large as the input. Allow a tenth, since boxes may extend over an edge.
  if (most > 1.1) refuse("frame", `none, and boxes that reach beyond the ${size} of the input`, expected);
  return `boxes are taken for pixels of the ${size} input: pass ${expected}`;
}

/** Returns a note if all boxes in pixels of the photo have their centre outside the photo. Else returns null. */
export function noteOfPhoto({ work, block, frame }: Moment): string | null {
  const { inputSize } = work;
  if (!frame || inputSize === null) return null;
  const { i32, f32 } = work.engine.memory;
  const p = block >> 2;
  const boxes = i32[p + A.P_BOXES] >> 2;
  for (let i = boxes; i < boxes + 4 * i32[p + A.P_CANDIDATES]; i += 4)
    if (!isInPadding(f32, p, i, inputSize)) return null;
  return (
    `every box is centred outside of the photo of ${frame.width}x${frame.height}: is that its size, ` +
    `and are boxes in its pixels? Of the input's pixels say coordinates: "pixels"`
  );
}

/** True if the centre of a candidate lies more than a pixel of the input outside the picture. */
function isInPadding(
  f32: Float32Array,
  p: number,
  box: number,
  inputSize: readonly [number, number],
): boolean {
  return (
    isOutside(f32, box, 0, f32[p + A.P_SCALE_X], f32[p + A.P_SHIFT_X], inputSize) ||
    isOutside(f32, box, 1, f32[p + A.P_SCALE_X + 1], f32[p + A.P_SHIFT_X + 1], inputSize)
  );
}

/** True if the centre of a box lies more than a pixel of the input outside the picture, along one axis. */
function isOutside(
  f32: Float32Array,
  box: number,
  axis: 0 | 1,
  scale: number,
  shift: number,
  inputSize: readonly [number, number],
): boolean {
  const centre = ((f32[box + axis] + f32[box + axis + 2]) / 2) * scale + shift;
  const pixel = scale / inputSize[axis];
  return centre < -pixel || centre > 1 + pixel;
}

/** Returns a note on a frame of one pixel, which no picture has. Else returns null. Resize "stretch" needs no size. */
export function noteOfOnePixel({ isOfPrepared, frame }: Moment): string | null {
  return !isOfPrepared && frame?.width === 1 && frame.height === 1 && frame.resize !== "stretch"
    ? `the frame is 1x1, so that its picture counts as a square for "${frame.resize}": pass the picture's width ` +
        "and height in pixels. Boxes are 0..1 of it in any case"
    : null;
}
