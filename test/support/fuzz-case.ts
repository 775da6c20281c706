/**
 * Random cases for the differential test: a network of any kind, its rules, and a few frames. A case is a function of
 * its seed.
 */
import { RULE_SETS, type RuleSet, type Rules } from "../../src/core/rules.ts";
import { type ElementType, type TensorInput, volume } from "../../src/core/tensor.ts";
import type { Update } from "../../src/decode/update.ts";
import type { Frame } from "../../spec/frame.ts";
import {
  type Fill,
  type Made,
  type MadeTensor,
  type Part,
  type Random,
  type Size,
  encode,
  fills,
  kinds,
  mulberry32,
  numbersOf,
  ofLogits,
  ofProbabilities,
  pick,
  quantisation,
} from "./seeded-networks.ts";
import { askedOf } from "./specification.ts";

export type Outputs = Record<string, TensorInput>;

/** One frame, and what changes before it. */
export interface Step {
  readonly update?: Update;
  /** One frame for all images of the batch, or one each. */
  readonly frames?: Frame | readonly Frame[];
  readonly outputs: Outputs;
}

export interface FuzzCase {
  /** Says what was drawn. */
  readonly name: string;
  /** Typed options. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Tensors come in arrays of the caller, or are written into the slots. */
  readonly way: "arrays" | "slots";
  /** The first frame is tame: the checks that a decoder makes once would refuse others. */
  readonly steps: readonly Step[];
}

const chance = (random: Random, share: number): boolean => random() < share;

// ---- Networks of several maps, which `kinds` does not have -------------------------------------------------

const many = (part: Part, n: number): Part[] => new Array<Part>(n).fill(part);

const block = (classes: number): Part[] => [...many("box", 4), "objectness", ...many("score", classes)];

function map(name: string, { batch, last }: Size, [w, h]: readonly number[], parts: Part[]): MadeTensor {
  const k = parts.length;
  return { spec: { name, dims: last ? [batch, h, w, k] : [batch, k, h, w] }, parts, last };
}

/** Maps at strides 8, 16 and 32 of an input that is a multiple of 32. */
const levels = ({ w, h }: Size): [number, number][] => [4, 2, 1].map((n) => [n * w, n * h]);
const inputOf = ({ w, h }: Size): [number, number] => [32 * w, 32 * h];

const severalMaps: Readonly<Record<string, (s: Size) => Made>> = {
  "yolov5, three maps": (s) =>
    ofLogits(
      "yolov5",
      s,
      {
        inputSize: inputOf(s),
        anchors: [10, 13, 16, 30, 33, 23, 30, 61, 62, 45, 59, 119, 116, 90, 156, 198, 373, 326],
        reading: "anchor-grid",
      },
      levels(s).map((at, i) =>
        map(
          `p${i}`,
          s,
          at,
          [0, 1, 2].flatMap(() => block(s.classes)),
        ),
      ),
    ),
  "yolox, maps of their own": (s) =>
    ofProbabilities(
      "yolox",
      s,
      {
        inputSize: inputOf(s),
        reading: "point-grid",
        roles: {
          boxes: ["box0", "box1", "box2"],
          objectness: ["obj0", "obj1", "obj2"],
          scores: ["cls0", "cls1", "cls2"],
        },
      },
      levels(s).flatMap((at, i) => [
        map(`box${i}`, s, at, many("box", 4)),
        map(`obj${i}`, s, at, ["objectness"]),
        map(`cls${i}`, s, at, many("score", s.classes)),
      ]),
    ),
  "yolo11, distributions in three maps": (s) =>
    ofLogits(
      "yolo11",
      s,
      { inputSize: inputOf(s), reading: "dfl-grid" },
      levels(s).map((at, i) => map(`p${i}`, s, at, [...many("box", 64), ...many("score", s.classes)])),
    ),
  "nanodet, three strides in one tensor": (s) =>
    ofProbabilities("nanodet", s, { inputSize: inputOf(s), strides: [8, 16, 32], reading: "dfl-grid" }, [
      {
        spec: {
          name: "rows",
          dims: [s.batch, levels(s).reduce((n, [w, h]) => n + w * h, 0), s.classes + 32],
          order: "rows",
        },
        parts: [...many("score", s.classes), ...many("box", 32)],
        last: true,
      },
    ]),
};

