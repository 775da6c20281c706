/**
 * Maps pixels of a picture to pixels of the prototypes, along one axis. A picture is the area that a mask covers: the
 * prototypes, the network's input, or the image. A cell is one pixel of the prototypes.
 */
import { placeOf } from "../../core/place.ts";
import type { Frame } from "../../decode/frame.ts";

/** One axis of a picture, and its position on the same axis of the prototypes. */
export interface Axis {
  /** Count of the picture's pixels on this axis. */
  readonly pixels: number;
  /** Position of the picture's first edge in the prototypes, in cells. May be a fraction. */
  readonly start: number;
  /** Length of the picture in cells. May be a fraction. */
  readonly length: number;
  /** Index of the first cell that may be read. */
  readonly low: number;
  /** Index after the last cell that may be read. */
  readonly high: number;
}

/** Returns the axis of a picture that covers all prototypes. */
export const wholeAxis = (pixels: number, cells: number): Axis => ({
  pixels,
  start: 0,
  length: cells,
  low: 0,
  high: cells,
});

/** Position of the upright image in the network's input, in normalised coordinates: input = (image - shift) / scale. */
export interface Placement {
  /** The frame, with the size of the upright image. `rotation` turned the image upright. */
  readonly frame: Frame | null;
  readonly scale: readonly [number, number];
  readonly shift: readonly [number, number];
}

/** Returns the x and y axis of the image. Cuts off a letterbox's padding at whole cells, as Ultralytics does. */
export function imageAxes(
  size: readonly [number, number],
  cells: readonly [number, number],
  { frame, scale, shift }: Placement,
): readonly [Axis, Axis] {
  const exact = (k: 0 | 1): Axis => ({
    pixels: size[k],
    start: (-shift[k] / scale[k]) * cells[k],
    length: cells[k] / scale[k],
    low: 0,
    high: cells[k],
  });
  const x = exact(0);
  const y = exact(1);
  if (!frame || !frame.resize.startsWith("letterbox")) return [x, y];
  const { left, top, width, height } = placeOf([frame.width, frame.height], cells, frame.resize);
  const cutX = { ...x, start: left, length: width, low: left, high: left + width };
  const cutY = { ...y, start: top, length: height, low: top, high: top + height };
  // Keep the exact axes if they differ from the whole cells by more than one cell: a caller's frame may place the image
  // anywhere.
  const isNear = (a: Axis, b: Axis): boolean => Math.abs(a.start - b.start) <= 1;
  return isNear(cutX, x) && isNear(cutY, y) ? [cutX, cutY] : [x, y];
}

/**
 * Resize table of an axis, in the memory layout of core/masks-abi.ts. Pixel i of the picture is
 * `nearWeights[i] * cell near[i] + farWeights[i] * cell far[i]`.
 */
export interface Table {
  readonly near: Int32Array;
  readonly far: Int32Array;
  readonly nearWeights: Float32Array;
  readonly farWeights: Float32Array;
}

/** Writes the table of bilinear resizing. Half-pixel centres, clamped at the edges (align_corners false in PyTorch). */
export function fillBilinear({ pixels, start, length, low, high }: Axis, table: Table): void {
  const { near, far, nearWeights, farWeights } = table;
  for (let i = 0; i < pixels; i++) {
    const place = start + (((i + 0.5) * length) / pixels - 0.5);
    const inside = place < low ? low : place > high - 1 ? high - 1 : place;
    const first = Math.floor(inside);
    near[i] = first;
    far[i] = first + 1 < high ? first + 1 : first;
    farWeights[i] = inside - first;
    nearWeights[i] = 1 - farWeights[i];
  }
}

/** Returns the table of bilinear resizing of an axis, in new memory. */
export function bilinearTable(axis: Axis): Table {
  const near = new Int32Array(axis.pixels);
  const nearWeights = new Float32Array(axis.pixels);
  const table = { near, far: near.slice(), nearWeights, farWeights: nearWeights.slice() };
  fillBilinear(axis, table);
  return table;
}

/** Writes the table of nearest resizing: floor(i * n / N), as `cv2.resize` with INTER_NEAREST. */
export function fillNearest({ pixels, start, length, low, high }: Axis, table: Table): void {
  const { near, far, nearWeights, farWeights } = table;
  for (let i = 0; i < pixels; i++) {
    const place = Math.floor(start + (i * length) / pixels);
    near[i] = far[i] = place < low ? low : place > high - 1 ? high - 1 : place;
    nearWeights[i] = 1;
    farWeights[i] = 0;
  }
}

/** A range of pixels or cells. `to` is excluded. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A span of no pixels. */
export const NO_SPAN: Span = { from: 0, to: 0 };

/** 2^-21, for `cropOf`. A literal, since computing the power would take longer than the rest of `cropOf`. */
const NEAR_WHOLE = 1 / 2097152;

/**
 * Returns the pixels of a box along an axis: x >= low edge and x < high edge, in pixels. Rounds an edge that is within
 * pixels * 2^-21 of a whole number, since normalised f32 edges of whole pixels are inexact.
 * @param low lower edge of the box, normalised
 * @param high upper edge of the box, normalised
 * @param pixels pixels of the whole axis
 * @param start first pixel that may be returned
 * @param end pixel after the last one that may be returned
 */
export function cropOf(low: number, high: number, pixels: number, start = 0, end = pixels): Span {
  const edge = (normalised: number): number => {
    const place = normalised * pixels;
    const whole = Math.round(place);
    const first = Math.abs(place - whole) <= pixels * NEAR_WHOLE ? whole : Math.ceil(place);
    return first < start ? start : first > end ? end : first;
  };
  const from = edge(low);
  const to = edge(high);
  // Return an empty span for NaN edges too: the comparison is false for NaN.
  return to > from ? { from, to } : { from: start, to: start };
}

/** Returns the range of a picture's pixels that read at least one cell of a span. */
export function pixelsThatRead({ near, far }: Table, pixels: number, { from, to }: Span): Span {
  if (to <= from) return NO_SPAN;
  return { from: firstAtLeast(far, pixels, from), to: firstAtLeast(near, pixels, to) };
}

/** Returns the range of an axis' pixels that show the network's input. The input may not cover the whole image. */
export function visibleOf({ pixels, start, length, low, high }: Axis): Span {
  const from = Math.max(0, Math.ceil(((low - start) / length) * pixels - 0.5));
  const to = Math.min(pixels, Math.ceil(((high - start) / length) * pixels - 0.5));
  return { from, to };
}

/** Returns the index of the first value that is at least `least`. The values never decrease. */
function firstAtLeast(values: Int32Array, count: number, least: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] >= least) high = middle;
    else low = middle + 1;
  }
  return low;
}
