import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseConfig, readConfig } from "../../src/config/config.ts";
import type { Config, DecoderOptions } from "../../src/config/types.ts";
import { ConfigError } from "../../src/core/errors.ts";

/** The problems of a config that must be refused, a line each. */
function problemsOf(json: unknown): string[] {
  try {
    parseConfig(json);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split("\n");
  }
  throw new Error("the config was accepted");
}

function sides(config: Config): string | null {
  return (
    config.anchorSets?.map((set) => `${set.side ?? set.output ?? "-"}:${set.anchors.length}`).join(" ") ??
    null
  );
}

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `class${i}`);

/** A tiny two-output network, to be changed in one place by each test. */
function yolo(metadata: object = {}, block: object = {}, rest: object = {}): unknown {
  return {
    NN_config: {
      output_format: "detection",
      NN_family: "YOLO",
      NN_specific_metadata: {
        classes: 3,
        coordinates: 4,
        anchors: [5, 6, 7.5, 8, 20, 30, 40, 41],
        anchor_masks: { side4: [2, 3], side8: [0, 1, 2] },
        iou_threshold: 0.4,
        confidence_threshold: 0.3,
        ...metadata,
      },
      ...block,
    },
    mappings: { labels: ["cat", ["dog", "red"], "cup"] },
    ...rest,
  };
}

function archive(metadata: object = {}, head: object = {}, model: object = {}): unknown {
  return {
    config_version: "1.0",
    model: {
      metadata: { name: "tiny_yolov5", path: "m.onnx" },
      inputs: [
        { name: "images", dtype: "float32", input_type: "image", shape: [1, 3, 64, 96], layout: "NCHW" },
      ],
      outputs: [
        { name: "b_yolov5", dtype: "float16", shape: [1, 14, 4, 6], layout: "NCHW" },
        { name: "a_yolov5", dtype: "float16", shape: [1, 14, 8, 12], layout: "NCHW" },
        { name: "extra", dtype: "float32" },
      ],
      heads: [
        {
          parser: "YOLO",
          outputs: ["a_yolov5", "b_yolov5", "extra"],
          metadata: {
            classes: ["cat", "dog"],
            n_classes: 2,
            iou_threshold: 0.6,
            conf_threshold: 0.2,
            max_det: 50,
            anchors: [
              [
                [20, 30],
                [40, 41],
              ],
              [
                [5, 6],
                [7, 8],
              ],
            ],
            yolo_outputs: ["b_yolov5", "a_yolov5"],
            subtype: "yolov5",
            strides: [16, 8],
            ...metadata,
          },
          ...head,
        },
      ],
      ...model,
    },
  };
}

describe("NN_config and nn_config", () => {
  test("a YOLO file, whole", () => {
    expect(parseConfig(JSON.stringify(yolo()))).toMatchObject({
      format: "NN_config",
      outputFormat: "detection",
      decodes: true,
      note: null,
      kind: "yolo",
      family: null,
      classes: 3,
      labels: ["cat", "dog", "cup"],
      inputSize: null,
      confidenceThreshold: 0.3,
      iouThreshold: 0.4,
      maxDetections: 300,
      conventions: "depthai",
      // largest map first, whatever the order of the keys; masks may share anchors
      anchorSets: [
        {
          side: 8,
          output: null,
          anchors: [
            [5, 6],
            [7.5, 8],
            [20, 30],
          ],
        },
        {
          side: 4,
          output: null,
          anchors: [
            [20, 30],
            [40, 41],
          ],
        },
      ],
    });
  });

  test("text and parsed JSON read the same, also behind a byte order mark", () => {
    const text = JSON.stringify(yolo());
    expect(parseConfig(text)).toEqual(parseConfig(JSON.parse(text)));
    expect(parseConfig(`\uFEFF${text}`)).toEqual(parseConfig(text));
  });

  test("the input is left as it was", () => {
    for (const json of [yolo(), archive(), { family: "yolov5", classes: 1, anchors: [1, 2], strides: [8] }]) {
      const before = JSON.stringify(json);
      parseConfig(json);
      expect(JSON.stringify(json)).toBe(before);
    }
  });

  test("nn_config: input_size has the width first", () => {
    const config = parseConfig({
      nn_config: { NN_family: "mobilenet", input_size: "768x416", confidence_threshold: 0.7 },
      mappings: { labels: ["background", "face"] },
    });
    expect(config).toMatchObject({
      format: "nn_config",
      outputFormat: null,
      decodes: true,
      kind: "ssd",
      inputSize: [768, 416],
      confidenceThreshold: 0.7,
      classes: 2,
      anchorSets: null,
    });
  });

  test("case of family and output_format is ignored, and so are unknown keys", () => {
    for (const family of ["yolo", "Yolo", "YOLO"])
      expect(parseConfig(yolo({}, { NN_family: family })).kind).toBe("yolo");
    for (const family of ["MOBILENET", "MobileNet"]) {
      expect(parseConfig({ nn_config: { NN_family: family } }).kind).toBe("ssd");
    }
    expect(parseConfig(yolo({}, { output_format: "RAW" })).outputFormat).toBe("raw");
    expect(
      parseConfig(yolo({ extra: 1 }, { blob: [], nn_input_size: 3 }, { handler: {}, version: 1 })),
    ).toEqual(parseConfig(yolo()));
  });

  test("confidence: metadata before block before 0.5", () => {
    const both = yolo({ confidence_threshold: 0.9 }, { confidence_threshold: 0.1 });
    expect(parseConfig(both).confidenceThreshold).toBe(0.9);
    const block = yolo({ confidence_threshold: undefined }, { confidence_threshold: 0.1 });
    expect(parseConfig(block).confidenceThreshold).toBe(0.1);
    const neither = parseConfig(yolo({ confidence_threshold: undefined, iou_threshold: null }));
    expect([neither.confidenceThreshold, neither.iouThreshold]).toEqual([0.5, 0.5]);
  });

  test("thresholds of exactly 0 and 1 hold", () => {
    const config = parseConfig(yolo({ confidence_threshold: 0, iou_threshold: 1 }));
    expect([config.confidenceThreshold, config.iouThreshold]).toEqual([0, 1]);
  });

  test("empty anchors say that there are none, missing ones say nothing", () => {
    expect(parseConfig(yolo({ anchors: [], anchor_masks: {} })).anchorSets).toEqual([]);
    expect(parseConfig(yolo({ anchors: undefined, anchor_masks: undefined })).anchorSets).toBeNull();
  });

  test("model_name is evidence, and no reason to refuse a file", () => {
    expect(parseConfig(yolo({}, {}, { model: { model_name: "yolov5n_coco" } })).modelName).toBe(
      "yolov5n_coco",
    );
    expect(parseConfig(yolo({}, {}, { model: { xml: "yolov6n.xml", bin: "yolov6n.bin" } })).modelName).toBe(
      "yolov6n.xml",
    );
    for (const model of ["m.blob", 5, { model_name: 7 }, null]) {
      expect(parseConfig(yolo({}, {}, { model })).modelName).toBeNull();
    }
  });

  test("labels of a mobilenet may count the background, or leave it out", () => {
    const ssd = (classes: number | undefined, labels: number) => ({
      nn_config: { NN_family: "mobilenet", NN_specific_metadata: { classes } },
      mappings: { labels: names(labels) },
    });
    expect(parseConfig(ssd(undefined, 21)).classes).toBe(21);
    expect(parseConfig(ssd(20, 21)).classes).toBe(20);
    expect(parseConfig(ssd(20, 20)).classes).toBe(20);
    expect(problemsOf(ssd(1, 80))).toEqual([
      "mappings.labels: got 80 labels, expected 1, or 2 with the background, for NN_specific_metadata.classes = 1",
    ]);
  });

  test.each([4, 8, 16, 32, 64].flatMap((stride) => [416, 640, 300].map((width) => [stride, width])))(
    "stride %i of input width %i is a side an output can have",
    (stride, width) => {
      const side = Math.ceil(width / stride);
      const config = parseConfig(
        yolo({ anchor_masks: { [`side${side}`]: [0] } }, { input_size: `${width}x96` }),
      );
      expect(config.anchorSets?.[0].side).toBe(side);
    },
  );
});

