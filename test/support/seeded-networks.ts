/** Seeded networks: for every kind of head a config, tensor shapes and contents, at any size and number type. */
import { type Random, mulberry32 } from "../../bench/random.ts";
import type { ElementType, TensorData, TensorInput, TensorSpecInput } from "../../src/core/tensor.ts";
import { volume } from "../../src/core/tensor.ts";

export { type Random, mulberry32 };

export const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)];

/** A seeded order of 0..n-1. */
export function shuffled(random: Random, n: number): number[] {
  const order = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const k = Math.floor(random() * (i + 1));
    [order[i], order[k]] = [order[k], order[i]];
  }
  return order;
}

/** What a column of a tensor holds, which decides what is written there. */
export type Part = "box" | "score" | "objectness" | "label" | "marker" | "count";

export interface Made {
  readonly config: Record<string, unknown>;
  readonly tensors: readonly MadeTensor[];
  /** True if scores are probabilities. */
  readonly probabilities: boolean;
}

export interface MadeTensor {
  readonly spec: TensorSpecInput & { readonly name: string };
  /** The content of each channel. */
  readonly parts: readonly Part[];
  /** True if the channels of a cell stand side by side (rows, NHWC), false if apart (planes, NCHW). */
  readonly last: boolean;
}

export interface Size {
  readonly w: number;
  readonly h: number;
  readonly classes: number;
  readonly batch: number;
  /** Channels last: rows, NHWC. */
  readonly last: boolean;
}

const many = (part: Part, n: number): Part[] => new Array<Part>(n).fill(part);

function map(name: string, s: Size, parts: Part[]): MadeTensor {
  const k = parts.length;
  return {
    spec: {
      name,
      dims: s.last ? [s.batch, s.h, s.w, k] : [s.batch, k, s.h, s.w],
      order: s.last ? "NHWC" : "NCHW",
    },
    parts,
    last: s.last,
  };
}

function rows(name: string, s: Size, parts: Part[]): MadeTensor {
  const n = s.w * s.h;
  const k = parts.length;
  const last = s.last || k === 1;
  return {
    spec: {
      name,
      dims: last ? [s.batch, n, k] : [s.batch, k, n],
      ...(k === 1 ? {} : { order: last ? "rows" : "planes" }),
    },
    parts,
    last,
  };
}

/** Makes a network: `more` are options besides family and classes. */
const networkOf = (
  family: string,
  s: Size,
  more: object,
  tensors: readonly MadeTensor[],
  probabilities: boolean,
): Made => ({ config: { family, classes: s.classes, ...more }, tensors, probabilities });

type Network = (family: string, s: Size, more: object, tensors: readonly MadeTensor[]) => Made;
export const ofLogits: Network = (...network) => networkOf(...network, false);
export const ofProbabilities: Network = (...network) => networkOf(...network, true);

/** A tensor of one value for each box of a finished list. */
const list = (name: string, part: Part, s: Size): MadeTensor => ({
  spec: { name, dims: [s.batch, s.w * s.h] },
  parts: [part],
  last: true,
});

const input = (s: Size, stride: number): [number, number] => [
  Math.max(1, s.w) * stride,
  Math.max(1, s.h) * stride,
];
const block = (c: number): Part[] => [...many("box", 4), "objectness", ...many("score", c)];
const anchors = [
  [
    [30, 61],
    [62, 45],
  ],
];

function priorTable(n: number): Float32Array {
  const t = new Float32Array(n * 4);
  for (let i = 0; i < n; i++)
    t.set([(i % 17) / 17, (i % 13) / 13, 0.1 + (i % 5) / 20, 0.1 + (i % 7) / 30], i * 4);
  return t;
}

function anchorGrid(family: string, activation: string) {
  return (s: Size): Made =>
    networkOf(
      family,
      s,
      { inputSize: input(s, 32), anchors, scores: activation, scaleXY: 1.1 },
      [map("grid", s, [...block(s.classes), ...block(s.classes)])],
      activation === "probabilities",
    );
}

