/** Weighted boxes fusion (Solovyev et al., 2021): fuses the boxes of several models into one list. */
import { withoutSpareRows } from "../../core/counted-rows.ts";
import { refuseValue } from "../../core/errors.ts";
import { show } from "../../core/tensor.ts";
import { readCorners, orderOf, writeBox } from "./candidates.ts";
import { Clusters } from "./clusters.ts";
import { namesFor, nearestName } from "../../core/names.ts";
import { type OptionRules, POSITIVE, UNIT, checkOptions, checkValue, oneOf } from "../../core/options.ts";
import { BOX_FORMAT, COMMON_RULES, type SuppressBoxFormat, checkLengths } from "../../core/suppression.ts";

/** The boxes that one model found. */
export interface ModelBoxes {
  /** Four values per box. */
  readonly boxes: ArrayLike<number>;
  readonly scores: ArrayLike<number>;
  /** Class id of each box. Default: one class. */
  readonly classIds?: ArrayLike<number>;
  /** Weight of the model. Default 1. */
  readonly weight?: number;
}

/** Options of `fuse`. */
export interface FuseOptions {
  /** A box joins the fused box that it overlaps most, if their IoU exceeds this value. Default 0.55. */
  readonly iouThreshold?: number;
  /** Boxes with a lower score are ignored. The score is compared before it is multiplied by the weight. Default 0. */
  readonly scoreThreshold?: number;
  /**
   * Score of a fused box. "average": sum of the weighted scores divided by the sum of the models' weights, times models
   * / boxes if there are more boxes than models. "max": largest weighted score divided by the largest weight. Default
   * "average".
   */
  readonly score?: "average" | "max";
  /** Largest number of fused boxes. Default: all. */
  readonly maxDetections?: number;
  /** Meaning of a box's four values. Default: corners, "xyxy". */
  readonly boxFormat?: SuppressBoxFormat;
}

/** Fused boxes, best first. */
export interface Fused {
  /** Four values per box, in the format of the input. */
  readonly boxes: Float32Array;
  readonly scores: Float32Array;
  readonly classIds: Int32Array;
  /** Boxes from which each fused box was made, as [model, row], best first. */
  readonly members: readonly (readonly (readonly [model: number, row: number])[])[];
}

interface Box {
  readonly model: number;
  readonly row: number;
  readonly classId: number;
  readonly score: number;
  readonly corners: readonly number[];
}

interface Cluster {
  readonly members: Box[];
  sum: number;
  /** Sums of the members' corners. Each corner is multiplied by the member's weighted score. */
  readonly sums: number[];
  /** Mean box: the sums of corners divided by the sum of scores. */
  readonly mean: ArrayLike<number>;
}

const RULES: OptionRules = {
  iouThreshold: UNIT,
  scoreThreshold: COMMON_RULES.scoreThreshold,
  score: oneOf(["average", "max"]),
  maxDetections: COMMON_RULES.maxDetections,
  boxFormat: BOX_FORMAT,
};

/** Returns the boxes of all models, the highest weighted score first. Equal scores are in the order of the models. */
function sortedBoxes(models: readonly ModelBoxes[], format: SuppressBoxFormat, threshold: number): Box[] {
  const limit = Math.fround(threshold);
  return models
    .flatMap(({ boxes, scores, classIds, weight = 1 }, model) => {
      const corners = readCorners(boxes, scores.length, format);
      return Array.from(orderOf(corners, 4, scores, -Infinity))
        .filter((row) => Math.fround(scores[row]) >= limit && hasArea(corners, row * 4))
        .map((row) => ({
          model,
          row,
          classId: classIds?.[row] ?? 0,
          score: scores[row] * weight,
          corners: Array.from(corners.subarray(row * 4, row * 4 + 4)),
        }));
    })
    .sort((a, b) => b.score - a.score);
}

const hasArea = (v: Float64Array, i: number): boolean => v[i + 2] > v[i] && v[i + 3] > v[i + 1];

/** Puts each box into the cluster of its class with the largest IoU. Begins one if no IoU is above the threshold. */
function clustersOf(boxes: readonly Box[], threshold: number): Cluster[] {
  const means = new Clusters(Float64Array.from(boxes.flatMap(({ corners }) => corners)), threshold);
  const clusters: Cluster[] = [];
  for (const box of boxes) {
    let at = means.find(box.corners, box.classId);
    if (at < 0) {
      at = means.add(box.corners, box.classId);
      clusters.push({ members: [], sum: 0, sums: [0, 0, 0, 0], mean: means.mean(at) });
    }
    const cluster = clusters[at];
    cluster.members.push(box);
    cluster.sum += box.score;
    for (let k = 0; k < 4; k++) cluster.sums[k] += box.corners[k] * box.score;
    if (cluster.sum > 0) means.move(at, cluster.sums, cluster.sum);
  }
  return clusters;
}

const MODEL = ["boxes", "scores", "classIds", "weight"];

/** Throws for a field that looks misspelt. Ignores other fields: callers may pass `Detections` as a model. */
function checkModelNames(model: ModelBoxes, prefix: string): void {
  for (const name of Object.keys(model))
    if (!MODEL.includes(name) && nearestName(name, MODEL) !== undefined)
      refuseValue(prefix + name, "an unknown name", namesFor(name, MODEL));
}

