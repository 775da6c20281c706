/**
 * Forged plan files: one word is another, and the checksum is right. Each is refused, or decodes in bounded work.
 * A plan that loops for ever makes this test hang. BOXWRIGHT_FORGERIES sets how many files are forged.
 */
import { expect, test } from "vitest";
import * as A from "../../src/core/abi.ts";
import { ConfigError, TensorError, isRefusal } from "../../src/core/errors.ts";
import type { SlotArray } from "../../src/core/tensor.ts";
import type { DecoderOptions, TypedOptions } from "../../src/config/types.ts";
import type { Detections } from "../../src/decode/detections.ts";
import { forge, loadPlanSync } from "../support/plans.ts";
import { PlanBytes } from "../../src/planfile/bytes.ts";
import * as F from "../../src/planfile/format.ts";
import { readPlan } from "../../src/planfile/read.ts";
import { compilePlan } from "../../src/planfile/write.ts";
import { repeats } from "../support/effort.ts";
import { engines } from "../support/engines.ts";
import { type FuzzCase, makeCase } from "../support/fuzz-case.ts";
import { type Random, mulberry32, pick } from "../support/seeded-networks.ts";

const FORGERIES = Number(process.env["BOXWRIGHT_FORGERIES"] ?? repeats(400, 150));
/** The same for plans with keypoints and masks, which take ten times as long. */
const TASK_FORGERIES = Number(process.env["BOXWRIGHT_FORGERIES"] ?? repeats(400, 60));

/** Returns the plan file of a case, or null if its shapes cannot be compiled. */
function fileOf({ config, steps: [{ outputs }] }: FuzzCase): Uint8Array<ArrayBuffer> | null {
  const heads = Object.entries(outputs).map(([name, { data: _, ...head }]) => ({ ...head, name }));
  try {
    return compilePlan(config, { outputs: heads }, (name) => outputs[name].data as Float32Array).bytes;
  } catch (e) {
    if (e instanceof TensorError || e instanceof ConfigError) return null;
    throw e;
  }
}

/** Returns another value for a word: near it, an address, a small count, or anything. */
function otherWord(random: Random, words: Uint32Array, index: number): number {
  const value = pick(random, [
    () => 0,
    () => 1,
    () => 0xffffffff,
    () => 0x7fffffff,
    () => words[index] + 1,
    () => words[index] - 1,
    () => words[index] * 2,
    () => words[index] + 16,
    () => pick(random, [...words.subarray(0, 200)]),
    () => Math.floor(random() * 8),
    () => Math.floor(random() * words[F.F_MEMORY_BYTES]),
    () => Math.floor(random() * 2 ** 32),
  ])();
  return value >>> 0;
}

/** Fills a slot with numbers of its type, most of them ordinary. */
function fill(slot: SlotArray, random: Random): void {
  const isFloat = slot instanceof Float32Array;
  for (let i = 0; i < slot.length; i++)
    slot[i] = isFloat ? (random() < 0.01 ? NaN : random() * 2 - 0.5) : Math.floor(random() * 2 ** 16);
}

/** Makes the objects and the masks of all detections. Masks may be refused: no frame gives their size. */
function readAll(found: Detections, hasMasks: boolean): void {
  for (let i = 0; i < found.length; i++) {
    for (const { x } of found.at(i)?.keypoints ?? []) expect(x).toBeTypeOf("number");
    for (const size of hasMasks ? (["prototype", "network"] as const) : [])
      try {
        expect(found.mask(i, { size }).data.length).toBeGreaterThanOrEqual(0);
      } catch (e) {
        if (!isRefusal(e)) throw e;
      }
  }
}

/** Loads and decodes. Any other error than a refusal goes on. */
function outcome(
  file: Uint8Array<ArrayBuffer>,
  engine: (typeof engines)[number],
  seed: number,
  hasMasks = false,
): "refused" | "decoded" {
  let decoder;
  try {
    decoder = loadPlanSync(file, { engine });
  } catch (e) {
    if (!(e instanceof ConfigError)) throw e;
    return "refused";
  }
  const random = mulberry32(seed);
  for (const { data } of Object.values(decoder.slots)) fill(data, random);
  try {
    for (const found of decoder.decodeBatch()) {
      readAll(found, hasMasks);
      readAll(found.copy(), hasMasks);
    }
  } catch (e) {
    // Scores outside 0..1. No other error is for people to read.
    if (!(e instanceof TensorError)) throw e;
  }
  return "decoded";
}

