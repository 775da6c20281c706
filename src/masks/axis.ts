/** From pixels of a picture to pixels of the prototypes, along one axis. */
import { roundToEven } from "../picture/prepare/place.ts";
import type { Frame } from "../decode/frame.ts";

/** One axis of a picture. */
export interface Axis {
  /** Pixels of the picture. */
  readonly pixels: number;
  /** Where the picture begins among the prototypes, and how many pixels of them it has. May be fractions. */
  readonly start: number;
  readonly length: number;
  /** The first prototype pixel that may be read, and the one after the last. */
  readonly low: number;
  readonly high: number;
}

/** Returns the axis of a picture that shows all prototypes. */
export const wholeAxis = (pixels: number, cells: number): Axis => ({
  pixels,
  start: 0,
  length: cells,
  low: 0,
  high: cells,
});

/** Where an image lies in the network's input, normalised: input = (image - shift) / scale. */
export interface Placement {
  readonly frame: Frame | null;
  readonly scale: readonly [number, number];
  readonly shift: readonly [number, number];
}

/**
 * Returns both axes of a picture of the image: the padding of the network's input is cut off the prototypes, by whole
 * pixels where the image was letterboxed, as Ultralytics does it.
 */
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
  const gain = Math.min(cells[0] / frame.width, cells[1] / frame.height);
  const whole = (axis: Axis, cellCount: number, side: number): Axis => {
    const padding = cellCount - roundToEven(side * gain);
    const isCentred = frame.resize === "letterbox";
    const low = isCentred ? roundToEven(padding / 2 - 0.1) : 0;
    const high = cellCount - (isCentred ? roundToEven(padding / 2 + 0.1) : padding);
    return { ...axis, start: low, length: high - low, low, high };
  };
  const cutX = whole(x, cells[0], frame.width);
  const cutY = whole(y, cells[1], frame.height);
  // A place of the caller's own may be elsewhere.
  const isNear = (a: Axis, b: Axis): boolean => Math.abs(a.start - b.start) <= 1 && a.high > a.low;
  return isNear(cutX, x) && isNear(cutY, y) ? [cutX, cutY] : [x, y];
}

/** The four columns of a table, as core/masks-abi.ts has them. */
export interface Table {
  readonly near: Int32Array;
  readonly far: Int32Array;
  readonly nearWeights: Float32Array;
  readonly farWeights: Float32Array;
}

/** Writes which prototype pixels each pixel is made of. Half-pixel centres, clamped: align_corners is false. */
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

/** The same for the nearest pixel, as `cv2.resize` takes it with INTER_NEAREST: floor(i * n / N). */
export function fillNearest({ pixels, start, length, low, high }: Axis, table: Table): void {
  const { near, far, nearWeights, farWeights } = table;
  for (let i = 0; i < pixels; i++) {
    const place = Math.floor(start + (i * length) / pixels);
    near[i] = far[i] = place < low ? low : place > high - 1 ? high - 1 : place;
    nearWeights[i] = 1;
    farWeights[i] = 0;
  }
}

/** Pixels from `from` to `to`, which is excluded. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the pixels of a box along an axis of `pixels` pixels: x >= low edge and x < high edge. Edges are not rounded.
 * `edges` are normalised and f32, which holds a whole number of pixels only nearly: an edge so near to one is
 * that.
 */
export function cropOf(low: number, high: number, pixels: number, least = 0, most = pixels): Range {
  const edge = (normalised: number): number => {
    const place = normalised * pixels;
    const whole = Math.round(place);
    const first = Math.abs(place - whole) <= pixels * 2 ** -21 ? whole : Math.ceil(place);
    return first < least ? least : first > most ? most : first;
  };
  const from = edge(low);
  const to = edge(high);
  // NaN is no edge.
  return to > from ? { from, to } : { from: least, to: least };
}

/** Returns the pixels of a table that are made of any prototype pixel of a range. */
export function pixelsOf({ near, far }: Table, pixels: number, { from, to }: Range): Range {
  if (to <= from) return { from: 0, to: 0 };
  return { from: firstAtLeast(far, pixels, from), to: firstAtLeast(near, pixels, to) };
}

/** Returns the pixels of an axis that show a part of the network's input. A crop cut the others off. */
export function visibleOf({ pixels, start, length, low, high }: Axis): Range {
  const from = Math.max(0, Math.ceil(((low - start) / length) * pixels - 0.5));
  const to = Math.min(pixels, Math.ceil(((high - start) / length) * pixels - 0.5));
  return { from, to };
}

/** Returns the first index whose value, of values that rise, is at least `least`. */
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
