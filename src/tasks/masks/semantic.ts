/** `classMap`: semantic segmentation, a class id for each pixel. */
import { refuse, refuseValue } from "../../core/errors.ts";
import { ANY, COUNT, FLAG, NUMBER, type Rule, checkOptions } from "../../core/options.ts";
import { halfToFloat, numbersOf } from "../../core/number.ts";
import {
  type TensorInput,
  type TensorSpec,
  isFloat,
  kindOf,
  shape,
  show,
  specOf,
  volume,
} from "../../core/tensor.ts";
import { type Axis, visibleOf } from "./axis.ts";
import { type OverImageOptions, placeOverImage } from "./over-image.ts";

/** Options of `classMap`. */
export interface ClassMapOptions extends OverImageOptions {
  /** Class count. Needed if the shape can be NCHW or NHWC. Default: the count of the labels. */
  readonly classes?: number;
  /** Name of each class. With `background`, the list may leave out class 0. */
  readonly labels?: readonly string[];
  /** True if the tensor holds class ids. Default: true for a single integer channel without a scale. */
  readonly ids?: boolean;
  /** For a single channel of scores: pixels with a score above this value get class 0. Other pixels get no class. */
  readonly threshold?: number;
  /** True if class 0 is the background: its pixels get no class. Default false. */
  readonly background?: boolean;
}

/** A picture of class ids. */
export interface ClassMap {
  readonly width: number;
  readonly height: number;
  /** Class count of the network. */
  readonly classes: number;
  /** Names of the classes, by class id; null if the options have none. */
  readonly labels: readonly string[] | null;
  /**
   * Class id of each pixel: the class with the highest score, or the first of several with that score. Uint16Array if
   * there are 256 classes or more. The largest value, 255 or 65535, means no class: the background, or a part of the
   * image outside the network input.
   */
  readonly data: Uint8Array | Uint16Array;
}

type Ids = ClassMap["data"];

/**
 * Returns the class of each pixel of a semantic segmentation: the argmax over the classes. Scores may be raw or
 * probabilities, floats or quantised: only their order counts. A NaN is below every number. With a frame, the map lies
 * over the image: each pixel of the image has the class of the cell in which its centre lies.
 * @throws TensorError if the shape is none of [1,C,h,w], [1,h,w,C], [C,h,w] and [h,w,C], or fits two of them. Also if
 * one class has no `threshold`, if all scores of a pixel are -Infinity or NaN, or if a value is not a class id
 * @throws RangeError for more labels than classes, and for a frame or `inputSize` that does not fit the map
 * @example
 * import { classMap } from "boxwright";
 *
 * const scores = { data: [1, 5, 2, 2, 4, 0, 3, 9], dims: [1, 2, 2, 2], order: "NCHW" as const }; // 2 classes
 * console.log([...classMap(scores).data]); // [1,0,1,1]
 */
export function classMap(tensor: TensorInput, options: ClassMapOptions = {}): ClassMap {
  const {
    classes,
    labels = null,
    inputSize,
    frame,
    threshold,
    background,
    ...rest
  } = checkOptions(options ?? {}, {
    classes: COUNT,
    labels: LABELS,
    inputSize: ANY,
    frame: ANY,
    ids: FLAG,
    threshold: NUMBER,
    background: FLAG,
  });
  const spec = specOf("scores", tensor, {});
  const single = oneChannelOf(spec);
  const ids = rest.ids ?? (single !== null && !isFloat(spec) && spec.scale === null && !spec.channels);
  const map =
    ids || (single && threshold !== undefined)
      ? readSingle(spec, tensor, single, { classes: classes ?? labels?.length, threshold, ids })
      : argmaxOf(spec, tensor, classes ?? labels?.length);
  if (labels && labels.length > map.classes)
    refuseValue("labels", `${labels.length} names for ${map.classes} classes`, "at most as many");
  const names = labels && namesFor(labels, map.classes, background === true);
  const { data } = map;
  if (background) for (let i = 0; i < data.length; i++) if (data[i] === 0) data[i] = noClass(data);
  if (!frame) return { ...map, labels: names };
  const { x, y, finish } = placeOverImage([map.width, map.height], inputSize, frame);
  return { ...map, labels: names, ...finish(nearestOver(data, map.width, x, y)) };
}

/**
 * Returns a name for each class. If one name is missing and class 0 is stated as the background, the names begin at
 * class 1. Without that statement, nothing shows which class lacks a name.
 */
function namesFor(labels: readonly string[], classes: number, background: boolean): readonly string[] {
  if (labels.length !== classes - 1) return labels;
  return background
    ? ["background", ...labels]
    : refuseValue(
        "labels",
        `${labels.length} names for ${classes} classes`,
        `${classes} names: ["background", ...labels] if class 0 is the background (background: true moves the names ` +
          'by itself), or [...labels, ""] if the last class has no name',
      );
}

const LABELS: Rule<readonly string[]> = [
  "a list of names",
  (x) => Array.isArray(x) && x.every((name) => typeof name === "string"),
];

/** Returns the value for "no class". */
const noClass = (data: Ids): number => (data.BYTES_PER_ELEMENT === 1 ? 255 : 65535);

