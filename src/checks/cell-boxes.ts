/** Detects decoded boxes in another format than stated: even at a low score, a row's box lies around its cell. */
import { type PlanInMemory, valueIn } from "../decode/values.ts";
import type { Moment } from "./check.ts";
import { READINGS } from "../core/readings.ts";
import { move } from "../heads/channels.ts";
import { gridsOfRows } from "../shapes/grids.ts";

const MOST_CELLS = 100;
/** Smallest count of cells for a conclusion. */
const FEWEST_CELLS = 40;
/** Largest mean squared distance of near boxes from their cells, in 0..1 of the input. Random boxes have 1 / 6. */
const NEAR = 0.01;
/** Factor by which another format must reduce the distance of boxes from their cells. */
const TIMES = 4;

/** Functions that return the centre of a box along one axis from its two numbers, for each kind of box. */
const CENTRES = {
  centre: (low: number) => low,
  corners: (low: number, high: number) => (low + high) / 2,
  topleft: (low: number, size: number) => low + size / 2,
} as const;
/** The value of the option boxFormat for each kind. */
const FORMATS = { centre: "cxcywh", corners: "xyxy", topleft: "xywh" } as const;
type BoxKind = keyof typeof CENTRES;

/** Returns a note if boxes lie around their cells only in another format, or with exchanged sides of the input. */
export function noteOfCellBoxes({ work: image }: Moment<PlanInMemory>): string | null {
  const { heads, inputSize, inPhoto, reading } = image.plan;
  const [head] = heads;
  const { kind, cells, unit, box, boxChannels } = head;
  const { finished, cells: order } = READINGS[reading];
  if (finished || order === "list" || !inputSize || inPhoto || !(kind in CENTRES)) return null;
  const [grid] =
    gridsOfRows({ inputSize, strides: null }, cells) ??
    gridsOfRows({ inputSize, strides: null }, cells / 3) ??
    [];
  if (!grid || grid.cells < FEWEST_CELLS) return null;
  const isPixels = unit[0] !== 1;
  const step = Math.ceil(grid.cells / MOST_CELLS) | 1;
  const rows: number[][] = [];
  for (let i = 0; i < grid.cells; i += step) {
    const row = boxChannels.map((at) => valueIn(image, 0, move(box, at), i));
    if (row.every(Number.isFinite)) rows.push([...row, i]);
  }
  /** Returns the mean squared distance from the cells; Infinity above `limit`. Loops by index: iterators cost 1 ms. */
  const distanceAs = (as: BoxKind, isYFirst: boolean, isExchanged: boolean, limit: number): number => {
    const [w, h] = isExchanged ? [grid.h, grid.w] : [grid.w, grid.h];
    const [width, height] = isPixels ? (isExchanged ? [inputSize[1], inputSize[0]] : inputSize) : [1, 1];
    const centre = CENTRES[as];
    const most = limit * rows.length;
    let sum = 0;
    for (let k = 0; k < rows.length; k++) {
      const row = rows[k];
      const i = row[4];
      const x = centre(row[0], row[2]);
      const y = centre(row[1], row[3]);
      const across = (isYFirst ? y : x) / width - ((i % w) + 0.5) / w;
      const down = (isYFirst ? x : y) / height - (Math.floor(i / w) + 0.5) / h;
      sum += across * across + down * down;
      if (sum >= most) return Infinity;
    }
    return sum / rows.length;
  };
  const stated = distanceAs(kind as BoxKind, false, false, Infinity);
  let [nearest, words] = [Math.min(NEAR, stated / TIMES), ""];
  for (const isExchanged of [false, true])
    for (const as of Object.keys(CENTRES) as BoxKind[])
      for (const isYFirst of [false, true]) {
        const other = distanceAs(as, isYFirst, isExchanged, nearest);
        if (!(other < nearest)) continue;
        nearest = other;
        words = FORMATS[as] + (isYFirst ? " with y before x" : "");
        if (isExchanged) words += ` of a ${inputSize[1]}x${inputSize[0]} input`;
      }
  return words === ""
    ? null
    : `the boxes of ${head.about} lie around their cells if they are ${words}, and not as they are read: are boxFormat ` +
        "and inputSize, [width, height], those of the network?";
}
