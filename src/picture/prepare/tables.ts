/**
 * Makes the tables of a resampling: the source pixels of each pixel, and their weights. Computes in doubles, in the
 * order of OpenCV's or Pillow's resize, so that the bytes are equal.
 */
import * as A from "../../core/prepare-abi.ts";
import type { Resample } from "../../core/prepare-rule.ts";
import { roundToEven } from "../../core/place.ts";

/** One axis of a resampling. */
export interface Axis {
  /** Count of source pixels. */
  readonly source: number;
  /** Count of pixels of the whole resized image. */
  readonly resized: number;
  /** Resized pixels per source pixel. `resized / source`, except for a crop, whose size is rounded after scaling. */
  readonly factor: number;
  /** Part of the resized image to make: first pixel and count. */
  readonly from: number;
  readonly count: number;
}

/** Table of an axis. */
export interface AxisTable {
  /** First source pixel of each pixel, and the end of its source pixels. */
  readonly first: Int32Array;
  readonly end: Int32Array;
  /** `taps` weights per pixel. KIND_LINEAR: two i16 in a word. KIND_AREA: f32. KIND_TAPS: i32. */
  readonly weights: Int32Array | Float32Array;
  readonly taps: number;
}

/** Tables for resampling an image. */
export interface Resampling {
  readonly kind: number;
  readonly columns: AxisTable;
  readonly rows: AxisTable;
  /** KIND_BLOCK: width and height of a block. */
  readonly block: readonly [number, number];
}

/** Returns the source pixels per pixel. Like OpenCV, divides by the factor, which is itself a quotient. */
const scaleOf = ({ factor }: Axis): number => 1 / factor;

/** Returns how an image is resampled to the size of the axes. */
export function resamplingOf(x: Axis, y: Axis, resample: Resample): Resampling {
  const block: [number, number] = [roundToEven(scaleOf(x)), roundToEven(scaleOf(y))];
  const isWhole = [x, y].every((axis, i) => Math.abs(scaleOf(axis) - block[i]) < Number.EPSILON);
  const isSame = x.source === x.resized && y.source === y.resized;
  const shrinks = scaleOf(x) >= 1 && scaleOf(y) >= 1;
  const both = (kind: number, table: (axis: Axis) => AxisTable): Resampling => ({
    kind,
    columns: table(x),
    rows: table(y),
    block,
  });
  if (isSame || resample === "nearest") return both(A.KIND_NEAREST, nearestTable);
  if (resample === "pillow") return both(A.KIND_TAPS, pillowTable);
  if (resample === "cubic") return both(A.KIND_AREA, cubicTable);
  // Use means of 2 x 2 pixels for bilinear and area: OpenCV's weights are equal here.
  if (isWhole && block[0] === 2 && block[1] === 2) return both(A.KIND_HALF, (axis) => blockTable(axis, 2));
  if (resample === "bilinear") return both(A.KIND_LINEAR, (axis) => linearTable(axis, bilinearAt));
  if (!shrinks) return both(A.KIND_LINEAR, (axis) => linearTable(axis, areaAt));
  if (!isWhole) return both(A.KIND_AREA, areaTable);
  return {
    kind: A.KIND_BLOCK,
    columns: blockTable(x, block[0]),
    rows: blockTable(y, block[1]),
    block,
  };
}

/** Makes a table of `taps` weights for each pixel. `fill` gets the pixel's index in the whole resized image. */
function tableOf<W extends Int32Array | Float32Array>(
  { from, count }: Axis,
  weights: W,
  taps: number,
  fill: (pixel: number, at: number) => readonly [first: number, count: number],
): AxisTable {
  const first = new Int32Array(count);
  const end = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    const [start, length] = fill(from + i, i * taps);
    first[i] = start;
    end[i] = start + length;
  }
  return { first, end, weights, taps };
}

function nearestTable(axis: Axis): AxisTable {
  const scale = scaleOf(axis);
  return tableOf(axis, new Int32Array(0), 0, (pixel) => [
    Math.min(Math.floor(pixel * scale), axis.source - 1),
    1,
  ]);
}

const blockTable = (axis: Axis, size: number): AxisTable =>
  tableOf(axis, new Int32Array(0), 0, (pixel) => [pixel * size, size]);

/** Function that returns the source pixel before a pixel's centre, and the f32 weight of the pixel after that. */
type LinearAt = (pixel: number, axis: Axis) => readonly [source: number, weight: number];

const bilinearAt: LinearAt = (pixel, axis) => {
  const centre = Math.fround((pixel + 0.5) * scaleOf(axis) - 0.5);
  return [Math.floor(centre), Math.fround(centre - Math.floor(centre))];
};