test(`${FORGERIES} words of plans are forged: each file is refused or decodes, in every engine`, () => {
  const random = mulberry32(Number(process.env["BOXWRIGHT_FUZZ_SEED"] ?? 38));
  let refused = 0;
  let forged = 0;
  for (let seed = 1; forged < FORGERIES; seed++) {
    const drawn = makeCase(seed, {
      cells: pick(random, [4, 40, 400]),
      classes: pick(random, [1, 5, 33]),
      batch: 2,
    });
    const file = drawn && fileOf(drawn);
    if (!file) continue;
    const words = new Uint32Array(file.buffer);
    for (let i = 0; i < 20 && forged < FORGERIES; i++, forged++) {
      // Prior tables and class lists are long: look at the first words half of the time.
      const most = random() < 0.5 ? Math.min(300, words.length) : words.length;
      const index = 4 + Math.floor(random() * (most - 4));
      const value = otherWord(random, words, index);
      const name = `${drawn.name}, seed ${seed}: word ${index} from ${words[index]} to ${value}`;
      const started = Date.now();
      const outcomes = engines.map((engine) => {
        try {
          return outcome(forge(file, index, value), engine, seed);
        } catch (e) {
          throw new Error(`${name}, ${engine}`, { cause: e });
        }
      });
      if (process.env["BOXWRIGHT_FORGERIES"] && Date.now() - started > 500)
        console.log(name, Date.now() - started);
      expect(new Set(outcomes).size, name).toBe(1);
      if (outcomes[0] === "refused") refused++;
    }
  }
  console.log(`${forged} forged, ${refused} refused`);
  expect(refused).toBeGreaterThan(forged / 3);
  expect(refused).toBeLessThan((forged * 9) / 10);
}, 3_600_000);

test("plans of networks of every kind are accepted", () => {
  let accepted = 0;
  const seeds = repeats(400, 150);
  for (let seed = 1; seed <= seeds; seed++) {
    const drawn = makeCase(seed);
    const file = drawn && fileOf(drawn);
    if (!file) continue;
    expect(() => readPlan(file), drawn.name).not.toThrow();
    accepted++;
  }
  expect(accepted).toBeGreaterThan(seeds * 0.6);
});

/** A small plan, and words of it that made an engine loop for ever, or read outside memory. */
test("counts and addresses that are too large are refused, and the message says what they may be", () => {
  const config = { family: "yolov8", classes: 3, inputSize: [64, 64] };
  const { bytes, layout } = compilePlan(config, { outputs: [{ name: "o", dims: [1, 7, 84] }] });
  const block = layout.imageBlocks[0] / 4;
  const head = layout.records[0] / 4;
  for (const index of [
    ...[A.P_HEADS, A.P_HEAD0, A.P_CAPACITY, A.P_SCORES, A.P_ORDER, A.P_KEPT, A.P_COLUMN].map(
      (k) => block + k,
    ),
    ...[A.H_CELLS, A.H_SCORE, A.H_SCORE_CELL, A.H_CLASSES, A.H_BOX_3, A.H_KIND - 2, A.H_INDEX].map(
      (k) => head + k,
    ),
  ])
    for (const value of [0x7fffffff, 0xffffffff])
      expect(() => readPlan(forge(bytes, index, value)), `word ${index}`).toThrow(
        /^plan: got (bytes \d+\.\.)?\d+ for a place or a count, expected \d+\.\.\d+/,
      );
  expect(() => readPlan(forge(bytes, F.F_MEMORY_BYTES, layout.bytes + 16))).toThrow(
    `plan: got ${layout.bytes + 16} for a place or a count, expected ${layout.bytes}..${layout.bytes}`,
  );
  expect(() => readPlan(forge(bytes, block + A.P_SPARE, layout.spare + 4))).toThrow("a multiple of 16");

  // A scan makes room for candidates only in multi-label plans, whose scratch allows it.
  for (const [index, value] of [
    [A.P_CAPACITY, layout.capacity - 1],
    [A.P_FLAGS, new Uint32Array(bytes.buffer)[block + A.P_FLAGS] | A.FLAG_MULTI_LABEL],
  ])
    expect(() => readPlan(forge(bytes, block + index, value)), `word ${index}`).toThrow(ConfigError);
});

type Dims = Readonly<Record<string, readonly number[]>>;

const compile = (typed: TypedOptions, dims: Dims, options: DecoderOptions = {}): Uint8Array<ArrayBuffer> =>
  compilePlan(typed, {
    ...options,
    outputs: Object.entries(dims).map(([name, d]) => ({ name, dims: d })),
  }).bytes;

