/** Config files of published networks (BOXWRIGHT_SHARED). */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseConfig } from "../../src/config/config.ts";
import type { Config } from "../../src/config/types.ts";
import { problemsOf, sides } from "../support/configs.ts";
import { shared } from "../support/shared-data.ts";

const folder = shared === null ? null : join(shared, "data", "configs");
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
    'model.heads[0].parser: got "" and "", expected a parser YOLO, YOLOExtendedParser, SSD, MOBILENET, SCRFDParser, YuNetParser, MPPalmDetectionParser, KeypointParser, HRNetParser, SuperAnimalParser, PPTextDetectionParser, ClassificationParser, RFDETRParser, FastSAMParser, or the option family',
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