describe("nothing to decode", () => {
  const raw = { NN_config: { output_format: "raw" } };
  test.each([
    ["no config", undefined, "no config"],
    ["null", null, "no config"],
    ["an empty object", {}, "no config"],
    ["its text", "{}", "no config"],
    ["raw and nothing else", raw, 'output_format "raw"'],
    ["raw with labels", { ...raw, mappings: { labels: ["a"] } }, 'output_format "raw"'],
    ["an empty block", { nn_config: {} }, "no output_format"],
  ])("%s", (_, json, why) => {
    const config = parseConfig(json);
    expect(config).toMatchObject({ decodes: false, kind: null, family: null });
    expect(config.note).toContain(why);
    expect(config.note).toContain("nothing here says how to decode");
  });

  test("an archive without heads", () => {
    for (const heads of [null, []]) {
      const config = parseConfig(archive({}, {}, { heads }));
      expect(config).toMatchObject({ format: "nn-archive", decodes: false });
      expect(config.note).toContain("no heads");
    }
  });

  test("raw with a family is decoded, by the host", () => {
    expect(parseConfig(yolo({}, { output_format: "raw" }))).toMatchObject({
      outputFormat: "raw",
      decodes: true,
      note: null,
      kind: "yolo",
    });
  });
});

describe("refused NN_config", () => {
  test.each<[string, unknown, string[]]>([
    [
      "missing family",
      { NN_config: { output_format: "detection" } },
      ['NN_config.NN_family: got undefined, expected "YOLO" or "mobilenet", as output_format is "detection"'],
    ],
    [
      "unknown family",
      { nn_config: { NN_family: "segmentation" } },
      ['nn_config.NN_family: got "segmentation", expected "YOLO" or "mobilenet"'],
    ],
    [
      "output_format",
      { NN_config: { output_format: "boxes" } },
      ['NN_config.output_format: got "boxes", expected "raw" or "detection"'],
    ],
    [
      "odd anchor count",
      yolo({ anchors: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] }),
      ["NN_specific_metadata.anchors: got 11 numbers, expected an even count"],
    ],
    [
      "mask past the anchors",
      yolo({ anchor_masks: { side8: [0, 4], side4: [-1, 1.5] } }),
      [
        "NN_specific_metadata.anchor_masks.side8[1]: got 4, expected 0..3, as there are 4 anchors",
        "NN_specific_metadata.anchor_masks.side4[0]: got -1, expected 0..3, as there are 4 anchors",
        "NN_specific_metadata.anchor_masks.side4[1]: got 1.5, expected 0..3, as there are 4 anchors",
      ],
    ],
    [
      "labels and classes",
      yolo({ classes: 1 }),
      ["mappings.labels: got 3 labels, expected 1 for NN_specific_metadata.classes = 1"],
    ],
    [
      "a side that no output has",
      yolo({}, { input_size: "416x416" }),
      [
        "NN_specific_metadata.anchor_masks.side8: got an output layer 8 wide, expected one of 52, 26, 13, 7 for an input 416 wide: no output has this side",
      ],
    ],
    [
      "anchors without masks",
      yolo({ anchor_masks: {} }),
      [
        'NN_specific_metadata.anchor_masks: got no masks for 4 anchors, expected one mask per output layer, for instance {"side13": [3,4,5]}',
      ],
    ],
    [
      "masks without anchors",
      yolo({ anchors: undefined }),
      ["NN_specific_metadata.anchors: got undefined, expected the anchors that anchor_masks point at"],
    ],
    [
      "masks for no anchors",
      yolo({ anchors: [] }),
      ["NN_specific_metadata.anchors: got [], expected the anchors that anchor_masks point at"],
    ],
    [
      "a side twice",
      yolo({ anchor_masks: { side8: [0], side08: [1] } }),
      ["NN_specific_metadata.anchor_masks.side08: got side 8 twice, expected each width once"],
    ],
    [
      "names that are no sides",
      yolo({ anchor_masks: { side0: [0], 13: [1], sideways: [2] } }),
      ["13", "side0", "sideways"].map(
        (key) =>
          `NN_specific_metadata.anchor_masks.${key}: got the name "${key}", expected "sideN" with N the width of the output layer`,
      ),
    ],
    [
      "an anchor twice, none, and no list",
      yolo({ anchor_masks: { side8: [1, 1], side4: [], side2: null, side1: "0" } }),
      [
        "NN_specific_metadata.anchor_masks.side8: got [1,1], expected each anchor once",
        "NN_specific_metadata.anchor_masks.side4: got no anchors, expected at least one",
        "NN_specific_metadata.anchor_masks.side2: got null, expected an array of anchor numbers",
        'NN_specific_metadata.anchor_masks.side1: got "0", expected an array',
      ],
    ],
    [
      "a file that is given twice",
      { NN_config: { output_format: "raw" }, nn_config: { output_format: "raw" } },
      ["got both NN_config and nn_config, expected one of them"],
    ],
    [
      "no classes at all",
      yolo({ classes: undefined }, {}, { mappings: {} }),
      ["NN_specific_metadata.classes: got undefined, expected the number of classes"],
    ],
    [
      "every problem at once",
      yolo(
        { classes: 0, coordinates: 5, anchors: [1, -2], iou_threshold: 1.5, confidence_threshold: "0.5" },
        { NN_family: "YOLOv3", input_size: "416", output_format: 1 },
        { mappings: { labels: ["a", 5, ["b", 1], [], null] } },
      ),
      [
        'NN_config.output_format: got 1, expected "raw" or "detection"',
        'NN_config.NN_family: got "YOLOv3", expected "YOLO" or "mobilenet"',
        "mappings.labels[1]: got 5, expected a string, or [name, colour]",
        "mappings.labels[3]: got [], expected a string, or [name, colour]",
        "mappings.labels[4]: got null, expected a string, or [name, colour]",
        "NN_specific_metadata.classes: got 0, expected a positive whole number below 1e9",
        "NN_specific_metadata.coordinates: got 5, expected 4",
        'NN_config.input_size: got "416", expected "WIDTHxHEIGHT", for instance "416x416"',
        'NN_specific_metadata.confidence_threshold: got "0.5", expected a number in 0..1',
        "NN_specific_metadata.iou_threshold: got 1.5, expected a number in 0..1",
        "NN_specific_metadata.anchors: got [1,-2], expected only positive numbers",
      ],
    ],
  ])("%s", (_, json, expected) => {
    expect(problemsOf(json)).toEqual(expected);
  });

  test.each([0, -1, 2.5, "80", NaN, 2 ** 60])("classes: %s", (classes) => {
    expect(problemsOf(yolo({ classes }, {}, { mappings: {} }))[0]).toContain(
      "NN_specific_metadata.classes: got ",
    );
  });

  test.each(["0x416", "416", "416x", "x416", "-4x4", "4.5x4", 416, {}])("input_size: %s", (input_size) => {
    expect(problemsOf({ nn_config: { NN_family: "mobilenet", input_size } })[0]).toMatch(
      /^nn_config.input_size: got /,
    );
  });
});

