/** Detects data whose storage order is not that of the dims: neighbouring cells have similar values. */
import type { Moment } from "./check.ts";
import * as A from "../core/abi.ts";
import { READINGS } from "../core/readings.ts";
import { ELEMENTS, shape, volume } from "../core/tensor.ts";
import { gridsOfRows } from "../shapes/grids.ts";
import type { HeadTensor } from "../heads/head.ts";
import type { Plan } from "../plan/plan.ts";
import { value } from "../engine/ts/value.ts";
import { type PlanInMemory, columnOf } from "../decode/values.ts";

/** Smallest count of a tensor's values for a conclusion. */
const FEWEST_VALUES = 256;
/** Largest count of value pairs that are compared: enough for a mean, and quick. */
const MOST_PAIRS = 16384;
/** Neighbours in another order must differ less by this factor. In the right order, recorded networks stay below 1. */
const NEARER = 1.5;
/** Largest mean of normalised differences between values that may be neighbours. */
const APART = 0.7;
/** Smallest fraction of the pairs that must differ. A few values in a tensor of zeros prove nothing. */
const LEAST_DIFFERING = 0.1;
/** `LEAST_DIFFERING` for a map with one channel: a map of text is 0 nearly everywhere. */
const LEAST_OF_ONE = 0.01;

/** The way in which one image of a tensor stores the channels of its cells. */
interface CellGrid {
  readonly tensor: number;
  readonly channels: number;
  readonly width: number;
  readonly height: number;
  /** True if the channels of a cell are adjacent. */
  readonly isLast: boolean;
  /** Distance in rows between neighbouring cells: the anchor count if the anchors of a cell are adjacent. Default 1. */
  readonly apart?: number;
}

/** Returns a note on the first tensor whose neighbours differ less in another order. Returns null if there is none. */
export function noteOfStorageOrder({ work: image }: Moment<PlanInMemory>): string | null {
  const { plan } = image;
  const seen = new Set<string>();
  const { cells: kind, finished } = READINGS[plan.reading];
  const heads = finished && kind === undefined ? [] : plan.heads;
  for (const tensor of [...heads.flatMap(({ origin }) => origin.tensors), ...(plan.task?.maps ?? [])]) {
    if (seen.has(tensor.name)) continue;
    seen.add(tensor.name);
    const cells = cellGridOf(image, tensor);
    if (!cells) continue;
    // Compare neighbours only in maps: neighbours in a list are not near each other in the picture.
    const isMap = kind === "map" || plan.task?.maps?.includes(tensor);
    const hasBoxes = heads.some(({ origin }) => origin.tensors[0].name === tensor.name);
    if (kind === "list" && !isMap && hasBoxes && areColumnsExchanged(image, cells))
      return (
        `the columns of ${shape(tensor)}, read as ${tensor.layout}, do not differ, and would if the other dimension ` +
        'held them: are dims and order those of the data ("rows" or "planes")?'
      );
    const other = isMap ? otherOrder(image, cells) : null;
    if (other)
      return (
        `neighbouring values of ${shape(tensor)}, read as ${tensor.layout}, differ more than if ${other}: are dims ` +
        "and order those of the data (NCHW or NHWC)?"
      );
    // Check only tensors with boxes: nearly all scores are low, and prove too little.
    const size = hasBoxes && kind !== "list" ? otherSize(image, cells) : null;
    if (size)
      return (
        `the cells of ${shape(tensor)} lie as those of a ${size.join("x")} input do, and not of ` +
        `${[...size].reverse().join("x")}: inputSize is [width, height]`
      );
  }
  return null;
}

/** Possible row counts per cell of the input's maps: one, or one for each of two or three anchors. */
const ROWS_PER_CELL = [1, 2, 3];
/** Factor by which cells must differ less from the cell below if width and height are exchanged. */
const BELOW = 3;

/** Returns the input size with exchanged sides, if cells then differ less from the cell below; else null. */
function otherSize(image: PlanInMemory, cells: CellGrid): [number, number] | null {
  const { inputSize } = image.plan;
  if (!inputSize || cells.height > 1) return null;
  for (const n of ROWS_PER_CELL) {
    const [largest] = gridsOfRows({ inputSize, strides: null }, cells.width / n) ?? [];
    if (!largest || largest.w === largest.h) continue;
    const step = cells.isLast ? cells.channels : 1;
    // Try both orders: the anchors of a cell are adjacent, or all cells of one anchor are.
    for (const apart of n > 1 ? [step, n * step] : [step])
      if (isNearer(image, cells, [largest.w * apart, largest.h * apart], BELOW))
        return [inputSize[1], inputSize[0]];
  }
  return null;
}

/** Smallest fraction of the variance that exchanged columns must explain for a note. */
const EXPLAINED = 0.15;
/** Smallest ratio of the variance that exchanged columns explain to the variance that the stated columns explain. */
const TIMES = 4;
/** Smallest count of values for which this check runs. Fewer values may form columns by chance. */
const FEWEST_IN_COLUMNS = 64;

