/**
 * Builds prior boxes (anchors, default boxes) of standard SSD networks whose exports leave them out. All functions
 * return f32 rows, normalised to the network input. Rows have the order of the network's outputs: layer by layer, row
 * by row, cell by cell, box by box.
 */
import {
  type EfficientdetLayout,
  type Layer,
  blazeface,
  efficientdet,
  grid,
  ultraface,
} from "../core/built-priors.ts";
import { checkOptions, namesOnly } from "../core/options.ts";
import { show } from "../core/tensor.ts";

/** Options of `ssdAnchors`: the fields of MediaPipe's SsdAnchorsCalculatorOptions. */
export interface SsdAnchorOptions {
  /** [width, height] of the network input in pixels. */
  readonly inputSize: readonly [number, number];
  /** Pixels per cell of each layer. Adjacent layers of equal stride share their cells (MediaPipe). */
  readonly strides: readonly number[];
  /** Sizes of the boxes of the first layer and of the last layer, 0..1 of the input. */
  readonly minScale: number;
  readonly maxScale: number;
  /** Ratios width / height of the boxes of a cell, except the interpolated box. Default: 1, 2, 1/2, 3, 1/3. */
  readonly aspectRatios?: readonly number[];
  /** Width / height of the extra box with a scale between this layer's and the next's. 0: no extra box. Default: 1. */
  readonly interpolatedRatio?: number;
  /** True: the first layer has only three boxes: scale 0.1 at ratio 1, and the layer's scale at ratios 2 and 1/2. */
  readonly reduceLowest?: boolean;
  /** True: all boxes have width and height 1 (BlazeFace). */
  readonly fixedSize?: boolean;
  /** Position of a box centre inside its cell, in cells. Default: 0.5. */
  readonly offset?: number;
}

/** Scale of the square box of a reduced first layer. */
const LOWEST_SCALE = 0.1;

/** Throws a RangeError unless the value is a list of positive numbers, `count` of them if given. */
function checkPositive(name: string, given: unknown, count?: number): void {
  // Array.from fills the holes of an array. Without it, every() would skip them.
  const all: unknown[] = Array.isArray(given) ? Array.from(given) : [];
  const length = count ?? all.length;
  if (all.length === length && length > 0 && all.every((x) => typeof x === "number" && x > 0 && x < Infinity))
    return;
  refuse(
    name,
    Array.isArray(given) ? `[${all.map((x) => show(x)).join(", ")}]` : given,
    !Array.isArray(given)
      ? `a list of ${count ?? ""} positive numbers`.replace("  ", " ")
      : length === 1
        ? "a positive number"
        : `${length > 1 ? `${length} ` : ""}positive numbers`,
  );
}

/** Throws a RangeError that says what was found and what was expected. */
function refuse(name: string, got: unknown, expected: string): never {
  throw new RangeError(`${name}: got ${typeof got === "string" ? got : show(got)}, expected ${expected}`);
}

/** Largest number of boxes that is accepted. Real networks have some hundred thousand at most. */
const MOST_BOXES = 4_000_000;

/** Throws a RangeError for more boxes than any network has, since they could fill all memory. */
function checkCount(name: string, boxes: number): void {
  if (boxes > MOST_BOXES) refuse(name, `${boxes} boxes`, `at most ${MOST_BOXES}`);
}

/** Returns the count of cells of a layer. */
const cellsOf = ([width, height]: readonly [number, number], stride: number): number =>
  Math.ceil(width / stride) * Math.ceil(height / stride);

/** Throws a RangeError unless the value is a position inside a cell. */
function checkOffset(offset: unknown): void {
  if (offset !== undefined && !Number.isFinite(offset))
    refuse("offset", offset, "a number of cells, 0.5 for the middle of one");
}

const SSD_OPTIONS = /* @__PURE__ */ namesOnly(
  ...["inputSize", "strides", "minScale", "maxScale", "aspectRatios", "interpolatedRatio"],
  ...["reduceLowest", "fixedSize", "offset"],
);

/**
 * Builds anchors as MediaPipe's SsdAnchorsCalculator and TensorFlow's multiple_grid_anchor_generator define them:
 * scale_k = min + (max - min) k / (layers - 1); per cell the ratios at scale_k and one box at sqrt(scale_k scale_k+1).
 * Rows go layer by layer, line by line, cell by cell, then box by box. Adjacent layers of equal stride share cells.
 * @returns rows [xcenter, ycenter, width, height], 0..1.
 * @throws RangeError where a size, stride, scale or ratio is not positive, the offset no number, or for more than
 * 4,000,000 boxes
 * @example
 * import { ssdAnchors } from "boxwright";
 *
 * const anchors = ssdAnchors({ inputSize: [300, 300], strides: [16, 32], minScale: 0.2, maxScale: 0.95 });
 * console.log(anchors.length / 4); // 2766
 */