/** Every kind of network there is. */
export const networks = { ...kinds, ...severalMaps };

// ---- Rules and thresholds --------------------------------------------------------------------------------

const CONFIDENCES = [0, 1e-40, 0.001, 0.1, 0.25, 0.5, 0.75, 1];
const IOUS = [0, 0.1, 0.25, 1 / 3, 0.45, 0.5, 0.6, 0.75, 1];

function drawRules(random: Random): Partial<Rules> {
  return {
    ...(chance(random, 0.3) && { multiLabel: true }),
    ...(chance(random, 0.4) && { suppress: pick(random, ["class", "all", "none"] as const) }),
    ...(chance(random, 0.3) && { clamp: pick(random, ["none", "before", "after", "centre"] as const) }),
    ...(chance(random, 0.3) && { pixelOffset: pick(random, [0, 1] as const) }),
    ...(chance(random, 0.3) && { iouGate: pick(random, [">", ">="] as const) }),
    ...(chance(random, 0.3) && { gate: pick(random, [">", ">="] as const) }),
    ...(chance(random, 0.3) && { score: pick(random, ["product", "class"] as const) }),
    ...(chance(random, 0.2) && { maxCandidates: pick(random, [0, 1, 7, 100]) }),
  };
}

/** A threshold, or a list of them. */
function drawConfidence(random: Random, classes: number): number | number[] {
  const one = (): number => pick(random, CONFIDENCES);
  return chance(random, 0.25) ? Array.from({ length: classes }, one) : one();
}

function drawFrames(random: Random, batch: number): Frame | readonly Frame[] | undefined {
  if (chance(random, 0.5)) return undefined;
  const side = (): number => 1 + Math.floor(random() ** 2 * 2000);
  const one = (): Frame => {
    const resize = pick(random, ["letterbox", "letterbox-topleft", "stretch", "crop"] as const);
    return { width: side(), height: side(), resize };
  };
  return batch > 1 && chance(random, 0.5) ? Array.from({ length: batch }, one) : one();
}

// ---- Contents --------------------------------------------------------------------------------------------

interface Written {
  readonly type: ElementType;
  readonly scale?: number;
  readonly zeroPoint?: number;
}

/** Class ids, markers and counts are no quantities: a scale would make others of them. */
const isPlain = ({ parts }: MadeTensor): boolean => parts.some((p) => /label|marker|count/.test(p));

/** Returns element type, scale and zero point of a tensor. Half of the scales are no f32. */
function drawType(random: Random, t: MadeTensor, probabilities: boolean): Written {
  const types = ["f32", "f32", "f16", "u8", "i8", "i16", "i32"] as const;
  const type = isPlain(t) ? pick(random, ["f32", "f16"] as const) : pick(random, types);
  const q = quantisation(type, probabilities);
  return { type, ...q, ...(q.scale !== undefined && chance(random, 0.5) && { scale: q.scale * 0.93 }) };
}

/** Boxes with corners on a grid of eighths: IoUs are plain fractions, and many equal the threshold. */
function putOnGrid(t: MadeTensor, numbers: Float64Array): void {
  const k = t.parts.length;
  const cells = numbers.length / k / t.spec.dims[0];
  numbers.forEach((x, i) => {
    const place = i % (numbers.length / t.spec.dims[0]);
    if (t.parts[t.last ? place % k : Math.floor(place / cells)] === "box") numbers[i] = Math.round(x * 8) / 8;
  });
}

function drawTensor(
  random: Random,
  t: MadeTensor,
  made: Made,
  classes: number,
  fill: Fill,
  written: Written,
): TensorInput {
  const numbers = numbersOf(t, random, fill, made, classes + 1);
  if (chance(random, 0.4)) putOnGrid(t, numbers);
  const data = encode(numbers, written.type, written.scale, written.zeroPoint);
  if (fill === "bits" && !isPlain(t)) {
    const bytes = new Uint8Array(data.buffer);
    for (let i = 0; i < bytes.length; i++) bytes[i] = random() * 256;
  }
  const { dims, order } = t.spec;
  return { data, dims, ...(order && { order }), ...written };
}

// ---- A case ------------------------------------------------------------------------------------------------

/** What a case may be at most, so that a failing one can be made smaller. */
export interface Limits {
  readonly cells: number;
  readonly classes: number;
  readonly batch: number;
}

