/** Workloads, the definition's answers and the digests by which rows are held against them. */
import { describe, expect, test } from "vitest";
import { define, digestOf } from "../../bench/definition.ts";
import { prepare, ROWS } from "../../bench/engines.ts";
import type { Answer } from "../../bench/peers/prepared.ts";
import { fromHalf, toHalf } from "../../bench/tensors.ts";
import { makeWorkload, nmsSpec, v8Spec, WORKLOADS, type WorkloadSpec } from "../../bench/workloads.ts";

const entry = new URL("../../src/entries/index.ts", import.meta.url).href;
const named = (name: string): WorkloadSpec => WORKLOADS.find((spec) => spec.name === name)!;

describe("digests", () => {
  const truth: Answer = {
    count: 2,
    boxes: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8],
    scores: [0.9, 0.5],
    classIds: [3, 1],
  };
  const right = digestOf(truth, truth);

  test("ignore differences within the tolerance", () => {
    const near = { ...truth, boxes: truth.boxes, scores: [0.9 + 1e-6, 0.5 - 1e-6] };
    expect(digestOf(near, truth)).toBe(right);
    expect(digestOf({ ...truth, boxes: Array.from(truth.boxes, (x) => x + 9e-5) }, truth)).toBe(right);
  });

  test.each<[string, Partial<Answer>]>([
    ["a corner", { boxes: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8002] }],
    ["a score", { scores: [0.9, 0.50001] }],
    ["a class", { classIds: [3, 2] }],
    ["the order", { classIds: [1, 3], scores: [0.5, 0.9] }],
    ["the count", { count: 1 }],
  ])("differ if %s differs", (_, change) => {
    expect(digestOf({ ...truth, ...change }, truth)).not.toBe(right);
  });

  test("of suppression alone compare the kept indices", () => {
    const kept = { count: 3, kept: [4, 0, 7], boxes: [], scores: [], classIds: [] };
    expect(digestOf({ ...truth, ...kept }, kept)).toBe(digestOf(kept, kept));
    expect(digestOf({ ...kept, kept: [4, 7, 0] }, kept)).not.toBe(digestOf(kept, kept));
    expect(digestOf(truth, kept)).not.toBe(digestOf(kept, kept));
  });
});

/** Count of detections, sum of scores, sum of class ids or kept indices: as the first release found them. */
const PUBLISHED: Readonly<Record<string, readonly [count: number, scores: number, ids: number]>> = {
  "v8@.25": [34, 27.2634, 1354],
  "v8@.001": [300, 27.8731, 11503],
  "v5@.25": [43, 29.6577, 1843],
  "v5@.001": [300, 31.0225, 12071],
  "v3@.25": [55, 36.1918, 1934],
  "v3@.001": [91, 36.265, 3532],
  "v8-f16@.25": [34, 27.2639, 1354],
  "v8-int8@.25": [34, 27.2745, 1354],
  "nms-100": [21, 0, 1086],
  "nms-1000": [245, 0, 125254],
  "nms-8400": [300, 0, 1300736],
  "nms-25200": [300, 0, 3908651],
};

const sum = (values: ArrayLike<number>): number => Array.from(values).reduce((total, x) => total + x, 0);

test("the definition gives the published answer to every workload", () => {
  expect(WORKLOADS.map(({ name }) => name)).toEqual(Object.keys(PUBLISHED));
  for (const spec of WORKLOADS) {
    const { count, scores, classIds, kept } = define(makeWorkload(spec));
    const [expected, scoreSum, ids] = PUBLISHED[spec.name];
    expect([count, sum(kept ?? classIds)], spec.name).toEqual([expected, ids]);
    expect(sum(scores), spec.name).toBeCloseTo(scoreSum, 3);
  }
});

const ONE_OF_EACH = ["v8@.25", "v5@.001", "v3@.25", "nms-1000"].map(named);

describe.each(ROWS.map((row) => [`${row.engine}, ${row.input}`, row] as const))("%s", (_, row) => {
  test.each(ONE_OF_EACH.map((spec) => [spec.name, spec] as const))(
    "answers %s as defined",
    async (_, spec) => {
      const workload = makeWorkload(spec);
      const truth = define(workload);
      const { run, answer } = await prepare(row, workload, entry);
      expect(await run()).toBe(truth.count);
      expect(digestOf(answer(), truth)).toBe(digestOf(truth, truth));
    },
  );
});

test.each([
  nmsSpec(3000),
  v8Spec("1 class", { classes: 1 }),
  v8Spec("96 pixels", { inputSize: 96, classes: 5 }),
  v8Spec("3 images", { images: 3, inputSize: 160 }),
])("$name of a sweep is answered as defined", async (spec) => {
  const workload = makeWorkload(spec);
  const truth = define(workload);
  const row = { engine: "simd", input: spec.kind === "nms" ? "array" : "slot" } as const;
  const { run, answer } = await prepare(row, workload, entry);
  await run();
  expect(truth.count).toBeGreaterThan(10 * spec.images);
  expect(digestOf(answer(), truth)).toBe(digestOf(truth, truth));
});

test("half precision rounds to the nearest value, ties to even", () => {
  for (let bits = 0; bits < 0x7bff; bits++) {
    const [low, high] = [fromHalf(bits), fromHalf(bits + 1)];
    const middle = (low + high) / 2;
    const even = bits % 2 === 0 ? bits : bits + 1;
    const found = [low, (low + middle) / 2, middle, (middle + high) / 2].map(toHalf);
    if (found.join() !== [bits, bits, even, bits + 1].join())
      throw new Error(`half ${bits}: got ${found.join()}`);
  }
  expect([1, 0.5, 65504, 2 ** -24, 2 ** -14].map(toHalf)).toEqual([0x3c00, 0x3800, 0x7bff, 1, 0x400]);
});