export function ssdAnchors(options: SsdAnchorOptions): Float32Array {
  const { inputSize, strides, minScale, maxScale } = checkOptions(options, SSD_OPTIONS, {
    form: "{inputSize, strides, minScale, maxScale}",
  });
  const ratios = options.aspectRatios ?? [1, 2, 0.5, 3, 1 / 3];
  const interpolated = options.interpolatedRatio ?? 1;
  checkPositive("inputSize", inputSize, 2);
  checkPositive("strides", strides);
  checkPositive("minScale, maxScale", [minScale, maxScale], 2);
  if (!Array.isArray(ratios) || ratios.length > 0) checkPositive("aspectRatios", ratios);
  if (interpolated !== 0) checkPositive("interpolatedRatio", [interpolated], 1);
  checkOffset(options.offset);
  const scaleOf = (k: number): number =>
    strides.length === 1
      ? (minScale + maxScale) / 2
      : minScale + ((maxScale - minScale) * k) / (strides.length - 1);
  const layers: Layer[] = [];
  for (let first = 0; first < strides.length;) {
    // Adjacent layers of equal stride share their cells.
    const rest = strides.findIndex((stride, k) => k > first && stride !== strides[first]);
    const end = rest < 0 ? strides.length : rest;
    const sizes: (readonly [number, number])[] = [];
    for (let k = first; k < end; k++) {
      const scale = scaleOf(k);
      const next = k === strides.length - 1 ? 1 : scaleOf(k + 1);
      const boxes: (readonly [scale: number, ratio: number])[] =
        k === 0 && options.reduceLowest === true
          ? [[LOWEST_SCALE, 1] as const, [scale, 2] as const, [scale, 0.5] as const]
          : [
              ...ratios.map((ratio) => [scale, ratio] as const),
              ...(interpolated > 0 ? [[Math.sqrt(scale * next), interpolated] as const] : []),
            ];
      for (const [size, ratio] of boxes)
        sizes.push(options.fixedSize === true ? [1, 1] : [size * Math.sqrt(ratio), size / Math.sqrt(ratio)]);
    }
    layers.push([strides[first], sizes]);
    first = end;
  }
  checkCount(
    "inputSize, strides",
    layers.reduce((sum, [stride, sizes]) => sum + cellsOf(inputSize, stride) * sizes.length, 0),
  );
  return grid(inputSize, layers, options.offset);
}

/**
 * Builds the anchors of SSD-MobileNet v1 and v2 as TensorFlow's detection API trains them (1,917 for 300x300).
 * @returns rows [ycenter, xcenter, height, width], the order in which these networks store their anchors.
 * @throws RangeError where a size is not positive, and for more than 4,000,000 boxes
 * @example
 * import { ssdMobilenetAnchors } from "boxwright";
 *
 * console.log(ssdMobilenetAnchors([300, 300]).length / 4); // 1917
 */
export function ssdMobilenetAnchors(inputSize: readonly [number, number] = [300, 300]): Float32Array {
  const xywh = ssdAnchors({
    inputSize,
    strides: [16, 32, 64, 128, 256, 512],
    minScale: 0.2,
    maxScale: 0.95,
    reduceLowest: true,
  });
  for (let i = 0; i < xywh.length; i += 4) {
    const [x, y, w, h] = xywh.subarray(i, i + 4);
    xywh.set([y, x, h, w], i);
  }
  return xywh;
}

/**
 * Builds the anchors of BlazeFace, as MediaPipe's face detection graphs state them: 896 for the short range (128x128,
 * strides 8, 16, 16, 16) and for the camera at the back (256x256, strides 16, 32, 32, 32), 2,304 for the full range
 * (192x192, stride 4).
 * @returns rows [xcenter, ycenter, 1, 1], line by line.
 * @throws RangeError for any other size: there is no such network
 * @example
 * import { blazefaceAnchors } from "boxwright";
 *
 * console.log(blazefaceAnchors([128, 128]).length / 4); // 896
 */
export function blazefaceAnchors(inputSize: readonly [number, number] = [128, 128]): Float32Array {
  checkPositive("inputSize", inputSize, 2);
  const [width, height] = inputSize;
  if (width !== height || (width !== 128 && width !== 192 && width !== 256))
    refuse("inputSize", `[${inputSize.join(", ")}]`, "[128, 128], [192, 192] or [256, 256]");
  return blazeface(inputSize);
}

/**
 * Builds the priors of UltraFace (version-RFB and version-slim): sizes 10,16,24 / 32,48 / 64,96 / 128,192,256 px at
 * strides 8, 16, 32, 64.
 * @returns rows [xcenter, ycenter, width, height], 0..1, map by map, line by line.
 * @throws RangeError where a size is not positive, and for more than 4,000,000 boxes
 * @example
 * import { ultrafacePriors } from "boxwright";
 *
 * console.log(ultrafacePriors([320, 240]).length / 4); // 4420
 */
export function ultrafacePriors(inputSize: readonly [number, number] = [320, 240]): Float32Array {
  checkPositive("inputSize", inputSize, 2);
  // The finest of the four layers has nearly all boxes: three per cell.
  checkCount("inputSize", 3 * cellsOf(inputSize, 8));
  return ultraface(inputSize);
}

const LAYOUT = /* @__PURE__ */ namesOnly("scale", "aspectRatios", "levels");

