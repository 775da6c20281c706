/** Makes the mask of one detection. */
import * as M from "../../core/masks-abi.ts";
import {
  type Axis,
  type Placement,
  type Span,
  cropOf,
  imageAxes,
  pixelsThatRead,
  visibleOf,
  wholeAxis,
} from "./axis.ts";
import { type FreePixels, SetPixels } from "./needed.ts";
import type { Wanted } from "./rules.ts";
import { type CellWindow, type MaskSource, hasRoom, prototypeBytes, writeValues } from "./source.ts";
import { type MaskSpace, STRIP_BYTES, spaceFor } from "./space.ts";

/** Box and coefficients of one detection. Boxes are x_min, y_min, x_max, y_max, normalised. */
export interface MaskInput {
  /** The box in the network's input. */
  readonly inputBox: readonly number[];
  /** The box in the image. */
  readonly imageBox: readonly number[];
  readonly coefficients: Float32Array;
}

/** Receives one strip of a mask, rows `y` to `y + rows`: a byte per pixel at `space.at.strip`. */
export type StripHandler = (space: MaskSpace, x: Span, y: number, rows: number) => void;

/** The pixels of a mask, and the window of cells from which they are made. */
interface Extent {
  readonly x: Span;
  readonly y: Span;
  readonly window: CellWindow;
  /** Part of the window that lies inside the box. Only for rules that crop before resizing. Values outside are 0. */
  readonly inside: CellWindow;
}

/** Returns a space with room for a picture's masks, its filled resize tables, and the picture's axes. */
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
 * Makes a mask strip by strip. `handlerFor` gets the range of the mask's pixels, and returns the receiver of the
 * strips. `free`: pixels that still need a label; `null`: all.
 */
export function makeMask(
  space: MaskSpace,
  axes: readonly [Axis, Axis],
  source: MaskSource,
  input: MaskInput,
  wanted: Wanted,
  handlerFor: (x: Span, y: Span) => StripHandler,
  free: FreePixels | null = null,
): void {
  const whole = extentOf(space, axes, source, input, wanted);
  const isEmpty = whole.x.to <= whole.x.from || whole.y.to <= whole.y.from;
  if (!isEmpty) fillWindow(space, source, input, whole, wanted);
  // If the box does not cut the mask, the extent is the whole picture. Then make only the part near positive logits.
  const isLarge = !isEmpty && wanted.isUncut && wanted.picture !== "prototype" && wanted.limit >= 0;
  const extent = isLarge ? { ...whole, ...setPartOf(space, axes, whole) } : whole;
  const handle = handlerFor(extent.x, extent.y);
  if (extent.x.to <= extent.x.from || extent.y.to <= extent.y.from) return;
  space.f32[(space.job >> 2) + M.M_THRESHOLD] = wanted.limit;
  if (wanted.picture === "prototype") cutOut(space, extent, handle);
  else if (free === null) resizeInStrips(space, extent, handle);
  else {
    // With a negative threshold, pixels without a positive logit may be set too.
    const set = wanted.limit >= 0 ? new SetPixels(space, axes[0], extent.window) : null;
    resizeNeeded(space, extent, handle, free, set);
  }
}

/** Returns the pixels that depend on a positive value. All others are at most 0, since no weight is negative. */
function setPartOf(
  { f32, at, columns, rows }: MaskSpace,
  [xAxis, yAxis]: readonly [Axis, Axis],
  { x, y, window }: Extent,
): { readonly x: Span; readonly y: Span } {
  const width = window.x.to - window.x.from;
  let i = at.logits >> 2;
  let [left, right, top, bottom] = [width, 0, window.y.to, window.y.from];
  for (let row = window.y.from; row < window.y.to; row++)
    for (let column = 0; column < width; column++) {
      if (!(f32[i++] > 0)) continue;
      if (column < left) left = column;
      if (column >= right) right = column + 1;
      if (row < top) top = row;
      bottom = row + 1;
    }
  const cells = { from: window.x.from + left, to: window.x.from + right };
  return {
    x: intersect(pixelsThatRead(columns, xAxis.pixels, cells), x),
    y: intersect(pixelsThatRead(rows, yAxis.pixels, { from: top, to: bottom }), y),
  };
}

const rowBytes = ({ window }: Extent): number => 4 * (window.x.to - window.x.from);

/** Writes the values of the window's cells to `space.at.logits`: logits or probabilities, and 0 outside the box. */
function fillWindow(
  space: MaskSpace,
  source: MaskSource,
  { coefficients }: MaskInput,
  extent: Extent,
  { steps }: Wanted,
): void {
  const { window, inside } = extent;
  const { logits } = space.at;
  const row = rowBytes(extent);
  if (inside !== window) space.f32.fill(0, logits >> 2, (logits + row * (window.y.to - window.y.from)) >> 2);
  const first = logits + (inside.y.from - window.y.from) * row + 4 * (inside.x.from - window.x.from);
  writeValues(space, source, coefficients, inside, steps.sigmoid, first, row);
  if (!areFinite(space.f32, first >> 2, row >> 2, inside)) source.reportNaN(coefficients);
}

/** Makes a mask at the size of the prototypes: one strip. */
function cutOut(space: MaskSpace, extent: Extent, handle: StripHandler): void {
  const { x, y } = extent;
  const { i32, at, job } = space;
  const w = job >> 2;
  i32[w + M.M_OUT] = at.strip;
  i32[w + M.M_LOGITS] = at.logits;
  i32[w + M.M_LOGITS_ROW] = rowBytes(extent);
  i32[w + M.M_WIDTH] = x.to - x.from;
  i32[w + M.M_HEIGHT] = y.to - y.from;
  space.engine.cut(job);
  handle(space, x, y.from, y.to - y.from);
}

