/** Keypoints of RF-DETR against spec/points.ts, the points of each class, and tensors that are none. */
import { describe, expect, test } from "vitest";
import { mulberry32 } from "../../../bench/random.ts";
import { type QueryPoint, confidenceOfQueryPoint, fusedScore } from "../../../spec/points.ts";
import { createDecoderSync, readModel, suppressDetections } from "../../../src/entries/index.ts";
import type { TypedOptions } from "../../../src/config/types.ts";
import type { TensorInput } from "../../../src/core/tensor.ts";
import { compilePlan } from "../../../src/planfile/write.ts";
import { engines } from "../../support/engines.ts";
import { input, output } from "../../support/model-files.ts";
import { onnxFile } from "../../support/onnx.ts";

const [QUERIES, POINTS] = [4, 3];

/** A network of so many columns of scores, whose query q is surely of class `classOf(q)`. */
function tensors(
  columns: number,
  slots: number,
  columnOf: (query: number) => number,
): Record<string, TensorInput> {
  const random = mulberry32(columns * 7 + slots);
  const labels = Float32Array.from({ length: QUERIES * columns }, (_, i) =>
    i % columns === columnOf(Math.floor(i / columns)) ? 1 + random() : -6,
  );
  return {
    dets: {
      data: Float32Array.from({ length: QUERIES * 4 }, () => 0.3 + random() / 4),
      dims: [1, QUERIES, 4],
    },
    labels: { data: labels, dims: [1, QUERIES, columns] },
    keypoints: {
      data: Float32Array.from({ length: QUERIES * slots * POINTS * 8 }, (_, i) =>
        i % 8 < 2 ? random() : 4 * random() - 2,
      ),
      dims: [1, QUERIES, slots * POINTS, 8],
    },
  };
}

/** Returns the points of a query in the slot of a class. */
function pointsOf({ data }: TensorInput, slots: number, query: number, slot: number): QueryPoint[] {
  const values = data as Float32Array;
  return Array.from({ length: POINTS }, (_, k) => {
    const [x, y, findable, , l11, l21, l22] = values.subarray(((query * slots + slot) * POINTS + k) * 8);
    return { x, y, findable, l11, l21, l22 };
  });
}

const OPTIONS: TypedOptions = {
  family: "rfdetr",
  task: "pose",
  keypoints: [POINTS, 3],
  inputSize: [64, 64],
  rules: { clamp: "none" },
};

const CASES: readonly (readonly [
  title: string,
  options: Partial<TypedOptions>,
  columns: number,
  slots: number,
  columnOf: (query: number) => number,
])[] = [
  ["one class, and a column that nobody trained", { classes: 1 }, 2, 1, () => 0],
  ["three classes, each with points", { classes: 3 }, 4, 3, (query) => query % 3],
  ["every column is a class", { classes: 3 }, 3, 3, (query) => query % 3],
  ["the first column is no class, and has padded points", { classes: 1, background: 0 }, 2, 2, () => 1],
];

describe.each(engines)("%s", (engine) => {
  test.each(CASES)("%s", (_, options, columns, slots, columnOf) => {
    const outputs = tensors(columns, slots, columnOf);
    const found = createDecoderSync({ ...OPTIONS, ...options } as TypedOptions, { engine }).decode(outputs);
    expect(found.length).toBe(QUERIES);
    found.toArray().forEach((d, row) => {
      const query = found.sources[row];
      const points = pointsOf(outputs.keypoints, slots, query, columnOf(query));
      points.forEach((point, k) => {
        const got = d.keypoints?.[k];
        expect([got?.x, got?.y]).toEqual([point.x, point.y]);
        expect(got?.confidence).toBeCloseTo(confidenceOfQueryPoint(point), 6);
      });
      expect(d.fused_confidence).toBeCloseTo(fusedScore(d.confidence, points), 6);
    });
  });
});

test("suppression keeps the score of box and points beside its row", () => {
  const found = createDecoderSync({ ...OPTIONS, classes: 1 } as TypedOptions).decode(tensors(2, 1, () => 0));
  const left = suppressDetections(found, { method: "hard", iouThreshold: 0.1 });
  expect(left.length).toBeGreaterThan(0);
  expect(left.length).toBeLessThan(found.length);
  for (const [row, source] of [...left.sources].entries())
    expect(left.fusedScores?.[row]).toBe(found.fusedScores?.[found.sources.indexOf(source)]);
});

describe("tensors that are none", () => {
  const good = tensors(2, 1, () => 0);
  const decode = (keypoints: Partial<TensorInput>, options: Partial<TypedOptions> = {}): unknown =>
    createDecoderSync({ ...OPTIONS, classes: 1, ...options } as TypedOptions).decode({
      ...good,
      keypoints: { ...good.keypoints, ...keypoints } as TensorInput,
    });

  test.each([
    ["a channel missing", { data: new Float32Array(QUERIES * 21), dims: [1, QUERIES, POINTS, 7] }],
    ["transposed", { dims: [1, POINTS, QUERIES, 8] }],
    ["a query too few", { data: new Float32Array(72), dims: [1, 3, POINTS, 8] }],
    ["points of two classes for one", { data: new Float32Array(192), dims: [1, QUERIES, 6, 8] }],
  ])("%s", (_, keypoints) => {
    expect(() => decode(keypoints)).toThrow("3 points for each of S classes");
  });

  test("two values of a point", () => {
    expect(() => decode({}, { keypoints: [3, 2] })).toThrow("keypoints: [3, 3], since each has a confidence");
  });

  test("NaN is noted", () => {
    const notes: string[] = [];
    const keypoints = { ...good.keypoints, data: new Float32Array(QUERIES * POINTS * 8).fill(NaN) };
    createDecoderSync({ ...OPTIONS, classes: 1 } as TypedOptions, {
      onNote: (note) => notes.push(note),
    }).decode({ ...good, keypoints });
    expect(notes.join()).toContain("keypoints are NaN or infinite");
  });

  test("a plan file holds no such points", () => {
    const outputs = Object.entries(good).map(([name, { dims }]) => ({ name, dims, type: "f32" as const }));
    expect(() => compilePlan({ ...OPTIONS, classes: 1 }, { outputs })).toThrow(
      'or task: "detect" for boxes alone',
    );
  });
});

test("the metadata of a file says how many points there are", async () => {
  const model = await readModel(
    onnxFile({
      inputs: [input(1, 3, 64, 64)],
      outputs: [output("dets", 1, 4, 4), output("labels", 1, 4, 3), output("keypoints", 1, 4, 6, 8)],
      metadata: {
        rfdetr_inference: JSON.stringify({
          task: "keypoints",
          class_id_to_name: { 1: "person" },
          num_keypoints_per_class: [0, 3],
        }),
      },
    }),
  );
  expect(model.options).toMatchObject({ task: "pose", keypoints: [3, 3], labels: ["n/a", "person"] });
  const outputs = tensors(3, 2, () => 1);
  const found = createDecoderSync(model).decode(outputs);
  expect(found.at(0)?.label).toBe("person");
  const [point] = pointsOf(outputs.keypoints, 2, found.sources[0], 1);
  expect(found.at(0)?.keypoints?.[0].x).toBeCloseTo(point.x, 6);
});
