/**
 * The seeded inputs of the benchmark. A tensor is made once and kept in a temporary directory, because the
 * native reference, the peers and our engines all have to read the very same bytes, and each of them runs in
 * its own process.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gaussian, mulberry32, type Random } from "./random.ts";

export type Kind = "v8" | "v5" | "v3" | "nms";
export type ElementType = "float32" | "float16" | "int8";
export type TensorData = Float32Array | Uint16Array | Int8Array;

export interface BenchTensor {
  readonly data: TensorData;
  readonly dims: readonly number[];
  readonly type: ElementType;
  readonly scale?: number;
  readonly zeroPoint?: number;
}

/** One line of the benchmark: a tensor set and the threshold at which it is decoded. */
export interface WorkloadSpec {
  readonly name: string;
  readonly title: string;
  readonly kind: Kind;
  readonly type: ElementType;
  readonly threshold: number;
  /** Name of the tensor set, shared by the thresholds. */
  readonly set: string;
  /** Boxes of an `nms` workload. */
  readonly boxes?: number;
}

export interface Workload extends WorkloadSpec {
  readonly tensors: Readonly<Record<string, BenchTensor>>;
  /** All tensors of the set, one after the other, as the native reference reads them. */
  readonly file: string;
  readonly bytes: number;
}

export const IOU_THRESHOLD = 0.45;
export const MAX_DETECTIONS = 300;
export const CLASSES = 80;
export const INPUT = 640;
export const INPUT_V3 = 416;

/**
 * yolov3-tiny at 416: the three large anchors belong to the 13 x 13 map, anchors 1 to 3 to the 26 x 26 map.
 */
export const V3_ANCHORS = [10, 14, 23, 27, 37, 58, 81, 82, 135, 169, 344, 319];
export const V3_MAPS = [
  { side: 26, mask: [1, 2, 3] },
  { side: 13, mask: [3, 4, 5] },
] as const;

const decodeSpec = (
  kind: Kind,
  set: string,
  type: ElementType,
  threshold: number,
  title: string,
): WorkloadSpec => ({
  name: `${set}@${String(threshold).replace(/^0/, "")}`,
  title: `${title}, ${threshold}`,
  kind,
  set,
  type,
  threshold,
});

const nmsSpec = (boxes: number): WorkloadSpec => ({
  name: `nms-${boxes}`,
  title: `NMS alone, ${boxes} boxes`,
  kind: "nms",
  set: `nms-${boxes}`,
  type: "float32",
  threshold: 0,
  boxes,
});

export const WORKLOADS: readonly WorkloadSpec[] = [
  decodeSpec("v8", "v8", "float32", 0.25, "YOLOv8 [1,84,8400]"),
  decodeSpec("v8", "v8", "float32", 0.001, "YOLOv8 [1,84,8400]"),
  decodeSpec("v5", "v5", "float32", 0.25, "YOLOv5 [1,25200,85]"),
  decodeSpec("v5", "v5", "float32", 0.001, "YOLOv5 [1,25200,85]"),
  decodeSpec("v3", "v3", "float32", 0.25, "tiny-YOLOv3, 2 maps"),
  decodeSpec("v3", "v3", "float32", 0.001, "tiny-YOLOv3, 2 maps"),
  decodeSpec("v8", "v8-f16", "float16", 0.25, "YOLOv8 [1,84,8400] f16"),
  decodeSpec("v8", "v8-int8", "int8", 0.25, "YOLOv8 [1,4,8400] + [1,80,8400] int8"),
  nmsSpec(100),
  nmsSpec(1000),
  nmsSpec(8400),
  nmsSpec(25200),
];

export const BOX_SCALE_INT8 = INPUT / 255;
export const SCORE_SCALE_INT8 = 1 / 255;
export const ZERO_POINT_INT8 = -128;

// -----------------------------------------------------------------------------------------------------------
// what is in the picture

interface PlantedObject {
  readonly cx: number;
  readonly cy: number;
  readonly w: number;
  readonly h: number;
  readonly label: number;
  readonly peak: number;
  readonly cells: number;
}

function plantObjects(random: Random, size: number): PlantedObject[] {
  return Array.from({ length: 30 }, () => {
    const w = 30 + random() * 220;
    const h = 30 + random() * 220;
    return {
      cx: w / 2 + random() * (size - w),
      cy: h / 2 + random() * (size - h),
      w,
      h,
      label: Math.floor(random() * CLASSES),
      peak: 0.4 + random() * 0.55,
      cells: 10 + Math.floor(random() * 11),
    };
  });
}

/**
 * A box of the object as one of its cells sees it; always inside the picture, so that clamping plays no part.
 */