describe("NN Archive", () => {
  test("a YOLO archive, whole", () => {
    expect(parseConfig(archive())).toMatchObject({
      format: "nn-archive",
      outputFormat: null,
      decodes: true,
      kind: "yolo",
      family: null,
      subtype: "yolov5",
      modelName: "tiny_yolov5",
      classes: 2,
      labels: ["cat", "dog"],
      inputSize: [96, 64],
      confidenceThreshold: 0.2,
      iouThreshold: 0.6,
      maxDetections: 50,
      // by name: yolo_outputs may stand in any order of widths
      anchorSets: [
        {
          side: null,
          output: "b_yolov5",
          anchors: [
            [20, 30],
            [40, 41],
          ],
        },
        {
          side: null,
          output: "a_yolov5",
          anchors: [
            [5, 6],
            [7, 8],
          ],
        },
      ],
      strides: [8, 16],
      outputs: [
        { name: "b_yolov5", dims: [1, 14, 4, 6], type: "float16", layout: "NCHW", order: null },
        { name: "a_yolov5", dims: [1, 14, 8, 12], type: "float16", layout: "NCHW", order: null },
        { name: "extra", dims: null, type: "float32", layout: null, order: null },
      ],
      headOutputs: ["b_yolov5", "a_yolov5"],
      conventions: "depthai",
    });
  });

  test("what may be left out, and what holds then", () => {
    const config = parseConfig({ model: { heads: [{ parser: "YOLO" }] } });
    expect(config).toMatchObject({
      decodes: true,
      classes: null,
      labels: null,
      inputSize: null,
      confidenceThreshold: 0.5,
      iouThreshold: 0.5,
      maxDetections: 300,
      anchorSets: null,
      headOutputs: null,
    });
  });

  test("anchors: null is how exporters say that there are none", () => {
    expect(parseConfig(archive({ anchors: null, strides: null })).anchorSets).toEqual([]);
  });

  test.each([
    ["YOLO", "yolo"],
    ["YOLOExtendedParser", "yolo"],
    ["yoloextendedparser", "yolo"],
    ["SSD", "ssd"],
    ["MOBILENET", "ssd"],
  ])("parser %s", (parser, kind) => {
    expect(parseConfig(archive({}, { parser })).kind).toBe(kind);
  });

  test("SSD: boxes and scores by name, unless one output holds whole detections", () => {
    const ssd = (boxes: string, scores: string) =>
      parseConfig(
        archive({ boxes_outputs: boxes, scores_outputs: scores, yolo_outputs: null }, { parser: "SSD" }),
      );
    expect(ssd("a_yolov5", "b_yolov5").roles).toEqual({ boxes: "a_yolov5", scores: "b_yolov5" });
    expect(ssd("extra", "extra").roles).toBeNull();
  });

  test("of several heads of a kind the last one holds; heads of other kinds are left alone", () => {
    const config = parseConfig({
      model: {
        heads: [
          { parser: "YOLO", metadata: { n_classes: 1 } },
          { parser: "YOLO", metadata: { n_classes: 7 } },
          { parser: "SegmentationParser", metadata: { n_classes: 9 } },
        ],
      },
    });
    expect(config.classes).toBe(7);
  });

  test.each<[string, unknown, [number, number] | null]>([
    ["NCHW", { shape: [1, 3, 352, 640], layout: "NCHW" }, [640, 352]],
    ["NHWC", { shape: [1, 352, 640, 3], layout: "NHWC" }, [640, 352]],
    ["no letters", { shape: [1, 352, 640, 3] }, [640, 352]],
    ["letters that say nothing", { shape: [1, 3, 352, 640], layout: "NCDE" }, [640, 352]],
    ["letters that are wrong", { shape: [1, 352, 640, 3], layout: "NCHW" }, [640, 352]],
    ["letters that are wrong, the other way", { shape: [1, 3, 352, 640], layout: "NHWC" }, [640, 352]],
    ["without batch", { shape: [1, 352, 640], layout: "CHW" }, [640, 352]],
    ["an open batch", { shape: [-1, 3, 352, 640], layout: "NCHW" }, null],
    ["no shape", {}, null],
  ])("input size: %s", (_, input, expected) => {
    expect(parseConfig(archive({}, {}, { inputs: [input] })).inputSize).toEqual(expected);
  });

  test("the image decides, not the first input", () => {
    const inputs = [
      { name: "sizes", input_type: "raw", shape: [1, 3, 5, 7] },
      { name: "images", input_type: "image", shape: [1, 3, 64, 96] },
    ];
    expect(parseConfig(archive({}, {}, { inputs })).inputSize).toEqual([96, 64]);
  });

  test("an output shape left open is not known", () => {
    const config = parseConfig({
      model: { outputs: [{ name: "o", shape: [-1, 84, 8400] }], heads: [{ parser: "YOLO" }] },
    });
    expect(config.outputs).toEqual([{ name: "o", dims: null, type: null, layout: null, order: null }]);
  });

  test.each<[string, unknown, string[]]>([
    [
      "parser",
      { model: { heads: [{ parser: "SegmentationParser" }] } },
      [
        'model.heads[0].parser: got "SegmentationParser", expected a parser YOLO, YOLOExtendedParser, SSD or MOBILENET',
      ],
    ],
    [
      "a parser named like something every object has",
      { model: { heads: [{ parser: "constructor" }] } },
      [
        'model.heads[0].parser: got "constructor", expected a parser YOLO, YOLOExtendedParser, SSD or MOBILENET',
      ],
    ],
    [
      "no parser",
      { model: { heads: [{}, { parser: 5 }] } },
      [
        "model.heads[0].parser: got undefined and 5, expected a parser YOLO, YOLOExtendedParser, SSD or MOBILENET",
      ],
    ],
    [
      "both kinds",
      { model: { heads: [{ parser: "YOLO" }, { parser: "SSD" }] } },
      ["model.heads: got heads of both YOLO and SSD, expected one kind"],
    ],
    [
      "more names than classes",
      archive({ classes: names(80) }),
      ["model.heads[0].metadata.n_classes: got 2 for 80 names in classes, expected at least as many"],
    ],
    [
      "anchors that are no pairs",
      archive({ anchors: [[[20, 30, 1]], [[5, "6"], 7]] }),
      [
        "model.heads[0].metadata.anchors[0][0]: got [20,30,1], expected [width, height], two positive numbers",
        'model.heads[0].metadata.anchors[1][0]: got [5,"6"], expected [width, height], two positive numbers',
        "model.heads[0].metadata.anchors[1][1]: got 7, expected [width, height], two positive numbers",
      ],
    ],
    [
      "an output without anchors",
      archive({ anchors: [[[1, 2]], []] }),
      ["model.heads[0].metadata.anchors[1]: got no anchors, expected at least one"],
    ],
    [
      "anchors for another number of outputs",
      archive({ anchors: [[[1, 2]]] }),
      [
        "model.heads[0].metadata.anchors: got anchors for 1 outputs, expected 2, one set for each of yolo_outputs",
        "model.heads[0].metadata.strides: got 2 strides for anchors of 1 outputs, expected one for each",
      ],
    ],
    [
      "outputs that the model does not have",
      archive({ yolo_outputs: ["a_yolov5", "z"] }),
      [
        `model.heads[0].metadata.yolo_outputs: got "z", expected one of the model's outputs b_yolov5, a_yolov5, extra`,
      ],
    ],
    [
      "roles that the model does not have",
      archive({ boxes_outputs: "x", scores_outputs: "extra", yolo_outputs: null }, { parser: "SSD" }),
      [
        `model.heads[0].metadata.boxes_outputs: got "x", expected one of the model's outputs b_yolov5, a_yolov5, extra`,
      ],
    ],
    [
      "subtype",
      archive({ subtype: "yolov99" }),
      [
        'model.heads[0].metadata.subtype: got "yolov99", expected a subtype of the archive format, for instance yolov5, yolov6r2, yolov8, yolo26',
      ],
    ],
    [
      "numbers",
      archive({ conf_threshold: 2, iou_threshold: -1, max_det: 0, n_classes: 1.5 }),
      [
        "model.heads[0].metadata.n_classes: got 1.5, expected a positive whole number below 1e9",
        "model.heads[0].metadata.conf_threshold: got 2, expected a number in 0..1",
        "model.heads[0].metadata.iou_threshold: got -1, expected a number in 0..1",
        "model.heads[0].metadata.max_det: got 0, expected a positive whole number below 1e9",
      ],
    ],
    [
      "heads that are no heads",
      { model: { heads: [null] } },
      ["model.heads[0]: got null, expected an object"],
    ],
    [
      "shapes",
      {
        model: {
          inputs: [{ shape: ["batch", 3, 4, 4] }],
          outputs: [{ name: "o", shape: 5 }, 7, {}],
          heads: [{ parser: "YOLO" }],
        },
      },
      [
        'model.inputs[0].shape: got ["batch",3,4,4], expected whole numbers',
        "model.outputs[1]: got 7, expected an object",
        "model.outputs[0].shape: got 5, expected an array",
        "model.outputs[2].name: got undefined, expected a name",
      ],
    ],
  ])("refused: %s", (_, json, expected) => {
    expect(problemsOf(json)).toEqual(expected);
  });
});

