/** Families: the evidence that settles them, the rows of their table, and the absence of their names elsewhere. */
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import type { Outputs } from "../../src/decode/inputs.ts";
import { FAMILIES, TRAITS } from "../../src/core/families.ts";
import {
  isSubtype,
  type FamilyEvidence,
  type FamilyReason,
  settleFamily,
} from "../../src/core/family-names.ts";
import type { Family } from "../../src/core/family.ts";
import { familyReason } from "../../src/heads/print.ts";

function nn(
  metadata: object = {},
  more: object = {},
  root: object = {},
  key = "nn_config",
): Record<string, unknown> {
  return {
    [key]: {
      output_format: "detection",
      NN_family: "YOLO",
      NN_specific_metadata: {
        classes: 2,
        coordinates: 4,
        anchors: [10, 14, 23, 27, 37, 58],
        anchor_masks: { side4: [0, 1], side2: [2] },
        iou_threshold: 0.4,
        confidence_threshold: 0.6,
        ...metadata,
      },
      ...more,
    },
    mappings: { labels: ["cat", "dog"] },
    ...root,
  };
}

function archive(metadata: object = {}, head: object = {}, model: object = {}): Record<string, unknown> {
  return {
    config_version: "1.0",
    model: {
      metadata: { name: "net" },
      inputs: [
        { name: "images", dtype: "uint8", input_type: "image", shape: [1, 3, 352, 640], layout: "NCHW" },
      ],
      outputs: [
        { name: "a", dtype: "float32" },
        { name: "b", dtype: "float32" },
      ],
      heads: [
        {
          parser: "YOLO",
          metadata: {
            classes: ["x"],
            n_classes: 1,
            subtype: "yolov8",
            yolo_outputs: ["a", "b"],
            ...metadata,
          },
          ...head,
        },
      ],
      ...model,
    },
  };
}

describe("which head rule", () => {
  const e = { subtype: null, outputNames: [], modelName: null, anchors: null };
  test.each<[string, FamilyEvidence, Family, FamilyReason]>([
    [
      "subtype first",
      { ...e, subtype: "yolov5", outputNames: ["output1_yolov7"], modelName: "yolov4" },
      "yolov5",
      { kind: "subtype", value: "yolov5" },
    ],
    [
      "subtype of a YOLOv8 export that names its outputs yolov6r2",
      { ...e, subtype: "yolov8", outputNames: ["output1_yolov6r2"] },
      "yolov8",
      { kind: "subtype", value: "yolov8" },
    ],
    [
      "yolov6 is the first release there",
      { ...e, subtype: "yolov6" },
      "yolov6r1",
      { kind: "subtype", value: "yolov6" },
    ],
    ["yolov6r2", { ...e, subtype: "YOLOv6R2" }, "yolov6", { kind: "subtype", value: "YOLOv6R2" }],
    [
      "an anchor-free rebuild",
      { ...e, subtype: "yolov3-u", anchors: false },
      "yolov8",
      { kind: "subtype", value: "yolov3-u" },
    ],
    [
      "yolov5-u with anchors",
      { ...e, subtype: "yolov5-u", anchors: true },
      "yolov5",
      { kind: "subtype with anchors", value: "yolov5-u" },
    ],
    ["YOLO-P", { ...e, subtype: "yolo-p" }, "yolov5", { kind: "subtype", value: "yolo-p" }],
    [
      "an empty subtype says nothing",
      { ...e, subtype: "", modelName: "yolov7-tiny" },
      "yolov7",
      { kind: "model name", value: "yolov7-tiny" },
    ],
    [
      "output names",
      { ...e, outputNames: ["x", "output2_yolov5"], modelName: "yolov4" },
      "yolov5",
      { kind: "output name", value: "output2_yolov5" },
    ],
    [
      "output names of r2",
      { ...e, outputNames: ["output1_yolov6r2"], anchors: false },
      "yolov6",
      { kind: "output name", value: "output1_yolov6r2" },
    ],
    [
      "output names of r1",
      { ...e, outputNames: ["output1_yolov6"], anchors: false },
      "yolov6r1",
      { kind: "output name", value: "output1_yolov6" },
    ],
    [
      "names that contradict the anchors",
      { ...e, outputNames: ["output1_yolov6r2"], anchors: true },
      "yolov3",
      { kind: "default", value: null },
    ],
    [
      "model name",
      { ...e, modelName: "yolov7tiny_coco_416x416", anchors: true },
      "yolov7",
      { kind: "model name", value: "yolov7tiny_coco_416x416" },
    ],
    [
      "a model yolov6n of no stated release",
      { ...e, modelName: "yolov6n_coco_640x640", anchors: false },
      "yolov6",
      { kind: "model name", value: "yolov6n_coco_640x640" },
    ],
    [
      "a model yolov6nr1",
      { ...e, modelName: "yolov6nr1_coco", anchors: false },
      "yolov6r1",
      { kind: "model name", value: "yolov6nr1_coco" },
    ],
    [
      "a model yolov6nr3",
      { ...e, modelName: "yolov6nr3_coco_640x352", anchors: false },
      "yolov6",
      { kind: "model name", value: "yolov6nr3_coco_640x352" },
    ],
    [
      "YOLOX",
      { ...e, modelName: "yolox-nano", anchors: false },
      "yolox",
      { kind: "model name", value: "yolox-nano" },
    ],
    [
      "yolo v4 as people write it",
      { ...e, modelName: "yolo-v4-tiny-tf", anchors: true },
      "yolov4",
      { kind: "model name", value: "yolo-v4-tiny-tf" },
    ],
    ["empty anchors", { ...e, anchors: false }, "yolov8", { kind: "no anchors", value: null }],
    ["else v3", { ...e, anchors: true }, "yolov3", { kind: "default", value: null }],
  ])("%s", (_, evidence, family, why) => {
    expect(settleFamily(evidence)).toEqual({ family, why });
  });

  test("describe says which and why, and the option comes before all", () => {
    const outputs: Outputs = {
      output1_yolov6r2: { data: new Float32Array(7 * 16), dims: [1, 7, 4, 4] },
      output2_yolov6r2: { data: new Float32Array(7 * 4), dims: [1, 7, 2, 2] },
    };
    const json = archive(
      { n_classes: 2, yolo_outputs: ["output1_yolov6r2", "output2_yolov6r2"] },
      {},
      { outputs: null, inputs: null },
    );
    const d = createDecoderSync(json);
    d.decode(outputs);
    expect(d.describe().text).toContain('family: yolov8 (subtype "yolov8")');
    const stated = createDecoderSync(json, { family: "yolox" });
    stated.decode(outputs);
    expect(stated.describe().text).toContain("family: yolox (option family)");
    expect(stated.describe().text).toContain("reading: point-grid");
  });

  test("v3 and v5 of one file differ by the option alone", () => {
    const data = new Float32Array(14 * 16).fill(0.75);
    const small = new Float32Array(7 * 4);
    const outputs = [
      { data, dims: [1, 14, 4, 4] },
      { data: small, dims: [1, 7, 2, 2] },
    ];
    const wide = (family: "yolov3" | "yolov5"): number => {
      const d = createDecoderSync(nn({ confidence_threshold: 0.1 }, { input_size: "128x128" }), {
        family,
        rules: { clamp: "none" },
      });
      const first = d.decode(outputs).at(0);
      return first === undefined ? NaN : (first.x_max - first.x_min) * 128;
    };
    // e^0.75 x 10 and (2 x 0.75)^2 x 10
    expect(wide("yolov3")).toBeCloseTo(Math.exp(0.75) * 10, 4);
    expect(wide("yolov5")).toBeCloseTo(22.5, 4);
  });
});

