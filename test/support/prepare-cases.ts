/** Seeded pictures and rules. `prepare.py` makes the same bytes, and the tensors of OpenCV and Pillow. */
import { createHash } from "node:crypto";
import type { PrepareRule } from "../../src/core/prepare-rule.ts";
import type { ImageFormat, ImageInput, PreparedData } from "../../src/decode/prepare.ts";

export interface PrepareCase {
  readonly seed: number;
  readonly width: number;
  readonly height: number;
  readonly format: ImageFormat;
  readonly stride: number;
  readonly rule: PrepareRule;
}

/** Returns a function that gives the next of a fixed row of numbers in 0..2^32-1. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return hash(state);
  };
}

function hash(x: number): number {
  let h = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return (h ^ (h >>> 16)) >>> 0;
}

const FORMATS = ["rgba", "rgb", "bgr", "gray", "nv12", "i420", "yuyv"] as const;
const RESIZES = ["letterbox", "letterbox-topleft", "stretch", "crop"] as const;
const RESAMPLES = ["bilinear", "bilinear", "area", "nearest", "pillow"] as const;

const rowBytes = (format: ImageFormat, width: number): number =>
  width * ({ rgba: 4, bgra: 4, rgb: 3, bgr: 3, yuyv: 2, gray: 1, nv12: 1, i420: 1 } as const)[format];

/** How values are made: the defaults, mean and std, a factor, quantised. */
const VALUES: readonly Omit<PrepareRule, "size">[] = [
  {},
  { mean: [103.53, 116.28, 123.675], std: [57.375, 57.12, 58.395] },
  { mean: 127.5, factor: 0.007843 },
  { factor: 1 / 255 },
  { type: "f16" },
  { type: "f16", mean: 127, std: 128 },
  { type: "u8" },
  { type: "i8", scale: 0.003921568859368563, zeroPoint: -128 },
  { type: "u8", mean: 127.5, std: 127.5, scale: 0.0078125, zeroPoint: 128 },
];

/** Returns case `index` of the row. */
export function prepareCase(index: number): PrepareCase {
  const random = randomFrom(hash(index + 1));
  const below = (n: number): number => random() % n;
  const pick = <T>(all: readonly T[]): T => all[below(all.length)];
  const format = pick(FORMATS);
  // OpenCV wants whole groups of pixels that share chroma.
  const isYuv = format === "nv12" || format === "i420" || format === "yuyv";
  const side = (): number => 1 + below(below(4) === 0 ? 9 : 260);
  const evenly = (n: number): number => (isYuv ? n + (n & 1) : n);
  const input: [number, number] = [side(), side()];
  // A third of the pictures has a whole multiple of the input's size, for which OpenCV has other code.
  const times = below(3) === 0 ? [1 + below(4), 1 + below(4)] : null;
  const width = evenly(times ? Math.min(600, input[0] * times[0]) : side());
  const height = evenly(times ? Math.min(600, input[1] * times[1]) : side());
  const gap =
    below(3) === 0
      ? format === "rgba"
        ? pick([4, 16, 3])
        : format === "i420"
          ? 2 * below(9)
          : below(19)
      : 0;
  return {
    seed: random(),
    width,
    height,
    format,
    stride: rowBytes(format, width) + gap,
    rule: {
      size: input,
      resize: pick(RESIZES),
      resample: pick(RESAMPLES),
      pad: pick([114, 0, 255, below(256)]),
      layout: pick(["NCHW", "NHWC"] as const),
      order: pick(["RGB", "BGR"] as const),
      ...pick(VALUES),
    },
  };
}

/** Returns case `index` of the pictures with a margin, a padding for each channel, or cubic weights. */
export function laterCase(index: number): PrepareCase {
  const { rule, width, height, ...rest } = prepareCase(index);
  const random = randomFrom(hash(~index));
  const below = (n: number): number => random() % n;
  const size: [number, number] = [8 + below(50), 8 + below(50)];
  return {
    ...rest,
    width: Math.min(width, 90),
    height: Math.min(height, 90),
    rule: {
      ...rule,
      size,
      resize: RESIZES[index % 4],
      margin: [0, 4, 1][index % 3],
      pad: [below(256), below(256), below(256)],
      resample: index % 2 === 0 ? "cubic" : rule.resample,
    },
  };
}

/** Returns how many bytes the image of a case has. */
function bytesOf({ format, height, stride }: PrepareCase): number {
  if (format === "nv12" || format === "i420") return (stride * height * 3) / 2;
  return stride * height;
}

/** Returns the image of a case: noise, or noise on a slope. */
export function imageOf(c: PrepareCase): ImageInput {
  const data = new Uint8Array(bytesOf(c));
  const isSmooth = c.seed % 2 === 0;
  for (let i = 0; i < data.length; i++) {
    const noise = hash((c.seed + i) >>> 0);
    data[i] = isSmooth ? (i >> 3) + (noise & 15) : noise;
  }
  const { width, height, format, stride } = c;
  return { data, width, height, format, stride };
}

/** Returns the first 16 digits of the SHA-256 of an array's bytes. */
export const digestOf = ({ buffer, byteOffset, byteLength }: PreparedData): string =>
  createHash("sha256")
    .update(new Uint8Array(buffer, byteOffset, byteLength))
    .digest("hex")
    .slice(0, 16);
