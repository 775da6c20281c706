/** Lists whose scores are one too low, as FP16 engines of TensorRT's EfficientNMS write them. */
import { expect, test } from "vitest";
import { createDecoderSync } from "../../src/entries/index.ts";
import { compilePlan } from "../../src/entries/node.ts";
import { loadPlanSync } from "../../src/entries/plan.ts";

const NMS = { family: "efficient-nms", classes: 80, inputSize: [640, 640] } as const;
const outputsOf = (scores: readonly number[], count = scores.length) => ({
  num_dets: { data: Int32Array.of(count), dims: [1, 1] },
  bboxes: { data: new Float32Array(400).fill(100).fill(200, 2, 4), dims: [1, 100, 4] },
  scores: { data: Float32Array.from({ length: 100 }, (_, i) => scores[i] ?? 0), dims: [1, 100] },
  labels: { data: new Int32Array(100), dims: [1, 100] },
});
const shapes = Object.entries(outputsOf([])).map(([name, { dims, data }]) => ({
  name,
  dims,
  type: data instanceof Int32Array ? ("i32" as const) : ("f32" as const),
}));
const planDecoder = () => loadPlanSync(compilePlan(NMS, { outputs: shapes }));

test("a plan file refuses them, where a decoder of the config adds 1", () => {
  const outputs = outputsOf([-0.126, -0.504]);
  expect(
    createDecoderSync(NMS, { onNote: () => undefined })
      .decode(outputs)
      .at(0)?.confidence,
  ).toBeCloseTo(0.874);
  expect(() => planDecoder().decode(outputs)).toThrow(
    /got a list of 2 scores in -1\.\.0, the least -0\.504, expected scores in 0\.\.1\. .*add 1 to each/,
  );
});

test.each<[string, readonly number[], number]>([
  ["an empty list, over old memory", [-0.126], 0],
  ["padding", [-1, -1], 2],
  ["scores of 0", [0, 0], 2],
])("%s is no such list", (_, scores, count) => {
  expect(planDecoder().decode(outputsOf(scores, count)).length).toBe(0);
});

test("other scores are decoded", () => {
  expect(
    planDecoder()
      .decode(outputsOf([0.874]))
      .at(0)?.confidence,
  ).toBeCloseTo(0.874);
});