test.each<[FamilyReason, string]>([
  [{ kind: "option", value: null }, "option family"],
  [{ kind: "file", value: "mobilenet" }, "family mobilenet"],
  [{ kind: "subtype", value: "yolov5" }, 'subtype "yolov5"'],
  [{ kind: "subtype with anchors", value: "yolov5-u" }, 'subtype "yolov5-u" with anchors'],
  [{ kind: "output name", value: "output1_yolov6" }, 'output name "output1_yolov6"'],
  [{ kind: "model name", value: "yolov7tiny" }, 'model name "yolov7tiny"'],
  [{ kind: "no anchors", value: null }, "empty anchors mean left-top-right-bottom distances"],
  [{ kind: "default", value: null }, "nothing in the file says otherwise; the option `family` does"],
])("the reason %o in words", (why, words) => {
  expect(familyReason(why)).toBe(words);
});

test("every subtype of the archive format means a family, and no other word does", () => {
  // the list of the archive format
  const subtypes =
    "yolov3 yolov3-tiny yolov3-u yolov3-tinyu yolov4 yolov4-tiny yolov5 yolov5-u yolov6 yolov6r1 yolov6r2 yolov7 " +
    "yolov8 yolov8n yolov9 yolov10 yolov11 yolov12 yolo26 yolo-p yolo-gold";
  for (const subtype of [...subtypes.split(" "), "", "YOLOv8"]) expect(isSubtype(subtype)).toBe(true);
  for (const other of ["yolov1", "yolov8-seg", "ssd", "yolo"]) expect(isSubtype(other)).toBe(false);
  const listed = FAMILIES.flatMap((family) => TRAITS[family].subtypes ?? []);
  expect([...listed].sort()).toEqual(subtypes.split(" ").sort());
});

test("the rows of the table agree with each other", () => {
  for (const family of FAMILIES) {
    const traits = TRAITS[family];
    // A task reads its own families' tensors.
    if (traits.task === undefined) expect(traits.exports, family).not.toHaveLength(0);
    // a representative stands for itself, and has the same rule for boxes
    if (traits.like === undefined) continue;
    expect(TRAITS[traits.like].like, family).toBeUndefined();
  }
  const versions = FAMILIES.flatMap((family) => TRAITS[family].version ?? []);
  expect(new Set(versions).size).toBe(versions.length);
});
