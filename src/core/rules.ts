/**
 * The rules on which published decoders disagree, as fields, and the values that each decoder uses.
 *
 * - `ultralytics`: `non_max_suppression` of the package that trains YOLOv5 to v12, without its agnostic option
 * - `depthai`: the DetectionParser of depthai-core, which runs on the host
 * - `depthai-nodes`: the YOLO and SSD parsers of the Python package depthai-nodes
 * - `gen1`: the host script that came with the first NN_config files, but without rounding to whole pixels
 * - `opencv`: `cv::dnn::NMSBoxesBatched` with boxes that are not clamped
 * - `tflite`: the operator TFLite_Detection_PostProcess, with its fast suppression, which acts across classes
 */
import { deepFreeze } from "./freeze.ts";
import type { ReadingName } from "./readings.ts";

/** The rules on which published decoders disagree. */
export interface Rules {
  /**
   * Score of a cell with objectness. "product": objectness x class score. "class": the class score, if objectness
   * passes the threshold.
   */
  readonly score: "product" | "class";
  /** ">": a score passes if it is above the confidence threshold. ">=": also if it equals the threshold. */
  readonly gate: ">" | ">=";
  /** Boxes suppress each other within a class, across all classes, or not at all. */
  readonly suppress: "class" | "all" | "none";
  /** ">": a box is suppressed if its IoU with a kept box is above the threshold. ">=": also if equal to it. */
  readonly iouGate: ">" | ">=";
  /**
   * Input pixels added to width and height when areas and overlaps are computed. 1 is the old convention in which both
   * corner pixels belong to the box.
   */
  readonly pixelOffset: 0 | 1;
  /**
   * `"before"`: clamp corners to the network input before suppression, and drop empty boxes.
   * `"after"`: clamp corners to the image at the end. `"centre"`: clamp each of cx, cy, w, h to 0..1 at the end.
   */
  readonly clamp: "none" | "before" | "after" | "centre";
  /** True: every class above the threshold makes a candidate. False: only the best class of a cell does. */
  readonly multiLabel: boolean;
  /** Largest number of candidates, the best ones, that suppression may compare. 0: no limit. */
  readonly maxCandidates: number;
  /** Largest number of detections in an image. */
  readonly maxDetections: number;
  /** True: class ids and labels of SSD networks count the background column. False: they do not. */
  readonly countBackground: boolean;
}

const ultralytics: Rules = {
  score: "product",
  gate: ">",
  suppress: "class",
  iouGate: ">",
  pixelOffset: 0,
  clamp: "after",
  multiLabel: false,
  maxCandidates: 30000,
  maxDetections: 300,
  countBackground: true,
};

/** The named sets of rules. docs/rules.md compares all fields. */
export const RULE_SETS = /* @__PURE__ */ deepFreeze({
  ultralytics,
  depthai: { ...ultralytics, gate: ">=", suppress: "all", iouGate: ">=", clamp: "before", maxCandidates: 0 },
  "depthai-nodes": { ...ultralytics, score: "class", pixelOffset: 1, clamp: "centre", maxCandidates: 3000 },
  gen1: { ...ultralytics, gate: ">=", suppress: "all", clamp: "none", multiLabel: true, maxCandidates: 0 },
  opencv: { ...ultralytics, clamp: "none", maxCandidates: 0 },
  tflite: {
    ...ultralytics,
    gate: ">=",
    suppress: "all",
    clamp: "none",
    maxCandidates: 0,
    maxDetections: 10,
    countBackground: false,
  },
} as const satisfies Record<string, Rules>);

/** Name of a set of rules. */
export type RuleSet = keyof typeof RULE_SETS;

/** Rules of a named set that differ for one reading. gen1 had a separate host script for MobileNet-SSD. */
export const EXCEPTIONS: {
  readonly [S in RuleSet]?: { readonly [R in ReadingName]?: Partial<Rules> };
} = { gen1: { "detection-output": { gate: ">" } } };