/**
 * Builds the priors of EfficientDet: three sizes with three ratios in each cell of levels 3 to 7. Decoders build the
 * priors of D0 to D6 themselves. Pass the result as `priors` for D7 (`scale: 5`), D7x (`levels: 6`), Lite 0 to 2
 * (`scale: 3`) and mmdetection's order of ratios (`aspectRatios: [0.5, 1, 2]`).
 * @returns rows [xcenter, ycenter, width, height], 0..1, level by level, line by line. Sides may be above 1.
 * @throws RangeError where a size is not positive, and for more than 4,000,000 boxes
 * @example
 * import { efficientdetPriors } from "boxwright";
 *
 * console.log(efficientdetPriors([512, 512]).length / 4); // 49104
 */
export function efficientdetPriors(
  inputSize: readonly [number, number] = [512, 512],
  layout: EfficientdetLayout = {},
): Float32Array {
  checkPositive("inputSize", inputSize, 2);
  const { scale = 4, aspectRatios = [1, 2, 0.5], levels = 5 } = checkOptions(layout ?? {}, LAYOUT);
  checkPositive("scale", [scale], 1);
  checkPositive("aspectRatios", aspectRatios);
  if (!(Number.isInteger(levels) && levels >= 1 && levels <= 8)) refuse("levels", levels, "1 to 8 levels");
  checkCount("inputSize", 4 * aspectRatios.length * cellsOf(inputSize, 8));
  return efficientdet(inputSize, { scale, aspectRatios, levels });
}

/** One PriorBox layer of a Caffe SSD. The fields have the names of the prototxt, in camel case. */
export interface CaffePriorLayer {
  /** Width and height of the layer in cells. */
  readonly width: number;
  readonly height: number;
  /** Sides of the square boxes in pixels. */
  readonly minSize: number;
  readonly maxSize?: number;
  /** Width / height of additional boxes. A repeated ratio adds no box. */
  readonly aspectRatios?: readonly number[];
  /** True: add 1 / ratio for every ratio. Default: true, as in Caffe. */
  readonly flip?: boolean;
  /** Pixels per cell. Default: input / cells. */
  readonly step?: number;
  /** Position of a box centre inside its cell, in cells. Default: 0.5. */
  readonly offset?: number;
}

const CAFFE_LAYER = /* @__PURE__ */ namesOnly(
  ...["width", "height", "minSize", "maxSize", "aspectRatios", "flip", "step", "offset"],
);

/**
 * Builds the priors of Caffe's PriorBox layers: min_size, sqrt(min_size max_size), then min_size at each ratio.
 * @returns rows [x_min, y_min, x_max, y_max], 0..1, not clipped.
 * @throws RangeError where a size, step or ratio is not positive, an offset no number, or for more than 4,000,000 boxes
 * @example
 * import { caffePriors } from "boxwright";
 *
 * const priors = caffePriors([300, 300], [{ width: 1, height: 1, minSize: 150 }]);
 * console.log([...priors]); // [0.25,0.25,0.75,0.75]
 */
export function caffePriors(
  inputSize: readonly [number, number],
  layers: readonly CaffePriorLayer[],
): Float32Array {
  const out: number[] = [];
  let count = 0;
  checkPositive("inputSize", inputSize, 2);
  if (!Array.isArray(layers)) refuse("layers", layers, "a list of {width, height, minSize, ...}");
  for (const l of layers as readonly CaffePriorLayer[]) {
    checkOptions(l, CAFFE_LAYER, { prefix: "layers.", name: "layers" });
    checkPositive("width, height, minSize", [l.width, l.height, l.minSize], 3);
    checkPositive("maxSize, step, aspectRatios", [l.maxSize ?? 1, l.step ?? 1, ...(l.aspectRatios ?? [])]);
    checkOffset(l.offset);
    const sizes: [number, number][] = [[l.minSize, l.minSize]];
    if (l.maxSize !== undefined) {
      const s = Math.sqrt(l.minSize * l.maxSize);
      sizes.push([s, s]);
    }
    const ratios = [1];
    for (const r of l.aspectRatios ?? [])
      if (ratios.every((other) => Math.abs(r - other) >= 1e-6))
        ratios.push(...(l.flip === false ? [r] : [r, 1 / r]));
    for (const ratio of ratios.slice(1))
      sizes.push([l.minSize * Math.sqrt(ratio), l.minSize / Math.sqrt(ratio)]);
    count += Math.ceil(l.width) * Math.ceil(l.height) * sizes.length;
    checkCount("layers", count);
    const stepX = l.step ?? inputSize[0] / l.width;
    const stepY = l.step ?? inputSize[1] / l.height;
    const offset = l.offset ?? 0.5;
    for (let y = 0; y < l.height; y++) {
      for (let x = 0; x < l.width; x++) {
        const cx = (x + offset) * stepX;
        const cy = (y + offset) * stepY;
        for (const [w, h] of sizes)
          out.push(
            (cx - w / 2) / inputSize[0],
            (cy - h / 2) / inputSize[1],
            (cx + w / 2) / inputSize[0],
            (cy + h / 2) / inputSize[1],
          );
      }
    }
  }
  return Float32Array.from(out);
}
