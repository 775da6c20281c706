/**
 * The rules on which published decoders disagree, as explicit fields with named sets.
 *
 * - `ultralytics`: `non_max_suppression` of the package that trains YOLOv5 to v12, without its agnostic option
 * - `depthai`: the host's DetectionParser of depthai-core
 * - `depthai-nodes`: the YOLO and SSD parsers of the Python package of that name
 * - `gen1`: the host script that came with the first NN_config files; it also rounds to whole pixels, which is not
 *   copied
 * - `opencv`: `cv::dnn::NMSBoxesBatched` over boxes that nobody clamps
 * - `tflite`: the operator TFLite_Detection_PostProcess, with its fast (not per class) suppression
 */
import type { ReadingName } from "./readings.ts";

/** The rules on which published decoders disagree. Each is a field. */
export interface Conventions {
  /**
   * Score of a candidate where there is objectness: objectness x class, or the class alone (objectness then only
   * gates).
   */
  readonly score: "product" | "class";
  /** A value passes the confidence threshold when it is above it, or also when it equals it. */
  readonly gate: ">" | ">=";
  /** Boxes suppress each other within a class, across all classes, or not at all. */
  readonly nms: "class" | "all" | "none";
  /** A box is suppressed when its IoU with a kept one is above the threshold, or also when it equals it. */
  readonly suppress: ">" | ">=";
  /** Added to width and height in areas and overlaps, in input pixels (the legacy +1 of inclusive pixel corners). */
  readonly pixelOffset: 0 | 1;
  /**
   * `"before"`: corners clamped to the network input before suppression, empty boxes dropped;
   * `"after"`: corners clamped to the image at the end; `"centre"`: cx, cy, w, h each clamped to 0..1 at the end;
   * `"none"`.
   */
  readonly clamp: "none" | "before" | "after" | "centre";
  /** Every class over the threshold makes a candidate, not only the best of a cell. */
  readonly multiLabel: boolean;
  /** At most so many candidates, the best, go into suppression; 0: no such cap. */
  readonly maxCandidates: number;
  /** At most so many detections come out. */
  readonly maxDetections: number;
  /** Class numbers of SSD scores count the background column (its labels then do too), or leave it out. */
  readonly countBackground: boolean;
}

const ultralytics: Conventions = {
  score: "product",
  gate: ">",
  nms: "class",
  suppress: ">",
  pixelOffset: 0,
  clamp: "after",
  multiLabel: false,
  maxCandidates: 30000,
  maxDetections: 300,
  countBackground: true,
};

/** The named sets of rules; the README compares them field by field. */
export const CONVENTIONS = {
  ultralytics,
  depthai: { ...ultralytics, gate: ">=", nms: "all", suppress: ">=", clamp: "before", maxCandidates: 0 },
  "depthai-nodes": { ...ultralytics, score: "class", pixelOffset: 1, clamp: "centre", maxCandidates: 3000 },
  gen1: { ...ultralytics, gate: ">=", nms: "all", clamp: "none", multiLabel: true, maxCandidates: 0 },
  opencv: { ...ultralytics, clamp: "none", maxCandidates: 0 },
  tflite: {
    ...ultralytics,
    gate: ">=",
    nms: "all",
    clamp: "none",
    maxCandidates: 0,
    maxDetections: 10,
    countBackground: false,
  },
} as const satisfies Record<string, Conventions>;

/** Name of a set of rules. */
export type ConventionSet = keyof typeof CONVENTIONS;

/** Rules of a named set that differ for one reading. gen1 has a host script of its own for mobilenets. */
export const EXCEPTIONS: {
  readonly [S in ConventionSet]?: { readonly [R in ReadingName]?: Partial<Conventions> };
} = { gen1: { "detection-output": { gate: ">" } } };
