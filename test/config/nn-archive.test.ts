/** config.json of NN Archives. */
import { describe, expect, test } from "vitest";
import { parseConfig } from "../../src/config/config.ts";
import { archive, names, problemsOf } from "../support/configs.ts";

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
      ruleSet: "depthai",
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
      { model: { heads: [{ parser: "PoseParser" }] } },
      [
        'model.heads[0].parser: got "PoseParser", expected a parser YOLO, YOLOExtendedParser, SSD, MOBILENET, SCRFDParser, YuNetParser, MPPalmDetectionParser, KeypointParser, HRNetParser, SuperAnimalParser, PPTextDetectionParser, ClassificationParser, RFDETRParser, FastSAMParser, or the option family',
      ],
    ],
    [
      "a parser named like something every object has",
      { model: { heads: [{ parser: "constructor" }] } },
      [
        'model.heads[0].parser: got "constructor", expected a parser YOLO, YOLOExtendedParser, SSD, MOBILENET, SCRFDParser, YuNetParser, MPPalmDetectionParser, KeypointParser, HRNetParser, SuperAnimalParser, PPTextDetectionParser, ClassificationParser, RFDETRParser, FastSAMParser, or the option family',
      ],
    ],
    [
      "no parser",
      { model: { heads: [{}, { parser: 5 }] } },
      [
        "model.heads[0].parser: got undefined and 5, expected a parser YOLO, YOLOExtendedParser, SSD, MOBILENET, SCRFDParser, YuNetParser, MPPalmDetectionParser, KeypointParser, HRNetParser, SuperAnimalParser, PPTextDetectionParser, ClassificationParser, RFDETRParser, FastSAMParser, or the option family",
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
