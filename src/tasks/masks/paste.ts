/**
 * Pastes a small mask of fixed size, usually 28 x 28, into its box. Two published rules:
 *
 * - `torchvision`: `paste_masks_in_image` of `torchvision/models/detection/roi_heads.py`. The mask gets a margin of
 *   zeros, one cell wide. The box grows in proportion, and its corners are truncated to whole pixels. The mask is
 *   resized to the grown box.
 * - `detectron2`: `_do_paste_mask` of `detectron2/layers/mask_ops.py`. Samples the mask at the centre of each pixel.
 */
import { NO_SPAN, type Span } from "./axis.ts";

/** Names of the rules. */
export const PASTE_RULES = ["torchvision", "detectron2"] as const;
export type PasteRule = (typeof PASTE_RULES)[number];

/** Pixels of one axis. Pixel i reads cell `first[i]` with 1 - `weights[i]`, and the next cell with `weights[i]`. */
interface PastedAxis {
  readonly span: Span;
  readonly first: Int32Array;
  readonly weights: Float64Array;
}

/** Part of a picture, one byte per pixel. */
export interface Pasted {
  readonly x: Span;
  readonly y: Span;
  readonly data: Uint8Array;
}

/**
 * Returns the set pixels of a mask.
 * @param cells probabilities, row by row
 * @param size width and height of the mask in cells
 * @param box x_min, y_min, x_max, y_max in pixels of the picture
 * @param picture width and height of the picture in pixels
 * @param threshold probability above which a pixel is set. "detectron2" also sets a pixel that equals the threshold
 */
export function pasteMask(
  cells: ArrayLike<number>,
  [width, height]: readonly [number, number],
  box: readonly number[],
  picture: readonly [number, number],
  threshold: number,
  rule: PasteRule,
): Pasted {
  const axisOf = rule === "torchvision" ? grownAxis : sampledAxis;
  const x = axisOf(box[0], box[2], width, picture[0]);
  const y = axisOf(box[1], box[3], height, picture[1]);
  const across = x.span.to - x.span.from;
  const down = y.span.to - y.span.from;
  const data = new Uint8Array(across * down);
  // Cells outside of the mask are zero.
  const cellAt = (column: number, row: number): number =>
    column < 0 || row < 0 || column >= width || row >= height ? 0 : cells[row * width + column];
  for (let j = 0, at = 0; j < down; j++) {
    const row = y.first[j];
    const b = y.weights[j];
    for (let i = 0; i < across; i++, at++) {
      const column = x.first[i];
      const a = x.weights[i];
      const upper = (1 - a) * cellAt(column, row) + a * cellAt(column + 1, row);
      const lower = (1 - a) * cellAt(column, row + 1) + a * cellAt(column + 1, row + 1);
      const value = (1 - b) * upper + b * lower;
      data[at] = (rule === "torchvision" ? value > threshold : value >= threshold) ? 1 : 0;
    }
  }
  return { x: x.span, y: y.span, data };
}

/** Returns the range of a picture's pixels between two edges. Empty if an edge is not finite. */
function spanOf(from: number, to: number, pixels: number): Span {
  const first = Math.max(0, from);
  const last = Math.min(pixels, to);
  return last > first ? { from: first, to: last } : NO_SPAN;
}

/** Returns the axis for torchvision's rule. Computes edges in f32, since rounding decides where they are truncated. */
function grownAxis(low: number, high: number, cells: number, pixels: number): PastedAxis {
  const { fround } = Math;
  const scale = (cells + 2) / cells;
  const half = fround(fround(fround(fround(high) - fround(low)) * 0.5) * fround(scale));
  const centre = fround(fround(fround(high) + fround(low)) * 0.5);
  const start = Math.trunc(fround(centre - half));
  const end = Math.trunc(fround(centre + half));
  const length = Math.max(1, end - start + 1);
  const span = spanOf(start, end + 1, pixels);
  return axisOf(span, (pixel) => {
    // Resize the padded mask: half-pixel centres, clamped at the edges. Cell 0 of the padded mask is the margin.
    const place = ((pixel - start + 0.5) * (cells + 2)) / length - 0.5;
    return Math.min(Math.max(place, 0), cells + 1) - 1;
  });
}

/** Returns the axis for detectron2's rule. */
const sampledAxis = (low: number, high: number, cells: number, pixels: number): PastedAxis =>
  // Skip pixels more than one cell away from the box, since they read only zeros.
  axisOf(
    spanOf(Math.floor(low - (high - low) / cells) - 1, Math.ceil(high + (high - low) / cells) + 1, pixels),
    (pixel) => ((pixel + 0.5 - low) / (high - low)) * cells - 0.5,
  );

/** Returns the axis for a range of pixels. `placeOf` returns the position of a pixel in cells. */
function axisOf(span: Span, placeOf: (pixel: number) => number): PastedAxis {
  const count = span.to - span.from;
  const first = new Int32Array(count);
  const weights = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const place = placeOf(span.from + i);
    first[i] = Math.floor(place);
    weights[i] = place - first[i];
  }
  return { span, first, weights };
}