describe("typed options", () => {
  const tiny = [10, 14, 23, 27, 37, 58, 81, 82, 135, 169, 344, 319];
  const pairs = [
    [10, 14],
    [23, 27],
    [37, 58],
    [81, 82],
    [135, 169],
    [344, 319],
  ];

  test("the least there is, and the defaults", () => {
    expect(parseConfig({ family: "yolov8", classes: 80, inputSize: [640, 352] })).toMatchObject({
      format: "options",
      outputFormat: null,
      decodes: true,
      family: "yolov8",
      classes: 80,
      labels: null,
      inputSize: [640, 352],
      confidenceThreshold: 0.25,
      iouThreshold: 0.45,
      maxDetections: 300,
      anchorSets: null,
      conventions: "ultralytics",
      rules: {},
    });
  });

  test("all of them", () => {
    const priors = Float32Array.of(0, 0, 1, 1, 0.5, 0.5, 1, 1);
    const config = parseConfig({
      family: "ssd",
      labels: ["none", ["cat", "red"]],
      confidenceThreshold: [0.9, 0.2],
      iouThreshold: 0,
      maxDetections: 7,
      activation: "sigmoid",
      boxFormat: "xyxy",
      coordinates: "normalised",
      roles: { boxes: "loc", scores: ["c1", "c2"], priors: "p" },
      priors,
      background: 0,
      scales: [10, 10, 5, 5],
      reading: "prior-rows",
      conventions: { set: "opencv", nms: "all", multiLabel: true },
    });
    expect(config).toMatchObject({
      classes: 2,
      labels: ["none", "cat"],
      confidenceThreshold: [0.9, 0.2],
      iouThreshold: 0,
      maxDetections: 7,
      activation: "sigmoid",
      boxFormat: "xyxy",
      coordinates: "normalised",
      roles: { boxes: "loc", scores: ["c1", "c2"], priors: "p" },
      background: 0,
      variances: [0.1, 0.1, 0.2, 0.2],
      reading: "prior-rows",
      conventions: "opencv",
      rules: { nms: "all", multiLabel: true },
    });
    expect(config.priors).toBe(priors);
    expect(parseConfig({ family: "ssd", background: false }).background).toBe(false);
    expect(parseConfig('{"family": "ssd", "priors": [0, 1, 2, 3]}').priors).toEqual(
      Float32Array.of(0, 1, 2, 3),
    );
  });

  test("anchors as networks' own files write them", () => {
    const pairs = [
      [10, 13],
      [16, 30],
      [33, 23],
    ];
    const next = [
      [30, 61],
      [62, 45],
      [59, 119],
    ];
    const sets = (anchors: unknown, more: object = {}): unknown =>
      parseConfig({ family: "yolov5", classes: 80, anchors, ...more }).anchorSets?.map((s) => s.anchors);
    // a list of pairs, and a flat list for each map
    expect(sets([...pairs, ...next])).toEqual([pairs, next]);
    expect(sets([pairs.flat(), next.flat()])).toEqual([pairs, next]);
    expect(sets([...pairs, ...next], { anchorMasks: [[0], [5, 1]] })).toEqual([
      [pairs[0]],
      [next[2], pairs[1]],
    ]);
    expect(sets([pairs, next])).toEqual([pairs, next]);
    expect(() => sets([[10, 13, 16], next.flat()])).toThrow(ConfigError);
    expect(() =>
      sets([
        [10, -13],
        [16, 30],
      ]),
    ).toThrow(/only positive numbers/);
  });

  test("names that are nearly right are told, others mean nothing here", () => {
    const problems = (more: object): string =>
      problemsOf({ family: "yolov8", classes: 80, ...more }).join("\n");
    expect(problems({ confidenceTreshold: 0.9, anchor_masks: {}, clases: 3, InputSize: [1, 1] })).toBe(
      [
        "confidenceTreshold: got an unknown name, expected confidenceThreshold",
        "anchor_masks: got an unknown name, expected anchorMasks",
        "clases: got an unknown name, expected classes",
        "InputSize: got an unknown name, expected inputSize",
      ].join("\n"),
    );
    expect(parseConfig({ family: "yolov8", classes: 80, name: "x", version: 3, model: "y" }).classes).toBe(
      80,
    );
  });

  test("a set brings its own cap", () => {
    expect(parseConfig({ family: "ssd", conventions: "tflite" })).toMatchObject({
      conventions: "tflite",
      maxDetections: 10,
    });
    expect(
      parseConfig({ family: "ssd", conventions: { set: "tflite", maxDetections: 4 } }).maxDetections,
    ).toBe(4);
    expect(parseConfig({ family: "ssd", conventions: "tflite", maxDetections: 20 }).maxDetections).toBe(20);
  });

  test("single rules leave the cap of a file as it is", () => {
    const most = (conventions: DecoderOptions["conventions"]): number =>
      readConfig(archive({ max_det: 1000 }), { conventions }).maxDetections;
    expect(most({ nms: "class" })).toBe(1000);
    expect(most({ nms: "class", maxDetections: 40 })).toBe(40);
    expect(most({ set: "ultralytics" })).toBe(300);
  });

  test.each<[string, object, unknown]>([
    ["none", {}, null],
    ["said to be none", { anchors: [] }, []],
    [
      "by output",
      { anchors: [pairs.slice(0, 2), pairs.slice(2)] },
      [
        [null, pairs.slice(0, 2)],
        [null, pairs.slice(2)],
      ],
    ],
    [
      "flat, by strides",
      { anchors: tiny, strides: [8, 16, 32] },
      [0, 2, 4].map((i) => [null, pairs.slice(i, i + 2)]),
    ],
    ["flat, three a map", { anchors: tiny }, [0, 3].map((i) => [null, pairs.slice(i, i + 3)])],
    ["flat, one map", { family: "yolov2", anchors: tiny }, [[null, pairs]]],
    [
      "flat, by sides in any order",
      { anchors: tiny, anchorMasks: { side13: [3, 4, 5], side26: [1, 2, 3] }, inputSize: [416, 416] },
      [
        [26, pairs.slice(1, 4)],
        [13, pairs.slice(3)],
      ],
    ],
    [
      "flat, by rank",
      { anchors: tiny, anchorMasks: [[0, 2], [5]] },
      [
        [null, [pairs[0], pairs[2]]],
        [null, [pairs[5]]],
      ],
    ],
  ])("anchors: %s", (_, options, expected) => {
    const sets = parseConfig({ family: "yolov3", classes: 2, ...options }).anchorSets;
    expect(sets && sets.map((set) => [set.side, set.anchors])).toEqual(expected);
  });

  test.each<[string, object, string[]]>([
    ["family", { family: "yolo99" }, ['family: got "yolo99", expected one of ']],
    ["family forgotten", { family: undefined, classes: 2 }, ["family: got undefined, expected one of "]],
    ["family of an object's own", { family: "constructor" }, ['family: got "constructor", expected one of ']],
    ["labels for other classes", { classes: 1, labels: names(80) }, ["labels: got 80 labels, expected 1 "]],
    [
      "confidence per class",
      { classes: 3, confidenceThreshold: [0.1] },
      ["confidenceThreshold: got [0.1], expected 3 values, one per class"],
    ],
    [
      "confidence",
      { confidenceThreshold: 1.5 },
      ["confidenceThreshold: got 1.5, expected 0..1, or an array of such, one per class"],
    ],
    [
      "confidence within",
      { confidenceThreshold: [0.5, NaN] },
      ["confidenceThreshold: got [0.5,NaN], expected 0..1, or an array of such, one per class"],
    ],
    ["IoU", { iouThreshold: "0.5" }, ['iouThreshold: got "0.5", expected a number in 0..1']],
    ["inputSize", { inputSize: [640] }, ["inputSize: got [640], expected 2 positive numbers"]],
    [
      "inputSize of a fraction",
      { inputSize: [640.5, 1] },
      ["inputSize: got [640.5,1], expected [width, height] in whole pixels"],
    ],
    ["odd anchors", { anchors: [1, 2, 3] }, ["anchors: got 3 numbers, expected an even count"]],
    [
      "anchors and strides",
      { anchors: tiny, strides: [8, 16, 32, 64] },
      ["anchors: got 6 anchors for 4 maps"],
    ],
    [
      "anchors by output and strides",
      { anchors: [[[1, 2]]], strides: [8, 16] },
      ["anchors: got anchors for 1 maps, expected 2"],
    ],
    [
      "masks without anchors",
      { anchorMasks: [[0]] },
      ["anchors: got undefined, expected the anchors that anchorMasks point at"],
    ],
    [
      "masks for anchors by output",
      { anchors: [[[1, 2]]], anchorMasks: [[0]] },
      ["anchorMasks: got masks for anchors that stand by output"],
    ],
    ["no masks", { anchors: [1, 2], anchorMasks: {} }, ["anchorMasks: got no masks for 1 anchors"]],
    ["an empty mask", { anchors: [1, 2], anchorMasks: [[]] }, ["anchorMasks[0]: got no anchors"]],
    [
      "a mask past the anchors",
      { anchors: [1, 2], anchorMasks: [[0, 1]] },
      ["anchorMasks[0][1]: got 1, expected 0..0"],
    ],
    [
      "a side that no output has",
      { anchors: [1, 2], anchorMasks: { side32: [0] }, inputSize: [416, 416] },
      ["anchorMasks.side32: got an output layer 32 wide, expected one of 52, 26, 13, 7"],
    ],
    ["scaleXY", { scaleXY: -1 }, ["scaleXY: got -1, expected a positive number"]],
    ["scaleXY of none", { scaleXY: [] }, ["scaleXY: got [], expected a positive number"]],
    [
      "variances and scales",
      { variances: [1, 1, 1, 1], scales: [1, 1, 1, 1] },
      ["scales: got scales and variances, expected one"],
    ],
    ["variances", { variances: [0.1, 0.2] }, ["variances: got [0.1,0.2], expected 4 positive numbers"]],
    ["priors", { priors: new Float32Array(6) }, ["priors: got 6 numbers, expected four for each box"]],
    ["priors within", { priors: [0, 1, NaN, 2] }, ["priors[2]: got NaN, expected a finite number"]],
    [
      "priors beyond float32",
      { priors: [0, 1, 1e300, 2] },
      ["priors[2]: got 1e+300, expected a finite number"],
    ],
    ["priors of text", { priors: ["0", 1, 2, 3] }, ['priors[0]: got "0", expected a finite number']],
    ["priors of bigint", { priors: new BigInt64Array(4) }, ["priors[0]: got 0n, expected a finite number"]],
    ["background", { background: -1 }, ["background: got -1, expected a class column, or false"]],
    [
      "enumerations",
      { activation: "relu", boxFormat: "ltrb", coordinates: "px" },
      ["activation: got", "boxFormat: got", "coordinates: got"],
    ],
    [
      "roles",
      { roles: { boxes: 1, masks: "m", labels: ["a", "b"] } },
      ["roles.boxes: got 1", "roles.masks: got an unknown role", "roles.labels: got"],
    ],
    ["set", { conventions: "mine" }, ['conventions: got "mine", expected one of ultralytics, depthai']],
    ["set of an object's own", { conventions: "toString" }, ['conventions: got "toString", expected one of']],
    [
      "rules",
      { conventions: { set: "mine", nms: "some", gate: ">>", maxCandidates: -1 } },
      [
        "conventions.nms: got",
        "conventions.gate: got",
        "conventions.maxCandidates: got -1",
        "conventions.set: got",
      ],
    ],
    [
      "rules of an object's own",
      { conventions: { toString: 1, constructor: 2 } },
      ["conventions.toString: got 1, expected a rule", "conventions.constructor: got 2, expected a rule"],
    ],
  ])("refused: %s", (_, options, expected) => {
    const problems = problemsOf({ family: "yolov5", ...options });
    expect(problems.map((problem, i) => problem.slice(0, expected[i]?.length))).toEqual(expected);
  });
});

