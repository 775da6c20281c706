/** Networks whose results are made by TypeScript have no plan file: `compilePlan` says so, and what to do. */
import { expect, test } from "vitest";
import { compilePlan } from "../../src/entries/node.ts";

const SIDE = [192, 256] as const;

/** Options and outputs of a network, and what the refusal says about it. */
const CROPS: Record<string, readonly [options: object, outputs: object, about: RegExp]> = {
  rtmpose: [{ inputSize: SIDE }, { simcc_x: [1, 17, 384], simcc_y: [1, 17, 512] }, /pose: 17/],
  hrnet: [{ inputSize: SIDE }, { heatmaps: [1, 17, 64, 48] }, /pose: 17/],
  vitpose: [{ inputSize: SIDE }, { heatmaps: [1, 17, 64, 48] }, /pose: 17/],
  superanimal: [{ inputSize: [256, 256] }, { heatmaps: [1, 64, 64, 39] }, /pose: 39/],
  keypoints: [{ inputSize: SIDE, keypoints: [17, 3] }, { points: [1, 51] }, /pose: 17/],
  "face-mesh": [{ inputSize: [192, 192] }, { points: [1, 1404], flag: [1, 1] }, /pose: 468 landmarks/],
  "hand-landmarks": [
    { inputSize: [224, 224] },
    { Identity: [1, 63], Identity_1: [1, 1], Identity_2: [1, 1], Identity_3: [1, 63] },
    /pose: 21 landmarks/,
  ],
  "pose-landmarks": [
    { inputSize: [256, 256] },
    { Identity: [1, 195], Identity_1: [1, 1], Identity_4: [1, 117] },
    /pose: 33 landmarks/,
  ],
};

const compile = (family: string, options: object, outputs: object): Uint8Array =>
  compilePlan(
    { family, ...options },
    { outputs: Object.entries(outputs).map(([name, dims]) => ({ name, dims: dims as number[] })) },
  );

test.each(Object.keys(CROPS))("%s, which is given crops", (family) => {
  const [options, outputs, about] = CROPS[family];
  expect(() => compile(family, options, outputs)).toThrow(about);
  expect(() => compile(family, options, outputs)).toThrow(
    "expected a network whose boxes need no more than the kernel: a plan file has no place for the rest",
  );
});

test("the points of detectors, which are made by the code of plan files, have one", () => {
  const bytes = compile(
    "mediapipe-palm",
    { inputSize: [192, 192], labels: ["palm"] },
    { Identity: [1, 2016, 18], Identity_1: [1, 2016, 1] },
  );
  expect(bytes.length).toBeGreaterThan(1000);
});

test.each([
  ["hailo-nms", { out: [1, 80, 5, 100] }],
  ["hailo-nms", { out: [1, 40080] }],
] as const)("%s, whose rows are brought into another form first: %j", (family, outputs) => {
  const compiled = (): Uint8Array => compile(family, { classes: 80, inputSize: [640, 640] }, outputs);
  expect(compiled).toThrow(
    `got out [${outputs.out.join()}], rows that createDecoder brings into another form first`,
  );
  expect(compiled).toThrow("a plan file has no place for that step");
});
