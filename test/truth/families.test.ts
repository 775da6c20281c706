/** Golden cases of families of networks, answered by the formulas of their authors' code. */
import { describe, expect, test } from "vitest";
import { COCO80, COCO91, createDecoderSync } from "../../src/entries/index.ts";
import type { TypedOptions } from "../../src/config/types.ts";
import { engines } from "../support/engines.ts";
import { type GoldenBox, readGoldenFamily } from "../support/golden-families.ts";
import { describeShared } from "../support/shared-data.ts";

/** A way to read a network: options besides the class count, which the fixture states where no labels do. */
interface Reading {
  readonly title: string;
  readonly options: TypedOptions;
  /** The answer of another published reader. Usual: that of the authors. */
  readonly answer?: "by_query" | "all_logits";
  /** Label of a class id. */
  readonly label?: (id: number) => string | undefined;
}

const FOUR = ["a", "b", "c", "d"];
const coco = (id: number): string => COCO91[id];

/** Readings whose options say all: their title is the options themselves. */
const plain = (...all: readonly TypedOptions[]): Reading[] =>
  all.map((options) => ({ title: JSON.stringify(options), options }));

/** Families that share D-FINE's post-processor. */
const kin = plain(...(["dfine", "rtdetr", "deim", "deimv2"] as const).map((family) => ({ family })));

/** The readings of each golden case. */
const CASES: { readonly [name: string]: readonly Reading[] } = {
  "rfdetr-coco": [
    {
      title: "class ids are COCO's own, and 90 is one",
      options: { family: "rfdetr", labels: COCO80 },
      label: coco,
    },
    { title: "a label for each column", options: { family: "rfdetr", labels: COCO91 }, label: coco },
    {
      title: "best class of each query",
      options: { family: "rfdetr", classes: 91, rules: { multiLabel: false } },
      answer: "by_query",
    },
  ],
  "rfdetr-custom": [
    {
      title: "the last column is left out",
      options: { family: "rfdetr", labels: FOUR },
      label: (id) => FOUR[id],
    },
    {
      title: "the last column is a class where the count says so",
      options: { family: "rfdetr", classes: 5 },
      answer: "all_logits",
    },
  ],
  "rfdetr-seg": plain({ family: "rfdetr" }),
  "dfine-raw": kin,
  "dfine-post": kin,
  "rtdetr-ultralytics": plain({ family: "rtdetr" }, { family: "detr" }),
  "picodet-maps": plain({ family: "picodet" }),
  "picodet-boxes": plain({ family: "picodet" }, { family: "ppyoloe" }),
  "recorded-picodet": [
    {
      title: "a real network",
      options: { family: "picodet", labels: COCO80 },
      label: (id) => COCO80[id],
    },
  ],
  "ppyoloe-maps": plain({ family: "ppyoloe" }),
  "ppyoloe-rows": plain({ family: "ppyoloe" }),
  // mmdetection's maps hold pixels, mmyolo's strides. Values tell, or the option.
  "rtmdet-maps": plain({ family: "rtmdet" }, { family: "rtmdet", coordinates: "pixels" }),
  "rtmdet-maps-mmyolo": plain({ family: "rtmdet" }, { family: "rtmdet", coordinates: "strides" }),
  "damo-yolo": plain({ family: "damo-yolo" }),
  "yolonas-raw": plain({ family: "yolo-nas" }),
  "libreyolo-yolo9": plain({ family: "yolov9", boxFormat: "xyxy" }),
  "efficientdet-maps": plain({ family: "efficientdet" }),
  // Rows that the network finished: each family that reads them.
  "paddle-nms": plain({ family: "paddle-nms" }, { family: "boxes" }),
  "mmdeploy-dets": plain({ family: "mmdeploy" }, { family: "boxes" }),
  "yolonas-flat": plain(
    { family: "yolo-nas" },
    { family: "boxes" },
    { family: "efficientdet", boxFormat: "xyxy" },
  ),
  "yolonas-batch": plain({ family: "yolo-nas" }, { family: "boxes" }, { family: "efficient-nms" }),
  "yolov7-trt": plain({ family: "efficient-nms" }, { family: "boxes" }),
  imx500: plain({ family: "imx500" }, { family: "boxes", boxFormat: "yxyx" }),
  "hailo-by-class": plain({ family: "hailo-nms" }),
  "hailo-by-score": plain({ family: "hailo-nms" }),
  "hailo-tf": plain({ family: "hailo-nms" }),
};

const ROUND = { box: 2e-4, score: 1e-4 };
const EDGES = ["x_min", "y_min", "x_max", "y_max"] as const;

/** Compares rows with golden ones, in order. */
function expectRows(
  rows: readonly Pick<GoldenBox, "class_id" | "confidence" | (typeof EDGES)[number]>[],
  golden: readonly GoldenBox[],
  sources?: ArrayLike<number>,
): void {
  expect(rows.map((d, i) => [d.class_id, sources?.[i]])).toEqual(
    golden.map((d) => [d.class_id, sources && d.row]),
  );
  rows.forEach((d, i) => {
    expect(Math.abs(d.confidence - golden[i].confidence)).toBeLessThan(ROUND.score);
    for (const edge of EDGES) expect(Math.abs(d[edge] - golden[i][edge])).toBeLessThan(ROUND.box);
  });
}

describeShared("golden cases of families", (data) => {
  describe.each(Object.keys(CASES))("%s", (name) => {
    const { fixture, outputs } = readGoldenFamily(data, name);
    const { width, height } = fixture.input;
    for (const { title, options, answer, label } of CASES[name])
      test.each(engines)(`${title}, %s`, (engine) => {
        const decoder = createDecoderSync(
          {
            ...(!options.labels && { classes: fixture.classes }),
            inputSize: [width, height],
            ...options,
            confidenceThreshold: fixture.gate,
            ...(fixture.iou && { iouThreshold: fixture.iou }),
          },
          { engine, rules: { ...(options.rules as object), clamp: "none" } },
        );
        const found = decoder.decode(outputs);
        const rows = found.toArray();
        expectRows(rows, (answer ? fixture[answer] : fixture)?.detections ?? [], found.sources);
        if (label) expect(rows.map((d) => d.label)).toEqual(rows.map((d) => label(d.class_id)));
      });
  });

  test.each(engines)("yolov7-end2end: rows of two images follow each other, %s", (engine) => {
    const { fixture, outputs } = readGoldenFamily(data, "yolov7-end2end");
    const { detections, second_image = [], gate } = fixture;
    for (const family of ["yolov7", "boxes"] as const) {
      const decoder = createDecoderSync(
        { family, classes: 4, inputSize: [192, 128], confidenceThreshold: gate },
        { engine, rules: { clamp: "none" } },
      );
      const found = decoder.decodeBatch(outputs);
      expect(found).toHaveLength(2);
      [detections, second_image].forEach((right, image) => expectRows(found[image].toArray(), right));
      expect(() => decoder.decode(outputs)).toThrow("call decodeBatch() of a decoder");
    }
  });
});
