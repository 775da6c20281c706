/**
 * `boxwright/priors`: prior boxes (anchors, default boxes) of the standard SSD layouts, for networks whose export
 * leaves them out. All return f32 rows, normalised to the network input; the row order is that of the networks' own
 * outputs: layer by layer, row by row, cell by cell, box by box.
 */
import { type Layer, blazeface, grid, ultraface } from "../core/built-priors.ts";

/** What `ssdAnchors` builds: the fields of MediaPipe's SsdAnchorsCalculatorOptions. */
export interface SsdAnchorOptions {
  /** [width, height] of the network input in pixels. */
  readonly inputSize: readonly [number, number];
  /** Pixels per cell of each layer; layers of equal stride in a row share their cells (MediaPipe). */
  readonly strides: readonly number[];
  /** Size of the boxes of the first layer and of the last, as a part of the image. */
  readonly minScale: number;
  readonly maxScale: number;
  /** Width / height of the boxes of a cell, besides the one between two scales. Default: 1, 2, 1/2, 3, 1/3. */
  readonly aspectRatios?: readonly number[];
  /** Ratio of the extra box at the geometric mean of this scale and the next; 0: none. Default: 1. */
  readonly interpolatedRatio?: number;
  /** The lowest layer has three boxes only: 0.1 (ratio 1) and its own scale at ratios 2 and 1/2. */
  readonly reduceLowest?: boolean;
  /** Width and height 1 for all boxes (BlazeFace). */
  readonly fixedSize?: boolean;
  /** Centre inside a cell, in cells. Default: 0.5. */
  readonly offset?: number;
}

/** Sizes, strides, ratios: a list of positive numbers, or a RangeError. */
function checkPositive(name: string, given: unknown, count?: number): void {
  const all: unknown[] = Array.isArray(given) ? given : [];
  const length = count ?? all.length;
  if (all.length === length && length > 0 && all.every((x) => typeof x === "number" && x > 0 && x < Infinity))
    return;
  refuse(
    name,
    Array.isArray(given) ? `[${all.map(String).join(", ")}]` : given,
    !Array.isArray(given)
      ? `a list of ${count ?? ""} positive numbers`.replace("  ", " ")
      : length === 1
        ? "a positive number"
        : `${length > 1 ? `${length} ` : ""}positive numbers`,
  );
}

function refuse(name: string, got: unknown, expected: string): never {
  const shown = typeof got === "object" && got !== null ? "an object" : String(got);
  throw new RangeError(`${name}: got ${shown}, expected ${expected}`);
}

/** Where in a cell a box is centred: anywhere, in cells. */
function checkOffset(offset: unknown): void {
  if (offset !== undefined && !Number.isFinite(offset))
    refuse("offset", offset, "a number of cells, 0.5 for the middle of one");
}

/**
 * Anchors as MediaPipe's SsdAnchorsCalculator and TensorFlow's multiple_grid_anchor_generator define them:
 * scale_k = min + (max - min) k / (layers - 1); per cell the ratios at scale_k and one box at sqrt(scale_k scale_k+1).
 * Rows go layer by layer, line by line, cell by cell, then box by box; layers of the same stride share their cells.
 * @returns rows [xcenter, ycenter, width, height], 0..1.
 * @throws RangeError where a size, stride, scale or ratio is not positive, or the offset no number
 * @example
 * import { ssdAnchors } from "boxwright/priors";
 *
 * const anchors = ssdAnchors({ inputSize: [300, 300], strides: [16, 32], minScale: 0.2, maxScale: 0.95 });
 * console.log(anchors.length / 4); // 2766
 */
