/** Makes masks from one map per row. A map covers the row's box (Mask R-CNN) or the whole input (RTMDet-Ins). */
import { turnedSize } from "../../core/turn.ts";
import { type Detections, extend } from "../../decode/detections.ts";
import type { Mask, MaskOptions } from "../../decode/mask.ts";
import { type Placement, type Table, imageAxes, wholeAxis, bilinearTable } from "./axis.ts";
import { type LabelMap, type LabelMapOptions, type MaskFunctions, paintMasks } from "./labels.ts";
import { PixelMask } from "./mask.ts";
import { PASTE_RULES, type PasteRule, pasteMask } from "./paste.ts";
import { type KnownSizes, type RowWanted, readRowOptions } from "./rules.ts";
import { boxesOf, rowAt, turnMaskBack, uprightWanted } from "./scene.ts";

/** Area that the map of a row covers. "box": the box of the row. "input": the network's whole input. */
export type RowMaskPlace = "box" | "input";

/** Facts about an image that are needed to make its masks, besides the maps. */
export interface RowMaskFacts {
  readonly place: RowMaskPlace;
  /** Width and height of a map in cells. */
  readonly cells: readonly [number, number];
  readonly inputSize: readonly [number, number] | null;
}

/** The maps of one image, in the decoder's memory or copied. */
export interface RowScene {
  readonly facts: RowMaskFacts;
  readonly placement: Placement;
  /** Returns the map of a row. The next call may overwrite it. */
  mapOf(detections: Detections, row: number): Float32Array;
  /** Called if a value of a mask is NaN. */
  readonly reportNaN: () => void;
  /** Returns a scene with the maps of some rows. Absent for maps that the next frame overwrites. */
  pick?(rows: readonly number[]): RowScene;
}

/** Returns the mask functions of detections with a map per row. */
export function maskFunctionsOf(scene: RowScene): MaskFunctions {
  return {
    copy: (detections, to) => extend(to, {}, maskFunctionsOf(copyOf(scene, detections))),
    ...(scene.pick && {
      select: (rows, to) => extend(to, {}, maskFunctionsOf((scene as Required<RowScene>).pick(rows))),
    }),
    mask: (detections, i, options) => maskOfRow(scene, detections, i, options),
    labelMap: (detections, options) => labelMapOf(scene, detections, options),
  };
}

/** Returns a copy of the maps. Later frames do not change the copy. */
const copyOf = (scene: RowScene, detections: Detections): RowScene =>
  withMaps(
    scene,
    Array.from({ length: detections.length }, (_, row) => scene.mapOf(detections, row).slice()),
  );

/** Returns a scene whose maps have their own memory. */
const withMaps = ({ facts, placement, reportNaN }: RowScene, maps: readonly Float32Array[]): RowScene => ({
  facts,
  placement,
  reportNaN,
  mapOf: (_, row) => maps[row],
  pick(rows) {
    const few = rows.map((row) => maps[row]);
    return withMaps(this, few);
  },
});

const sizesOf = ({ facts: { cells, inputSize }, placement: { frame } }: RowScene): KnownSizes => ({
  prototype: cells,
  network: inputSize,
  frame: frame && turnedSize([Math.round(frame.width), Math.round(frame.height)], frame.rotation ?? 0),
});

function maskOfRow(scene: RowScene, detections: Detections, i: number, options?: MaskOptions): Mask {
  const row = rowAt(detections, i);
  return makeRowMask(scene, detections, row, readRowOptions(options, sizesOf(scene), rulesOf(scene)));
}

/** Rules that the option `rule` accepts. A map of the whole input has only one rule. */
const rulesOf = ({ facts: { place } }: RowScene): readonly string[] => (place === "box" ? PASTE_RULES : []);

function makeRowMask(scene: RowScene, detections: Detections, row: number, wanted: RowWanted): PixelMask {
  const map = scene.mapOf(detections, row);
  if (map.some(Number.isNaN)) scene.reportNaN();
  const upright = uprightWanted(wanted, scene.placement);
  const mask =
    scene.facts.place === "box"
      ? pasteIntoBox(scene, detections, row, map, upright)
      : resizeWhole(scene, map, upright);
  return upright === wanted ? mask : turnMaskBack(mask, scene.placement.frame?.rotation ?? 0);
}