/** Makes a mask at another size, strip by strip. */
function resizeInStrips(space: MaskSpace, extent: Extent, handle: StripHandler): void {
  const { x, y } = extent;
  const stripRows = space.stripRows(x.to - x.from);
  for (let from = y.from; from < y.to; from += stripRows)
    resizeStrip(space, extent, x, from, Math.min(y.to, from + stripRows), handle);
}

/** Makes the needed part of a mask in strips as wide as their widest row. Skips rows without needed pixels. */
function resizeNeeded(
  space: MaskSpace,
  extent: Extent,
  handle: StripHandler,
  free: FreePixels,
  set: SetPixels | null,
): void {
  const { x, y } = extent;
  let first = y.from;
  let from = 0;
  let to = 0;
  const finish = (end: number): void => {
    if (to > from) resizeStrip(space, extent, { from, to }, first, end, handle);
    from = to = 0;
  };
  for (let row = y.from; row < y.to; row++) {
    const span = set?.spanAt(row) ?? x;
    const rowFrom = Math.max(x.from, span.from, free.from[row]);
    const rowTo = Math.min(x.to, span.to, free.to[row]);
    if (rowTo <= rowFrom) {
      finish(row);
      continue;
    }
    if (to > from) {
      const low = Math.min(from, rowFrom);
      const high = Math.max(to, rowTo);
      if ((row + 1 - first) * (high - low) <= STRIP_BYTES) {
        from = low;
        to = high;
        continue;
      }
      finish(row);
    }
    first = row;
    from = rowFrom;
    to = rowTo;
  }
  finish(y.to);
}

/** Makes the rows from `first` to `end` (excluded) of a mask, and passes them on. */
function resizeStrip(
  space: MaskSpace,
  extent: Extent,
  x: Span,
  first: number,
  end: number,
  handle: StripHandler,
): void {
  const { i32, at, job } = space;
  const { window } = extent;
  const row = rowBytes(extent);
  const w = job >> 2;
  i32[w + M.M_OUT] = at.strip;
  i32[w + M.M_OUT_WIDTH] = x.to - x.from;
  i32[w + M.M_RESIZED] = at.logits - window.y.from * row - 4 * window.x.from;
  i32[w + M.M_LOGITS_ROW] = row;
  i32[w + M.M_COLUMNS] = at.columns + 4 * x.from;
  i32[w + M.M_ROWS] = at.rows;
  i32[w + M.M_FIRST] = first;
  i32[w + M.M_END] = end;
  space.engine.resize(job);
  handle(space, x, first, end - first);
}

/**
 * True if no value of a window is NaN or infinite. Adds all values, which is faster than a test for each: the sum of
 * f32 values in doubles is finite exactly if all values are. Uses four sums, since an addition must wait for the
 * previous addition to the same sum.
 * @param first index of the window's first value
 * @param row step from a row to the next, in values
 */
function areFinite(values: Float32Array, first: number, row: number, { x, y }: CellWindow): boolean {
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

/** Returns the pixels of a mask inside the box, and the window of cells from which they are made. */
function extentOf(
  space: MaskSpace,
  axes: readonly [Axis, Axis],
  { prototypes }: MaskSource,
  { inputBox, imageBox }: MaskInput,
  { picture, steps, isUncut }: Wanted,
): Extent {
  const isOfCells = steps.cropsFirst;
  const box = isUncut ? EVERYWHERE : !isOfCells && picture === "image" ? imageBox : inputBox;
  return isOfCells
    ? extentOfCells(space, axes, prototypes, box, picture === "prototype", steps.resize === "nearest")
    : extentOfPixels(space, axes, box);
}

/** A box that cuts off nothing. */
const EVERYWHERE: readonly number[] = [-Infinity, -Infinity, Infinity, Infinity];

/** Returns the extent for a rule that crops cells: the cells inside the box, and the pixels made from these cells. */
function extentOfCells(
  { columns, rows }: MaskSpace,
  [xAxis, yAxis]: readonly [Axis, Axis],
  { width, height }: MaskSource["prototypes"],
  box: readonly number[],
  isPrototypePicture: boolean,
  isNearest: boolean,
): Extent {
  const inside = {
    x: cropOf(box[0], box[2], width, xAxis.low, xAxis.high),
    y: cropOf(box[1], box[3], height, yAxis.low, yAxis.high),
  };
  // If the picture is the prototypes, each pixel is a cell.
  if (isPrototypePicture) return { x: inside.x, y: inside.y, window: inside, inside };
  const x = intersect(pixelsThatRead(columns, xAxis.pixels, inside.x), visibleOf(xAxis));
  const y = intersect(pixelsThatRead(rows, yAxis.pixels, inside.y), visibleOf(yAxis));
  if (isNearest) return { x, y, window: inside, inside };
  // Pixels at the edge are also made from cells outside the box. The values of these cells count as 0.
  return { x, y, window: { x: cellsOf(columns, x), y: cellsOf(rows, y) }, inside };
}

/** Returns the extent for a rule that crops pixels: the pixels inside the box, and the cells they are made from. */
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
  return { x, y, window, inside: window };
}

/** Returns the cells from which a range of pixels is made. */
const cellsOf = ({ near, far }: MaskSpace["columns"], { from, to }: Span): Span =>
  to <= from ? { from: 0, to: 0 } : { from: near[from], to: far[to - 1] + 1 };

function intersect(a: Span, b: Span): Span {
  const from = Math.max(a.from, b.from);
  const to = Math.min(a.to, b.to);
  return to > from ? { from, to } : { from, to: from };
}
