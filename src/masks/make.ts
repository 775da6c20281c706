/** Makes the mask of one detection. */
import * as M from "../core/masks-abi.ts";
import {
  type Axis,
  type Placement,
  type Range,
  cropOf,
  imageAxes,
  pixelsThatRead,
  visibleOf,
  wholeAxis,
} from "./axis.ts";
import type { Wanted } from "./rules.ts";
import { type MaskSource, type Window, hasRoom, prototypeBytes, writeValues } from "./source.ts";
import { type MaskSpace, spaceFor } from "./space.ts";

/** Boxes and coefficients of one detection. Boxes are x_min, y_min, x_max, y_max, normalised. */
export interface Subject {
  /** Box in the network's input. */
  readonly inputBox: readonly number[];
  /** Box in the image. */
  readonly imageBox: readonly number[];
  readonly coefficients: Float32Array;
}

/** Takes a strip of a mask: rows `y` to `y + rows` of the picture, one byte a pixel, at `space.at.strip`. */
export type Sink = (space: MaskSpace, x: Range, y: number, rows: number) => void;

/** The pixels of a mask, and the window of cells that they read. */
interface Extent {
  readonly x: Range;
  readonly y: Range;
  readonly window: Window;
  /** Part of the window that the box keeps, for rules that crop before resizing. The values outside of it are 0. */
  readonly kept: Window;
}

/**
 * Returns a space with room for the masks of a picture, its resize tables filled, and the axes of the picture.
 * @param map pixels of a label map; 0 for none
 */
export function openSpace(
  { engine, prototypes, place }: MaskSource,
  wanted: Wanted,
  placement: Placement,
  map = 0,
): { readonly space: MaskSpace; readonly axes: readonly [Axis, Axis] } {
  const { width, height, count } = prototypes;
  const inPlace = !("bytes" in place) && hasRoom(place, prototypes);
  const space = spaceFor(engine, {
    prototypes: inPlace ? 0 : prototypeBytes(prototypes),
    coefficients: count,
    cells: width * height,
    size: wanted.size,
    map,
  });
  const axes =
    wanted.picture === "image"
      ? imageAxes(wanted.size, [width, height], placement)
      : ([wholeAxis(wanted.size[0], width), wholeAxis(wanted.size[1], height)] as const);
  if (wanted.picture !== "prototype") space.makeTables(wanted.steps.resize, axes);
  return { space, axes };
}

/**
 * Makes a mask and passes it on in strips.
 * @param sinkFor called once with the pixels of the mask, before they are made. Returns the function that takes strips.
 */
export function makeMask(
  space: MaskSpace,
  axes: readonly [Axis, Axis],
  source: MaskSource,
  subject: Subject,
  wanted: Wanted,
  sinkFor: (x: Range, y: Range) => Sink,
): void {
  const extent = extentOf(space, axes, source, subject, wanted);
  const { x, y } = extent;
  const sink = sinkFor(x, y);
  if (x.to <= x.from || y.to <= y.from) return;
  fillWindow(space, source, subject, extent, wanted);
  space.f32[(space.job >> 2) + M.M_THRESHOLD] = wanted.limit;
  if (wanted.picture === "prototype") cutOut(space, extent, sink);
  else resizeInStrips(space, extent, sink);
}

/** Returns the bytes of a row of the window's values. */
const rowBytes = ({ window }: Extent): number => 4 * (window.x.to - window.x.from);

/** Writes the logits or probabilities of the window's cells to `space.at.logits`, and 0 outside of the kept part. */
function fillWindow(
  space: MaskSpace,
  source: MaskSource,
  { coefficients }: Subject,
  extent: Extent,
  { steps }: Wanted,
): void {
  const { window, kept } = extent;
  const { logits } = space.at;
  const row = rowBytes(extent);
  if (kept !== window) space.f32.fill(0, logits >> 2, (logits + row * (window.y.to - window.y.from)) >> 2);
  const first = logits + (kept.y.from - window.y.from) * row + 4 * (kept.x.from - window.x.from);
  writeValues(space, source, coefficients, kept, steps.sigmoid, first, row);
  if (!areNumbers(space.f32, first >> 2, row >> 2, kept)) source.reportNaN(coefficients);
}

/** Makes a mask at the size of the prototypes: one strip. */
function cutOut(space: MaskSpace, extent: Extent, sink: Sink): void {
  const { x, y } = extent;
  const { i32, at, job } = space;
  const w = job >> 2;
  i32[w + M.M_OUT] = at.strip;
  i32[w + M.M_LOGITS] = at.logits;
  i32[w + M.M_LOGITS_ROW] = rowBytes(extent);
  i32[w + M.M_WIDTH] = x.to - x.from;
  i32[w + M.M_HEIGHT] = y.to - y.from;
  space.engine.cut(job);
  sink(space, x, y.from, y.to - y.from);
}