const idsFor = (classes: number, pixels: number): Ids =>
  classes > 255 ? new Uint16Array(pixels) : new Uint8Array(pixels);

/** Returns height and width of a tensor with one channel. Returns null for other tensors. */
function oneChannelOf({ dims }: TensorSpec): readonly [height: number, width: number] | null {
  const count = volume(dims);
  const [h, w] = dims.length === 4 && dims[3] === 1 ? dims.slice(1, 3) : dims.slice(-2);
  return dims.length >= 2 && dims.length <= 4 && count > 0 && h * w === count ? [h, w] : null;
}

/** Options for a tensor of one channel. */
interface Single {
  readonly classes: number | undefined;
  readonly threshold: number | undefined;
  readonly ids: boolean;
}

/** Reads one channel: class ids, or the scores of a single class. */
function readSingle(
  spec: TensorSpec,
  { data }: TensorInput,
  single: readonly [height: number, width: number] | null,
  { classes, threshold = 0, ids }: Single,
): Omit<ClassMap, "labels"> {
  if (!single) refuse('tensor "scores"', shape(spec), "one channel of ids: [1,h,w], [1,1,h,w] or [1,h,w,1]");
  const [height, width] = single;
  const values = numbersOf(spec, data);
  if (!ids) {
    const limit = Math.fround(threshold);
    const above = Uint8Array.from(values, (v) => (Math.fround(v) > limit ? 0 : 255));
    return { width, height, classes: 1, data: above };
  }
  let most = -1;
  for (let i = 0; i < values.length; i++) {
    const id = values[i];
    const isId =
      Number.isInteger(id) && id >= 0 && id < 65535 && (classes === undefined || id < classes || id === 255);
    if (!isId)
      refuse(
        'tensor "scores"',
        `${show(id)} among class ids`,
        `whole numbers from 0 to ${classes === undefined ? 65534 : classes - 1}, or 255 for no class`,
      );
    if (id !== 255 && id > most) most = id;
  }
  const count = classes ?? most + 1;
  const map = idsFor(count, width * height);
  // Keep 255. It is a class id if there are more than 255 classes, else it means "no class".
  for (let i = 0; i < values.length; i++) map[i] = values[i];
  return { width, height, classes: count, data: map };
}

/** Returns the class with the highest score for each pixel. */
function argmaxOf(
  spec: TensorSpec,
  tensor: TensorInput,
  classes: number | undefined,
): Omit<ClassMap, "labels"> {
  const { dims, order, type } = spec;
  const [batch, a, b, c] = dims.length === 4 ? dims : [1, ...dims];
  if (dims.length < 3 || dims.length > 4 || batch !== 1 || dims.includes(0))
    refuse('tensor "scores"', `dims [${dims.join(",")}]`, "[1,C,h,w], [1,h,w,C], [C,h,w] or [h,w,C]");
  const orderWord = order?.toUpperCase() ?? "";
  const isLast = !/CHW$/.test(orderWord) && (classes === undefined || c === classes);
  const isFirst = !/HWC$/.test(orderWord) && (classes === undefined || a === classes);
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
      "two classes or more, threshold for a single one, or ids: true for class ids",
    );
  const pixels = width * height;
  const data = idsFor(count, pixels);
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

/** Writes the argmax over planes, in the order of memory. Returns the count of pixels without a score. */
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

/** Writes the argmax over pixels whose scores are adjacent in memory. Returns the count of pixels without a score. */
function argmaxOverPixels(
  values: ArrayLike<number>,
  ids: Uint8Array | Uint16Array,
  classes: number,
  pixels: number,
): number {
  let lost = 0;
  for (let i = 0, at = 0; i < pixels; i++) {
    let best = -Infinity;
    let bestId = 0;
    for (let id = 0; id < classes; id++, at++) {
      const value = Number(values[at]);
      if (value > best) {
        best = value;
        bestId = id;
      }
    }
    ids[i] = bestId;
    if (best === -Infinity) lost++;
  }
  return lost;
}

/** Returns the class ids of the upright image. Each pixel gets the class id of the cell in which its centre lies. */
function nearestOver(ids: Ids, w: number, xAxis: Axis, yAxis: Axis): Ids {
  const { pixels: width } = xAxis;
  const count = width * yAxis.pixels;
  const data = ids instanceof Uint8Array ? new Uint8Array(count) : new Uint16Array(count);
  data.fill(noClass(ids));
  const across = visibleOf(xAxis);
  const down = visibleOf(yAxis);
  const columns = Int32Array.from({ length: width }, (_, x) => cellAt(xAxis, x));
  for (let y = down.from; y < down.to; y++) {
    const from = cellAt(yAxis, y) * w;
    for (let x = across.from; x < across.to; x++) data[y * width + x] = ids[from + columns[x]];
  }
  return data;
}

/** Returns the cell in which the centre of a pixel lies. */
function cellAt({ pixels, start, length, low, high }: Axis, pixel: number): number {
  const cell = Math.floor(start + ((pixel + 0.5) * length) / pixels);
  return cell < low ? low : cell > high - 1 ? high - 1 : cell;
}
