/** Ranges and pictures of tensors. */
import type { NamedTensor } from "@repo/src/node/files/tensor.ts";

/** Returns the value of an f16 from its bits. */
function halfOf(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const size =
    exponent === 0
      ? fraction * 2 ** -24
      : exponent === 31
        ? fraction
          ? NaN
          : Infinity
        : (1 + fraction / 1024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -size : size;
}

const HALVES = /* @__PURE__ */ Float32Array.from({ length: 65536 }, (_, bits) => halfOf(bits));

/** Returns a function that returns the real value of an element. */
function valueReader({ data, type, scale, zeroPoint = 0 }: NamedTensor): (i: number) => number {
  if (type === "f16") return (i) => HALVES[data[i] as number];
  if (type === "i64") return (i) => Number(data[i]);
  if (scale !== undefined && type !== "f32") return (i) => ((data[i] as number) - zeroPoint) * scale;
  return (i) => data[i] as number;
}

/** The range of a tensor's values. */
export interface Range {
  readonly least: number;
  readonly most: number;
  readonly mean: number;
  /** Count of NaN and infinite elements. */
  readonly notFinite: number;
}

/** Number of elements after which other work of the thread gets a turn. */
const TURN = 1 << 21;

/** Returns the range of a tensor's values. Lets other work of the thread run between parts of a large tensor. */
export async function rangeOf(tensor: NamedTensor): Promise<Range> {
  const value = valueReader(tensor);
  const { length } = tensor.data;
  let [least, most, sum, notFinite] = [Infinity, -Infinity, 0, 0];
  for (let start = 0; start < length; start += TURN) {
    if (start > 0) await new Promise((resolve) => setTimeout(resolve));
    const end = Math.min(length, start + TURN);
    for (let i = start; i < end; i++) {
      const v = value(i);
      if (v - v !== 0) notFinite++;
      else {
        if (v < least) least = v;
        if (v > most) most = v;
        sum += v;
      }
    }
  }
  return { least, most, mean: sum / Math.max(1, length - notFinite), notFinite };
}

/** Values 0..1 on a grid. */
export interface Grid {
  readonly width: number;
  readonly height: number;
  readonly values: Float32Array;
}

/** Longest side of a picture of a tensor that no head reads. */
const SIDE = 64;

/**
 * Returns a picture of raw values over the last two dimensions. Each place has the sum of absolute values over at most
 * 64 channels, relative to the largest sum.
 */
export function rawGrid(tensor: NamedTensor): Grid {
  const { dims } = tensor;
  const value = valueReader(tensor);
  const isChannelsLast = dims.length === 4 && dims[3] <= dims[1] && dims[3] <= 256 && dims[2] > 1;
  const [rows, columns, channels] = isChannelsLast
    ? [dims[1], dims[2], dims[3]]
    : [
        dims.at(-2) ?? 1,
        dims.at(-1) ?? 1,
        Math.max(
          1,
          dims.slice(0, -2).reduce((a, b) => a * b, 1),
        ),
      ];
  const [width, height] = [Math.min(SIDE, columns), Math.min(SIDE, rows)];
  const values = new Float32Array(width * height);
  const plane = rows * columns;
  const some = Math.min(channels, 64);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const cell =
        Math.floor(((y + 0.5) * rows) / height) * columns + Math.floor(((x + 0.5) * columns) / width);
      let sum = 0;
      for (let c = 0; c < some; c++) {
        const v = Math.abs(value(isChannelsLast ? cell * channels + c : c * plane + cell));
        if (v - v === 0) sum += v;
      }
      values[y * width + x] = sum;
    }
  const most = values.reduce((a, b) => Math.max(a, b), 0) || 1;
  return { width, height, values: values.map((v) => v / most) };
}

/** Returns a short text of a number. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e6)
    ? value.toExponential(2)
    : String(Number(value.toPrecision(4)));
}
