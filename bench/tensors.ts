/**
 * Seeded output tensors that resemble those of networks: objects in a background of low scores. Never change the order
 * of draws: it would change the tensors and the digests.
 */
import { gaussian, mulberry32, type Random } from "./random.ts";

export type ElementType = "float32" | "float16" | "int8";

/** One output tensor of a network. Element values of int8 are (data - zeroPoint) * scale. */
export interface BenchTensor {
  readonly data: Float32Array | Uint16Array | Int8Array;
  readonly dims: readonly number[];
  readonly type: ElementType;
  readonly scale?: number;
  readonly zeroPoint?: number;
}

export type TensorSet = Readonly<Record<string, BenchTensor>>;

const f32 = (data: Float32Array, dims: number[]): BenchTensor => ({ data, dims, type: "float32" });

/** Classes and input size in pixels of YOLOv5, and of YOLOv8 unless a workload states others. */
export const CLASSES = 80;
export const INPUT_SIZE = 640;
export const STRIDES = [8, 16, 32] as const;

/** tiny-YOLOv3 at 416: anchors 1 to 3 belong to the map of 26 x 26 cells, 3 to 5 to that of 13 x 13. */
export const V3_INPUT_SIZE = 416;
export const V3_ANCHORS = [10, 14, 23, 27, 37, 58, 81, 82, 135, 169, 344, 319];
export const V3_MAPS = [
  { side: 26, mask: [1, 2, 3] },
  { side: 13, mask: [3, 4, 5] },
] as const;

// Objects

/** Centre and size in pixels. */
type Box = readonly [cx: number, cy: number, w: number, h: number];

interface PlantedObject {
  readonly box: Box;
  readonly classId: number;
  /** Score of the object's best cell; its other cells have similar scores. */
  readonly peak: number;
  /** Count of the object's cells. */
  readonly cells: number;
}

/** Plants 30 objects of 30 to 250 pixels, times `scale`. */
function plantObjects(random: Random, size: number, classes = CLASSES, scale = 1): PlantedObject[] {
  return Array.from({ length: 30 }, () => {
    const w = (30 + random() * 220) * scale;
    const h = (30 + random() * 220) * scale;
    return {
      box: [w / 2 + random() * (size - w), h / 2 + random() * (size - h), w, h],
      classId: Math.floor(random() * classes),
      peak: 0.4 + random() * 0.55,
      cells: 10 + Math.floor(random() * 11),
    };
  });
}

/**
 * Returns the object's box as one of its cells predicts it. The box lies inside the picture, so that clamping changes
 * nothing.
 */
function jittered([x, y, width, height]: Box, normal: Random, size: number): Box {
  const w = Math.min(size, width * Math.exp(normal() * 0.04));
  const h = Math.min(size, height * Math.exp(normal() * 0.04));
  const cx = x + normal() * 0.04 * width;
  const cy = y + normal() * 0.04 * height;
  return [Math.min(size - w / 2, Math.max(w / 2, cx)), Math.min(size - h / 2, Math.max(h / 2, cy)), w, h];
}

function backgroundBox(random: Random, size: number, scale = 1): Box {
  const w = (8 + random() * 242) * scale;
  const h = (8 + random() * 242) * scale;
  return [w / 2 + random() * (size - w), h / 2 + random() * (size - h), w, h];
}

/** Draws a log-normal score of the background, cut at 0.2. */
const backgroundScore = (normal: Random, median: number, sigma: number): number =>
  Math.min(0.2, median * Math.exp(sigma * normal()));

/**
 * Draws the object's peak plus noise, never near the usual threshold of 0.25. Low scores are folded back, not cut:
 * equal scores would make the order depend on how a decoder numbers its cells.
 */
function cellScore({ peak }: PlantedObject, normal: Random): number {
  const score = peak + 0.05 * normal();
  return score < 0.26 ? 0.26 + 0.1 * (0.26 - score) : score > 0.98 ? 0.98 - 0.1 * (score - 0.98) : score;
}

/** Calls `write` for the indices of the object's cells, without repetition. A small object may have fewer cells. */
function forCells({ cells }: PlantedObject, pick: () => number, write: (index: number) => void): void {
  const taken = new Set<number>();
  for (let tries = 0; taken.size < cells && tries < 200; tries++) {
    const index = pick();
    if (taken.has(index)) continue;
    taken.add(index);
    write(index);
  }
}

