/** Golden cases of families of networks, answered by the formulas of their authors' code. */
import { describe, expect, test } from "vitest";
import { COCO80, COCO91, createDecoderSync } from "../../src/entries/index.ts";
import type { TypedOptions } from "../../src/config/types.ts";
import { engines } from "../support/engines.ts";
import { type Row, describeShared, readBytes, readJson } from "../support/shared-data.ts";

/** Returns the array of a file, by its dtype. */
const ARRAYS = {
  float32: (b: ArrayBuffer) => new Float32Array(b),
  float16: (b: ArrayBuffer) => new Uint16Array(b),
  int32: (b: ArrayBuffer) => new Int32Array(b),
  int64: (b: ArrayBuffer) => new BigInt64Array(b),
  uint8: (b: ArrayBuffer) => new Uint8Array(b),
} as const;

interface Answer {
  readonly detections: readonly (Row & { readonly row: number })[];
}

interface Fixture extends Answer {
  readonly outputs: readonly {
    readonly name: string;
    readonly file: string;
    readonly dtype: keyof typeof ARRAYS;
    readonly shape: readonly number[];
  }[];
  readonly input: { readonly width: number; readonly height: number };
  readonly gate: number;
  readonly iou?: number;
  readonly second_image?: Answer["detections"];
  readonly by_query?: Answer;
  readonly all_logits?: Answer;
}

interface Case {
  readonly title: string;
  readonly name: string;
  readonly options: TypedOptions;
  readonly answer?: "by_query" | "all_logits";
  /** Label of a class id. */
  readonly label?: (id: number) => string;
}

const FOUR = ["a", "b", "c", "d"];

/** Rows that the network finished: each family that reads them. */
const FINISHED: readonly (readonly [name: string, ...settings: readonly TypedOptions[]])[] = [
  ["paddle-nms", { family: "paddle-nms" }, { family: "boxes" }],
  ["mmdeploy-dets", { family: "mmdeploy" }, { family: "boxes" }],
  [
    "yolonas-flat",
    { family: "yolo-nas" },
    { family: "boxes" },
    { family: "efficientdet", boxFormat: "xyxy" },
  ],
  ["yolonas-batch", { family: "yolo-nas" }, { family: "boxes" }, { family: "efficient-nms" }],
  ["yolov7-trt", { family: "efficient-nms" }, { family: "boxes" }],
  ["imx500", { family: "imx500" }, { family: "boxes", boxFormat: "yxyx" }],
  ["hailo-by-class", { family: "hailo-nms" }],
  ["hailo-by-score", { family: "hailo-nms" }],
  ["hailo-tf", { family: "hailo-nms" }],
];

const CASES: readonly Case[] = [
  {
    title: "COCO's weights: class ids are COCO's own, and 90 is one",
    name: "rfdetr-coco",
    options: { family: "rfdetr", labels: COCO80 },
    label: (id) => COCO91[id],
  },
  {
    title: "COCO's weights, with a label for each column",
    name: "rfdetr-coco",
    options: { family: "rfdetr", labels: COCO91 },
    label: (id) => COCO91[id],
  },
  {
    title: "COCO's weights, best class of each query",
    name: "rfdetr-coco",
    options: { family: "rfdetr", classes: 91, rules: { multiLabel: false } },
    answer: "by_query",
  },
  {
    title: "trained further: the last column is left out",
    name: "rfdetr-custom",
    options: { family: "rfdetr", labels: FOUR },
    label: (id) => FOUR[id],
  },
  {
    title: "trained further: the last column is a class where the count says so",
    name: "rfdetr-custom",
    options: { family: "rfdetr", classes: 5 },
    answer: "all_logits",
  },
  ...(["dfine", "rtdetr", "deim", "deimv2"] as const).flatMap((family): Case[] => [
    { title: `best pairs, ${family}`, name: "dfine-raw", options: { family, classes: 6 } },
    { title: `post-processed, ${family}`, name: "dfine-post", options: { family, classes: 6 } },
  ]),
  { title: "one tensor", name: "rtdetr-ultralytics", options: { family: "rtdetr", classes: 6 } },
  { title: "one tensor", name: "rtdetr-ultralytics", options: { family: "detr", classes: 6 } },
  {
    title: "distributions of four maps, from the centre",
    name: "picodet-maps",
    options: { family: "picodet", classes: 4 },
  },
  {
    title: "corners, and scores in planes",
    name: "picodet-boxes",
    options: { family: "picodet", classes: 4 },
  },
  {
    title: "the same of PP-YOLOE",
    name: "picodet-boxes",
    options: { family: "ppyoloe", classes: 4 },
  },
  {
    title: "a real network",
    name: "recorded-picodet",
    options: { family: "picodet", labels: COCO80, inputSize: [320, 320] },
    label: (id) => COCO80[id],
  },
  {
    title: "maps of 17 bins, as rknn cuts them",
    name: "ppyoloe-maps",
    options: { family: "ppyoloe", classes: 4 },
  },
  {
    title: "rows of corners",
    name: "ppyoloe-rows",
    options: { family: "ppyoloe", classes: 4 },
  },
  {
    title: "mmdetection's maps, told by their values",
    name: "rtmdet-maps",
    options: { family: "rtmdet", classes: 4 },
  },
  {
    title: "mmdetection's maps, in pixels as the option says",
    name: "rtmdet-maps",
    options: { family: "rtmdet", classes: 4, coordinates: "pixels" },
  },
  {
    title: "mmyolo's maps, told by their values",
    name: "rtmdet-maps-mmyolo",
    options: { family: "rtmdet", classes: 4 },
  },
  {
    title: "mmyolo's maps, in strides as the option says",
    name: "rtmdet-maps-mmyolo",
    options: { family: "rtmdet", classes: 4, coordinates: "strides" },
  },
  {
    title: "scores before boxes",
    name: "damo-yolo",
    options: { family: "damo-yolo", classes: 5 },
  },
  {
    title: "boxes before scores",
    name: "yolonas-raw",
    options: { family: "yolo-nas", classes: 5 },
  },
  {
    title: "planes of corners",
    name: "libreyolo-yolo9",
    options: { family: "yolov9", classes: 5, boxFormat: "xyxy" },
  },
  {
    title: "maps of nine priors, some of them nine times as large as the input",
    name: "efficientdet-maps",
    options: { family: "efficientdet", classes: 3 },
  },
  ...FINISHED.flatMap(([name, ...settings]) =>
    settings.map((options): Case => ({
      title: JSON.stringify(options),
      name,
      options: { classes: 0, ...options },
    })),
  ),
  { title: "boxes beside masks", name: "rfdetr-seg", options: { family: "rfdetr", classes: 0 } },
];