function jitter(
  object: PlantedObject,
  normal: Random,
  size: number,
  spread: number,
): [number, number, number, number] {
  const w = Math.min(size, object.w * Math.exp(normal() * spread));
  const h = Math.min(size, object.h * Math.exp(normal() * spread));
  const cx = object.cx + normal() * spread * object.w;
  const cy = object.cy + normal() * spread * object.h;
  return [Math.min(size - w / 2, Math.max(w / 2, cx)), Math.min(size - h / 2, Math.max(h / 2, cy)), w, h];
}

function uniformBox(random: Random, size: number): [number, number, number, number] {
  const w = 8 + random() * 242;
  const h = 8 + random() * 242;
  return [w / 2 + random() * (size - w), h / 2 + random() * (size - h), w, h];
}

const logNormal = (normal: Random, median: number, sigma: number): number =>
  Math.min(0.2, median * Math.exp(sigma * normal()));

/**
 * Peak plus noise, but never below the usual threshold nor near one: it is folded back there, not cut off,
 * since equal scores would make the order depend on how a decoder numbers its cells.
 */
function cellScore(object: PlantedObject, normal: Random): number {
  const score = object.peak + 0.05 * normal();
  return score < 0.26 ? 0.26 + 0.1 * (0.26 - score) : score > 0.98 ? 0.98 - 0.1 * (score - 0.98) : score;
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const logit = (p: number): number => Math.log(p / (1 - p));

const STRIDES = [8, 16, 32] as const;

/**
 * A cell under the object (a small one may have fewer cells than it wants: hence the bound on tries), on the
 * map that the object's size belongs to.
 */
function pickCell(
  object: PlantedObject,
  random: Random,
): { map: number; col: number; row: number; side: number } {
  const extent = Math.max(object.w, object.h);
  const map = extent < 128 ? 0 : extent < 224 ? 1 : 2;
  const side = INPUT / STRIDES[map];
  const under = (centre: number, length: number): number =>
    Math.min(side - 1, Math.max(0, Math.floor((centre + (random() - 0.5) * length) / STRIDES[map])));
  return { map, side, col: under(object.cx, object.w), row: under(object.cy, object.h) };
}

// -----------------------------------------------------------------------------------------------------------
// the tensor sets

type TensorSet = Record<string, BenchTensor>;

const f32 = (data: Float32Array, dims: number[]): BenchTensor => ({ data, dims, type: "float32" });

export function makeV8(seed: number): TensorSet {
  const cells = 8400;
  const random = mulberry32(seed);
  const normal = gaussian(random);
  const data = new Float32Array((4 + CLASSES) * cells);
  for (let cell = 0; cell < cells; cell++) {
    const box = uniformBox(random, INPUT);
    for (let i = 0; i < 4; i++) data[i * cells + cell] = box[i];
  }
  for (let at = 4 * cells; at < data.length; at++) data[at] = logNormal(normal, 2e-5, 1.3);
  const base = [0, 6400, 8000];
  for (const object of plantObjects(random, INPUT)) {
    const taken = new Set<number>();
    for (let tries = 0; taken.size < object.cells && tries < 200; tries++) {
      const { map, side, col, row } = pickCell(object, random);
      const cell = base[map] + row * side + col;
      if (taken.has(cell)) continue;
      taken.add(cell);
      const box = jitter(object, normal, INPUT, 0.04);
      for (let i = 0; i < 4; i++) data[i * cells + cell] = box[i];
      const score = cellScore(object, normal);
      data[(4 + object.label) * cells + cell] = score;
      data[(4 + ((object.label + 1) % CLASSES)) * cells + cell] = score / 10;
    }
  }
  return { output0: f32(data, [1, 4 + CLASSES, cells]) };
}

export function makeV5(seed: number): TensorSet {
  const rows = 25200;
  const width = 5 + CLASSES;
  const random = mulberry32(seed);
  const normal = gaussian(random);
  const data = new Float32Array(rows * width);
  for (let row = 0; row < rows; row++) {
    data.set(uniformBox(random, INPUT), row * width);
    data[row * width + 4] = logNormal(normal, 2e-4, 1.8);
    for (let c = 0; c < CLASSES; c++) data[row * width + 5 + c] = sigmoid(-4.5 + 1.2 * normal());
  }
  const base = [0, 3 * 6400, 3 * 8000];
  for (const object of plantObjects(random, INPUT)) {
    const taken = new Set<number>();
    for (let tries = 0; taken.size < object.cells && tries < 200; tries++) {
      const { map, side, col, row } = pickCell(object, random);
      const anchor = Math.floor(random() * 3);
      const at = base[map] + (anchor * side + row) * side + col;
      if (taken.has(at)) continue;
      taken.add(at);
      data.set(jitter(object, normal, INPUT, 0.04), at * width);
      data[at * width + 4] = cellScore(object, normal);
      data[at * width + 5 + object.label] = Math.min(0.98, 0.9 + 0.04 * normal());
      data[at * width + 5 + ((object.label + 1) % CLASSES)] = 0.09;
    }
  }
  return { output0: f32(data, [1, rows, width]) };
}

export function makeV3(seed: number): TensorSet {
  const width = 5 + CLASSES;
  const random = mulberry32(seed);
  const normal = gaussian(random);
  const maps = V3_MAPS.map(({ side }) => new Float32Array(3 * width * side * side));
  V3_MAPS.forEach(({ side }, m) => {
    const cells = side * side;
    for (let anchor = 0; anchor < 3; anchor++) {
      for (let channel = 0; channel < width; channel++) {
        const from = (anchor * width + channel) * cells;
        for (let cell = 0; cell < cells; cell++) {
          maps[m][from + cell] =
            channel < 4 ? 0.7 * normal() : channel === 4 ? -9 + 1.7 * normal() : -5 + 1.5 * normal();
        }
      }
    }
  });
  for (const object of plantObjects(random, INPUT_V3)) {
    const m = Math.max(object.w, object.h) < 96 ? 0 : 1;
    const { side } = V3_MAPS[m];
    const cells = side * side;
    const stride = INPUT_V3 / side;
    const taken = new Set<number>();
    for (let tries = 0; taken.size < object.cells && tries < 200; tries++) {
      // 3 x 3 cells round the centre, all three anchors: each sees the same box, its centre bound to its own
      // cell.
      const near = (centre: number): number =>
        Math.min(side - 1, Math.max(0, Math.floor(centre / stride) - 1 + Math.floor(random() * 3)));
      const anchor = Math.floor(random() * 3);
      const cell = near(object.cy) * side + near(object.cx);
      if (taken.has(anchor * cells + cell)) continue;
      taken.add(anchor * cells + cell);
      const at = 2 * V3_MAPS[m].mask[anchor];
      const within = (centre: number, index: number): number =>
        logit(Math.min(0.98, Math.max(0.02, centre / stride - index)));
      const box = [
        within(object.cx, cell % side),
        within(object.cy, Math.floor(cell / side)),
        Math.log(object.w / V3_ANCHORS[at]) + 0.1 * normal(),
        Math.log(object.h / V3_ANCHORS[at + 1]) + 0.1 * normal(),
      ];
      for (let i = 0; i < 4; i++) maps[m][(anchor * width + i) * cells + cell] = box[i];
      const score = cellScore(object, normal);
      const data = maps[m];
      data[(anchor * width + 4) * cells + cell] = logit(score);
      data[(anchor * width + 5 + object.label) * cells + cell] = logit(0.95);
      data[(anchor * width + 5 + ((object.label + 1) % CLASSES)) * cells + cell] = logit(0.095);
    }
  }
  return {
    out26: f32(maps[0], [1, 3 * width, 26, 26]),
    out13: f32(maps[1], [1, 3 * width, 13, 13]),
  };
}

/**
 * 80 % of the boxes in clusters of about 15 with 6 % jitter, 20 % loose; in random order, as cells are. A
 * cluster is an object seen by several cells: its scores lie below a peak of its own. Loose boxes are
 * background, with low scores. So suppression meets many boxes before it has its 300, as with a real network
 * at a low threshold.
 */
export function makeNms(seed: number, n: number): TensorSet {
  const random = mulberry32(seed);
  const side = (): number => 12 + random() * 36;
  const clusters = Array.from({ length: Math.max(1, Math.round((0.8 * n) / 15)) }, () => {
    const w = side();
    const h = side();
    const peak = 0.3 + 0.65 * random();
    return { w, h, cx: w + random() * (INPUT - 2 * w), cy: h + random() * (INPUT - 2 * h), peak };
  });
  const shift = (size: number): number => 0.06 * size * (2 * random() - 1);
  const boxes = new Float32Array(4 * n);
  const scores = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    let [cx, cy, w, h] = [random() * INPUT, random() * INPUT, side(), side()];
    scores[i] = 0.02 + 0.28 * random();
    if (random() < 0.8) {
      const cluster = clusters[Math.floor(random() * clusters.length)];
      [cx, cy] = [cluster.cx + shift(cluster.w), cluster.cy + shift(cluster.h)];
      [w, h] = [cluster.w + shift(cluster.w), cluster.h + shift(cluster.h)];
      scores[i] = cluster.peak * (0.7 + 0.3 * random());
    }
    boxes.set([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], 4 * i);
  }
  return { boxes: f32(boxes, [n, 4]), scores: f32(scores, [n]) };
}