const POSE: TypedOptions = {
  family: "yolov8",
  task: "pose",
  classes: 1,
  inputSize: [64, 32],
  keypoints: [2, 3],
  keypointNames: ["head", "foot"],
  edges: [[0, 1]],
};
const SEGMENT: TypedOptions = { family: "yolov8", task: "segment", classes: 2, inputSize: [64, 32] };
const mapsOf = (parts: Readonly<Record<string, number>>): Dims =>
  Object.fromEntries(
    [8, 16, 32].flatMap((stride) =>
      Object.entries(parts).map(([part, channels]) => [
        `${part}${stride}`,
        [2, channels, 32 / stride, 64 / stride],
      ]),
    ),
  );

/** Plans with keypoints and masks: each rule of points, both orders of prototypes. */
const TASK_FILES = {
  "points behind boxes": compile(POSE, { output0: [2, 11, 42] }),
  "maps of points": compile(POSE, mapsOf({ box: 64, cls: 1, kpt: 6 }), { scores: "logits" }),
  "points from priors": compile(
    { family: "blazeface", task: "pose", inputSize: [128, 128] },
    { regressors: [1, 896, 16], classificators: [1, 896, 1] },
  ),
  masks: compile(SEGMENT, { output0: [2, 10, 42], output1: [2, 4, 8, 16] }),
  "masks, NHWC": compile(SEGMENT, { output0: [2, 10, 42], output1: [2, 8, 16, 4] }),
  "masks of maps": compile(SEGMENT, { ...mapsOf({ box: 64, cls: 2, coef: 4 }), output1: [2, 4, 8, 16] }),
};

/** Words of a file in which its task stands: slot table, task record, head table, names, edges. */
const sectionOf = (words: Uint32Array): number => words[F.F_IMAGE_BYTES] / 4;

test(`${TASK_FORGERIES} words of plans with keypoints and masks are forged, most of them in the section`, () => {
  const random = mulberry32(Number(process.env["BOXWRIGHT_FUZZ_SEED"] ?? 41));
  const counts = { refused: 0, decoded: 0 };
  for (let i = 0; i < TASK_FORGERIES; i++) {
    const [name, file] = pick(random, Object.entries(TASK_FILES));
    const words = new Uint32Array(file.buffer);
    const first = random() < 0.8 ? sectionOf(words) : 4;
    const index = first + Math.floor(random() * (words.length - first));
    const value = otherWord(random, words, index);
    const about = `${name}: word ${index} from ${words[index]} to ${value}`;
    const outcomes = engines.map((engine) => {
      try {
        return outcome(forge(file, index, value), engine, i, name.startsWith("masks"));
      } catch (e) {
        throw new Error(`${about}, ${engine}`, { cause: e });
      }
    });
    expect(new Set(outcomes).size, about).toBe(1);
    counts[outcomes[0]]++;
  }
  console.log(counts);
  expect(counts.refused).toBeGreaterThan(TASK_FORGERIES / 3);
  expect(counts.decoded).toBeGreaterThan(TASK_FORGERIES / 20);
}, 3_600_000);

test("plans with keypoints and masks decode when nothing is forged", () => {
  for (const [name, file] of Object.entries(TASK_FILES))
    for (const engine of engines)
      expect(outcome(file, engine, 5, name.startsWith("masks")), name).toBe("decoded");
});

