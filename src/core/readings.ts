/** Readings: the ways in which output tensors can hold detections, and the facts about each. */

/** Names a reading. The option `reading` takes one where shapes allow several. */
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
  | "box-score-labels"
  | "postprocess"
  | "queries"
  | "boxes-scores"
  | "class-scores"
  | "cell-classes"
  | "centre-maps"
  | "text-map";

export interface ReadingTraits {
  /** Each head is a feature map, or one anchor of a feature map. */
  readonly maps?: true;
  /** Several heads, one per anchor, share a feature map. */
  readonly anchors?: true;
  /** Raw rows, one per box, unfinished by the network. Their shape can also be a feature map one cell high. */
  readonly rows?: true;
  /** The tensor has one row per cell of all feature maps. */
  readonly rowPerCell?: true;
  /** Boxes are offsets from prior boxes. */
  readonly priors?: true;
  /** Raw rows of a network with one or two classes can have the same shape. */
  readonly looksRaw?: true;
  /** The network finished the scores and the list. The options cannot change the form of the scores. */
  readonly finished?: true;
  /** The network gives each object once. Nothing is suppressed unless the config names the rule. */
  readonly suppressed?: true;
  /** Boxes may reach beyond the image. They are clamped only if the config names the rule. */
  readonly unclamped?: true;
  /** Classes compete: scores that are raw go through a softmax. */
  readonly competing?: true;
  /** The class id column counts from the first class; it never counts a background. */
  readonly bareClassIds?: true;
  /**
   * There is a score for each cell of the network, whether it found something or not. "map": neighbours in the tensor
   * are neighbours in the picture. Absent: the tensors list what the network found.
   */
  readonly cells?: "map" | "list";
}

/** Rows that the network finished, with class ids that count no background. */
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
