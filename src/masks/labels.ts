/** Paints label maps: pictures that say which detection each pixel belongs to. */
import * as M from "../core/masks-abi.ts";
import { refuse } from "../core/errors.ts";
import { show } from "../core/tensor.ts";
import type { Detections, MaskOptions } from "../decode/detections.ts";
import { makeMask, openSpace } from "./make.ts";
import { readMaskOptions } from "./rules.ts";
import { type Scene, sizesOf, subjectOf } from "./scene.ts";

/** Options of a label map. */
export interface LabelMapOptions extends MaskOptions {
  /** Which of two detections has a pixel: the one with the higher score, "first" (default), or the other, "last". */
  readonly overlap?: "first" | "last";
}

/** A picture of rows of the detections. */
export interface LabelMap {
  readonly width: number;
  readonly height: number;
  /** The row of the detection that each pixel belongs to; -1: none. */
  readonly data: Int16Array;
}

/** Largest i16, the element type of a label map. */
const MOST_ROWS = 32767;

/** Paints all masks of an image into one picture. */
export function paintLabels(scene: Scene, found: Detections, options: LabelMapOptions = {}): LabelMap {
  const { overlap = "first", ...rest } = options ?? {};
  if (overlap !== "first" && overlap !== "last")
    refuse("overlap", show(overlap), '"first" or "last"', RangeError);
  if (found.length > MOST_ROWS)
    refuse("labelMap", `${found.length} detections`, `at most ${MOST_ROWS}, as labels are i16`, RangeError);
  const wanted = readMaskOptions(rest, sizesOf(scene));
  const [width, height] = wanted.size;
  const { source } = scene;
  const { space, axes } = openSpace(source, wanted, scene.placement, width * height);
  const { map, strip } = space.at;
  const labels = new Int16Array(space.engine.buffer, map, width * height).fill(-1);
  const { i32, job } = space;
  const w = job >> 2;
  i32[w + M.M_FREE] = overlap === "first" ? 1 : 0;
  i32[w + M.M_MAP_ROW] = 2 * width;
  for (let row = 0; row < found.length; row++)
    makeMask(space, axes, source, subjectOf(scene, found, row), wanted, () => (_, x, y, rows) => {
      i32[w + M.M_LABEL] = row;
      i32[w + M.M_FIRST] = y;
      i32[w + M.M_LAST] = y + rows;
      i32[w + M.M_OUT] = strip;
      i32[w + M.M_OUT_WIDTH] = x.to - x.from;
      i32[w + M.M_MAP] = map + 2 * (y * width + x.from);
      space.engine.paint(job);
    });
  return { width, height, data: labels.slice() };
}