const ROUND = { box: 2e-4, score: 1e-4 };

describeShared("golden cases of families", (data) => {
  describe.each(CASES)("$name: $title", ({ name, options, answer, label }) => {
    const folder = [data, "golden", "families", name];
    const fixture = readJson(...folder, "fixture.json") as Fixture & { readonly classes: number };
    const outputs = Object.fromEntries(
      fixture.outputs.map(({ name: output, file, shape, dtype }) => [
        output,
        { data: ARRAYS[dtype](readBytes(...folder, file).buffer as ArrayBuffer), dims: shape, type: dtype },
      ]),
    );
    const { detections } = answer ? (fixture[answer] as Answer) : fixture;
    test.each(engines)("%s", (engine) => {
      const stated = options.classes === 0 ? { ...options, classes: fixture.classes } : options;
      const { width, height } = fixture.input;
      const decoder = createDecoderSync(
        {
          inputSize: [width, height],
          ...stated,
          confidenceThreshold: fixture.gate,
          ...(fixture.iou && { iouThreshold: fixture.iou }),
        },
        { engine, rules: { ...(options.rules as object), clamp: "none" } },
      );
      const found = decoder.decode(outputs);
      const rows = found.toArray();
      expect(rows.map((d, i) => [d.class_id, found.sources[i]])).toEqual(
        detections.map((d) => [d.class_id, d.row]),
      );
      rows.forEach((d, i) => {
        const right = detections[i];
        expect(Math.abs(d.confidence - right.confidence)).toBeLessThan(ROUND.score);
        for (const edge of ["x_min", "y_min", "x_max", "y_max"] as const)
          expect(Math.abs(d[edge] - right[edge])).toBeLessThan(ROUND.box);
        if (label) expect(d.label).toBe(label(d.class_id));
      });
    });
  });

  test.each(engines)("yolov7-end2end: rows of two images follow each other, %s", (engine) => {
    const folder = [data, "golden", "families", "yolov7-end2end"];
    const { outputs, detections, second_image, gate } = readJson(...folder, "fixture.json") as Fixture;
    const [{ name, file, shape }] = outputs;
    const rows = { data: new Float32Array(readBytes(...folder, file).buffer), dims: shape };
    for (const family of ["yolov7", "boxes"] as const) {
      const decoder = createDecoderSync(
        { family, classes: 4, inputSize: [192, 128], confidenceThreshold: gate },
        { engine },
      );
      const found = decoder.decodeBatch({ [name]: rows });
      [detections, second_image ?? []].forEach((right, image) => {
        expect(found[image].toArray().map((d) => d.class_id)).toEqual(right.map((d) => d.class_id));
        found[image].toArray().forEach((d, i) => {
          expect(Math.abs(d.confidence - right[i].confidence)).toBeLessThan(ROUND.score);
          expect(Math.abs(d.x_min - right[i].x_min)).toBeLessThan(ROUND.box);
          expect(Math.abs(d.y_max - right[i].y_max)).toBeLessThan(ROUND.box);
        });
      });
      expect(found).toHaveLength(2);
      expect(() => decoder.decode({ [name]: rows })).toThrow("Call decodeBatch()");
    }
  });
});