function plainRows(boxFormat: string, activation: string, objectness: boolean) {
  return (s: Size): Made =>
    networkOf(
      objectness ? "yolov5" : "yolov8",
      s,
      {
        inputSize: [640, 480],
        coordinates: "normalised",
        boxFormat,
        scores: activation,
        reading: objectness ? "objectness-rows" : "class-rows",
      },
      [rows("rows", s, objectness ? block(s.classes) : [...many("box", 4), ...many("score", s.classes)])],
      activation === "probabilities",
    );
}

/** Boxes in one tensor, scores in another: of one class those stand side by side. */
function boxesAndScores(boxFormat: string) {
  return (s: Size): Made =>
    ofProbabilities(
      "boxes",
      s,
      { inputSize: [640, 480], coordinates: "normalised", boxFormat, roles: { boxes: "b", scores: "s" } },
      [rows("b", { ...s, last: true }, many("box", 4)), rows("s", s, many("score", s.classes))],
    );
}

/** Boxes and scores in maps of their own. `more`: options of a config of YOLOv8. */
function splitMaps(channels: number, reading: string, more: object = {}, probabilities = false) {
  return (s: Size): Made =>
    networkOf(
      "yolov8",
      s,
      { inputSize: input(s, 8), strides: [8], reading, roles: { boxes: "box", scores: "cls" }, ...more },
      [map("box", s, many("box", channels)), map("cls", s, many("score", s.classes))],
      probabilities,
    );
}

/** Boxes and logits of queries. `columns`: columns of scores besides those of the classes. */
function queryColumns(family: string, columns: number, more: object = {}) {
  return (s: Size): Made =>
    ofLogits(family, s, { inputSize: [640, 480], roles: { boxes: "boxes", scores: "logits" }, ...more }, [
      rows("boxes", { ...s, last: true }, many("box", 4)),
      rows("logits", { ...s, last: true }, many("score", s.classes + columns)),
    ]);
}

/** A finished list in tensors of its own, with or without a count. */
function finishedList(family: string, hasCount = false) {
  const roles = { boxes: "b", classIds: "l", scores: "s", ...(hasCount && { count: "n" }) };
  return (s: Size): Made =>
    ofProbabilities(family, s, { inputSize: [640, 480], coordinates: "normalised", roles }, [
      rows("b", { ...s, last: true }, many("box", 4)),
      list("l", "label", s),
      list("s", "score", s),
      ...(hasCount ? [{ spec: { name: "n", dims: [s.batch] }, parts: ["count" as const], last: true }] : []),
    ]);
}

function fusedDistribution(s: Size): Made {
  const { config, ...made } = splitMaps(64, "dfl-grid", { roles: {} })(s);
  const fused = [...many("box", 64), ...many("score", s.classes)];
  return { ...made, config, tensors: [map("fused", s, fused)] };
}

