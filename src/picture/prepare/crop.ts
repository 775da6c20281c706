/** Resamples a crop, possibly turned, in whole numbers as `cv2.warpAffine` does. All engines share this code. */
import { type Crop, mapOfCrop } from "../../core/crop.ts";
import type { ImageFormat, PreparedData } from "../../decode/prepare.ts";
import { roundToEven } from "../../core/place.ts";
import type { CheckedImage, CheckedRule } from "./rule.ts";
import { PICTURE_ELEMENTS, valueOf } from "./values.ts";

/** Bytes per pixel, and the positions of red, green and blue in a pixel. */
export interface PixelSteps {
  readonly pixel: number;
  readonly channels: readonly [red: number, green: number, blue: number];
}

/** Formats with interleaved bytes. */
export const PIXEL_STEPS: { readonly [F in ImageFormat]?: PixelSteps } = {
  rgba: { pixel: 4, channels: [0, 1, 2] },
  bgra: { pixel: 4, channels: [2, 1, 0] },
  rgb: { pixel: 3, channels: [0, 1, 2] },
  bgr: { pixel: 3, channels: [2, 1, 0] },
  gray: { pixel: 1, channels: [0, 0, 0] },
};

/** Count of fraction bits of a coordinate, and count of those that become the weight. */
const FRACTION = 10;
const WEIGHT = 5;
const ONE = 1 << WEIGHT;
const SHIFT = 2 * WEIGHT;
const ROUND = 1 << (SHIFT - 1);
/** Half a unit after the dropped bits, added for rounding. */
const HALF_CUT = 1 << (FRACTION - WEIGHT - 1);
/** Largest coordinate, which is outside every image. The sum of two, in fixed point, must fit 32 bits. */
const FARTHEST = 2 ** 19;

const fixed = (pixels: number): number =>
  roundToEven(Math.min(Math.max(pixels, -FARTHEST), FARTHEST) * 2 ** FRACTION);

/** Writes the elements of a crop's input tensor. `image` has one of the formats of `PIXEL_STEPS`. */
export function writeCrop(
  { data, width, height, format, stride }: CheckedImage,
  rule: CheckedRule,
  crop: Crop,
  to: PreparedData,
): void {
  const { pixel, channels } = PIXEL_STEPS[format] as PixelSteps;
  const [inputWidth, inputHeight] = rule.size;
  const plane = inputWidth * inputHeight;
  const isPlanar = rule.layout === "NCHW";
  const [xx, xy, x0, yx, yy, y0] = mapOfCrop(crop, [1, 1]);
  // Column i of the input lies at the fraction i / width of the crop, or i / (width - 1) with UDP.
  const across = 1 / Math.max(1, rule.udp ? inputWidth - 1 : inputWidth);
  const down = 1 / Math.max(1, rule.udp ? inputHeight - 1 : inputHeight);
  const columnX = multiplesOf(xx * across, inputWidth);
  const columnY = multiplesOf(yx * across, inputWidth);
  const offsets = rule.order === "RGB" ? channels : [...channels].reverse();
  const values = valuesOf(rule);
  const isEdge = rule.border === "edge";
  const { pad } = rule;
  const lastX = width - 1;
  const lastY = height - 1;
  const [first, second, third] = offsets;
  const step = isPlanar ? plane : 1;
  const advance = isPlanar ? 1 : 3;
  /** Channels of the four pixels around a point at the image's edge. */
  const edge = new Float64Array(12);
  let out = 0;
  for (let row = 0; row < inputHeight; row++) {
    const rowX = fixed(xy * down * row + x0) + HALF_CUT;
    const rowY = fixed(yy * down * row + y0) + HALF_CUT;
    for (let column = 0; column < inputWidth; column++, out += advance) {
      const atX = (rowX + columnX[column]) >> (FRACTION - WEIGHT);
      const atY = (rowY + columnY[column]) >> (FRACTION - WEIGHT);
      const x = atX >> WEIGHT;
      const y = atY >> WEIGHT;
      const right = atX & (ONE - 1);
      const below = atY & (ONE - 1);
      const d = right * below;
      const c = (below << WEIGHT) - d;
      const b = (right << WEIGHT) - d;
      const a = ONE * ONE - b - c - d;
      // Write out the three channels: a loop takes twice as long.
      if (x >= 0 && y >= 0 && x < lastX && y < lastY) {
        const at = y * stride + x * pixel;
        const under = at + stride;
        let p = at + first;
        let q = under + first;
        to[out] =
          values[(a * data[p] + b * data[p + pixel] + c * data[q] + d * data[q + pixel] + ROUND) >> SHIFT];
        p = at + second;
        q = under + second;
        to[out + step] =
          values[
            256 + ((a * data[p] + b * data[p + pixel] + c * data[q] + d * data[q + pixel] + ROUND) >> SHIFT)
          ];
        p = at + third;
        q = under + third;
        to[out + 2 * step] =
          values[
            512 + ((a * data[p] + b * data[p + pixel] + c * data[q] + d * data[q + pixel] + ROUND) >> SHIFT)
          ];
        continue;
      }
      for (let k = 0; k < 4; k++) {
        const tapX = x + (k & 1);
        const tapY = y + (k >> 1);
        const isOutside = tapX < 0 || tapY < 0 || tapX > lastX || tapY > lastY;
        const at = clamp(tapY, lastY) * stride + clamp(tapX, lastX) * pixel;
        for (let channel = 0; channel < 3; channel++)
          edge[4 * channel + k] = isOutside && !isEdge ? pad[channel] : data[at + offsets[channel]];
      }
      for (let channel = 0; channel < 3; channel++) {
        const e = 4 * channel;
        const sum = a * edge[e] + b * edge[e + 1] + c * edge[e + 2] + d * edge[e + 3];
        to[out + channel * step] = values[256 * channel + ((sum + ROUND) >> SHIFT)];
      }
    }
  }
}

/** Returns the multiples 0, 1, 2, ... of a length, in fixed point. */
const multiplesOf = (pixels: number, count: number): Int32Array =>
  Int32Array.from({ length: count }, (_, i) => fixed(pixels * i));

const clamp = (x: number, last: number): number => (x < 0 ? 0 : x > last ? last : x);

/** The table of the last rule: all crops of a frame use the same rule. */
let last: { readonly rule: string; readonly values: Float64Array } | null = null;

/** Returns the element for each byte value, 256 for each channel of the tensor. */
function valuesOf(rule: CheckedRule): Float64Array {
  const { type, mean, divisor, multiplies, scale, zeroPoint } = rule;
  const key = JSON.stringify([type, mean, divisor, multiplies, scale, zeroPoint]);
  if (last?.rule === key) return last.values;
  const { elementOf } = PICTURE_ELEMENTS[type];
  const values = Float64Array.from({ length: 768 }, (_, i) =>
    elementOf(valueOf(i & 255, i >> 8, rule), rule),
  );
  last = { rule: key, values };
  return values;
}