/** Makes a mask at another size, strip by strip. */
function resizeInStrips(space: MaskSpace, extent: Extent, sink: Sink): void {
  const { x, y, window } = extent;
  const { i32, at, job } = space;
  const row = rowBytes(extent);
  const w = job >> 2;
  const width = x.to - x.from;
  i32[w + M.M_OUT] = at.strip;
  i32[w + M.M_OUT_WIDTH] = width;
  i32[w + M.M_RESIZED] = at.logits - window.y.from * row - 4 * window.x.from;
  i32[w + M.M_LOGITS_ROW] = row;
  i32[w + M.M_COLUMNS] = at.columns + 4 * x.from;
  i32[w + M.M_ROWS] = at.rows;
  const most = space.stripRows(width);
  for (let from = y.from; from < y.to; from += most) {
    const to = Math.min(y.to, from + most);
    i32[w + M.M_FIRST] = from;
    i32[w + M.M_LAST] = to;
    space.engine.resize(job);
    sink(space, x, from, to - from);
  }
}

/**
 * True if no value of a window is NaN or infinite. A sum of f32 in doubles stays finite unless one of them is not, so
 * this adds up instead of comparing each. Four sums: each addition waits for the one before it.
 * @param first index of the window's first value
 * @param row values from a row to the next
 */
function areNumbers(values: Float32Array, first: number, row: number, { x, y }: Window): boolean {
  const width = x.to - x.from;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let start = first, left = y.to - y.from; left > 0; left--, start += row) {
    const end = start + width;
    let i = start;
    for (; i + 4 <= end; i += 4) {
      a += values[i];
      b += values[i + 1];
      c += values[i + 2];
      d += values[i + 3];
    }
    for (; i < end; i++) a += values[i];
  }
  return Number.isFinite(a + b + c + d);
}

/** Returns the pixels that the box leaves of a mask, and the window of cells that they read. */
function extentOf(
  space: MaskSpace,
  axes: readonly [Axis, Axis],
  { prototypes }: MaskSource,
  { inputBox, imageBox }: Subject,
  { picture, steps }: Wanted,
): Extent {
  return steps.cropsFirst
    ? extentOfCells(space, axes, prototypes, inputBox, picture === "prototype", steps.resize === "nearest")
    : extentOfPixels(space, axes, picture === "image" ? imageBox : inputBox);
}

/** Returns the extent of a rule that crops cells: the box leaves cells, and the pixels that read any of them. */
function extentOfCells(
  { columns, rows }: MaskSpace,
  [xAxis, yAxis]: readonly [Axis, Axis],
  { width, height }: MaskSource["prototypes"],
  box: readonly number[],
  isCell: boolean,
  isNearest: boolean,
): Extent {
  const kept = {
    x: cropOf(box[0], box[2], width, xAxis.low, xAxis.high),
    y: cropOf(box[1], box[3], height, yAxis.low, yAxis.high),
  };
  // Each pixel of the picture is a cell.
  if (isCell) return { x: kept.x, y: kept.y, window: kept, kept };
  const x = intersect(pixelsThatRead(columns, xAxis.pixels, kept.x), visibleOf(xAxis));
  const y = intersect(pixelsThatRead(rows, yAxis.pixels, kept.y), visibleOf(yAxis));
  if (isNearest) return { x, y, window: kept, kept };
  // Pixels at the edge also read cells outside of the box, whose values count as 0.
  return { x, y, window: { x: cellsOf(columns, x), y: cellsOf(rows, y) }, kept };
}

/** Returns the extent of a rule that crops pixels: the box leaves pixels, and the cells that these read. */
function extentOfPixels(
  { columns, rows }: MaskSpace,
  [xAxis, yAxis]: readonly [Axis, Axis],
  box: readonly number[],
): Extent {
  const visibleX = visibleOf(xAxis);
  const visibleY = visibleOf(yAxis);
  const x = cropOf(box[0], box[2], xAxis.pixels, visibleX.from, visibleX.to);
  const y = cropOf(box[1], box[3], yAxis.pixels, visibleY.from, visibleY.to);
  const window = { x: cellsOf(columns, x), y: cellsOf(rows, y) };
  return { x, y, window, kept: window };
}

/** Returns the cells that the pixels of a range read. */
const cellsOf = ({ near, far }: MaskSpace["columns"], { from, to }: Range): Range =>
  to <= from ? { from: 0, to: 0 } : { from: near[from], to: far[to - 1] + 1 };

function intersect(range: Range, limits: Range): Range {
  const from = Math.max(range.from, limits.from);
  const to = Math.min(range.to, limits.to);
  return to > from ? { from, to } : { from, to: from };
}