/** Every head kind, scores: activation, score rule and way of telling the class. */
export const kinds: Readonly<Record<string, (s: Size) => Made>> = {
  "yolov2 softmax": anchorGrid("yolov2", "logits"),
  "yolov3 logits": anchorGrid("yolov3", "logits"),
  "yolov3 probabilities": anchorGrid("yolov3", "probabilities"),
  "yolov5 logits": anchorGrid("yolov5", "logits"),
  "yolov5 probabilities": anchorGrid("yolov5", "probabilities"),
  "yolov3 five dims": (s) =>
    ofLogits("yolov3", s, { inputSize: input(s, 32), anchors, reading: "anchor-grid" }, [
      {
        // A map of two columns has as many as anchors: its shape alone fits anchors in each cell too.
        spec: { name: "grid", dims: [s.batch, 2, s.h, s.w, 5 + s.classes], order: "NCHW" },
        parts: block(s.classes),
        last: true,
      },
    ]),
  "yolov3 one class, no class channel": (s) =>
    ofLogits("yolov3", s, { classes: 1, inputSize: input(s, 32), anchors }, [
      map("grid", s, [...many("box", 4), "objectness", ...many("box", 4), "objectness"]),
    ]),
  "yolox maps": (s) =>
    ofProbabilities("yolox", s, { inputSize: input(s, 8), reading: "point-grid" }, [
      map("grid", s, block(s.classes)),
    ]),
  "yolox logits": (s) =>
    ofLogits("yolox", s, { inputSize: input(s, 8), scores: "logits", reading: "point-grid" }, [
      map("grid", s, block(s.classes)),
    ]),
  "yolox rows": (s) =>
    ofProbabilities("yolox", s, { inputSize: input(s, 8), strides: [8] }, [
      rows("rows", s, block(s.classes)),
    ]),
  "yolov6 distances with confidence": (s) =>
    ofProbabilities("yolov6", s, { inputSize: input(s, 8), reading: "distance-grid" }, [
      map("grid", s, block(s.classes)),
    ]),
  "yolov8 distances": (s) =>
    ofLogits("yolov8", s, { inputSize: input(s, 8), reading: "distance-grid", scores: "logits" }, [
      map("grid", s, [...many("box", 4), ...many("score", s.classes)]),
    ]),
  "yolov8 DFL fused": fusedDistribution,
  "yolov8 DFL split": splitMaps(64, "dfl-grid"),
  "DFL of 8 bins": splitMaps(32, "dfl-grid"),
  "nanodet rows": (s) =>
    ofProbabilities("nanodet", s, { inputSize: input(s, 8), strides: [8], reading: "dfl-grid" }, [
      rows("out", s, [...many("score", s.classes), ...many("box", 32)]),
    ]),
  "yolov8 rows": plainRows("cxcywh", "probabilities", false),
  "yolov8 rows of logits": plainRows("cxcywh", "logits", false),
  "rows of corners": plainRows("xyxy", "probabilities", false),
  "rows of top left": plainRows("xywh", "probabilities", false),
  "yolov5 rows": plainRows("cxcywh", "probabilities", true),
  "yolov5 rows of logits": plainRows("cxcywh", "logits", true),
  "yolo26 corner rows": (s) =>
    ofProbabilities(
      "yolo26",
      s,
      { inputSize: [640, 480], coordinates: "normalised", reading: "corner-rows" },
      [rows("rows", s, block(s.classes))],
    ),
  "end to end": (s) =>
    ofProbabilities(
      "yolov10",
      s,
      { inputSize: [640, 480], coordinates: "normalised", reading: "end-to-end" },
      [rows("rows", { ...s, last: true }, [...many("box", 4), "score", "label"])],
    ),
  fastestdet: (s) =>
    ofProbabilities("fastestdet", s, { inputSize: input(s, 16) }, [
      map("grid", s, ["objectness", ...many("box", 4), ...many("score", s.classes)]),
    ]),
  "detr softmax": (s) =>
    ofLogits("detr", s, { roles: { boxes: "boxes", scores: "logits" } }, [
      rows("boxes", s, many("box", 4)),
      rows("logits", s, many("score", s.classes + 1)),
    ]),
  "rt-detr": (s) =>
    ofLogits("detr", s, { roles: { boxes: "boxes", scores: "logits" } }, [
      rows("boxes", s, many("box", 4)),
      rows("logits", s, many("score", s.classes)),
    ]),
  "ssd priors": (s) =>
    ofProbabilities(
      "ssd",
      s,
      {
        variances: [0.1, 0.1, 0.2, 0.2],
        priors: priorTable(s.w * s.h),
        roles: { boxes: "loc", scores: "conf" },
      },
      [rows("loc", s, many("box", 4)), rows("conf", s, many("score", s.classes + 1))],
    ),
  "ssd anchors, logits": (s) =>
    ofLogits(
      "ssd",
      s,
      {
        scales: [10, 10, 5, 5],
        priors: priorTable(s.w * s.h),
        scores: "logits",
        roles: { boxes: "loc", scores: "conf" },
      },
      [rows("loc", s, many("box", 4)), rows("conf", s, many("score", s.classes + 1))],
    ),
  blazeface: (s) =>
    ofLogits(
      "blazeface",
      s,
      {
        classes: 1,
        inputSize: [128, 128],
        priors: priorTable(s.w * s.h),
        roles: { boxes: "reg", scores: "cls" },
      },
      [rows("reg", s, many("box", 16)), rows("cls", s, ["score"])],
    ),
  "detection output": (s) =>
    ofProbabilities("ssd-detection-output", s, {}, [
      {
        spec: { name: "out", dims: [s.batch, 1, s.w * s.h, 7] },
        parts: ["marker", "label", "score", "box", "box", "box", "box"],
        last: true,
      },
    ]),
  postprocess: (s) =>
    ofProbabilities(
      "tflite-postprocess",
      s,
      { roles: { boxes: "b", classIds: "l", scores: "s", count: "n" } },
      [
        rows("b", { ...s, last: true }, many("box", 4)),
        list("l", "label", s),
        list("s", "score", s),
        { spec: { name: "n", dims: [s.batch] }, parts: ["count"], last: true },
      ],
    ),
  "corners of one class": boxesAndScores("xyxy"),
  "centres of one class": boxesAndScores("cxcywh"),
  "top lefts of one class": boxesAndScores("xywh"),
  "corners and scores": boxesAndScores("xyxy"),
  "boxes with labels": (s) =>
    ofProbabilities(
      "boxes",
      s,
      { coordinates: "normalised", roles: { boxes: "b", scores: "s", classIds: "l" } },
      [rows("b", { ...s, last: true }, many("box", 4)), list("s", "score", s), list("l", "label", s)],
    ),
  "rtmdet in pixels": splitMaps(4, "distance-grid", { family: "rtmdet", coordinates: "pixels" }),
  "rtmdet in strides": splitMaps(4, "distance-grid", { family: "rtmdet", coordinates: "strides" }),
  "rfdetr, a column that nobody trained": queryColumns("rfdetr", 1),
  "rfdetr, the first column is none": queryColumns("rfdetr", 1, { background: 0 }),
  "dfine, best pairs": queryColumns("dfine", 0),
  "dfine with its post-processor": finishedList("dfine"),
  "imx500, y before x": finishedList("imx500", true),
  "TensorRT's EfficientNMS": finishedList("efficient-nms", true),
  "efficientdet maps": (s) =>
    ofLogits(
      "efficientdet",
      s,
      { inputSize: input(s, 8), priors: priorTable(9 * s.w * s.h) },
      // Channels first, its cells are counted in another order.
      [
        map("cls", { ...s, last: true }, many("score", 9 * s.classes)),
        map("box", { ...s, last: true }, many("box", 36)),
      ],
    ),
  "picodet rows": (s) =>
    ofProbabilities(
      "picodet",
      s,
      { inputSize: input(s, 8), strides: [8], reading: "dfl-grid", roles: { boxes: "box", scores: "cls" } },
      [
        rows("box", { ...s, last: true }, many("box", 32)),
        rows("cls", { ...s, last: true }, many("score", s.classes)),
      ],
    ),
  "ppyoloe maps": splitMaps(68, "dfl-grid", { family: "ppyoloe" }, true),
};