describe("no config at all", () => {
  test.each<[string, unknown, string]>([
    ["text that is not JSON", "{NN_config}", "got text that is not JSON ("],
    ["no text", "", "got an empty text, expected NN_config"],
    ["half a file", '{"NN_config": {', "got text that is not JSON ("],
    ["a promise", Promise.resolve({}), "got a Promise, expected what it resolves to: await it"],
    ["a map", new Map([["NN_config", {}]]), "got a Map, expected plain data: NN_config"],
    ["a number", "5", "got 5, expected an object"],
    ["a list", [], "got [], expected an object"],
    ["bytes", new Uint8Array(4), "got bytes, expected "],
    ["a function", () => 1, "got "],
    [
      "another program's file",
      { source: "roboflow", model: "x/1" },
      "got an object with source, model, expected NN_config",
    ],
    ["a block that is none", { NN_config: "raw" }, 'NN_config: got "raw", expected an object'],
    [
      "a getter that throws",
      {
        get family() {
          throw new TypeError("no");
        },
      },
      "got a value that cannot be read through",
    ],
    ["nesting without end", "[".repeat(20000) + "]".repeat(20000), "got "],
  ])("%s", (_, json, message) => {
    const problems = problemsOf(json);
    expect(problems).toHaveLength(1);
    expect(problems[0].slice(0, message.length)).toBe(message);
  });

  test("a ConfigError carries its problems as data", () => {
    const error = (() => {
      try {
        return parseConfig(yolo({ classes: -1, iou_threshold: 2 }));
      } catch (e) {
        return e;
      }
    })();
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).problems).toEqual([
      { path: "NN_specific_metadata.classes", message: "got -1, expected a positive whole number below 1e9" },
      { path: "NN_specific_metadata.iou_threshold", message: "got 2, expected a number in 0..1" },
    ]);
  });
});

