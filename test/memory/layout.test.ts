/** The room that a layout reserves. */
import { expect, test } from "vitest";
import { KEPT4_BYTES } from "../../src/core/abi.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import { compilePlan } from "../../src/planfile/write.ts";
import { engines } from "../support/engines.ts";

const CELLS = 1000;

/** Boxes apart from each other, whose class ids a tensor gives. Every box has a class of its own. */
const config = {
  family: "boxes",
  coordinates: "normalised",
  roles: { boxes: "b", scores: "s", classIds: "l" },
  maxDetections: CELLS,
};
const cells = Array.from({ length: CELLS }, (_, i) => i);
const outputs = {
  b: {
    data: Float32Array.from(cells.flatMap((i) => [i / 1000, 0, (i + 0.5) / 1000, 1])),
    dims: [1, CELLS, 4],
  },
  s: { data: Float32Array.from(cells, (i) => 0.99 - i / 2000), dims: [1, CELLS] },
  l: { data: Float32Array.from(cells, (i) => 7 * i), dims: [1, CELLS] },
};

test("there is a block of kept boxes for each detection, as each may be of a class of its own", () => {
  const heads = Object.entries(outputs).map(([name, { dims }]) => ({ name, dims }));
  const { layout } = compilePlan(config, { outputs: heads });
  expect(layout.detections[0].boxes - layout.kept).toBeGreaterThanOrEqual(CELLS * KEPT4_BYTES);
});

test("channels of classes have a block for each class, as far as there are detections", () => {
  const rows = {
    family: "yolov8",
    inputSize: [64, 64],
    reading: "class-rows",
    maxDetections: CELLS,
  } as const;
  const room = (classes: number): number => {
    const dims = [1, CELLS, 4 + classes];
    const { layout } = compilePlan({ ...rows, classes }, { outputs: [{ name: "o", dims, order: "rows" }] });
    return layout.detections[0].boxes - layout.kept;
  };
  expect(room(1000)).toBeGreaterThanOrEqual(1000 * KEPT4_BYTES);
  expect(room(600)).toBeGreaterThanOrEqual((1000 / 4 + 600) * KEPT4_BYTES);
  expect(room(600)).toBeLessThan(1000 * KEPT4_BYTES);
});

test.each(engines)("a thousand detections of a thousand classes overwrite nothing: %s", (engine) => {
  const found = createDecoderSync(config, { engine }).decode(outputs);
  expect(found.length).toBe(CELLS);
  expect([...found.sources]).toEqual(cells);
  expect([...found.classIds]).toEqual(cells.map((i) => 7 * i));
  expect([...found.boxes]).toEqual([...outputs.b.data]);
});

test("a class id column has room for a threshold of every kept class, known or not", () => {
  const keep = Array.from({ length: 400 }, (_, i) => i);
  const heads = Object.entries(outputs).map(([name, { dims }]) => ({ name, dims }));
  const { layout, plan } = compilePlan({ ...config, keep }, { outputs: heads });
  expect(plan.keep).toEqual(keep);
  expect(layout.classThresholds[0] - layout.classLists[0]).toBeGreaterThanOrEqual(400 * 4);
  expect(layout.slots[0] - layout.classThresholds[0]).toBeGreaterThanOrEqual(400 * 4);
});