export const fills = ["mixed", "ties", "equal", "none", "all", "special", "bits"] as const;
export type Fill = (typeof fills)[number];

const SPECIAL = [
  NaN,
  Infinity,
  -Infinity,
  0,
  -0,
  1e-45,
  -1e-45,
  1.1754943508222875e-38,
  3.4e38,
  -3.4e38,
  1,
  0.5,
];

const word = new DataView(new ArrayBuffer(8));

/** f32 -> f16 bits, to nearest, ties to even. */
export function toHalf(x: number): number {
  word.setFloat32(0, x);
  const bits = word.getUint32(0);
  const sign = (bits >>> 16) & 0x8000;
  if (Number.isNaN(x)) return sign | 0x7e00;
  const a = Math.abs(x);
  if (a >= 65520) return sign | 0x7c00;
  if (a < 2 ** -14) return sign | roundEven(a * 2 ** 24);
  const exponent = Math.floor(Math.log2(a));
  const e = a >= 2 ** (exponent + 1) ? exponent + 1 : a < 2 ** exponent ? exponent - 1 : exponent;
  return sign | (((e + 15) << 10) + roundEven((a / 2 ** e - 1) * 1024));
}

function roundEven(x: number): number {
  const f = Math.floor(x);
  const rest = x - f;
  return rest > 0.5 || (rest === 0.5 && f % 2 === 1) ? f + 1 : f;
}

/** A number as the element type stores it. */
export function toRaw(type: ElementType, x: number, scale: number, zero: number): number {
  if (type === "f32") return Math.fround(x);
  if (type === "f16") return toHalf(x);
  const [low, high] = {
    u8: [0, 255],
    i8: [-128, 127],
    i16: [-32768, 32767],
    i32: [-2147483648, 2147483647],
  }[type];
  const q = Math.round(x / scale + zero);
  return Number.isNaN(q) ? 0 : Math.min(high, Math.max(low, q));
}