/** Picks a cell under the object, on the map for objects of its size. `first` is that map's first cell. */
function pickCell({ box: [cx, cy, w, h] }: PlantedObject, random: Random, size: number) {
  const extent = (Math.max(w, h) * INPUT_SIZE) / size;
  const map = extent < 128 ? 0 : extent < 224 ? 1 : 2;
  const sides = STRIDES.map((stride) => size / stride);
  const under = (centre: number, length: number): number =>
    Math.min(sides[map] - 1, Math.max(0, Math.floor((centre + (random() - 0.5) * length) / STRIDES[map])));
  const first = sides.slice(0, map).reduce((sum, side) => sum + side * side, 0);
  const col = under(cx, w);
  return { first, side: sides[map], col, row: under(cy, h) };
}

// Networks

/** Count of cells of a network with strides 8, 16 and 32. */
export const cellsOf = (size: number): number =>
  STRIDES.reduce((sum, stride) => sum + (size / stride) ** 2, 0);

/** YOLOv8: [images, 4 + classes, cells], boxes in pixels, scores as probabilities. */
export function makeV8(seed: number, classes = CLASSES, size = INPUT_SIZE, images = 1): TensorSet {
  const cells = cellsOf(size);
  const scale = size / INPUT_SIZE;
  const random = mulberry32(seed);
  const normal = gaussian(random);
  const all = new Float32Array(images * (4 + classes) * cells);
  for (let image = 0; image < images; image++) {
    const data = all.subarray(image * (4 + classes) * cells, (image + 1) * (4 + classes) * cells);
    const writeBox = (cell: number, box: Box): void => box.forEach((x, i) => (data[i * cells + cell] = x));
    for (let cell = 0; cell < cells; cell++) writeBox(cell, backgroundBox(random, size, scale));
    for (let at = 4 * cells; at < data.length; at++) data[at] = backgroundScore(normal, 2e-5, 1.3);
    for (const object of plantObjects(random, size, classes, scale)) {
      const pick = (): number => {
        const { first, side, col, row } = pickCell(object, random, size);
        return first + row * side + col;
      };
      forCells(object, pick, (cell) => {
        writeBox(cell, jittered(object.box, normal, size));
        const score = cellScore(object, normal);
        data[(4 + ((object.classId + 1) % classes)) * cells + cell] = score / 10;
        data[(4 + object.classId) * cells + cell] = score;
      });
    }
  }
  return { output0: f32(all, [images, 4 + classes, cells]) };
}

