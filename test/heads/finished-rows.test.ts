/** Which outputs are finished rows is decided once: `inspect`, decoder and plan files agree. */
import { expect, test } from "vitest";
import type { TypedOptions } from "../../src/config/types.ts";
import type { PlanDescription } from "../../src/plan/describe.ts";
import { createDecoderSync } from "../../src/entries/index.ts";
import { compilePlan, inspect } from "../../src/entries/node.ts";

const BOX = [64, 128, 320, 384] as const;

/** Options, and the tensors of one frame with one detection of class 2. */
const CASES: readonly (readonly [
  name: string,
  options: TypedOptions,
  outputs: Record<string, readonly [dims: readonly number[], values: readonly number[]]>,
  isConverted: boolean,
])[] = [
  [
    "rotated boxes, whose angle stands before the score",
    { family: "mmdeploy", task: "oriented" },
    {
      dets: [
        [1, 2, 6],
        [320, 320, 64, 32, 0.5, 0.9, 320, 320, 64, 32, 0.5, 0],
      ],
      labels: [
        [1, 2],
        [2, 2],
      ],
    },
    true,
  ],
  [
    "rows with their count",
    { family: "boxes", reading: "class-score-box" },
    {
      rows: [
        [2, 6],
        [2, 0.9, ...BOX, 0, 0, ...BOX],
      ],
      count: [[1], [1]],
    },
    true,
  ],
  [
    "rows with class ids in a tensor that is not named",
    { family: "mmdeploy" },
    {
      a: [
        [1, 2, 5],
        [...BOX, 0.9, ...BOX, 0],
      ],
      b: [
        [1, 2],
        [2, 2],
      ],
    },
    false,
  ],
];

test.each(CASES)("%s", (_, options, outputs, isConverted) => {
  const config = { ...options, classes: 3, inputSize: [640, 640] } as const;
  const specs = Object.entries(outputs).map(([name, [dims]]) => ({ name, dims }));
  const decoder = createDecoderSync(config);
  const tensors = Object.entries(outputs).map(
    ([name, [dims, data]]) => [name, { dims, data: Float32Array.from(data) }] as const,
  );
  const [found, ...more] = decoder.decode(Object.fromEntries(tensors)).toArray();
  expect([found.class_id, found.confidence.toFixed(3), more]).toEqual([2, "0.900", []]);
  const compile = () => compilePlan(config, { outputs: specs });
  if (isConverted) {
    expect(compile).toThrow("rows that createDecoder brings into another form first");
    // The room is a power of two, in both.
    const { json } = decoder.describe();
    expect(inspect(config, specs).json).toMatchObject({ heads: (json as PlanDescription).heads });
  } else expect(compile).not.toThrow();
});