/** Returns the mask of a row: resizes the row's map to the box, and places it there. */
function pasteIntoBox(
  { facts: { cells }, placement }: RowScene,
  { boxes }: Detections,
  row: number,
  map: Float32Array,
  { size, picture, threshold, rule }: RowWanted,
): PixelMask {
  const { imageBox, inputBox } = boxesOf([...boxes.subarray(4 * row, 4 * row + 4)], placement);
  const box = (picture === "image" ? imageBox : inputBox).map((edge, k) => edge * size[k & 1]);
  const { x, y, data } = pasteMask(map, cells, box, size, threshold, rule as PasteRule);
  return new PixelMask(x.from, y.from, x.to - x.from, y.to - y.from, size, data);
}

/** Returns the mask of a row from its map of the whole input: resizes, then compares. The box does not cut it. */
function resizeWhole(
  { facts: { cells }, placement }: RowScene,
  map: Float32Array,
  { size, picture, threshold }: RowWanted,
): PixelMask {
  const [width, height] = size;
  const [xAxis, yAxis] =
    picture === "image"
      ? imageAxes(size, cells, placement)
      : [wholeAxis(width, cells[0]), wholeAxis(height, cells[1])];
  const columns = bilinearTable(xAxis);
  const rows = bilinearTable(yAxis);
  const lit = litCells(map, cells, threshold);
  const [left, right] = litPixels(columns, width, lit.first, lit.last);
  const [top, bottom] = litPixels(rows, height, lit.top, lit.bottom);
  const [w, h] = [right - left, bottom - top];
  const data = new Uint8Array(w * h);
  for (let y = top; y < bottom; y++) {
    const near = rows.near[y] * cells[0];
    const far = rows.far[y] * cells[0];
    // The other weight is 1 - this one in doubles, so that equal cells give their own value.
    const below = rows.farWeights[y];
    for (let x = left, at = (y - top) * w; x < right; x++, at++) {
      const n = columns.near[x];
      const f = columns.far[x];
      const beside = columns.farWeights[x];
      const upper = map[near + n] * (1 - beside) + map[near + f] * beside;
      const lower = map[far + n] * (1 - beside) + map[far + f] * beside;
      if (upper * (1 - below) + lower * below > threshold) data[at] = 1;
    }
  }
  return new PixelMask(left, top, w, h, size, data);
}

/** Largest rounding error of a weighted mean of four cells, as a fraction of 1 + |threshold|. */
const ROUNDING = 1e-6;

/** Returns the range of cells that can raise a pixel above the threshold. If none can, `last` is less than `first`. */
function litCells(
  map: Float32Array,
  [width, height]: readonly [number, number],
  threshold: number,
): { readonly first: number; readonly last: number; readonly top: number; readonly bottom: number } {
  const least = threshold - ROUNDING * (1 + Math.abs(threshold));
  let [first, last, top, bottom] = [width, -1, height, -1];
  for (let y = 0, at = 0; y < height; y++)
    for (let x = 0; x < width; x++, at++) {
      // The comparison is false for NaN, so the range contains cells with NaN too.
      if (map[at] < least) continue;
      if (x < first) first = x;
      if (x > last) last = x;
      if (y < top) top = y;
      bottom = y;
    }
  return { first, last, top, bottom };
}

/** Returns the range of an axis' pixels that are made from a cell in `first`..`last`. The end is excluded. */
function litPixels({ near, far }: Table, pixels: number, first: number, last: number): [number, number] {
  let from = 0;
  let to = pixels;
  while (from < pixels && far[from] < first) from++;
  while (to > from && near[to - 1] > last) to--;
  return [from, to];
}

function labelMapOf(scene: RowScene, detections: Detections, options: LabelMapOptions = {}): LabelMap {
  const { overlap, ...rest } = options ?? {};
  const wanted = readRowOptions(rest, sizesOf(scene), rulesOf(scene));
  return paintMasks(detections, wanted.size, overlap, (row) => makeRowMask(scene, detections, row, wanted));
}
