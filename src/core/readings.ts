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
}

/** Rows that the network finished, with class ids that count no background. */
const FINISHED: ReadingTraits = { finished: true, suppressed: true, bareClassIds: true };

export const READINGS: { readonly [R in ReadingName]: ReadingTraits } = {
  "anchor-grid": { maps: true, anchors: true },
  "point-grid": { maps: true },
  "distance-grid": { maps: true },
  "dfl-grid": { maps: true },
  "objectness-rows": { rows: true, rowPerCell: true },
  "class-rows": { rows: true, rowPerCell: true },
  "point-rows": { rows: true },
  "corner-rows": { rows: true, suppressed: true },
  "prior-rows": { rows: true, priors: true },
  "prior-maps": { priors: true },
  "end-to-end": { ...FINISHED, looksRaw: true },
  "detection-output": { finished: true, suppressed: true, unclamped: true },
  "image-box-class-score": FINISHED,
  "image-box-score-class": FINISHED,
  "class-score-box": FINISHED,
  "box-score-labels": FINISHED,
  postprocess: { finished: true, suppressed: true, unclamped: true },
  queries: { suppressed: true },
  "boxes-scores": {},
  "class-scores": { suppressed: true, competing: true },
  "cell-classes": { maps: true, suppressed: true },
  "centre-maps": { maps: true },
  "text-map": { finished: true, suppressed: true, unclamped: true },
};

/** Every reading's name. */
export const READING_NAMES = /* @__PURE__ */ Object.keys(READINGS) as readonly ReadingName[];
