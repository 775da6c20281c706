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
/** Neighbours of the other order are this many times as near. Of recorded networks as they are, never above 1. */
const NEARER = 1.5;
/** Values whose mean squared difference is above this part of twice the variance are no neighbours. */
const APART = 0.7;

/** Part of the pairs that have to differ. */
const LEAST_DIFFERING = 0.1;

/** A tensor as cells of channels: one image of it, without a batch. */
interface Cells {
  readonly tensor: number;
  readonly channels: number;
  readonly width: number;
  readonly height: number;
  /** Channels of a cell stand side by side. */
  readonly isLast: boolean;
}

/** Returns a note on the first tensor whose neighbours are nearer to each other in another order; null for none. */
export function noteOfStorageOrder(image: MemoryImage, tasks: readonly HeadTensor[] = []): string | null {
  const { plan } = image;
  const seen = new Set<string>();
  const heads = READINGS[plan.reading].cells === "map" ? plan.heads : [];
  for (const tensor of [...heads.flatMap(({ origin }) => origin.tensors), ...tasks]) {
    if (seen.has(tensor.name)) continue;
    seen.add(tensor.name);
    const cells = cellsOf(image, tensor);
    const other = cells && otherOrder(image, cells);
    if (other)
      return (
        `neighbouring values of ${shape(tensor)}, read as ${tensor.layout}, differ more than if ${other}: are dims ` +
        "and order those of the data (NCHW or NHWC)?"
      );
  }
  return null;
}

/** Returns a tensor as cells; null if its order is not one of two. */
function cellsOf({ plan }: MemoryImage, { name, dims, layout }: HeadTensor): Cells | null {
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
function otherOrder(image: MemoryImage, { tensor, channels, width, height, isLast }: Cells): string | null {
  const count = channels * width * height;
  if (count < FEWEST_VALUES) return null;
  const step = isLast ? channels : 1;
  const isNearer = (read: number, other: number): boolean => {
    const [ours, theirs] = differences(image, tensor, count, [read, other]);
    return theirs < APART && ours > NEARER * theirs;
  };
  if (channels > 1 && width * height > 1 && isNearer(step, isLast ? 1 : channels))
    return isLast ? "channels came first" : "channels came last";
  const isMap = width > 1 && height > 1 && width !== height;
  return isMap && isNearer(width * step, height * step) ? "width came before height" : null;
}

/**
 * Returns the mean squared difference of values that stand so many places apart, for each distance, as a part of
 * twice the variance: 0 for equal values, 1 for values that have nothing in common.
 */
function differences(
  { memory, plan, layout }: MemoryImage,
  tensor: number,
  count: number,
  distances: readonly [number, number],
): [number, number] {
  const { type, scale, zeroPoint } = plan.tensors[tensor];
  const { bytes, code } = ELEMENTS[type];
  const at = (i: number): number =>
    value(memory, code, layout.slots[tensor] + i * bytes, scale ?? 1, zeroPoint);
  const end = Math.min(count, volume(plan.tensors[tensor].dims)) - Math.max(...distances);
  // Take a step that visits all channels.
  let step = Math.max(1, Math.ceil(end / MOST_PAIRS));
  while (step > 1 && distances.some((distance) => greatestDivisor(distance, step) > 1)) step++;
  let [n, sum, squares, first, second, differing] = [0, 0, 0, 0, 0, 0];
  for (let i = 0; i < end; i += step) {
    const x = at(i);
    const [a, b] = [x - at(i + distances[0]), x - at(i + distances[1])];
    if (!Number.isFinite(a + b)) continue;
    n++;
    if (a !== 0 || b !== 0) differing++;
    sum += x;
    squares += x * x;
    first += a * a;
    second += b * b;
  }
  const variance = squares / n - (sum / n) ** 2;
  // A few values in a tensor of zeros tell nothing: they are what a test writes.
  return variance > 0 && differing > n * LEAST_DIFFERING
    ? [first / (2 * n * variance), second / (2 * n * variance)]
    : [0, Infinity];
}

/** Returns the greatest common divisor. */
const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));
