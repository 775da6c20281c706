/** Rows for masks: the engines, careful plain JavaScript, and a native program of our own. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type * as Boxwright from "../src/entries/index.ts";
import type { Detections } from "../src/entries/index.ts";
import { mulberry32 } from "./random.ts";

/** A row of bench/beyond.ts. A separate program may time the row. */
export interface MaskRow {
  readonly name: string;
  readonly run: () => number;
  readonly answer: () => { readonly values: ArrayLike<number>; readonly fault?: string };
  /** Runs the native program, and returns its times in microseconds. */
  readonly timed?: (milliseconds: number) => {
    readonly median: number;
    readonly min: number;
    readonly p90: number;
  };
}

const COUNT = 32;
const SIDE = 160;
const FRAME = { width: 1280, height: 720, resize: "letterbox" } as const;
/** Rows of prototypes above the picture: the letterbox has 140 pixels of padding above, and 4 pixels per prototype. */
const TOP = 35;

interface Pixels {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** Outputs of one network: end-to-end rows of YOLO26 for segmentation, and its prototypes. */
function makeScene(masks: number): { readonly rows: Float32Array; readonly prototypes: Float32Array } {
  const random = mulberry32(53);
  const prototypes = new Float32Array(COUNT * SIDE * SIDE);
  for (let m = 0, at = 0; m < COUNT; m++) {
    const [a, b, c, d] = [0.2 * random(), 0.2 * random(), 6 * random(), 6 * random()];
    for (let y = 0; y < SIDE; y++)
      for (let x = 0; x < SIDE; x++) prototypes[at++] = Math.sin(a * x + c) + Math.cos(b * y + d);
  }
  const rows = new Float32Array(masks * (6 + COUNT));
  for (let i = 0; i < masks; i++) {
    const [width, height] = [40 + 200 * random(), 40 + 160 * random()];
    const [x, y] = [random() * (640 - width), 140 + random() * (360 - height)];
    rows.set([x, y, x + width, y + height, 0.95 - 0.01 * i, i % 80], i * (6 + COUNT));
    for (let m = 0; m < COUNT; m++) rows[i * (6 + COUNT) + 6 + m] = 2 * random() - 1;
  }
  return { rows, prototypes };
}

const WORKLOADS = [
  { name: "masks-10-prototype", masks: 10, size: "prototype" },
  { name: "masks-49-1280x720", masks: 49, size: "frame" },
] as const;

/** Returns all masks of a workload as numbers: their positions, then their pixels. */
function valuesOf(masks: readonly Pixels[]): Float32Array {
  const values = new Float32Array(masks.reduce((sum, { data }) => sum + 4 + data.length, 0));
  let at = 0;
  for (const { x, y, width, height, data } of masks) {
    values.set([x, y, width, height], at);
    values.set(data, at + 4);
    at += 4 + data.length;
  }
  return values;
}

/**
 * Makes a mask in plain, careful JavaScript: multiplies only inside the box, computes the positions for resizing once
 * per row and column, and makes no objects in loops.
 */
function plainMaker(
  prototypes: Float32Array,
  coefficients: Float32Array,
  { x, y, width, height }: Pixels,
  isPlain: boolean,
): Pixels {
  const data = new Uint8Array(width * height);
  const cells = isPlain ? [SIDE, SIDE] : [SIDE, 90];
  const top = isPlain ? 0 : TOP;
  const [pictureWidth, pictureHeight] = isPlain ? cells : [FRAME.width, FRAME.height];
  const place = (i: number, n: number, size: number): number =>
    Math.min(Math.max(((i + 0.5) * n) / size - 0.5, 0), n - 1);
  const x0 = Math.floor(place(x, cells[0], pictureWidth));
  const y0 = Math.floor(place(y, cells[1], pictureHeight));
  const x1 = Math.min(Math.floor(place(x + width - 1, cells[0], pictureWidth)) + 1, cells[0] - 1);
  const y1 = Math.min(Math.floor(place(y + height - 1, cells[1], pictureHeight)) + 1, cells[1] - 1);
  const [w, h] = [x1 - x0 + 1, y1 - y0 + 1];
  const logits = new Float32Array(w * h);
  for (let m = 0; m < COUNT; m++) {
    const by = coefficients[m];
    for (let r = 0; r < h; r++) {
      let from = (m * SIDE + top + y0 + r) * SIDE + x0;
      for (let at = r * w; at < r * w + w; at++) logits[at] += by * prototypes[from++];
    }
  }
  if (isPlain) {
    for (let r = 0; r < height; r++)
      for (let c = 0; c < width; c++) data[r * width + c] = logits[r * w + c] > 0 ? 1 : 0;
    return { x, y, width, height, data };
  }
  const left = new Int32Array(width);
  const right = new Int32Array(width);
  const weight = new Float32Array(width);
  for (let c = 0; c < width; c++) {
    const at = place(x + c, cells[0], pictureWidth);
    left[c] = Math.floor(at) - x0;
    right[c] = Math.min(left[c] + 1, cells[0] - 1 - x0);
    weight[c] = at - Math.floor(at);
  }
  const line = new Float32Array(w);
  for (let r = 0, to = 0; r < height; r++) {
    const at = place(y + r, cells[1], pictureHeight);
    const upper = Math.floor(at);
    const b = at - upper;
    const first = (upper - y0) * w;
    const second = (Math.min(upper + 1, cells[1] - 1) - y0) * w;
    for (let c = 0; c < w; c++) line[c] = logits[first + c] * (1 - b) + logits[second + c] * b;
    for (let c = 0; c < width; c++)
      data[to++] = line[left[c]] * (1 - weight[c]) + line[right[c]] * weight[c] > 0 ? 1 : 0;
  }
  return { x, y, width, height, data };
}

/** Compiles the native program. Returns undefined if it cannot be compiled. */
function compileNative(): string | undefined {
  if (process.arch !== "x64") return undefined;
  const folder = mkdtempSync(join(tmpdir(), "boxwright-masks-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, "masks");
  const source = fileURLToPath(new URL("./native/masks.cpp", import.meta.url));
  const flags = ["-O3", "-msse4.1", "-ffp-contract=off", "-std=c++17", "-o", program, source];
  try {
    execFileSync(process.env.CXX ?? "g++", flags, { stdio: "pipe" });
    return program;
  } catch {
    return undefined;
  }
}

/** Returns the input of the native program, in the layout that masks.cpp describes. */
function jobOf(
  masks: readonly Pixels[],
  rows: Float32Array,
  prototypes: Float32Array,
  isPlain: boolean,
): Buffer {
  const picture = isPlain ? [SIDE, SIDE] : [FRAME.width, FRAME.height];
  const head = Int32Array.of(COUNT, SIDE, SIDE, masks.length, ...picture, isPlain ? 1 : 0);
  const axes = isPlain ? [0, SIDE, 0, SIDE, 0, SIDE, 0, SIDE] : [0, SIDE, 0, SIDE, TOP, 90, TOP, TOP + 90];
  const windows = Int32Array.from(masks.flatMap(({ x, y, width, height }) => [x, y, x + width, y + height]));
  const coefficients = masks.map((_, i) => rows.subarray(i * (6 + COUNT) + 6, (i + 1) * (6 + COUNT)));
  const parts = [head, Float64Array.from(axes), windows, ...coefficients, prototypes];
  return Buffer.concat(parts.map((part) => Buffer.from(part.buffer, part.byteOffset, part.byteLength)));
}

function nativeRow(name: string, program: string, job: Buffer, masks: readonly Pixels[]): MaskRow {
  let values: Float32Array = new Float32Array();
  return {
    name,
    run: () => 1,
    timed: (milliseconds) => {
      const { stdout, stderr } = spawnSync(program, [String(milliseconds)], {
        input: job,
        maxBuffer: 1 << 28,
      });
      let at = 0;
      values = valuesOf(
        masks.map((mask) => ({ ...mask, data: stdout.subarray(at, (at += mask.data.length)) })),
      );
      return JSON.parse(String(stderr)) as { median: number; min: number; p90: number };
    },
    answer: () => ({ values }),
  };
}

/** Returns the rows of all workloads. */
export function maskRows({ createDecoderSync }: typeof Boxwright): MaskRow[] {
  const program = compileNative();
  return WORKLOADS.flatMap(({ name, masks, size }): MaskRow[] => {
    const { rows, prototypes } = makeScene(masks);
    const isPlain = size === "prototype";
    const decoded = (engine: "simd" | "scalar" | "ts"): Detections =>
      createDecoderSync(
        { family: "yolo26", classes: 80, inputSize: [640, 640], coordinates: "pixels", task: "segment" },
        { engine, rules: { clamp: "none" } },
      ).decode(
        {
          output0: { data: rows, dims: [1, masks, 6 + COUNT] },
          output1: { data: prototypes, dims: [1, COUNT, SIDE, SIDE] },
        },
        FRAME,
      );
    const makeAll = (found: Detections): Pixels[] =>
      Array.from({ length: found.length }, (_, i) => found.mask(i, { size }));
    const engineRows = (["simd", "scalar", "ts"] as const).map((engine): MaskRow => {
      const found = decoded(engine);
      return {
        name: `${name}-${engine}`,
        run: () => makeAll(found).length,
        answer: () => ({ values: valuesOf(makeAll(found)) }),
      };
    });
    const made = makeAll(decoded("ts"));
    const plain = (): Pixels[] =>
      made.map((mask, i) =>
        plainMaker(prototypes, rows.subarray(i * (6 + COUNT) + 6, (i + 1) * (6 + COUNT)), mask, isPlain),
      );
    const plainRow: MaskRow = {
      name: `${name}-javascript`,
      run: () => plain().length,
      answer: () => {
        const values = valuesOf(plain());
        const ours = valuesOf(made);
        const wrong = values.reduce((sum, v, i) => sum + (v === ours[i] ? 0 : 1), 0);
        // This code adds in another order than ours, so pixels with a logit near 0 may differ.
        return { values, ...(wrong > values.length / 1e4 ? { fault: `${wrong} pixels are others` } : {}) };
      },
    };
    const native = program
      ? [nativeRow(`${name}-native`, program, jobOf(made, rows, prototypes, isPlain), made)]
      : [];
    return [...engineRows, plainRow, ...native];
  });
}
