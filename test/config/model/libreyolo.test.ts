/** LibreYOLO's YOLO9: planes of corners, as the file's metadata says. */
import { expect, test } from "vitest";
import { createDecoder, readModel } from "../../../src/entries/index.ts";
import { input, output } from "../../support/model-files.ts";
import { onnxFile } from "../../support/onnx.ts";

const METADATA = {
  model_family: "yolo9",
  task: "detect",
  nb_classes: "2",
  names: '{"0": "person", "1": "cat"}',
  imgsz_h: "64",
  imgsz_w: "64",
};
const fileOf = (metadata: { [key: string]: string }): Uint8Array =>
  onnxFile({ inputs: [input(1, 3, 64, 64)], outputs: [output("output", 1, 6, 84)], metadata });

test("the file needs no other option, and its boxes are corners", async () => {
  const model = await readModel(fileOf(METADATA));
  expect(model.missing).toEqual([]);
  expect(model).toMatchObject({ exporter: "libreyolo", task: "detect", names: ["person", "cat"] });
  const decoder = await createDecoder(model);
  const data = new Float32Array(6 * 84);
  [22, 4, 42, 28, 0.1, 0.72].forEach((value, channel) => (data[channel * 84 + 10] = value));
  const [found, ...others] = decoder.decode({ output: { data, dims: [1, 6, 84] } }).toArray();
  expect(others).toEqual([]);
  expect(found).toMatchObject({
    label: "cat",
    x_min: 22 / 64,
    y_min: 4 / 64,
    x_max: 42 / 64,
    y_max: 28 / 64,
  });
});

/** Writes values at row 10 of a tensor of rows. */
const row = (rows: number, channels: number, values: readonly number[], rest = 0): Float32Array => {
  const data = new Float32Array(rows * channels).fill(rest);
  data.set(values, 10 * channels);
  return data;
};
const BOX = [22 / 64, 4 / 64, 42 / 64, 28 / 64];
const CORNERS = [22, 4, 42, 28];
const CENTRE = [0.5, 0.25, 20 / 64, 24 / 64];
/** Logits of a query. Those of all others are low. */
const LOGITS = [-3, 1];

type Tensors = { readonly [name: string]: readonly [data: Float32Array, ...dims: number[]] };
const rowsOf = (...values: readonly number[]): Tensors => ({
  output: [row(84, values.length, values), 1, 84, values.length],
});
const queries: Tensors = {
  pred_logits: [row(20, 2, LOGITS, -9), 1, 20, 2],
  pred_boxes: [row(20, 4, CENTRE), 1, 20, 4],
};
const pairs: Tensors = {
  boxes: [row(84, 4, CORNERS), 1, 84, 4],
  scores: [row(84, 2, [0.1, 0.72]), 1, 84, 2],
};

const RGB = { order: undefined, mean: undefined };
const NO_MEAN = { resize: "stretch", resample: "pillow", mean: undefined };
const IMAGENET = { mean: [123.675, 116.28, 103.53] };

const CASES: readonly (readonly [family: string, tensors: Tensors, prepare: object, more?: object])[] = [
  ["yolox", rowsOf(32, 16, 20, 24, 0.9, 0.1, 0.8), { resize: "letterbox-topleft", order: "BGR", std: 1 }],
  ["rtmdet", rowsOf(...CORNERS, 0.1, 0.72), { order: "BGR", mean: [103.53, 116.28, 123.675] }],
  ["picodet", rowsOf(...CORNERS, 0.1, 0.72), { resize: "stretch", ...IMAGENET }],
  ["yolonas", pairs, { ...RGB, resample: "pillow" }],
  ["damoyolo", pairs, { resize: "stretch", std: 1 }],
  ["dfine", queries, NO_MEAN],
  ["rtdetrv4", queries, NO_MEAN],
  ["ec", queries, { resize: "stretch", ...IMAGENET }],
  ["deim", queries, NO_MEAN],
  ["deimv2", queries, NO_MEAN, { size: "n" }],
  ["deimv2", queries, { resize: "stretch", ...IMAGENET }, { size: "s" }],
  ["rtdetr", queries, { resize: "stretch", resample: "bilinear" }],
  [
    "rfdetr",
    { dets: [row(20, 4, CENTRE), 1, 20, 4], labels: [row(20, 3, [...LOGITS, -9], -9), 1, 20, 3] },
    { resize: "stretch", ...IMAGENET },
  ],
  ["yolo9", rowsOf(...CORNERS, 0.72, 1), { resize: "letterbox-topleft" }, { nms: "true" }],
];

test.each(CASES.map(([family, ...rest]) => [family, rest] as const))(
  "%s needs no other option",
  async (family, [tensors, prepare, more = {}]) => {
    const bytes = onnxFile({
      inputs: [input(1, 3, 64, 64)],
      outputs: Object.entries(tensors).map(([name, [, ...dims]]) => output(name, ...dims)),
      metadata: { ...METADATA, model_family: family, ...more },
    });
    const model = await readModel(bytes);
    expect(model).toMatchObject({ exporter: "libreyolo", missing: [], names: ["person", "cat"] });
    const decoder = await createDecoder(model);
    expect(decoder.prepareRule).toMatchObject(
      Object.fromEntries(Object.entries(prepare).filter(([, value]) => value !== undefined)),
    );
    if ("mean" in prepare && prepare.mean === undefined) expect(decoder.prepareRule.mean ?? 0).toBe(0);
    const outputs = Object.fromEntries(
      Object.entries(tensors).map(([name, [data, ...dims]]) => [name, { data, dims }]),
    );
    const [found, ...others] = decoder.decode(outputs).toArray();
    expect(others).toEqual([]);
    expect(found.label).toBe("cat");
    expect(found.confidence).toBeCloseTo(
      tensors === queries || family === "rfdetr" ? 1 / (1 + Math.exp(-1)) : 0.72,
      5,
    );
    [found.x_min, found.y_min, found.x_max, found.y_max].forEach((edge, k) =>
      expect(edge).toBeCloseTo(BOX[k], 5),
    );
  },
);

test("a classifier's scores are logits", async () => {
  const bytes = onnxFile({
    inputs: [input(1, 3, 64, 64)],
    outputs: [output("output", 1, 2)],
    metadata: { ...METADATA, task: "classify" },
  });
  const model = await readModel(bytes);
  expect(model).toMatchObject({ task: "classify", missing: [] });
  const found = (await createDecoder(model)).decode({
    output: { data: Float32Array.of(-2, 3), dims: [1, 2] },
  });
  expect(found.at(0)).toMatchObject({
    label: "cat",
    confidence: expect.closeTo(1 / (1 + Math.exp(-5)), 5) as number,
  });
});

test("a file of keypoints, or of another network of LibreYOLO, asks for the family", async () => {
  for (const other of [{ task: "segment" }, { task: "pose" }, { model_family: "l2cs" }]) {
    const model = await readModel(fileOf({ ...METADATA, ...other }));
    expect(model.options.family).toBe(undefined);
    expect(model.missing.map(({ path }) => path)).toContain("family");
  }
});
