/** A reading is a way in which output tensors hold detections. Lists all readings, and facts about each. */

/** Name of a reading. The option `reading` selects one of them if the shapes allow several. */
export type ReadingName =
  | "anchor-grid"
  | "point-grid"
  | "distance-grid"
  | "dfl-grid"
  | "objectness-rows"
  | "class-rows"
  | "point-rows"
  | "end-to-end"
  | "corner-rows"
  | "prior-rows"
  | "prior-maps"
  | "detection-output"
  | "image-box-class-score"
  | "image-box-score-class"
  | "class-score-box"
  | "class-box-score"
  | "box-score-labels"
  | "postprocess"
  | "queries"
  | "boxes-scores"
  | "class-scores"
  | "cell-classes"
  | "centre-maps"
  | "text-map";

export interface ReadingTraits {
  /** True: each head is a feature map, or one anchor of a feature map. */
  readonly maps?: true;
  /** True: several heads, one per anchor, share a feature map. */
  readonly anchors?: true;
  /** True: raw rows, one per box, whose shape may also be a feature map one cell high. */
  readonly rows?: true;
  /** True: the tensor has one row for each cell of all feature maps together. */
  readonly rowPerCell?: true;
  /** True: boxes are offsets from prior boxes. */
  readonly priors?: true;
  /** True: raw rows of a network with one or two classes may have the same shape as these finished rows. */
  readonly looksRaw?: true;
  /** True: the network itself made the list and its final scores. Options cannot change the kind of the scores. */
  readonly finished?: true;
  /** True: the network outputs each object once. Nothing is suppressed unless the config states the rule `suppress`. */
  readonly suppressed?: true;
  /** True: boxes may extend beyond the image. They are clamped only if the config states the rule `clamp`. */
  readonly unclamped?: true;
  /** True: classes exclude each other, so raw scores go through a softmax. */
  readonly competing?: true;
  /** True: class id 0 is always the first class, never a background. */
  readonly bareClassIds?: true;
  /**
   * Present if the tensors have a score for each cell, with or without an object. "map": neighbours in the tensor are
   * neighbours in the picture. Absent: the tensors list only found objects.
   */
  readonly cells?: "map" | "list";
}

/** Rows of a list that the network finished. Class ids do not count a background. */
const FINISHED: ReadingTraits = { finished: true, suppressed: true, bareClassIds: true };

export const READINGS: { readonly [R in ReadingName]: ReadingTraits } = {
  "anchor-grid": { maps: true, anchors: true, cells: "map" },
  "point-grid": { maps: true, cells: "map" },
  "distance-grid": { maps: true, cells: "map" },
  "dfl-grid": { maps: true, cells: "map" },
  "objectness-rows": { rows: true, rowPerCell: true, cells: "map" },
  "class-rows": { rows: true, rowPerCell: true, cells: "map" },
  "point-rows": { rows: true, cells: "map" },
  "corner-rows": { rows: true, suppressed: true, cells: "map" },
  "prior-rows": { rows: true, priors: true, cells: "map" },
  "prior-maps": { priors: true, cells: "map" },
  "end-to-end": { ...FINISHED, looksRaw: true },
  "detection-output": { finished: true, suppressed: true, unclamped: true },
  "image-box-class-score": FINISHED,
  "image-box-score-class": FINISHED,
  "class-score-box": FINISHED,
  "class-box-score": FINISHED,
  "box-score-labels": FINISHED,
  postprocess: { finished: true, suppressed: true },
  queries: { suppressed: true, cells: "list" },
  "boxes-scores": {},
  "class-scores": { suppressed: true, competing: true },
  "cell-classes": { maps: true, suppressed: true, cells: "map" },
  "centre-maps": { maps: true, cells: "map" },
  "text-map": { finished: true, suppressed: true, unclamped: true, cells: "map" },
};

/** Every reading's name. */
export const READING_NAMES = /* @__PURE__ */ Object.keys(READINGS) as readonly ReadingName[];