export type Raw = Float32Array | Uint16Array | Uint8Array | Int8Array | Int16Array | Int32Array;

export function arrayOf(type: ElementType, n: number): Raw {
  if (type === "f32") return new Float32Array(n);
  if (type === "f16") return new Uint16Array(n);
  if (type === "u8") return new Uint8Array(n);
  if (type === "i8") return new Int8Array(n);
  return type === "i16" ? new Int16Array(n) : new Int32Array(n);
}

/** Scale and zero point that suit scores and boxes of a type. */
export function quantisation(
  type: ElementType,
  probabilities: boolean,
): { scale?: number; zeroPoint?: number } {
  if (type === "f32" || type === "f16") return {};
  const step = probabilities ? 1 / 128 : 1 / 16;
  if (type === "u8") return { scale: step, zeroPoint: probabilities ? 0 : 128 };
  if (type === "i8") return { scale: step, zeroPoint: probabilities ? -127 : 3 };
  return { scale: step / 64, zeroPoint: type === "i16" ? -5 : 7 };
}

/** One number for a part. */
function draw(
  part: Part,
  random: Random,
  fill: Fill,
  probabilities: boolean,
  labels: number,
  rowsOf: number,
): number {
  const noise = random();
  if (part === "label")
    return fill === "special" && noise < 0.2 ? pick(random, SPECIAL) : Math.floor(noise * labels);
  if (part === "marker") return noise < 0.002 ? -1 : 0;
  if (part === "count")
    return fill === "special" ? pick(random, [-1, NaN, 2, 1e9]) : Math.floor(noise * (rowsOf + 2));
  if (fill === "special" && random() < 0.3) return pick(random, SPECIAL);
  if (part === "box") return fill === "ties" ? pick(random, [0.25, 0.5, 1]) : random() * 1.6 - 0.2;
  const p =
    fill === "none"
      ? noise * 0.1
      : fill === "all"
        ? 0.8 + noise * 0.2
        : fill === "equal"
          ? 0.75
          : fill === "ties"
            ? pick(random, [0.1, 0.5, 0.75])
            : noise ** 3;
  return probabilities ? p : Math.log((p + 1e-6) / (1 - p + 1e-6));
}

/** Contents of a tensor: numbers first (f64), so that copies in several types can be made of the same ones. */
export function numbersOf(
  t: MadeTensor,
  random: Random,
  fill: Fill,
  made: Made,
  classes: number,
): Float64Array {
  const n = volume(t.spec.dims);
  const out = new Float64Array(n);
  const k = t.parts.length;
  const perImage = n / t.spec.dims[0];
  const cells = perImage / k;
  for (let i = 0; i < n; i++) {
    const place = i % perImage;
    const part = t.parts[t.last ? place % k : Math.floor(place / cells)];
    out[i] = draw(part, random, fill, made.probabilities, classes, cells);
  }
  return out;
}

/** The numbers in an element type. */
export function encode(numbers: Float64Array, type: ElementType, scale = 1, zero = 0): Raw {
  const out = arrayOf(type, numbers.length);
  for (let i = 0; i < numbers.length; i++) out[i] = toRaw(type, numbers[i], scale, zero);
  return out;
}

/** A tensor ready to decode, f32. */
export function tensor(
  dims: readonly number[],
  data: TensorData,
): { data: TensorData; dims: readonly number[] } {
  return { data, dims };
}

/** A tensor of floats that are all the same, to be written over. */
export interface Filled extends TensorInput {
  readonly data: Float32Array;
}

export const filled = (dims: readonly number[], value = 0, more: object = {}): Filled => ({
  data: new Float32Array(volume(dims)).fill(value),
  dims,
  ...more,
});

/** An SSD whose second output of four columns is its priors. */
export const givenPriors = {
  family: "ssd",
  classes: 1,
  inputSize: [64, 64],
  priorFormat: "cxcywh",
  variances: [0.1, 0.1, 0.2, 0.2],
  roles: { boxes: "b", scores: "s", priors: "p" },
};