/** YOLOv5: rows [1, 25200, 85] of box, objectness and class scores. */
export function makeV5(seed: number): TensorSet {
  const rows = 3 * cellsOf(INPUT_SIZE);
  const width = 5 + CLASSES;
  const random = mulberry32(seed);
  const normal = gaussian(random);
  const data = new Float32Array(rows * width);
  for (let row = 0; row < rows; row++) {
    data.set(backgroundBox(random, INPUT_SIZE), row * width);
    data[row * width + 4] = backgroundScore(normal, 2e-4, 1.8);
    for (let c = 0; c < CLASSES; c++) data[row * width + 5 + c] = sigmoid(-4.5 + 1.2 * normal());
  }
  for (const object of plantObjects(random, INPUT_SIZE)) {
    const pick = (): number => {
      const { first, side, col, row } = pickCell(object, random, INPUT_SIZE);
      return 3 * first + (Math.floor(random() * 3) * side + row) * side + col;
    };
    forCells(object, pick, (row) => {
      const at = row * width;
      data.set(jittered(object.box, normal, INPUT_SIZE), at);
      data[at + 4] = cellScore(object, normal);
      data[at + 5 + object.classId] = Math.min(0.98, 0.9 + 0.04 * normal());
      data[at + 5 + ((object.classId + 1) % CLASSES)] = 0.09;
    });
  }
  return { output0: f32(data, [1, rows, width]) };
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const logit = (p: number): number => Math.log(p / (1 - p));

/** tiny-YOLOv3: two maps [1, 255, side, side] of raw values. */
export function makeV3(seed: number): TensorSet {
  const width = 5 + CLASSES;
  const random = mulberry32(seed);
  const normal = gaussian(random);
  const draw = (channel: number): number =>
    channel < 4 ? 0.7 * normal() : channel === 4 ? -9 + 1.7 * normal() : -5 + 1.5 * normal();
  const maps = V3_MAPS.map(({ side }) =>
    Float32Array.from({ length: 3 * width * side * side }, (_, i) =>
      draw(Math.floor(i / (side * side)) % width),
    ),
  );
  for (const object of plantObjects(random, V3_INPUT_SIZE)) {
    const [cx, cy, w, h] = object.box;
    const m = Math.max(w, h) < 96 ? 0 : 1;
    const { side, mask } = V3_MAPS[m];
    const cells = side * side;
    const stride = V3_INPUT_SIZE / side;
    // Choose one of 3 x 3 cells around the centre. All three anchors predict the same box.
    const near = (centre: number): number =>
      Math.min(side - 1, Math.max(0, Math.floor(centre / stride) - 1 + Math.floor(random() * 3)));
    const within = (centre: number, index: number): number =>
      logit(Math.min(0.98, Math.max(0.02, centre / stride - index)));
    const pick = (): number => Math.floor(random() * 3) * cells + near(cy) * side + near(cx);
    forCells(object, pick, (index) => {
      const [anchor, cell] = [Math.floor(index / cells), index % cells];
      const write = (channel: number, value: number): void =>
        void (maps[m][(anchor * width + channel) * cells + cell] = value);
      write(0, within(cx, cell % side));
      write(1, within(cy, Math.floor(cell / side)));
      write(2, Math.log(w / V3_ANCHORS[2 * mask[anchor]]) + 0.1 * normal());
      write(3, Math.log(h / V3_ANCHORS[2 * mask[anchor] + 1]) + 0.1 * normal());
      write(4, logit(cellScore(object, normal)));
      write(5 + object.classId, logit(0.95));
      write(5 + ((object.classId + 1) % CLASSES), logit(0.095));
    });
  }
  return Object.fromEntries(
    V3_MAPS.map(({ side }, m) => [`out${side}`, f32(maps[m], [1, 3 * width, side, side])]),
  );
}

/**
 * Boxes for suppression alone, corners in pixels. Of all boxes, 80 % lie in clusters of about 15 with 6 % jitter and
 * score below the peak of their cluster. The others are background with low scores. Suppression therefore meets many
 * boxes before it has 300, as with a real network at a low threshold.
 */
export function makeNms(seed: number, n: number): TensorSet {
  const random = mulberry32(seed);
  const side = (): number => 12 + random() * 36;
  const clusters = Array.from({ length: Math.max(1, Math.round((0.8 * n) / 15)) }, () => {
    const w = side();
    const h = side();
    const peak = 0.3 + 0.65 * random();
    return { w, h, cx: w + random() * (INPUT_SIZE - 2 * w), cy: h + random() * (INPUT_SIZE - 2 * h), peak };
  });
  const shift = (size: number): number => 0.06 * size * (2 * random() - 1);
  const boxes = new Float32Array(4 * n);
  const scores = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    let [cx, cy, w, h] = [random() * INPUT_SIZE, random() * INPUT_SIZE, side(), side()];
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

// Other element types

/** Returns the bits of the nearest half-precision value, ties to even. `value` is in 0..65504. */
export function toHalf(value: number): number {
  const exponent = Math.max(-14, Math.floor(Math.log2(value)));
  const steps = value / 2 ** (exponent - 10);
  const down = Math.floor(steps);
  const rest = steps - down;
  const rounded = rest > 0.5 || (rest === 0.5 && down % 2 === 1) ? down + 1 : down;
  // A normal value has its leading bit in `rounded`. The addition carries this bit into the exponent, which is 1 too
  // low here.
  return ((exponent + 14) << 10) + rounded;
}

/** Returns the value of half-precision bits without a sign. */
export function fromHalf(bits: number): number {
  const exponent = bits >>> 10;
  const fraction = bits & 1023;
  return exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25);
}

export function makeV8Half(seed: number): TensorSet {
  const { data, dims } = makeV8(seed).output0;
  return { output0: { data: Uint16Array.from(data, toHalf), dims, type: "float16" } };
}

/** YOLOv8 in int8 as two outputs, because boxes and scores have different scales. */
export function makeV8Int8(seed: number): TensorSet {
  const data = makeV8(seed).output0.data;
  const cells = cellsOf(INPUT_SIZE);
  const quantised = (first: number, channels: number, scale: number): BenchTensor => ({
    data: Int8Array.from(data.subarray(first * cells, (first + channels) * cells), (x) =>
      Math.max(-128, Math.min(127, Math.round(x / scale) - 128)),
    ),
    dims: [1, channels, cells],
    type: "int8",
    scale,
    zeroPoint: -128,
  });
  return { boxes: quantised(0, 4, INPUT_SIZE / 255), scores: quantised(4, CLASSES, 1 / 255) };
}