/** OpenCV's INTER_AREA for an axis that grows. */
const areaAt: LinearAt = (pixel, axis) => {
  const source = Math.floor(pixel * scaleOf(axis));
  const rest = Math.fround(pixel + 1 - (source + 1) * axis.factor);
  return [source, rest <= 0 ? 0 : Math.fround(rest - Math.floor(rest))];
};

/** Makes a bilinear table with weights of 11 bits. An edge pixel replaces its missing neighbour. */
function linearTable(axis: Axis, at: LinearAt): AxisTable {
  const weights = new Int32Array(axis.count);
  const last = axis.source - 1;
  const bits = (weight: number): number => roundToEven(weight * 2048);
  return tableOf(axis, weights, 1, (pixel, place) => {
    const [source, weight] = at(pixel, axis);
    const next = bits(weight);
    const own = bits(Math.fround(1 - weight));
    weights[place] = own | (next << 16);
    const first = Math.min(Math.max(source, 0), last);
    // Before the first pixel, apply both weights to the first pixel.
    return [first, Math.min(Math.max(source + 1, 0), last) - first + 1];
  });
}

/** Gives edge columns a single weight of one. OpenCV rounds two weights for rows at the edges, but not for columns. */
export function edgeColumns(table: AxisTable): AxisTable {
  const weights = Int32Array.from(table.weights as Int32Array, (word, i) =>
    table.end[i] - table.first[i] < 2 ? 2048 : word,
  );
  return { ...table, weights };
}

function areaTable(axis: Axis): AxisTable {
  const { source, count } = axis;
  const scale = scaleOf(axis);
  const taps = Math.ceil(scale) + 2;
  const weights = new Float32Array(count * taps);
  return tableOf(axis, weights, taps, (pixel, at) => {
    const start = pixel * scale;
    const end = start + scale;
    const width = Math.min(scale, source - start);
    const last = Math.min(Math.floor(end), source - 1);
    const first = Math.min(Math.ceil(start), last);
    let length = 0;
    const hasPart = first - start > 1e-3;
    if (hasPart) weights[at + length++] = (first - start) / width;
    for (let i = first; i < last; i++) weights[at + length++] = 1 / width;
    if (end - last > 1e-3) weights[at + length++] = Math.min(Math.min(end - last, 1), width) / width;
    return [hasPart ? first - 1 : first, length];
  });
}

/** Parameter a of Keys' cubic kernel in OpenCV. */
const CUBIC = -0.75;

/**
 * Returns the weights of the four pixels around a point, in f32 as OpenCV computes them.
 * @param x distance of the point from the second of these pixels, 0..1
 */
function cubicAt(x: number): readonly number[] {
  const f = Math.fround;
  const outer = (t: number): number =>
    f(f(f(f(f(f(CUBIC * t) - 5 * CUBIC) * t) + 8 * CUBIC) * t) - 4 * CUBIC);
  const inner = (t: number): number => f(f(f(f(f((CUBIC + 2) * t) - (CUBIC + 3)) * t) * t) + 1);
  const [a, b, c] = [outer(f(x + 1)), inner(x), inner(f(1 - x))];
  return [a, b, c, f(f(f(1 - a) - b) - c)];
}

/** Returns the table of cubic weights of 11 bits. An edge pixel also gets the weights of its missing neighbours. */
function cubicTable(axis: Axis): AxisTable {
  const weights = new Float32Array(axis.count * 4);
  const last = axis.source - 1;
  return tableOf(axis, weights, 4, (pixel, at) => {
    const [source, rest] = bilinearAt(pixel, axis);
    const first = Math.min(Math.max(source - 1, 0), last);
    cubicAt(rest).forEach((weight, k) => {
      const place = Math.min(Math.max(source - 1 + k, 0), last);
      weights[at + place - first] += roundToEven(weight * 2048) / 2048;
    });
    return [first, Math.min(Math.max(source + 2, 0), last) - first + 1];
  });
}

function pillowTable(axis: Axis): AxisTable {
  const { source, resized, count } = axis;
  const scale = source / resized;
  const support = Math.max(scale, 1);
  const taps = Math.ceil(support) * 2 + 1;
  const weights = new Int32Array(count * taps);
  const exact = new Float64Array(taps);
  return tableOf(axis, weights, taps, (pixel, at) => {
    const centre = (pixel + 0.5) * scale;
    const first = Math.max(Math.trunc(centre - support + 0.5), 0);
    const length = Math.min(Math.trunc(centre + support + 0.5), source) - first;
    let sum = 0;
    for (let i = 0; i < length; i++) {
      const distance = Math.abs((i + first - centre + 0.5) * (1 / support));
      exact[i] = distance < 1 ? 1 - distance : 0;
      sum += exact[i];
    }
    for (let i = 0; i < length; i++)
      weights[at + i] = Math.trunc(0.5 + (sum === 0 ? exact[i] : exact[i] / sum) * (1 << A.TAP_BITS));
    return [first, length];
  });
}
