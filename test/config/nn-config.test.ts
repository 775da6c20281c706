/** NN_config and nn_config: what the files hold, and what is refused. */
import { describe, expect, test } from "vitest";
import { parseConfig } from "../../src/config/config.ts";
import { archive, names, problemsOf, yolo } from "../support/configs.ts";

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
      ruleSet: "depthai",
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

describe("refused NN_config", () => {
  test.each<[string, unknown, string[]]>([
    [
      "missing family",
      { NN_config: { output_format: "detection" } },
      [
        'NN_config.NN_family: got undefined, expected "YOLO" or "mobilenet", as output_format is "detection", or the option family',
      ],
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
        'NN_specific_metadata.confidence_threshold: got "0.5", expected a number in 0..1; a number has no quotes: 0.5',
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