/** True if the axes seem exchanged: the columns along the other axis explain much more of the variance. */
function areColumnsExchanged(
  { memory, plan, layout }: PlanInMemory,
  { tensor, channels, width, isLast }: CellGrid,
): boolean {
  const count = channels * width;
  if (count < FEWEST_IN_COLUMNS) return false;
  const { type, scale, zeroPoint } = plan.tensors[tensor];
  const { bytes, code } = ELEMENTS[type];
  const byLast = Array.from({ length: channels }, () => [0, 0]);
  const byFirst = Array.from({ length: channels }, () => [0, 0]);
  let [n, sum, squares] = [0, 0, 0];
  for (let i = 0; i < count; i++) {
    const x = value(memory, code, layout.slots[tensor] + i * bytes, scale ?? 1, zeroPoint);
    if (!Number.isFinite(x)) continue;
    n++;
    sum += x;
    squares += x * x;
    for (const group of [byLast[i % channels], byFirst[Math.floor(i / width)]]) {
      group[0]++;
      group[1] += x;
    }
  }
  const mean = sum / n;
  const explained = (groups: readonly (readonly number[])[]): number =>
    groups.reduce((all, [m, s]) => all + (m > 0 ? m * (s / m - mean) ** 2 : 0), 0) /
    (squares - n * mean * mean);
  const [last, first] = [explained(byLast), explained(byFirst)];
  const [asRead, exchanged] = isLast ? [last, first] : [first, last];
  return exchanged > EXPLAINED && exchanged > TIMES * asRead;
}

/** Returns how a tensor stores cells; null for a layout without cells, or if the plan does not read the tensor. */
function cellGridOf({ plan }: PlanInMemory, { name, dims, layout }: HeadTensor): CellGrid | null {
  const tensor = plan.tensors.findIndex((s) => s.name === name);
  if (tensor < 0) return null;
  const [a, b, c] = dims.slice(-3);
  // A tensor of four dimensions read as rows is a map of pixels without channels.
  if (dims.length === 4 && layout === "rows" && a === 1)
    return { tensor, channels: 1, width: c, height: b, isLast: false };
  const long = dims.slice(dims.length > 2 ? 1 : 0).filter((n) => n !== 1);
  const [rows, columns] = long.slice(-2);
  switch (layout) {
    case "NCHW":
    case "CHW":
      return { tensor, channels: a, width: c, height: b, isLast: false };
    case "NHWC":
    case "HWC":
      return { tensor, channels: c, width: b, height: a, isLast: true };
    case "rows":
      return long.length === 2
        ? {
            tensor,
            channels: columns,
            width: rows,
            height: 1,
            isLast: true,
            apart: apartOf(plan, tensor, columns),
          }
        : null;
    case "planes":
      return long.length === 2 ? { tensor, channels: rows, width: columns, height: 1, isLast: false } : null;
    default:
      return null;
  }
}

/** Returns the distance in rows between neighbouring cells of one anchor. In SCRFD's rows, two anchors alternate. */
function apartOf({ heads }: Plan, tensor: number, columns: number): number {
  const column = heads.flatMap(({ box, score }) => [box, score]).find((one) => one.tensor === tensor);
  const apart = (column?.cell ?? columns) / columns;
  return Number.isInteger(apart) && apart > 1 ? apart : 1;
}

/** Returns the order in which neighbours of the first image differ less. Returns null if there is none. */
function otherOrder(image: PlanInMemory, cells: CellGrid): string | null {
  const { channels, width, height, isLast, apart = 1 } = cells;
  const step = isLast ? channels * apart : 1;
  const isMap = width > 1 && height > 1;
  const other = isLast ? apart : channels;
  // Compare each cell with the cell beside it. In a map, also compare it with the cell below.
  const isOther =
    isNearer(image, cells, [step, other]) ||
    (isMap && isNearer(image, cells, [step, other], NEARER, [width * step, width * other]));
  if (channels > 1 && width * height > 1 && isOther)
    return isLast ? "channels came first" : "channels came last";
  return isMap && width !== height && isNearer(image, cells, [width * step, height * step])
    ? "width came before height"
    : null;
}

/** True if values at distance `other` differ less than at `read`, by the factor `times`. Averages both pairs. */
function isNearer(
  image: PlanInMemory,
  { tensor, channels, width, height }: CellGrid,
  pair: readonly [read: number, other: number],
  times: number = NEARER,
  more?: readonly [read: number, other: number],
): boolean {
  const count = channels * width * height;
  if (count < FEWEST_VALUES) return false;
  const least = channels === 1 ? LEAST_OF_ONE : LEAST_DIFFERING;
  const found = [pair, ...(more ? [more] : [])].map((p) => differences(image, tensor, count, p, least));
  const mean = (k: 0 | 1): number => found.reduce((sum, each) => sum + each[k], 0) / found.length;
  return mean(1) < APART && mean(0) > times * mean(1);
}

/**
 * Returns the normalised difference of values at each of two distances: 0 for equal, 1 for unrelated values. Returns 0
 * and Infinity if too few values differ.
 */
function differences(
  work: PlanInMemory,
  tensor: number,
  count: number,
  distances: readonly [read: number, other: number],
  least: number,
): [number, number] {
  const { engine, memory, plan } = work;
  const { type, dims } = plan.tensors[tensor];
  const { bytes } = ELEMENTS[type];
  const end = Math.min(count, volume(dims)) - Math.max(...distances);
  // Choose a step that has no divisor in common with the distances: otherwise, the loop would visit only some channels.
  let step = Math.max(1, Math.ceil(end / MOST_PAIRS));
  while (step > 1 && distances.some((distance) => greatestCommonDivisor(distance, step) > 1)) step++;
  const column = columnOf(work, tensor, 0);
  const { i32, f32 } = memory;
  const word = column >> 2;
  i32.set([Math.ceil(end / step), step * bytes], word + A.C_RUN);
  i32.set(
    distances.map((distance) => distance * bytes),
    word + A.C_READ,
  );
  const differing = engine.compare(column);
  const [read, other] = [f32[word + A.C_BY_READ], f32[word + A.C_BY_OTHER]];
  return other < Infinity && differing > i32[word + A.C_COMPARED] * least ? [read, other] : [0, Infinity];
}

const greatestCommonDivisor = (a: number, b: number): number =>
  b === 0 ? a : greatestCommonDivisor(b, a % b);
