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
  const { picture, steps, limit } = wanted;
  const extent = extentOf(space, axes, source, subject, wanted);
  const { x, y, window, kept } = extent;
  const sink = sinkFor(x, y);
  if (x.to <= x.from || y.to <= y.from) return;
  const row = 4 * (window.x.to - window.x.from);
  const { logits, strip } = space.at;
  const isPart = kept !== window;
  if (isPart) space.f32.fill(0, logits >> 2, (logits + row * (window.y.to - window.y.from)) >> 2);
  const first = logits + (kept.y.from - window.y.from) * row + 4 * (kept.x.from - window.x.from);
  writeValues(space, source, subject.coefficients, kept, steps.sigmoid, first, row);
  const { i32, f32 } = space;
  const w = space.job >> 2;
  f32[w + M.M_THRESHOLD] = limit;
  i32[w + M.M_OUT] = strip;
  const width = x.to - x.from;
  i32[w + M.M_OUT_WIDTH] = width;
  if (picture === "prototype") {
    const height = y.to - y.from;
    i32[w + M.M_LOGITS] = logits;
    i32[w + M.M_LOGITS_ROW] = row;
    i32[w + M.M_WIDTH] = width;
    i32[w + M.M_HEIGHT] = height;
    space.engine.cut(space.job);
    sink(space, x, y.from, height);
    return;
  }
  i32[w + M.M_RESIZED] = logits - window.y.from * row - 4 * window.x.from;
  i32[w + M.M_LOGITS_ROW] = row;
  i32[w + M.M_COLUMNS] = space.at.columns + 4 * x.from;
  i32[w + M.M_ROWS] = space.at.rows;
  const most = space.stripRows(width);
  for (let at = y.from; at < y.to; at += most) {
    const end = Math.min(y.to, at + most);
    i32[w + M.M_FIRST] = at;
    i32[w + M.M_LAST] = end;
    space.engine.resize(space.job);
    sink(space, x, at, end - at);
  }
}

/** Returns the pixels that the box leaves of a mask, and the window of cells that they read. */
function extentOf(
  { columns, rows }: MaskSpace,
  [xAxis, yAxis]: readonly [Axis, Axis],
  { prototypes }: MaskSource,
  { inputBox, imageBox }: Subject,
  { picture, steps }: Wanted,
): Extent {
  if (steps.cropsFirst) {
    const kept = {
      x: cropOf(inputBox[0], inputBox[2], prototypes.width, xAxis.low, xAxis.high),
      y: cropOf(inputBox[1], inputBox[3], prototypes.height, yAxis.low, yAxis.high),
    };
    if (picture === "prototype") return { x: kept.x, y: kept.y, window: kept, kept };
    const x = intersect(pixelsThatRead(columns, xAxis.pixels, kept.x), visibleOf(xAxis));
    const y = intersect(pixelsThatRead(rows, yAxis.pixels, kept.y), visibleOf(yAxis));
    if (steps.resize === "nearest") return { x, y, window: kept, kept };
    return { x, y, window: { x: cellsOf(columns, x), y: cellsOf(rows, y) }, kept };
  }
  const box = picture === "image" ? imageBox : inputBox;
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