/** Sections that agree with themselves, and not with the rest of the file. */
test("a section that contradicts head records, tensors or itself is refused in words", () => {
  const task = (file: Uint8Array): number => sectionOf(new Uint32Array(file.buffer));
  const wordOf = (file: Uint8Array, index: number): number => new Uint32Array(file.buffer)[index];
  const tableOf = (file: Uint8Array, index: number): number => wordOf(file, task(file) + index) / 4;
  const pose = TASK_FILES["maps of points"];
  const { masks } = TASK_FILES;
  const heads = tableOf(pose, F.T_HEAD_TABLE);
  const images = wordOf(pose, F.F_IMAGE_TABLE) / 4;
  const block = (image: number): number => wordOf(pose, images + image * F.IMAGE_WORDS + F.I_PLAN) / 4;
  const record = (image: number): number => wordOf(pose, block(image) + A.P_HEAD0) / 4;
  const slot = tableOf(masks, F.T_SLOT) * 4;
  const slotRow = wordOf(masks, F.F_SLOT_TABLE) / 4 + slot * F.SLOT_WORDS;
  const cases: readonly (readonly [Uint8Array<ArrayBuffer>, number, number, string])[] = [
    [pose, heads + F.EXTRA_WORDS + F.E_SOURCE, 31, "got a head at source 31, expected 32"],
    [pose, heads + F.E_CELLS, 31, "expected 31"],
    [pose, heads + F.E_IMAGE, 6 * 32 - 1, "got steps from image to image of 191, expected 192"],
    [pose, record(1) + A.H_SOURCE, 1, "got a head record at source 1, expected 0"],
    [pose, record(1) + A.H_CELLS, 31, "got cells of a head record 31, expected 32"],
    [pose, block(1) + A.P_HEADS, 2, "got heads 2, expected 3"],
    [pose, task(pose) + F.T_HEADS, 2, "got heads 3, expected 2"],
    [pose, task(pose) + F.T_FLAGS, 16, "got flags 16, expected some of 15"],
    [pose, task(pose) + F.T_NAMES, 1, "got 1 for a place or a count, expected 2..2"],
    [pose, tableOf(pose, F.T_EDGE_TABLE), 2, "got 2 for a place or a count, expected 0..1"],
    [pose, tableOf(pose, F.T_EDGE_TABLE) + 1, 2, "got 2 for a place or a count, expected 0..1"],
    [pose, tableOf(pose, F.T_NAME_TABLE), pose.length, "for a place or a count, expected 64.."],
    [masks, task(masks) + F.T_ROW, 15, "got prototypes with gaps"],
    [masks, task(masks) + F.T_IMAGE, 511, "got 512 elements for 4 prototypes of 16x8"],
    [masks, task(masks) + F.T_HEIGHT, 7, "got prototypes with gaps"],
    [masks, task(masks) + F.T_COUNT, 3, "got 512 elements for 3 prototypes of 16x8"],
    [masks, slotRow + F.S_TYPE, A.TYPE_I32, "got type i32, expected f32, f16, u8 or i8"],
    [masks, F.F_INPUT_WIDTH, 64 * 16 + 1, "got 1025 for a place or a count, expected 1..1024"],
    [masks, F.F_INPUT_HEIGHT, 64 * 8 + 1, "got 513 for a place or a count, expected 1..512"],
  ];
  for (const [file, index, value, message] of cases) {
    expect(() => loadPlanSync(forge(file, index, value)), message).toThrow(message);
    expect(() => loadPlanSync(forge(file, index, value)), message).toThrow(ConfigError);
  }
});

test("more keypoints than an object can have, and columns that no memory holds, are refused", () => {
  const wide = compile({ ...POSE, keypoints: [3000, 2], keypointNames: undefined }, { o: [1, 6005, 42] });
  const words = new Uint32Array(wide.buffer);
  const count = sectionOf(words) + F.T_COUNT;
  expect(() => loadPlanSync(forge(wide, count, 2999))).not.toThrow();
  // A file of 42 rows in a slot of 252,210 elements: the steps of 10,001 points could lie one over the other.
  const row = words[sectionOf(words) + F.T_HEAD_TABLE] / 4;
  const flat = forge(wide, row + F.E_CHANNEL, 1);
  expect(() => loadPlanSync(forge(flat, count, 10_000))).not.toThrow();
  expect(() => loadPlanSync(forge(flat, count, 10_001))).toThrow(
    "got 10001 for a place or a count, expected 1..10000",
  );
  const long = compile(
    { ...POSE, inputSize: [1280, 1280] },
    { o: [1, 11, 33_600] },
    { maxDetections: 33_600 },
  );
  const longWords = new Uint32Array(long.buffer);
  const longRow = longWords[sectionOf(longWords) + F.T_HEAD_TABLE] / 4;
  const packed = forge(long, longRow + F.E_CHANNEL, 1);
  const named = forge(packed, sectionOf(longWords) + F.T_NAMES, 0);
  expect(() => loadPlanSync(forge(named, sectionOf(longWords) + F.T_COUNT, 10_000))).toThrow(
    `got ${33_600 * 10_000 * 12} for a place or a count, expected 0..2147483647`,
  );
});

test("strings that overlap are refused: a table could name one long string many times", () => {
  const bytes = new PlanBytes(new Uint8Array(100).fill(65, 0, 99));
  expect(bytes.text(70)).toBe("A".repeat(29));
  bytes.text(70);
  bytes.text(70);
  expect(() => bytes.text(70)).toThrow("plan: got strings that overlap, expected each by itself");
});