// ---------------------------------------------------------------------------------------------------------------

const SHARED = process.env.BOXWRIGHT_SHARED;
const folder = SHARED === undefined ? null : join(SHARED, "data", "configs");
if (folder === null) console.log("BOXWRIGHT_SHARED is not set: the config files in the wild are not read");

/**
 * Every file of the collection: kind, classes, labels, sides:anchors, confidence, IoU, input size; or why it is
 * refused.
 */
const TABLE: Record<
  string,
  | [
      Config["format"],
      string | null,
      number | null,
      number | null,
      string | null,
      number,
      number,
      string | null,
    ]
  | string[]
> = {
  "COMPOSED_nnarchive_yolov5n.json": [
    "nn-archive",
    "yolo",
    80,
    3,
    "output1_yolov5:3 output2_yolov5:3 output3_yolov5:3",
    0.5,
    0.5,
    "640x352",
  ],
  "COMPOSED_nnarchive_yolov8n.json": ["nn-archive", "yolo", 80, 3, "", 0.5, 0.5, "640x352"],
  "experiments_yolo-tiny.json": [
    "mappings.labels: got 80 labels, expected 1 for NN_specific_metadata.classes = 1",
    "NN_specific_metadata.anchor_masks.side32: got an output layer 32 wide, expected one of 52, 26, 13, 7 for an input 416 wide: no output has this side",
    "NN_specific_metadata.anchor_masks.side16: got an output layer 16 wide, expected one of 52, 26, 13, 7 for an input 416 wide: no output has this side",
  ],
  "experiments_yolov3-tiny.json": ["nn_config", "yolo", 80, 80, "26:3 13:3", 0.5, 0.8, "416x416"],
  "experiments_yolov3.json": ["nn_config", "yolo", 80, 80, "52:3 26:3 13:3", 0.5, 0.5, "416x416"],
  "experiments_yolov4-tiny.json": ["nn_config", "yolo", 80, 80, "26:3 13:3", 0.5, 0.5, "416x416"],
  "experiments_yolov4.json": ["nn_config", "yolo", 80, 80, "76:3 38:3 19:3", 0.5, 0.5, "608x608"],
  "experiments_yolov5.json": ["nn_config", "yolo", 80, 80, "52:3 26:3 13:3", 0.5, 0.5, "416x416"],
  "gen1_emotions-recognition-retail-0003.json": ["NN_config", null, 5, 5, null, 0.5, 0.5, null],
  "gen1_face-detection-retail-0004.json": ["NN_config", "ssd", 2, 2, null, 0.5, 0.5, null],
  "gen1_mobilenet-ssd.json": ["NN_config", "ssd", 21, 21, null, 0.5, 0.5, null],
  "gen1_person-detection-retail-0013.json": ["NN_config", "ssd", 2, 2, null, 0.5, 0.5, null],
  "gen1_tiny-yolo-v3.json": ["NN_config", "yolo", 80, 80, "26:3 13:3", 0.5, 0.5, null],
  "gen1_yolo-v3.json": ["NN_config", "yolo", 80, 80, "52:3 26:3 13:3", 0.5, 0.5, null],
  "gen2_custom_model_mobilenet_handler.json": ["nn_config", "ssd", 2, 2, null, 0.5, 0.5, "300x300"],
  "gen2_deeplabv3p_person_raw.json": ["nn_config", null, null, null, null, 0.5, 0.5, "256x256"],
  "gen2_human-pose-estimation-0001_raw.json": ["nn_config", null, null, null, null, 0.5, 0.5, "456x256"],
  "gen2_mobilenet-ssd.json": ["nn_config", "ssd", 21, 21, null, 0.5, 0.5, "300x300"],
  "gen2_yolo-v3-tf.json": ["nn_config", "yolo", 80, 80, "52:3 26:3 13:3", 0.5, 0.5, "416x416"],
  "gen2_yolo-v3-tiny-tf.json": ["nn_config", "yolo", 80, 80, "26:3 13:3", 0.5, 0.5, "416x416"],
  "nnarchive_luxonis-train_custom_segmentation.json": [
    'model.heads[0].parser: got "" and "", expected a parser YOLO, YOLOExtendedParser, SSD or MOBILENET',
  ],
  "ros_mobilenet.json": ["nn_config", "ssd", 21, 21, null, 0.5, 0.5, null],
  "ros_segmentation.json": ['nn_config.NN_family: got "segmentation", expected "YOLO" or "mobilenet"'],
  "ros_yolo.json": ["nn_config", "yolo", 80, 80, "26:3 13:3", 0.5, 0.5, null],
  "sdk_face-detection-retail-0004.json": ["nn_config", "ssd", 2, 2, null, 0.5, 0.5, null],
  "sdk_mobilenet-ssd.json": ["nn_config", "ssd", 21, 21, null, 0.5, 0.5, null],
  "sdk_palm_detection_128x128.json": ["nn_config", null, null, null, null, 0.5, 0.5, null],
  "sdk_yolo-v3-tf.json": ["nn_config", "yolo", 80, 80, "52:3 26:3 13:3", 0.5, 0.5, null],
  "sdk_yolo-v3-tiny-tf.json": ["nn_config", "yolo", 80, 80, "26:3 13:3", 0.5, 0.25, null],
  "sdk_yolov4_coco_608x608.json": ["nn_config", "yolo", 80, 80, "76:3 38:3 19:3", 0.5, 0.5, null],
  "sdk_yolov4_tiny_coco_416x416.json": ["nn_config", "yolo", 80, 80, "26:3 13:3", 0.5, 0.25, null],
  "sdk_yolov5n_coco_416x416.json": ["nn_config", "yolo", 80, 80, "52:3 26:3 13:3", 0.5, 0.5, null],
  "sdk_yolov6n_coco_640x640.json": ["nn_config", "yolo", 80, 80, "", 0.5, 0.5, null],
  "sdk_yolov6nr3_coco_640x352.json": ["nn_config", "yolo", 80, 80, "", 0.5, 0.5, null],
  "sdk_yolov7tiny_coco_416x416.json": ["nn_config", "yolo", 80, 80, "52:3 26:3 13:3", 0.5, 0.2, null],
  "sdk_yolov7tiny_coco_640x352.json": ["nn_config", "yolo", 80, 80, "80:3 40:3 20:3", 0.5, 0.5, null],
  "sdk_yolov8n_coco_640x352.json": ["nn_config", "yolo", 80, 80, "", 0.5, 0.5, null],
  "zoo_yolov6n_coco_416x416.json": ["nn_config", "yolo", 80, 80, "", 0.5, 0.5, "416x416"],
  "zoo_yolov7tiny_coco_640x352.json": ["nn_config", "yolo", 80, 80, "80:3 40:3 20:3", 0.5, 0.5, null],
  "zoo_yolov7tiny_waldo_416x768.json": ["nn_config", "yolo", 16, 16, "96:3 48:3 24:3", 0.5, 0.5, "768x416"],
};