/** Throws if two models have the same array of boxes. Models without boxes may share one. */
function checkArrays(models: readonly ModelBoxes[]): void {
  models.forEach(({ boxes, scores }, i) => {
    if (scores.length === 0) return;
    const before = models.slice(0, i).findIndex((other) => isSameArray(other.boxes, boxes));
    if (before >= 0)
      refuseValue(
        `models[${i}].boxes`,
        `the array of models[${before}]`,
        "arrays of its own: if decode() made both, copy() the first, which the second overwrote",
      );
  });
}

const isModel = (model: ModelBoxes | null): model is ModelBoxes =>
  typeof model === "object" && model !== null;

/** Returns a model without the spare rows of a decoder. Only `Detections` and their clones state their length. */
const withoutSpare = (model: ModelBoxes): ModelBoxes => {
  const { boxes, scores, classIds = null } = model;
  const { length } = model as { readonly length?: number };
  const lists = withoutSpareRows({ boxes, scores, classIds }, 4, length);
  return { ...model, ...lists, classIds: lists.classIds ?? undefined };
};

function checkModels(models: readonly ModelBoxes[], scoreThreshold: number): void {
  models.forEach((model: ModelBoxes | null, i) => {
    if (typeof model !== "object" || model === null)
      refuseValue(`models[${i}]`, show(model), "{boxes, scores}");
    checkModelNames(model, `models[${i}].`);
    const { boxes, scores, classIds, weight = 1 } = model;
    checkValue(`models[${i}].weight`, weight, POSITIVE);
    checkLengths(boxes, scores, classIds ?? null, 4, scoreThreshold);
    const endless = Array.from(scores).indexOf(Infinity);
    if (endless >= 0)
      refuseValue(`models[${i}].scores[${endless}]`, "Infinity", "finite scores, which weigh the boxes");
  });
  const filled = models.map((model, i) => ({ ...model, i })).filter(({ scores }) => scores.length > 0);
  for (const { boxes, classIds, i } of filled) {
    const [first] = filled;
    if ((classIds === undefined) !== (first.classIds === undefined))
      refuseValue(
        `models[${i}].classIds`,
        `${show(classIds)}, and models[${first.i}] has ${first.classIds ? "some" : "none"}`,
        "class ids of all models or of none",
      );
    // A model's boxes count as normalised if no coordinate is above 1 while another model has one above
    // MOST_NORMALISED.
    if (
      largestCoordinate(boxes) <= 1 &&
      filled.some((other) => largestCoordinate(other.boxes) > MOST_NORMALISED)
    )
      refuseValue(
        `models[${i}].boxes`,
        `no coordinate above ${largestCoordinate(boxes)} beside models in pixels`,
        "boxes of all models in the same unit",
      );
  }
}

/** True for the same array, and for two views that begin at the same byte of one buffer. */
const isSameArray = (a: ArrayLike<number>, b: ArrayLike<number>): boolean =>
  a === b ||
  (ArrayBuffer.isView(a) && ArrayBuffer.isView(b) && a.buffer === b.buffer && a.byteOffset === b.byteOffset);

/** A coordinate above this value must be in pixels. Normalised boxes may reach over the edge, above 1. */
const MOST_NORMALISED = 8;

/** Returns the largest finite coordinate among boxes. */
function largestCoordinate(boxes: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < boxes.length; i++) if (boxes[i] > most && boxes[i] < Infinity) most = boxes[i];
  return most;
}

/**
 * Fuses the boxes of several models by weighted boxes fusion, as the package ensemble-boxes does. If two models have
 * equal weights, a box that only one of them found keeps half of its score.
 * @param models boxes of each model, all in the same unit
 * @throws RangeError for wrong lengths, for unknown options, and for models that differ in unit or class ids
 * @example
 * import { fuse } from "boxwright";
 *
 * const first = { boxes: [0, 0, 10, 10], scores: [0.75] };
 * const second = { boxes: [0, 0, 10, 12, 50, 50, 60, 60], scores: [0.25, 0.5] };
 * const { boxes, scores } = fuse([first, second]);
 * console.log([...boxes], [...scores]); // [0,0,10,10.5,50,50,60,60] [0.5,0.25]
 */
export function fuse(models: readonly ModelBoxes[], options: FuseOptions = {}): Fused {
  if (!Array.isArray(models) || models.length === 0)
    refuseValue("models", show(models), "a list of {boxes, scores}, one for each model");
  const given = checkOptions(options, RULES);
  const { iouThreshold = 0.55, scoreThreshold = 0, score = "average", boxFormat = "xyxy" } = given;
  const all = models as readonly ModelBoxes[];
  models = all.map((model) => (isModel(model) ? withoutSpare(model) : model));
  checkModels(models, scoreThreshold);
  checkArrays(all);
  const weights = models.map(({ weight = 1 }) => weight);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const fused = clustersOf(sortedBoxes(models, boxFormat, scoreThreshold), iouThreshold)
    .map(({ members, sum, mean }) => ({
      members,
      mean,
      score:
        score === "max"
          ? members[0].score / Math.max(...weights)
          : ((sum / members.length) * Math.min(models.length, members.length)) / total,
    }))
    .sort((a, b) => b.score - a.score)
    .slice(0, given.maxDetections);
  const boxes = new Float32Array(fused.length * 4);
  fused.forEach(({ mean }, i) => writeBox(boxes, i * 4, mean, 0, boxFormat));
  return {
    boxes,
    scores: Float32Array.from(fused, (f) => f.score),
    classIds: Int32Array.from(fused, ({ members: [first] }) => first.classId),
    members: fused.map(({ members }) => members.map(({ model, row }) => [model, row] as const)),
  };
}
