/**
 * Notices data whose storage order is not that of the dims. In a network's maps neighbouring cells resemble each other.
 * If the data is read in another order than it has, the places of neighbours hold other channels or other rows.
 */
import { value } from "../engine/ts/value.ts";
import { READINGS } from "../core/readings.ts";
import { ELEMENTS, shape, volume } from "../core/tensor.ts";
import type { HeadTensor } from "../heads/head.ts";
import type { MemoryImage } from "../memory/write.ts";

/** A tensor with fewer values says too little. */
const FEWEST_VALUES = 256;
/** Pairs of values that are compared: enough for a mean, and quick. */
const MOST_PAIRS = 16384;
/** The order is wrong if neighbours differ this many times less in another order. Recorded networks stay below 1. */
const NEARER = 1.5;
/** Values with a larger normalised difference are no neighbours. */
const APART = 0.7;
/** Part of the pairs that have to differ: a few values in a tensor of zeros tell nothing. */
const LEAST_DIFFERING = 0.1;
/** The same of a map without channels, such as one of texts, which is 0 nearly everywhere. */
const LEAST_OF_ONE = 0.01;

/** Cells of channels in one image of a tensor. */
interface CellGrid {
  readonly tensor: number;
  readonly channels: number;
  readonly width: number;
  readonly height: number;
  /** Channels of a cell stand side by side. */
  readonly isLast: boolean;
}

/** Returns a note on the first tensor whose neighbours are nearer to each other in another order; null for none. */
export function noteOfStorageOrder(image: MemoryImage): string | null {
  const { plan } = image;
  const seen = new Set<string>();
  const heads = READINGS[plan.reading].cells === "map" ? plan.heads : [];
  for (const tensor of [...heads.flatMap(({ origin }) => origin.tensors), ...(plan.task?.maps ?? [])]) {
    if (seen.has(tensor.name)) continue;
    seen.add(tensor.name);
    const cells = cellGridOf(image, tensor);
    const other = cells && otherOrder(image, cells);
    if (other)
      return (
        `neighbouring values of ${shape(tensor)}, read as ${tensor.layout}, differ more than if ${other}: are dims ` +
        "and order those of the data (NCHW or NHWC)?"
      );
  }
  return null;
}

/** Returns how a tensor holds cells; null if its layout is neither channels first nor channels last. */
function cellGridOf({ plan }: MemoryImage, { name, dims, layout }: HeadTensor): CellGrid | null {
  const tensor = plan.tensors.findIndex((s) => s.name === name);
  const [a, b, c] = dims.slice(-3);
  // Four dimensions that are read as rows are pixels without channels.
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
      return long.length === 2 ? { tensor, channels: columns, width: rows, height: 1, isLast: true } : null;
    case "planes":
      return long.length === 2 ? { tensor, channels: rows, width: columns, height: 1, isLast: false } : null;
    default:
      return null;
  }
}

/** Returns the order in which the values of the first image are nearer to their neighbours; null if none is. */
function otherOrder(
  image: MemoryImage,
  { tensor, channels, width, height, isLast }: CellGrid,
): string | null {
  const count = channels * width * height;
  if (count < FEWEST_VALUES) return null;
  const step = isLast ? channels : 1;
  const least = channels === 1 ? LEAST_OF_ONE : LEAST_DIFFERING;
  const isNearer = (...pairs: readonly (readonly [read: number, other: number])[]): boolean => {
    const found = pairs.map((pair) => differences(image, tensor, count, pair, least));
    const mean = (k: 0 | 1): number => found.reduce((sum, pair) => sum + pair[k], 0) / found.length;
    return mean(1) < APART && mean(0) > NEARER * mean(1);
  };
  const isMap = width > 1 && height > 1;
  const other = isLast ? 1 : channels;
  // Neighbours stand beside a cell, and in a map below it.
  const isOther =
    isNearer([step, other]) || (isMap && isNearer([step, other], [width * step, width * other]));
  if (channels > 1 && width * height > 1 && isOther)
    return isLast ? "channels came first" : "channels came last";
  return isMap && width !== height && isNearer([width * step, height * step])
    ? "width came before height"
    : null;
}

/**
 * Returns the normalised difference of values, for each of two distances in elements. It is the mean squared difference
 * divided by twice the variance: 0 for equal values, 1 for unrelated ones.
 * @param least part of the pairs that have to differ
 */
function differences(
  { memory, plan, layout }: MemoryImage,
  tensor: number,
  count: number,
  distances: readonly [number, number],
  least: number,
): [number, number] {
  const { type, scale, zeroPoint } = plan.tensors[tensor];
  const { bytes, code } = ELEMENTS[type];
  const start = layout.slots[tensor];
  // The first frame runs this before V8 compiles it. Plain reads save 5 of its 10 ms for [1,84,8400].
  const at: (i: number) => number =
    type === "f32"
      ? (i) => memory.f32[(start >> 2) + i]
      : (i) => value(memory, code, start + i * bytes, scale ?? 1, zeroPoint);
  const end = Math.min(count, volume(plan.tensors[tensor].dims)) - Math.max(...distances);
  // A step that shares a divisor with a distance would visit some channels only.
  let step = Math.max(1, Math.ceil(end / MOST_PAIRS));
  while (step > 1 && distances.some((distance) => greatestCommonDivisor(distance, step) > 1)) step++;
  const [near, far] = distances;
  let [n, sum, squares, first, second, differing] = [0, 0, 0, 0, 0, 0];
  for (let i = 0; i < end; i += step) {
    const x = at(i);
    const a = x - at(i + near);
    const b = x - at(i + far);
    if (!Number.isFinite(a + b)) continue;
    n++;
    if (a !== 0 || b !== 0) differing++;
    sum += x;
    squares += x * x;
    first += a * a;
    second += b * b;
  }
  const variance = squares / n - (sum / n) ** 2;
  return variance > 0 && differing > n * least
    ? [first / (2 * n * variance), second / (2 * n * variance)]
    : [0, Infinity];
}

const greatestCommonDivisor = (a: number, b: number): number =>
  b === 0 ? a : greatestCommonDivisor(b, a % b);
