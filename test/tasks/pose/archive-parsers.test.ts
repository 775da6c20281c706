/** NN Archives of faces and hands: the parsers of depthai-nodes. A user writes no options. */
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../../src/whole/decoder.ts";
import type { TensorInput } from "../../../src/core/tensor.ts";
import { FACE5_NAMES, PALM7_NAMES } from "../../../src/entries/index.ts";
import { readBeyond } from "../../support/beyond.ts";

const archive = (
  parser: string,
  metadata: object,
  [width, height]: readonly [number, number],
  outputs: readonly string[],
): Record<string, unknown> => ({
  config_version: "1.0",
  model: {
    metadata: { name: "face" },
    inputs: [
      { name: "input", input_type: "image", shape: [1, 3, height, width], layout: "NCHW", dtype: "float32" },
    ],
    outputs: outputs.map((name) => ({ name, dtype: "float32" })),
    heads: [{ parser, outputs, metadata: { n_classes: 1, classes: ["face"], ...metadata } }],
  },
});

describe("YuNetParser", () => {
  const { cases } = readBeyond("yunet_2022") as {
    readonly cases: readonly {
      readonly input: readonly [number, number];
      readonly outputs: Record<string, TensorInput>;
      readonly faces: readonly (readonly number[])[];
    }[];
  };
  const [{ input, outputs, faces }] = cases;
  const config = archive("YuNetParser", { conf_threshold: 0.5, iou_threshold: 1, max_det: 1000 }, input, [
    "loc",
    "conf",
    "iou",
  ]);

  test("gives the points that OpenCV gives", () => {
    const decoder = createDecoderSync(config, { rules: { clamp: "none" } });
    const found = decoder.decode(outputs).toArray();
    expect(found).toHaveLength(faces.length);
    const [best] = faces.map((face) => face[14]).sort((a, b) => b - a);
    const expected = faces.find((face) => face[14] === best) ?? [];
    expect(found[0].confidence).toBeCloseTo(best, 5);
    expect(found[0].label).toBe("face");
    expect(found[0].keypoints?.map(({ name }) => name)).toEqual([...FACE5_NAMES]);
    found[0].keypoints?.forEach(({ x, y }, k) => {
      expect(x * input[0]).toBeCloseTo(expected[4 + 2 * k], 3);
      expect(y * input[1]).toBeCloseTo(expected[5 + 2 * k], 3);
    });
  });

  test("has the defaults of its parser", () => {
    const { model } = archive("YuNetParser", {}, input, ["loc", "conf", "iou"]);
    expect(createDecoderSync({ config_version: "1.0", model }).config).toMatchObject({
      family: "yunet",
      confidenceThreshold: 0.8,
      iouThreshold: 0.3,
      maxDetections: 5000,
      labels: ["face"],
    });
  });
});

test("SCRFDParser: rows of scores, distances and points at the strides of the archive", () => {
  const names = [8, 16, 32].flatMap((stride) => [`score_${stride}`, `bbox_${stride}`, `kps_${stride}`]);
  const config = archive(
    "SCRFDParser",
    { conf_threshold: 0.5, iou_threshold: 0.5, max_det: 100, feat_stride_fpn: [8, 16, 32], num_anchors: 2 },
    [64, 32],
    names,
  );
  const tensors = Object.fromEntries(
    [8, 16, 32].flatMap((stride) => {
      const rows = (64 / stride) * (32 / stride) * 2;
      const fill = (channels: number, values: readonly number[]): TensorInput => {
        const data = new Float32Array(rows * channels);
        // The second row of cell (1, 1) at stride 16.
        if (stride === 16) data.set(values, 11 * channels);
        return { data, dims: [1, rows, channels] };
      };
      return [
        [`score_${stride}`, fill(1, [0.75])],
        [`bbox_${stride}`, fill(4, [1, 0.5, 0.75, 0.25])],
        [`kps_${stride}`, fill(10, [0.5, 0.25, 0, 0, 0, 0, 0, 0, 0.125, 0.25])],
      ];
    }),
  );
  const found = createDecoderSync(config).decode(tensors).toArray();
  expect(found).toHaveLength(1);
  expect(found[0].keypoints?.map(({ x, y }) => [x * 64, y * 32])).toEqual([
    [24, 20],
    [16, 16],
    [16, 16],
    [16, 16],
    [18, 20],
  ]);
});