export const NO_LIMITS: Limits = { cells: Infinity, classes: Infinity, batch: Infinity };

/** Cells x classes of a case, at most. */
const MOST_PAIRS = 2500;
const SIDES = [1, 1, 2, 2, 3, 3, 4, 5, 5, 8, 8, 16, 17, 33];
const CLASSES = [1, 1, 2, 3, 4, 5, 8, 15, 16, 17, 33];

function drawSize(random: Random, kind: string, limits: Limits): Size {
  const small = kind in severalMaps;
  const w = small ? 1 + Math.floor(random() * 3) : pick(random, SIDES);
  const h = small ? 1 + Math.floor(random() * 2) : pick(random, SIDES);
  const one = kind.includes("one class") || kind === "blazeface";
  const classes = pick(random, CLASSES);
  const batch = chance(random, 0.15) ? pick(random, [2, 3]) : 1;
  const most = Math.max(1, Math.floor(Math.sqrt(limits.cells)));
  // The comparison asks for pairs of candidates: of many cells only a few classes.
  const few = Math.max(1, Math.floor(MOST_PAIRS / (w * h)));
  return {
    w: Math.min(w, most),
    h: Math.min(h, most),
    classes: one ? 1 : Math.min(classes, few, limits.classes),
    batch: Math.min(batch, limits.batch),
    last: chance(random, 0.5),
  };
}

/** Returns the case of a seed; `null` if its shapes are refused, as those of a map of one cell may be. */
export function makeCase(seed: number, limits: Limits = NO_LIMITS): FuzzCase | null {
  const random = mulberry32(seed);
  // Neighbouring seeds take turns over the kinds.
  const names = Object.keys(networks);
  const kind = names[seed % names.length];
  const size = drawSize(random, kind, limits);
  const made = networks[kind](size);
  const written = made.tensors.map((t) => drawType(random, t, made.probabilities));
  const draw = (fill: Fill): Outputs =>
    Object.fromEntries(
      made.tensors.map((t, i) => [t.spec.name, drawTensor(random, t, made, size.classes, fill, written[i])]),
    );
  const set = pick(random, Object.keys(RULE_SETS) as RuleSet[]);
  const ids = Array.from({ length: size.classes + 1 }, (_, id) => id);
  const keep = ids.filter((id) => (id > 0 || size.classes === 1) && id < size.classes && chance(random, 0.6));
  const config = {
    ...made.config,
    rules: { set, ...drawRules(random) },
    // Low, so that the first frame has candidates whose boxes the decoder checks once.
    confidenceThreshold: 0.001,
    iouThreshold: pick(random, IOUS),
    maxDetections: pick(random, [1, 4, 5, 300, 1000]),
    ...(keep.length > 0 && !kind.startsWith("ssd") && chance(random, 0.25) && { keep }),
  };
  const first = draw("mixed");
  const plan = planOr(() => askedOf(config, {}, first).plan);
  if (plan === null) return null;
  const updates = (isFirst: boolean): Update => ({
    ...((isFirst || chance(random, 0.6)) && {
      confidenceThreshold: drawConfidence(random, plan.classes),
    }),
    ...(chance(random, 0.4) && { iouThreshold: pick(random, IOUS) }),
    ...(chance(random, 0.3) && { maxDetections: Math.ceil(random() * config.maxDetections) }),
  });
  const elements = made.tensors.reduce((n, t) => n + volume(t.spec.dims), 0);
  const count = elements > 10_000 ? 1 : 3;
  const step = (_: unknown, i: number): Step => {
    const frames = plan.inputSize ? drawFrames(random, plan.batch) : undefined;
    return { update: updates(i === 0), ...(frames && { frames }), outputs: draw(pick(random, fills)) };
  };
  const types = written.map((w) => w.type).join("+");
  return {
    name: `${kind}, ${size.w}x${size.h}, ${size.classes} classes, batch ${size.batch}, ${types}, ${set}`,
    config,
    way: chance(random, 0.3) ? "slots" : "arrays",
    steps: [{ outputs: first }, ...Array.from({ length: count }, step)],
  };
}

function planOr<T>(make: () => T): T | null {
  try {
    return make();
  } catch (e) {
    if ((e as Error).name === "TensorError" || (e as Error).name === "ConfigError") return null;
    throw e;
  }
}