export function ssdAnchors(options: SsdAnchorOptions): Float32Array {
  if (typeof options !== "object" || (options as unknown) === null)
    refuse("options", options, "{inputSize, strides, minScale, maxScale}");
  const { inputSize, strides, minScale, maxScale } = options;
  const ratios = options.aspectRatios ?? [1, 2, 0.5, 3, 1 / 3];
  const interpolated = options.interpolatedRatio ?? 1;
  checkPositive("inputSize", inputSize, 2);
  checkPositive("strides", strides);
  checkPositive("minScale, maxScale", [minScale, maxScale], 2);
  if (!Array.isArray(ratios) || ratios.length > 0) checkPositive("aspectRatios", ratios);
  checkOffset(options.offset);
  const scaleOf = (k: number): number =>
    strides.length === 1
      ? (minScale + maxScale) / 2
      : minScale + ((maxScale - minScale) * k) / (strides.length - 1);
  const layers: Layer[] = [];
  let layer = 0;
  while (layer < strides.length) {
    const sizes: [number, number][] = [];
    let last = layer;
    for (; last < strides.length && strides[last] === strides[layer]; last++) {
      const scale = scaleOf(last);
      const next = last === strides.length - 1 ? 1 : scaleOf(last + 1);
      const boxes: [number, number][] =
        last === 0 && options.reduceLowest === true
          ? [
              [0.1, 1],
              [scale, 2],
              [scale, 0.5],
            ]
          : [
              ...ratios.map((r): [number, number] => [scale, r]),
              ...(interpolated > 0 ? [[Math.sqrt(scale * next), interpolated] as [number, number]] : []),
            ];
      for (const [s, r] of boxes)
        sizes.push(options.fixedSize === true ? [1, 1] : [s * Math.sqrt(r), s / Math.sqrt(r)]);
    }
    layers.push([strides[layer], sizes]);
    layer = last;
  }
  return grid(inputSize, layers, options.offset);
}

/**
 * Anchors of SSD-MobileNet v1 and v2 as TensorFlow's detection API trains them (1,917 for 300x300).
 * @returns rows [ycenter, xcenter, height, width], the order in which those networks store theirs.
 * @throws RangeError where a size is not positive
 * @example
 * import { ssdMobilenetAnchors } from "boxwright/priors";
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
 * Anchors of BlazeFace, as MediaPipe's face detection graphs state them: 896 for the short range (128x128, strides 8,
 * 16, 16, 16) and for the camera at the back (256x256, strides 16, 32, 32, 32), 2,304 for the full range (192x192,
 * stride 4).
 * @returns rows [xcenter, ycenter, 1, 1], line by line.
 * @throws RangeError for any other size: there is no such network
 * @example
 * import { blazefaceAnchors } from "boxwright/priors";
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
 * Priors of UltraFace (version-RFB and version-slim): sizes 10,16,24 / 32,48 / 64,96 / 128,192,256 px at strides 8, 16,
 * 32, 64.
 * @returns rows [xcenter, ycenter, width, height], 0..1, map by map, line by line.
 * @throws RangeError where a size is not positive
 * @example
 * import { ultrafacePriors } from "boxwright/priors";
 *
 * console.log(ultrafacePriors([320, 240]).length / 4); // 4420
 */
export function ultrafacePriors(inputSize: readonly [number, number] = [320, 240]): Float32Array {
  checkPositive("inputSize", inputSize, 2);
  return ultraface(inputSize);
}

/** One PriorBox layer of a Caffe SSD, with the names of its prototxt in camel case. */
export interface CaffePriorLayer {
  /** Cells of the layer. */
  readonly width: number;
  readonly height: number;
  /** Pixels. */
  readonly minSize: number;
  readonly maxSize?: number;
  /** Besides 1; a ratio that is there already adds nothing. */
  readonly aspectRatios?: readonly number[];
  /** Add 1 / ratio for every ratio. Default: true, as in Caffe. */
  readonly flip?: boolean;
  /** Pixels per cell; by default input / cells. */
  readonly step?: number;
  /** Centre inside a cell, in cells. Default: 0.5. */
  readonly offset?: number;
}

/**
 * Priors of Caffe's PriorBox layers: min_size, sqrt(min_size max_size), then min_size at each ratio.
 * @returns rows [x_min, y_min, x_max, y_max], 0..1, not clipped.
 * @throws RangeError where a size, step or ratio is not positive, or an offset no number
 * @example
 * import { caffePriors } from "boxwright/priors";
 *
 * const priors = caffePriors([300, 300], [{ width: 1, height: 1, minSize: 150 }]);
 * console.log([...priors]); // [0.25,0.25,0.75,0.75]
 */
export function caffePriors(
  inputSize: readonly [number, number],
  layers: readonly CaffePriorLayer[],
): Float32Array {
  const out: number[] = [];
  checkPositive("inputSize", inputSize, 2);
  if (!Array.isArray(layers)) refuse("layers", layers, "a list of {width, height, minSize, ...}");
  for (const l of layers as readonly CaffePriorLayer[]) {
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
