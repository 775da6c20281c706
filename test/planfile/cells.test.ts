/** Plan files of networks whose cells are grouped: FOMO. */
import { expect, test } from "vitest";
import { mulberry32 } from "../../bench/random.ts";
import type { TypedOptions } from "../../src/config/types.ts";
import { crc32 } from "../../src/core/crc32.ts";
import type { TensorInput } from "../../src/core/tensor.ts";
import type { Frame } from "../../src/decode/frame.ts";
import { createDecoderSync } from "../../src/entries/index.ts";
import * as F from "../../src/planfile/format.ts";
import { compilePlan } from "../../src/planfile/write.ts";
import { engines } from "../support/engines.ts";
import { loadPlanSync } from "../support/plans.ts";

const random = mulberry32(4);
const OPTIONS = { family: "fomo", classes: 2, inputSize: [80, 64], maxDetections: 20 } as const;

const scattered = (dims: readonly number[]): TensorInput => ({
  data: Float32Array.from({ length: dims.reduce((a, b) => a * b, 1) }, () => random() ** 3),
  dims,
});

const CASES: readonly (readonly [string, Partial<TypedOptions>, TensorInput, Frame | undefined])[] = [
  ["the SDK's groups", {}, scattered([1, 8, 10, 3]), undefined],
  [
    "enclosing boxes, a letterbox, a clamp",
    { cellGroups: "enclosing", rules: { clamp: "after" } },
    scattered([1, 3, 8, 10]),
    { width: 300, height: 100, resize: "letterbox" },
  ],
  ["a batch of three", {}, scattered([3, 8, 10, 3]), { width: 90, height: 120, resize: "crop" }],
];

test.each(CASES)("decode as createDecoder does: %s", (_, more, map, frame) => {
  const options = { ...OPTIONS, ...more } as TypedOptions;
  const { bytes } = compilePlan(options, { outputs: [{ name: "map", dims: map.dims, type: "f32" }] });
  for (const engine of engines) {
    const expected = createDecoderSync(options, { engine }).decodeBatch({ map }, frame);
    const found = loadPlanSync(bytes, { engine }).decodeBatch({ map }, frame);
    expect(found.length).toBe(expected.length);
    found.forEach((one, image) => {
      expect(one.length).toBeGreaterThan(2);
      expect(one.toArray().map((d) => ({ ...d, label: "" }))).toEqual(
        expected[image].toArray().map((d) => ({ ...d, label: "" })),
      );
      expect(one.sources.slice(0, one.length)).toEqual(
        expected[image].sources.slice(0, expected[image].length),
      );
    });
  }
});

test("forged records are refused", () => {
  const { bytes } = compilePlan(OPTIONS, { outputs: [{ name: "map", dims: [1, 8, 10, 3], type: "f32" }] });
  const task = new DataView(bytes.buffer).getUint32(4 * F.F_IMAGE_BYTES, true);
  const head = new DataView(bytes.buffer).getUint32(task + 4 * F.T_HEAD_TABLE, true);
  const forge = (at: number, value: number): Uint8Array<ArrayBuffer> => {
    const forged = bytes.slice();
    new DataView(forged.buffer).setUint32(at, value, true);
    new DataView(forged.buffer).setUint32(4 * F.F_CHECK, crc32(forged.subarray(F.F_FILE_BYTES * 4)), true);
    return forged;
  };
  for (const [at, value] of [
    [task + 4 * F.T_RULE, 2],
    [task + 4 * F.T_FLAGS, 1],
    [task + 4 * F.T_COUNT, 2],
    [task + 4 * F.T_HEADS, 0],
    [head + 4 * F.E_GRID_W, 81],
    [head + 4 * F.E_GRID_W, 0],
    [head + 4 * F.E_CELLS, 79],
  ])
    expect(() => loadPlanSync(forge(at, value))).toThrow(/plan/);
});

test.each([
  ["centernet", { hm: [1, 2, 16, 20], wh: [1, 2, 16, 20] }],
  ["face-det-lite", { heatmap: [1, 1, 8, 10], bbox: [1, 4, 8, 10], landmark: [1, 10, 8, 10] }],
  ["dbnet", { map: [1, 1, 64, 80] }],
  ["rtmpose", { simcc_x: [1, 17, 160], simcc_y: [1, 17, 128] }],
  ["face-mesh", { points: [1, 1404], flag: [1, 1] }],
  ["mask-rcnn", { boxes: [9, 4], labels: [9], scores: [9], masks: [9, 1, 14, 14] }],
] as const)("a plan file has no place for %s, and says so", (family, dims) => {
  const outputs = Object.entries(dims).map(([name, d]) => ({
    name,
    dims: d,
    type: name === "labels" ? ("i32" as const) : ("f32" as const),
    ...(name === "labels" && { scale: 1, zeroPoint: 0 }),
  }));
  const size = family === "face-mesh" ? ([192, 192] as const) : ([80, 64] as const);
  const classes = family === "centernet" || family === "mask-rcnn" ? { classes: 2 } : {};
  expect(() => compilePlan({ family, inputSize: size, ...classes }, { outputs })).toThrow(
    "a plan file has no place for the rest",
  );
});
