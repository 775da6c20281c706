/**
 * The rules on which published decoders disagree, as fields, and the sets of rules that each decoder has.
 *
 * - `ultralytics`: `non_max_suppression` of the package that trains YOLOv5 to v12, without its agnostic option
 * - `depthai`: the host's DetectionParser of depthai-core
 * - `depthai-nodes`: the YOLO and SSD parsers of the Python package of that name
 * - `gen1`: the host script that came with the first NN_config files, without its rounding to whole pixels
 * - `opencv`: `cv::dnn::NMSBoxesBatched` over boxes that nobody clamps
 * - `tflite`: the operator TFLite_Detection_PostProcess, with its fast (not per class) suppression
 */
import { deepFreeze } from "./freeze.ts";
import type { ReadingName } from "./readings.ts";

/** The rules on which published decoders disagree. Each is a field. */
export interface Rules {
  /**
   * Score where there is objectness: objectness x class, or the class score alone, which objectness then only gates.
   */
  readonly score: "product" | "class";
  /** A score passes if it is above the confidence threshold, or also if it equals the threshold. */
  readonly gate: ">" | ">=";
  /** Boxes suppress each other within a class, across all classes, or not at all. */
  readonly suppress: "class" | "all" | "none";
  /** A box is suppressed if its IoU with a kept box is above the threshold, or also if it equals the threshold. */
  readonly iouGate: ">" | ">=";
  /** Input pixels added to width and height in areas and overlaps: the legacy +1 of inclusive pixel corners. */
  readonly pixelOffset: 0 | 1;
  /**
   * `"before"`: clamp corners to the network input before suppression, and drop empty boxes.
   * `"after"`: clamp corners to the image at the end. `"centre"`: clamp each of cx, cy, w, h to 0..1 at the end.
   */
  readonly clamp: "none" | "before" | "after" | "centre";
  /** Every class above the threshold makes a candidate. False: only the best class of a cell. */
  readonly multiLabel: boolean;
  /** Most candidates, the best ones, that go into suppression. 0: no cap. */
  readonly maxCandidates: number;
  /** Most detections of an image. */
  readonly maxDetections: number;
  /** Class ids of SSD scores count the background column, and labels then do too. False: they leave it out. */
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

/** The named sets of rules. docs/rules.md compares them field by field. */
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

/** Names a set of rules. */
export type RuleSet = keyof typeof RULE_SETS;

/** Rules of a named set that differ for one reading. gen1 has a host script of its own for mobilenets. */
export const EXCEPTIONS: {
  readonly [S in RuleSet]?: { readonly [R in ReadingName]?: Partial<Rules> };
} = { gen1: { "detection-output": { gate: ">" } } };
