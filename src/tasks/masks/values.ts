/** `valueMap`: maps with one number per pixel, such as depth or anomaly. */
import { refuse } from "../../core/errors.ts";
import { checkOptions, namesOnly } from "../../core/options.ts";
import { numbersOf } from "../../core/number.ts";
import { type TensorInput, shape, specOf, volume } from "../../core/tensor.ts";
import { type Axis, visibleOf, bilinearTable } from "./axis.ts";
import { type OverImageOptions, placeOverImage } from "./over-image.ts";

/** Options of `valueMap`. */
export type ValueMapOptions = OverImageOptions;

/** A picture of numbers. */
export interface ValueMap {
  /** Width in pixels: the width of the frame, or of the map if there is no frame. */
  readonly width: number;
  readonly height: number;
  /** Value of each pixel, row by row, in the network's own unit. NaN outside the network input. */
  readonly data: Float32Array;
  /** Smallest finite value; NaN if there is none. */
  readonly min: number;
  /** Largest finite value; NaN if there is none. */
  readonly max: number;
}

const OPTIONS = /* @__PURE__ */ namesOnly("inputSize", "frame");

/**
 * Returns a map of numbers over the image: undoes the letterbox exactly, and resizes bilinearly with half-pixel
 * centres. Padding affects only pixels of cells that contain both image and padding.
 * @throws TensorError for a tensor that is not a map of one channel, RangeError for invalid options
 * @example
 * import { valueMap } from "boxwright";
 *
 * const depth = { data: [1, 2, 3, 5], dims: [1, 1, 2, 2] };
 * const { width, height, min, max } = valueMap(depth);
 * console.log(width, height, min, max); // 2 2 1 5
 */
export function valueMap(tensor: TensorInput, options: ValueMapOptions = {}): ValueMap {
  const { inputSize, frame } = checkOptions(options ?? {}, OPTIONS);
  const spec = specOf("map", tensor, {});
  const { dims } = spec;
  const [height, width] = dims.filter((d, i) => d !== 1 || i >= dims.length - 2);
  const count = volume(dims);
  // [1,h,w,1] has its channel last.
  const [h, w] = dims.length === 4 && dims[3] === 1 && dims[1] !== 1 ? [dims[1], dims[2]] : [height, width];
  if (dims.length < 2 || count === 0 || h * w !== count)
    refuse('tensor "map"', shape(spec), "[h,w], [1,h,w], [1,1,h,w] or [1,h,w,1], one channel of one image");
  const values = Float32Array.from(numbersOf(spec, tensor.data));
  if (!frame) return { width: w, height: h, data: values, ...rangeOf(values) };
  const { x, y, finish } = placeOverImage([w, h], inputSize, frame);
  const map = finish(resizeOver(values, w, x, y));
  return { ...map, ...rangeOf(map.data) };
}

/** Returns the smallest and the largest finite value. */
function rangeOf(values: Float32Array): { readonly min: number; readonly max: number } {
  let min = Infinity;
  let max = -Infinity;
  for (let i = 0; i < values.length; i++) {
    const v = values[i];
    if (v - v !== 0) continue;
    if (v < min) min = v;
    if (v > max) max = v;
  }
  return min > max ? { min: NaN, max: NaN } : { min, max };
}

/** Returns the values over the upright image. `w`: count of cells in a row of the map. */
function resizeOver(values: Float32Array, w: number, xAxis: Axis, yAxis: Axis): Float32Array {
  const { pixels: width } = xAxis;
  const columns = bilinearTable(xAxis);
  const rows = bilinearTable(yAxis);
  const across = visibleOf(xAxis);
  const down = visibleOf(yAxis);
  const data = new Float32Array(width * yAxis.pixels).fill(NaN);
  for (let y = down.from; y < down.to; y++) {
    const near = rows.near[y] * w;
    const far = rows.far[y] * w;
    for (let x = across.from; x < across.to; x++) {
      const [n, f, a, b] = [columns.near[x], columns.far[x], columns.nearWeights[x], columns.farWeights[x]];
      const upper = mix(values[near + n], values[near + f], a, b);
      const lower = mix(values[far + n], values[far + f], a, b);
      data[y * width + x] = mix(upper, lower, rows.nearWeights[y], rows.farWeights[y]);
    }
  }
  return data;
}

/** Returns a weighted sum. Ignores a value whose weight is 0, even NaN. */
const mix = (a: number, b: number, weightA: number, weightB: number): number =>
  weightB === 0 ? a * weightA : weightA === 0 ? b * weightB : a * weightA + b * weightB;