test("MPPalmDetectionParser: 2016 anchors of 192 x 192, raw scores", () => {
  const config = archive(
    "MPPalmDetectionParser",
    { conf_threshold: 0.5, iou_threshold: 0.5, scale: 192 },
    [192, 192],
    ["boxes", "scores"],
  );
  const boxes = new Float32Array(2016 * 18);
  const scores = new Float32Array(2016).fill(-20);
  // Two anchors for each of 24 x 24 cells of 8 pixels, then six for each of 12 x 12 cells of 16.
  const row = 2 * 24 * 24 + 6 * (12 * 3 + 5);
  scores[row] = 2;
  boxes.set([4, 8, 48, 32, ...Array.from({ length: 14 }, (_, k) => k - 6)], row * 18);
  const found = createDecoderSync(config)
    .decode({
      boxes: { data: boxes, dims: [1, 2016, 18] },
      scores: { data: scores, dims: [1, 2016, 1] },
    })
    .toArray();
  expect(found).toHaveLength(1);
  const [centreX, centreY] = [5.5 * 16, 3.5 * 16];
  expect(found[0].confidence).toBeCloseTo(1 / (1 + Math.exp(-2)), 6);
  expect(found[0].x_min * 192).toBeCloseTo(centreX + 4 - 24, 4);
  expect(found[0].y_max * 192).toBeCloseTo(centreY + 8 + 16, 4);
  expect(found[0].keypoints?.map(({ name }) => name)).toEqual([...PALM7_NAMES]);
  found[0].keypoints?.forEach(({ x, y }, k) => {
    expect(x * 192).toBeCloseTo(centreX + 2 * k - 6, 4);
    expect(y * 192).toBeCloseTo(centreY + 2 * k - 5, 4);
  });
});

test("keypoint_names stands for keypoint_label_names", () => {
  const config = archive(
    "YOLO",
    { subtype: "yolov8", n_keypoints: 2, keypoint_names: ["a", "b"] },
    [64, 64],
    ["o"],
  );
  const decoder = createDecoderSync(config);
  expect(decoder.config.task).toMatchObject({ keypoints: [2, 3], keypointNames: ["a", "b"] });
});

test("heads of two parsers are refused by name, and an unknown parser with those that are read", () => {
  const config = archive("YuNetParser", {}, [64, 64], ["loc"]);
  const model = config["model"] as { heads: object[] };
  const two = { ...config, model: { ...model, heads: [...model.heads, { parser: "YOLO", metadata: {} }] } };
  expect(() => createDecoderSync(two)).toThrow("heads of both YuNetParser and YOLO");
  expect(() => createDecoderSync(archive("OtherParser", {}, [64, 64], ["o"]))).toThrow(
    'got "OtherParser", expected a parser YOLO, YOLOExtendedParser, SSD, MOBILENET, SCRFDParser, YuNetParser, MPPalmDetectionParser, KeypointParser, HRNetParser, SuperAnimalParser',
  );
});

describe("parsers of points alone", () => {
  const only = (found: ReturnType<ReturnType<typeof createDecoderSync>["decode"]>) => found.at(0)?.keypoints;

  test("KeypointParser divides by scale_factor and clips", () => {
    const metadata = {
      n_keypoints: 2,
      scale_factor: 200,
      keypoint_labels: ["tip", "tail"],
      skeleton_edges: [[0, 1]],
    };
    const decoder = createDecoderSync(archive("KeypointParser", metadata, [200, 100], ["out"]));
    const found = decoder.decode({ out: { data: [100, 50, 20, 250, 0, -4], dims: [1, 6] } });
    expect(only(found)).toEqual([
      { x: 0.5, y: 0.25, z: Math.fround(0.1), confidence: 1, name: "tip" },
      { x: 1, y: 0, z: 0, confidence: 1, name: "tail" },
    ]);
    expect(found.edges).toEqual([[0, 1]]);
    const plain = createDecoderSync(archive("KeypointParser", { n_keypoints: 1 }, [64, 64], ["out"]));
    expect(only(plain.decode({ out: { data: [0.5, 0.25], dims: [1, 2] } }))).toEqual([
      { x: 0.5, y: 0.25, confidence: 1 },
    ]);
    const lacking = createDecoderSync(archive("KeypointParser", {}, [64, 64], ["out"]));
    expect(() => lacking.decode({ out: { data: [0.5, 0.25], dims: [1, 2] } })).toThrow(
      /no number of keypoints/,
    );
  });

  test("HRNetParser takes the largest cell and clips its score", () => {
    const data = new Float32Array(2 * 16 * 12);
    data[5 * 12 + 3] = 1.25;
    data[5 * 12 + 4] = 1;
    data[192 + 15 * 12 + 11] = 0.5;
    const decoder = createDecoderSync(archive("HRNetParser", { n_keypoints: 2 }, [48, 64], ["heatmaps"]));
    expect(only(decoder.decode({ heatmaps: { data, dims: [1, 2, 16, 12] } }))).toEqual([
      { x: 0.25, y: Math.fround(5 / 16), confidence: 1 },
      { x: Math.fround(11 / 12), y: Math.fround(15 / 16), confidence: 0.5 },
    ]);
    expect(decoder.describe().text).toContain('refinement "none"');
  });

  test("SuperAnimalParser takes the middle of the largest cell", () => {
    const data = new Float32Array(8 * 8 * 3);
    data[(2 * 8 + 5) * 3] = 0.75;
    data[(7 * 8 + 0) * 3 + 1] = 0.5;
    data[(1 * 8 + 1) * 3 + 2] = -0.5;
    const decoder = createDecoderSync(archive("SuperAnimalParser", { n_keypoints: 3 }, [64, 64], ["heat"]));
    const points = only(decoder.decode({ heat: { data, dims: [1, 8, 8, 3] } }));
    expect(points?.slice(0, 2)).toEqual([
      { x: 5.5 / 8, y: 2.5 / 8, confidence: 0.75 },
      { x: 0.5 / 8, y: 7.5 / 8, confidence: 0.5 },
    ]);
  });
});
