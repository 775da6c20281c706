/** Kept boxes of many classes spread over the chains of suppression, whatever their class ids have in common. */
import { expect, test } from "vitest";
import * as A from "../../src/core/abi.ts";
import { makeEngine, provideTs } from "../../src/engine/choose.ts";
import { tsEngine } from "../../src/engine/ts/index.ts";
import { columnsOf, wordsFrom } from "../../src/memory/layout.ts";
import { IDENTITY, writeColumns } from "../../src/memory/write.ts";
import { engines } from "../support/engines.ts";

provideTs(tsEngine);

const COUNT = 2000;

/** Keeps boxes of one class each. Returns how many chains hold a box. */
function usedChains(name: (typeof engines)[number], classIdOf: (i: number) => number): number {
  const words = wordsFrom(A.FIRST_ADDRESS);
  const plan = words(A.PLAN_WORDS);
  const at = columnsOf(words, COUNT, COUNT, Infinity);
  const engine = makeEngine(name, at.bytes);
  const { i32, f32 } = engine.memory;
  writeColumns(engine.memory, plan, at, 0, 0, 0, 0);
  const p = plan >> 2;
  f32.set(IDENTITY, p + A.P_SCALE_X);
  i32[p + A.P_MAX_DETECTIONS] = COUNT;
  i32[p + A.P_CANDIDATES] = COUNT;
  i32[p + A.P_FLAGS] = A.FLAG_NMS_CLASS;
  f32[p + A.P_IOU] = 0.5;
  for (let i = 0; i < COUNT; i++) {
    f32.set([0, 0, 1, 1], (at.boxes >> 2) + 4 * i);
    i32[(at.classIds >> 2) + i] = classIdOf(i);
    f32[(at.scores >> 2) + i] = 0.5;
  }
  engine.sort(plan);
  expect(engine.nms(plan)).toBe(COUNT);
  return i32.subarray(at.chains >> 2, (at.chains >> 2) + A.CHAINS).filter((first) => first !== 0).length;
}

test.each(engines)("class ids of many patterns use most chains, %s", (name) => {
  const patterns: readonly ((i: number) => number)[] = [
    (i) => i,
    (i) => i * 256,
    (i) => i * 257,
    (i) => -i * 256,
    (i) => i * 65536,
    (i) => (i << 24) | (i << 8),
  ];
  for (const classIdOf of patterns)
    expect(usedChains(name, classIdOf), String(classIdOf)).toBeGreaterThan(200);
});

test.each(engines)("the first 256 classes have a chain each, %s", (name) => {
  expect(usedChains(name, (i) => (i < 256 ? i : 256 + i))).toBe(A.CHAINS);
});
