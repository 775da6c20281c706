/** Config files for tests to change in one place, and what is said of refused ones. */
import { parseConfig } from "../../src/config/config.ts";
import type { Config } from "../../src/config/types.ts";
import { ConfigError } from "../../src/core/errors.ts";

/** Returns the problems of a config that must be refused, a line each. */
export function problemsOf(json: unknown): string[] {
  try {
    parseConfig(json);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split("\n");
  }
  throw new Error("the config was accepted");
}

/** Returns the widths and the numbers of anchors of all sets, "26:3 13:3". */
export function sides(config: Config): string | null {
  return (
    config.anchorSets?.map((set) => `${set.side ?? set.output ?? "-"}:${set.anchors.length}`).join(" ") ??
    null
  );
}

/** Returns so many class names. */
export const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `class${i}`);

/** Returns the NN_config of a tiny network with two outputs, for each test to change in one place. */
export function yolo(metadata: object = {}, block: object = {}, rest: object = {}): unknown {
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

/** Returns the config.json of an NN Archive, for each test to change in one place. */
export function archive(metadata: object = {}, head: object = {}, model: object = {}): unknown {
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
