/**
 * Forged plan files: one word is another, and the checksum is right. Each is refused, or decodes in bounded work.
 * A plan that loops for ever makes this test hang. BOXWRIGHT_FORGERIES sets how many files are forged.
 */
import { expect, test } from "vitest";
import * as A from "../../src/core/abi.ts";
import { crc32 } from "../../src/core/crc32.ts";
import { ConfigError, TensorError } from "../../src/core/errors.ts";
import type { SlotArray } from "../../src/core/tensor.ts";
import { loadPlanSync } from "../../src/planfile/decoder.ts";
import * as F from "../../src/planfile/format.ts";
import { readPlan } from "../../src/planfile/read.ts";
import { compilePlan } from "../../src/planfile/write.ts";
import { engines } from "../support/engines.ts";
import { type FuzzCase, makeCase } from "../support/fuzz-case.ts";
import { type Random, mulberry32, pick } from "../support/seeded-networks.ts";

const FORGERIES = Number(process.env["BOXWRIGHT_FORGERIES"] ?? 400);

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

function forge(file: Uint8Array<ArrayBuffer>, index: number, value: number): Uint8Array<ArrayBuffer> {
  const forged = file.slice();
  const words = new Uint32Array(forged.buffer);
  words[index] = value;
  words[F.F_CHECK] = crc32(forged.subarray(F.F_FILE_BYTES * 4));
  return forged;
}

/** Fills a slot with numbers of its type, most of them ordinary. */
function fill(slot: SlotArray, random: Random): void {
  const isFloat = slot instanceof Float32Array;
  for (let i = 0; i < slot.length; i++)
    slot[i] = isFloat ? (random() < 0.01 ? NaN : random() * 2 - 0.5) : Math.floor(random() * 2 ** 16);
}

/** Loads and decodes. Any other error than a refusal goes on. */
function outcome(
  file: Uint8Array<ArrayBuffer>,
  engine: (typeof engines)[number],
  seed: number,
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
    decoder.decodeBatch();
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
  for (let seed = 1; seed <= 400; seed++) {
    const drawn = makeCase(seed);
    const file = drawn && fileOf(drawn);
    if (!file) continue;
    expect(() => readPlan(file), drawn.name).not.toThrow();
    accepted++;
  }
  expect(accepted).toBeGreaterThan(250);
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