const half = new Float32Array(1);
const halfBits = new Uint32Array(half.buffer);

/** Bits of the nearest half precision number, ties to even. */
export function toHalf(value: number): number {
  half[0] = value;
  const bits = halfBits[0];
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude >= 0x47800000) return sign | (magnitude > 0x7f800000 ? 0x7e00 : 0x7c00);
  if (magnitude < 0x38800000) {
    // Subnormal halves count in steps of 2^-24; the product is exact, so one rounding is made.
    const steps = Math.abs(half[0]) * 16777216;
    const down = Math.floor(steps);
    const rest = steps - down;
    return sign | (rest > 0.5 || (rest === 0.5 && (down & 1) === 1) ? down + 1 : down);
  }
  const rounded = magnitude + 0xfff + ((magnitude >>> 13) & 1);
  return sign | ((rounded - 0x38000000) >>> 13);
}

export function fromHalf(bits: number): number {
  const exponent = (bits >>> 10) & 31;
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

function makeV8Half(seed: number): TensorSet {
  const { output0 } = makeV8(seed);
  return { output0: { data: Uint16Array.from(output0.data, toHalf), dims: output0.dims, type: "float16" } };
}

function makeV8Int8(seed: number): TensorSet {
  const data = makeV8(seed).output0.data;
  const cells = 8400;
  const quantise = (part: TensorData, scale: number): Int8Array =>
    Int8Array.from(part, (x) => Math.max(-128, Math.min(127, Math.round(x / scale) + ZERO_POINT_INT8)));
  const tensor = (part: TensorData, channels: number, scale: number): BenchTensor => ({
    data: quantise(part, scale),
    dims: [1, channels, cells],
    type: "int8",
    scale,
    zeroPoint: ZERO_POINT_INT8,
  });
  return {
    boxes: tensor(data.subarray(0, 4 * cells), 4, BOX_SCALE_INT8),
    scores: tensor(data.subarray(4 * cells), CLASSES, SCORE_SCALE_INT8),
  };
}

/** Chosen among the first few so that the counts come near those the workloads are described by. */
const SEEDS = { v8: 107, v5: 236, v3: 144, nms: 149 };

function makeSet(spec: WorkloadSpec): TensorSet {
  if (spec.kind === "nms") return makeNms(SEEDS.nms, spec.boxes ?? 0);
  if (spec.kind === "v5") return makeV5(SEEDS.v5);
  if (spec.kind === "v3") return makeV3(SEEDS.v3);
  if (spec.type === "float16") return makeV8Half(SEEDS.v8);
  if (spec.type === "int8") return makeV8Int8(SEEDS.v8);
  return makeV8(SEEDS.v8);
}

// -----------------------------------------------------------------------------------------------------------
// the cache

const here = dirname(fileURLToPath(import.meta.url));

/** Named by the source of the generator: an edit here can never leave old bytes in use. */
export const cacheDirectory: string = (() => {
  const hash = createHash("sha256");
  for (const file of ["workloads.ts", "random.ts"]) hash.update(readFileSync(join(here, file)));
  return join(tmpdir(), `boxwright-bench-${userInfo().uid}-${hash.digest("hex").slice(0, 12)}`);
})();

const ARRAYS = { float32: Float32Array, float16: Uint16Array, int8: Int8Array } as const;

/** Written under another name first: two benchmarks started together must not read half a file. */
export function writeWhole(file: string, content: Uint8Array | string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.${process.pid}`, content);
  renameSync(`${file}.${process.pid}`, file);
}

interface Header {
  readonly name: string;
  readonly dims: number[];
  readonly type: ElementType;
  readonly scale?: number;
  readonly zeroPoint?: number;
  readonly length: number;
}

export function loadWorkload(name: string): Workload {
  const spec = WORKLOADS.find((w) => w.name === name);
  if (spec === undefined)
    throw new Error(`workload ${name}: known are ${WORKLOADS.map((w) => w.name).join(", ")}`);
  const file = join(cacheDirectory, `${spec.set}.bin`);
  const index = join(cacheDirectory, `${spec.set}.json`);
  if (!existsSync(index)) {
    const set = Object.entries(makeSet(spec));
    const bytes = set.map(([, { data }]) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    writeWhole(file, Buffer.concat(bytes));
    const header: Header[] = set.map(([key, { data, dims, ...rest }]) => ({
      name: key,
      dims: [...dims],
      ...rest,
      length: data.length,
    }));
    writeWhole(index, JSON.stringify(header));
  }
  const raw = readFileSync(file);
  const tensors: TensorSet = {};
  let at = 0;
  for (const { name: key, length, ...rest } of JSON.parse(readFileSync(index, "utf8")) as Header[]) {
    // Every tensor gets a buffer of its own, as a runtime would hand it out.
    const data = new ARRAYS[rest.type](length);
    new Uint8Array(data.buffer).set(raw.subarray(at, at + data.byteLength));
    tensors[key] = { data, ...rest };
    at += data.byteLength;
  }
  return { ...spec, tensors, file, bytes: at };
}
