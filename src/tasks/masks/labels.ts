/** Paints label maps. A label map is a picture in which each pixel is the index of a detection. */
import * as M from "../../core/masks-abi.ts";
import { refuse, refuseValue } from "../../core/errors.ts";
import { show } from "../../core/tensor.ts";
import { turnPicture, turnsBack } from "../../core/turn.ts";
import type { Detections, TaskFunctions } from "../../decode/detections.ts";
import type { Mask, MaskOptions } from "../../decode/mask.ts";
import { makeMask, openSpace } from "./make.ts";
import { FreePixels } from "./needed.ts";
import { readMaskOptions } from "./rules.ts";
import { type Scene, sizesOf, inputOf, uprightWanted } from "./scene.ts";

/** Options of a label map. */
export interface LabelMapOptions extends MaskOptions {
  /** The detection that gets a shared pixel: "first" (default) has the higher score, "last" the lower one. */
  readonly overlap?: "first" | "last";
}

/** A picture in which each pixel is the index of a detection. */
export interface LabelMap {
  readonly width: number;
  readonly height: number;
  /** Index of the detection to which each pixel belongs; -1: none. */
  readonly data: Int16Array;
}

/** Functions of detections with masks. */
export interface MaskFunctions extends TaskFunctions {
  readonly labelMap: (detections: Detections, options?: LabelMapOptions) => LabelMap;
}

/** Largest value of an i16, the element type of label maps. */
const MOST_ROWS = 32767;

/** Paints all masks of an image into one picture. */
export function paintLabels(scene: Scene, detections: Detections, options: LabelMapOptions = {}): LabelMap {
  const { overlap = "first", ...rest } = options ?? {};
  checkPaint(detections, overlap);
  const given = readMaskOptions(rest, sizesOf(scene));
  const wanted = uprightWanted(given, scene.placement);
  const [width, height] = wanted.size;
  const { source, placement } = scene;
  const { space, axes } = openSpace(source, wanted, placement, width * height);
  const { map, strip } = space.at;
  const labels = new Int16Array(space.engine.buffer, map, width * height).fill(-1);
  const { i32, job } = space;
  const w = job >> 2;
  const free = new FreePixels(labels, width, height);
  i32[w + M.M_FREE] = 1;
  i32[w + M.M_MAP_ROW] = 2 * width;
  const paint = (row: number): void =>
    makeMask(
      space,
      axes,
      scene.sourceOf(detections, row),
      inputOf(scene, detections, row),
      wanted,
      () => (_, x, y, rows) => {
        i32[w + M.M_LABEL] = row;
        i32[w + M.M_FIRST] = y;
        i32[w + M.M_END] = y + rows;
        i32[w + M.M_OUT] = strip;
        i32[w + M.M_OUT_WIDTH] = x.to - x.from;
        i32[w + M.M_MAP] = map + 2 * (y * width + x.from);
        space.engine.paint(job);
        free.update(y, y + rows);
      },
      free,
    );
  // Begin with the mask that gets shared pixels. Later masks then skip pixels that already have a label.
  const { length } = detections;
  for (let i = 0; i < length; i++) paint(overlap === "first" ? i : length - 1 - i);
  if (wanted === given) return { width, height, data: labels.slice() };
  const turns = turnsBack(placement.frame?.rotation ?? 0);
  const [givenWidth, givenHeight] = given.size;
  return { width: givenWidth, height: givenHeight, data: turnPicture(labels, wanted.size, turns) };
}

/** Throws a RangeError for a wrong `overlap`, or if there are more rows than an i16 can count. */
function checkPaint(detections: Detections, overlap: string): void {
  if (overlap !== "first" && overlap !== "last") refuseValue("overlap", show(overlap), '"first" or "last"');
  if (detections.length > MOST_ROWS)
    refuseValue("labelMap", `${detections.length} detections`, `at most ${MOST_ROWS}, as labels are i16`);
}

/** Paints the masks of all rows into one picture. `maskOf` makes the mask of one row. */
export function paintMasks(
  detections: Detections,
  [width, height]: readonly [number, number],
  overlap: LabelMapOptions["overlap"] = "first",
  maskOf: (row: number) => Mask,
): LabelMap {
  checkPaint(detections, overlap);
  const data = new Int16Array(width * height).fill(-1);
  for (let row = 0; row < detections.length; row++) {
    const mask = maskOf(row);
    for (let y = 0, from = 0; y < mask.height; y++)
      for (let x = 0, at = (mask.y + y) * width + mask.x; x < mask.width; x++, at++)
        if (mask.data[from++] && (overlap === "last" || data[at] < 0)) data[at] = row;
  }
  return { width, height, data };
}

/**
 * Returns the index of the detection to which each pixel of a picture belongs. Paints all masks of an image in one
 * pass.
 * @throws TypeError if the detections have no masks, RangeError for invalid options
 * @example
 * import { createDecoderSync, labelMap } from "boxwright";
 *
 * const decoder = createDecoderSync({ family: "yolo26", inputSize: [16, 8], task: "segment", coordinates: "pixels" });
 * // Two boxes, x1 y1 x2 y2 score class and one coefficient each, and one prototype of 4 x 2 pixels.
 * const found = decoder.decode({
 *   output0: { data: [0, 0, 12, 8, 0.9, 0, 1, 4, 0, 16, 8, 0.8, 0, 1], dims: [1, 2, 7] },
 *   output1: { data: [1, 1, 1, 1, -1, 1, 1, -1], dims: [1, 1, 2, 4] },
 * });
 * const map = labelMap(found, { size: "prototype" });
 * console.log(map.width, map.height, [...map.data]); // 4 2 [0,0,0,1,-1,0,0,-1]
 */
export function labelMap(detections: Detections, options?: LabelMapOptions): LabelMap {
  const paint = (detections as unknown as { taskFunctions?: Partial<MaskFunctions> } | null)?.taskFunctions
    ?.labelMap;
  if (!paint)
    return refuse("labelMap", show(detections), 'detections of a decoder with task "segment"', TypeError);
  return paint(detections, options);
}