/** Only these say nothing that could be decoded. */
const SILENT = [
  "gen1_emotions-recognition-retail-0003.json",
  "gen2_deeplabv3p_person_raw.json",
  "gen2_human-pose-estimation-0001_raw.json",
  "sdk_palm_detection_128x128.json",
];

describe.skipIf(folder === null)("files in the wild (BOXWRIGHT_SHARED)", () => {
  const read = (file: string) => readFileSync(join(folder as string, file), "utf8");
  const isRefusal = (row: unknown[]): row is string[] => String(row[0]).includes(": got ");

  test("all of them are in the table: 37 parse, 3 are refused", () => {
    expect(existsSync(folder as string)).toBe(true);
    expect(
      readdirSync(folder as string)
        .filter((f) => f.endsWith(".json"))
        .sort(),
    ).toEqual(Object.keys(TABLE).sort());
    expect(Object.values(TABLE).filter(isRefusal)).toHaveLength(3);
    expect(Object.keys(TABLE)).toHaveLength(40);
  });

  test.each(Object.entries(TABLE))("%s", (file, row) => {
    if (isRefusal(row)) return expect(problemsOf(read(file))).toEqual(row);
    const c = parseConfig(read(file));
    const size = c.inputSize?.join("x") ?? null;
    const got = [
      c.format,
      c.kind,
      c.classes,
      c.labels?.length ?? null,
      sides(c),
      c.confidenceThreshold,
      c.iouThreshold,
      size,
    ];
    expect(got).toEqual(row);
    expect(c.decodes).toBe(!SILENT.includes(file));
    expect(c.note === null).toBe(c.decodes);
  });

  test("the two masks of tiny YOLOv3 both hold as they are written", () => {
    const first = (file: string) => parseConfig(read(file)).anchorSets?.[0].anchors;
    expect(first("experiments_yolov3-tiny.json")).toEqual([
      [10, 14],
      [23, 27],
      [37, 58],
    ]);
    expect(first("gen1_tiny-yolo-v3.json")).toEqual([
      [23, 27],
      [37, 58],
      [81, 82],
    ]);
  });

  test("without output_format", () => {
    expect(parseConfig(read("ros_mobilenet.json"))).toMatchObject({ outputFormat: null, decodes: true });
  });
});

