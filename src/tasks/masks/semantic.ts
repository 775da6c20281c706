/** Class maps of semantic segmentation: the class id of each pixel. */
import { refuse } from "../../core/errors.ts";
import { COUNT, checkOptions } from "../../core/options.ts";
import { halfToFloat, numbersOf } from "../../core/number.ts";
import { type TensorInput, kindOf, shape, specOf } from "../../core/tensor.ts";

/** Options of `classMap`. */
export interface ClassMapOptions {
  /** Number of classes. Needed where the shape can be read as NCHW and as NHWC. */
  readonly classes?: number;
}

/** A picture of class ids. */
export interface ClassMap {
  readonly width: number;
  readonly height: number;
  /** Number of classes of the network. */
  readonly classes: number;
  /** Class id of each pixel: the one with the highest score, the first of several. Uint16Array from 257 classes on. */
  readonly data: Uint8Array | Uint16Array;
}

/**
 * Returns the class of each pixel of a semantic segmentation: the argmax over the classes. Scores may be raw or
 * probabilities, floats or quantised: only their order counts. A NaN is below every number.
 * @throws TensorError if the tensor is none of [1,C,h,w], [1,h,w,C], [C,h,w] and [h,w,C], or may be two of them. Also
 * if it has one class, or a pixel without a score above -Infinity
 * @example
 * import { classMap } from "boxwright";
 *
 * const scores = { data: [1, 5, 2, 2, 4, 0, 3, 9], dims: [1, 2, 2, 2], order: "NCHW" as const }; // 2 classes
 * console.log([...classMap(scores).data]); // [1,0,1,1]
 */
export function classMap(tensor: TensorInput, options: ClassMapOptions = {}): ClassMap {
  const { classes } = checkOptions(options ?? {}, { classes: COUNT });
  const spec = specOf("scores", tensor, {});
  const { dims, order, type } = spec;
  const [batch, a, b, c] = dims.length === 4 ? dims : [1, ...dims];
  if (dims.length < 3 || dims.length > 4 || batch !== 1 || dims.includes(0))
    refuse('tensor "scores"', `dims [${dims.join(",")}]`, "[1,C,h,w], [1,h,w,C], [C,h,w] or [h,w,C]");
  const stated = order?.toUpperCase() ?? "";
  const isLast = !/CHW$/.test(stated) && (classes === undefined || c === classes);
  const isFirst = !/HWC$/.test(stated) && (classes === undefined || a === classes);
  if (isLast === isFirst)
    refuse(
      'tensor "scores"',
      shape(spec),
      isLast ? `classes, or order: NCHW (${a} classes) or NHWC (${c} classes)` : `${classes} classes in it`,
    );
  const [count, height, width] = isFirst ? [a, b, c] : [c, a, b];
  if (count === 1)
    refuse(
      'tensor "scores"',
      `${shape(spec)}, one class`,
      "two classes or more. Compare a single one with a threshold; class ids need no argmax",
    );
  const pixels = width * height;
  const data = count > 256 ? new Uint16Array(pixels) : new Uint8Array(pixels);
  const isHalf = type === "f16" && kindOf(tensor.data) !== "Float16Array";
  const values = isHalf
    ? Float32Array.from(tensor.data as ArrayLike<number>, halfToFloat)
    : spec.channels
      ? numbersOf(spec, tensor.data)
      : (tensor.data as ArrayLike<number>);
  const lost = isFirst
    ? argmaxOverPlanes(values, data, count, pixels)
    : argmaxOverPixels(values, data, count, pixels);
  if (lost > 0)
    refuse('tensor "scores"', `${lost} of ${pixels} pixels without a score above -Infinity`, "numbers");
  return { width, height, classes: count, data };
}

/**
 * Writes the argmax over planes. The loop over classes is the outer one, so that memory is read in order. Returns the
 * count of pixels without a score.
 */
function argmaxOverPlanes(
  values: ArrayLike<number>,
  ids: Uint8Array | Uint16Array,
  classes: number,
  pixels: number,
): number {
  const best = new Float64Array(pixels).fill(-Infinity);
  for (let id = 0, at = 0; id < classes; id++)
    for (let i = 0; i < pixels; i++, at++) {
      const value = Number(values[at]);
      if (value > best[i]) {
        best[i] = value;
        ids[i] = id;
      }
    }
  let lost = 0;
  for (let i = 0; i < pixels; i++) if (best[i] === -Infinity) lost++;
  return lost;
}

/** Writes the argmax over pixels whose scores are neighbours in memory. Returns the count of pixels without a score. */
function argmaxOverPixels(
  values: ArrayLike<number>,
  ids: Uint8Array | Uint16Array,
  classes: number,
  pixels: number,
): number {
  let lost = 0;
  for (let i = 0, at = 0; i < pixels; i++) {
    let best = -Infinity;
    let found = 0;
    for (let id = 0; id < classes; id++, at++) {
      const value = Number(values[at]);
      if (value > best) {
        best = value;
        found = id;
      }
    }
    ids[i] = found;
    if (best === -Infinity) lost++;
  }
  return lost;
}
