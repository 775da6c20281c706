import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  COCO80,
  COCO91,
  type LabelSet,
  VOC20,
  VOC21,
  createDecoderSync,
  labelsOf,
  parseConfig,
} from "../../src/entries/index.ts";
import { compilePlan } from "../../src/planfile/write.ts";
import { loadPlanSync } from "../support/plans.ts";
import { filled } from "../support/seeded-networks.ts";
import { describeShared, readJson } from "../support/shared-data.ts";

const linesOf = (name: string): string[] =>
  readFileSync(new URL(`../fixtures/labels/${name}.txt`, import.meta.url), "utf8")
    .trim()
    .split("\n");

test("COCO's lists are those of the files", () => {
  expect(COCO80).toEqual(linesOf("coco80"));
  expect(COCO91).toEqual(linesOf("coco91"));
});

test("VOC has its 20 classes in the order of the alphabet, and 21 with the background", () => {
  expect(VOC20).toHaveLength(20);
  expect([...VOC20].sort()).toEqual(VOC20);
  expect(VOC21).toEqual(["background", ...VOC20]);
});

describeShared("VOC in a config of MobileNet-SSD", (data) => {
  test("has the same names in the same order", () => {
    const config = readJson(data, "configs/gen2_mobilenet-ssd.json") as { mappings: { labels: string[] } };
    expect(VOC21).toEqual(config.mappings.labels);
  });
});

test("finds a list by its name, and no other", () => {
  expect(labelsOf("coco80")).toBe(COCO80);
  expect(labelsOf("voc21")).toBe(VOC21);
  for (const name of ["coco", "toString", 80])
    expect(() => labelsOf(name as LabelSet)).toThrow(
      /labels: got .*, expected .* coco80, coco91, voc20, voc21/,
    );
});

const network = { family: "yolov8", inputSize: [64, 64] } as const;

test("a decoder takes names as a record by class id, as Ultralytics writes them", () => {
  const { config } = createDecoderSync({ ...network, labels: { 0: "person", 1: "cat" } });
  expect(config.labels).toEqual(["person", "cat"]);
  expect(config.classes).toBe(2);
  expect(() => createDecoderSync({ ...network, labels: { 1: "cat" } })).toThrow(
    "labels[0]: got undefined, expected a string",
  );
});

test("every way in takes the name of a list: typed options, and the files of both formats", () => {
  const labels = "coco80" as unknown as string[];
  expect(createDecoderSync({ ...network, labels }).config.labels).toEqual(COCO80);
  const nnConfig = {
    output_format: "detection",
    NN_family: "YOLO",
    NN_specific_metadata: {
      classes: 80,
      coordinates: 4,
      anchors: [],
      anchor_masks: {},
      confidence_threshold: 0.5,
    },
  };
  const file = { model: { xml: "x", bin: "x" }, nn_config: nnConfig, mappings: { labels: "coco80" } };
  expect(parseConfig(file).labels).toEqual(COCO80);
  expect(() => createDecoderSync({ ...network, labels: "coco" as unknown as string[] })).toThrow(
    'labels: got "coco", expected a list of names, such as COCO80, or the name of such a list: coco80, coco91',
  );
});

test("every way in says how a path or a text becomes a list of labels", () => {
  const file = { model: { xml: "x", bin: "x" }, nn_config: { output_format: "detection" } };
  for (const [labels, advice] of [
    ["names.txt", 'a file of lines becomes one by readFileSync(path, "utf8").trim().split(/\\r?\\n/)'],
    ["a\nb\nc\n", "a text of lines becomes one by text.trim().split(/\\r?\\n/)"],
  ]) {
    expect(() => createDecoderSync({ ...network, labels: labels as never })).toThrow(advice);
    expect(() => createDecoderSync({ ...network, classes: 3 }, { labels: labels as never })).toThrow(advice);
    expect(() => parseConfig({ ...file, mappings: { labels } })).toThrow(advice);
  }
});

test("a network whose published files have one class calls it by its name; labels and other counts come first", () => {
  const size = [320, 240] as const;
  const faces = (columns: number) => ({
    scores: filled([1, 4420, columns], 0.9),
    boxes: filled([1, 4420, 4], 0.5),
  });
  const ultraface = { family: "ultraface", inputSize: size, boxFormat: "xyxy" } as const;
  const labelsIn = (network: object, outputs: object): unknown =>
    createDecoderSync({ ...network } as typeof ultraface).decode(outputs as ReturnType<typeof faces>).labels;
  expect(labelsIn(ultraface, faces(2))).toEqual(["background", "face"]);
  expect(labelsIn({ ...ultraface, keep: ["face"] }, faces(2))).toEqual(["background", "face"]);
  expect(labelsIn({ ...ultraface, labels: ["head"] }, faces(2))).toEqual(["background", "head"]);
  // With and without a mask, perhaps: two classes have other names.
  expect(labelsIn(ultraface, faces(3))).toBe(null);
  expect(labelsIn({ family: "movenet" }, { o: filled([1, 1, 17, 3], 0.5) })).toEqual(["person"]);
  const side = { inputSize: [64, 64] };
  expect(labelsIn({ family: "yolov5-face", ...side }, { o: filled([1, 252, 16], 0.5) })).toEqual(["face"]);
  expect(labelsIn({ family: "dbnet" }, { o: filled([1, 1, 32, 32], 0) })).toEqual(["text"]);
  const people = { dets: filled([1, 2, 5], 0), keypoints: filled([1, 2, 17, 3], 0) };
  expect(labelsIn({ family: "rtmo", ...side }, people)).toEqual(["person"]);
  const outputs = [
    { name: "scores", dims: [1, 4420, 2] },
    { name: "boxes", dims: [1, 4420, 4] },
  ];
  expect(loadPlanSync(compilePlan(ultraface, { outputs }).bytes).labels).toEqual(["background", "face"]);
});