// ---------------------------------------------------------------------------------------------------------------

describe("whatever comes in", { timeout: 60_000 }, () => {
  /** A config, or a ConfigError; and for plain data, one that names a problem and not only gives up. */
  function holds(json: unknown, plain: boolean): void {
    try {
      const config = parseConfig(json);
      expect(typeof config.decodes).toBe("boolean");
      expect(config.decodes || config.note !== null).toBe(true);
      for (const set of config.anchorSets ?? []) {
        expect(set.anchors.length).toBeGreaterThan(0);
        for (const [w, h] of set.anchors) expect(w > 0 && h > 0 && w < Infinity && h < Infinity).toBe(true);
      }
      if (config.inputSize !== null)
        expect(config.inputSize.every((n) => Number.isSafeInteger(n) && n > 0)).toBe(true);
      for (const t of [config.confidenceThreshold, config.iouThreshold].flat())
        expect(t >= 0 && t <= 1).toBe(true);
      expect([null, "yolo", "ssd"]).toContain(config.kind);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      expect(error.problems.length).toBeGreaterThan(0);
      for (const problem of error.problems) expect(problem.message).toMatch(/^got [^]*, expected /);
      if (plain) expect(error.message).not.toContain("cannot be read through");
    }
  }

  const known =
    "NN_config nn_config NN_family output_format NN_specific_metadata classes coordinates anchors anchor_masks side13 mappings " +
    "labels input_size model model_name heads parser metadata outputs inputs name shape layout subtype yolo_outputs n_classes " +
    "boxes_outputs family inputSize anchorMasks strides scaleXY activation boxFormat roles boxes priors coordinates background " +
    "variances scales conventions set nms keep confidenceThreshold iouThreshold constructor __proto__ toString";
  const word = fc.constantFrom(
    "YOLO",
    "mobilenet",
    "SSD",
    "raw",
    "detection",
    "yolov5",
    "ssd",
    "416x416",
    "constructor",
    "__proto__",
  );
  const number = fc.constantFrom(0, 1, 2, 4, 13, 416, -1, 0.5, 1e300);
  const leaf = fc.oneof(word, number, fc.jsonValue({ maxDepth: 2 }));
  const document = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: "medium" },
      leaf,
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom(...known.split(" ")), tie("value"), { maxKeys: 8 }),
    ),
  })).value;

  test("any JSON, parsed and as text", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        holds(json, true);
        holds(JSON.stringify(json), true);
      }),
      { numRuns: 2000 },
    );
  });

  test("any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => holds(text, true)),
      { numRuns: 2000 },
    );
  });

  test("any JSON made of the words of the formats", () => {
    fc.assert(
      fc.property(document, (json) => holds(json, true)),
      { numRuns: 2000 },
    );
  });

  test("any value of the language", () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withObjectString: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
    });
    fc.assert(
      fc.property(anything, (value) => holds(value, false)),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...known.split(" ")), anything), (options) =>
        holds({ ...options, family: "ssd" }, false),
      ),
      { numRuns: 2000 },
    );
  });

  const configs: unknown[] = [
    yolo(),
    archive(),
    {
      nn_config: { NN_family: "mobilenet", confidence_threshold: 0.5 },
      mappings: { labels: ["background", "face"] },
    },
    {
      family: "yolov4",
      classes: 2,
      labels: ["a", "b"],
      inputSize: [416, 416],
      anchors: [1, 2, 3, 4, 5, 6, 7, 8],
      anchorMasks: { side26: [0, 1], side13: [2, 3] },
      strides: [16, 32],
      scaleXY: [1.05, 1.1],
      confidenceThreshold: [0.1, 0.2],
      roles: { boxes: "b", scores: ["s"] },
      priors: [0, 0, 1, 1],
      scales: [10, 10, 5, 5],
      conventions: { set: "opencv", nms: "all" },
    },
    ...(folder === null
      ? []
      : readdirSync(folder)
          .filter((file) => file.endsWith(".json"))
          .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as unknown)),
  ];

  /** Changes one place of a document: other value, removed, or a key beside it. */
  function mutate(
    json: unknown,
    steps: readonly number[],
    how: number,
    value: unknown,
    key: string,
  ): unknown {
    const copy = structuredClone(json) as Record<string, unknown>;
    let at: Record<string, unknown> = copy;
    for (const [i, step] of steps.entries()) {
      const keys = Object.keys(at);
      if (keys.length === 0) break;
      const chosen = keys[step % keys.length];
      const next = at[chosen];
      if (i < steps.length - 1 && typeof next === "object" && next !== null) {
        at = next as Record<string, unknown>;
        continue;
      }
      if (how === 0) at[chosen] = value;
      else if (Array.isArray(at)) at.splice(Number(chosen), how === 1 ? 1 : 0, ...(how === 1 ? [] : [value]));
      else if (how === 1) delete at[chosen];
      else Object.defineProperty(at, key, { value, enumerable: true, configurable: true, writable: true });
      break;
    }
    return copy;
  }

  test("any change to a config that is right", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...configs),
        fc.array(
          fc.tuple(
            fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 7 }),
            fc.nat({ max: 2 }),
            fc.oneof(leaf, document),
            fc.constantFrom(...known.split(" ")),
          ),
          { minLength: 1, maxLength: 3 },
        ),
        (json, changes) =>
          holds(
            changes.reduce((doc, change) => mutate(doc, ...change), json),
            true,
          ),
      ),
      { numRuns: 2000 },
    );
  });
});
