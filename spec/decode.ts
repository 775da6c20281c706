/**
 * Computes the detections of a plan from the tensors. The steps are written in the order in which they happen. All
 * numbers are doubles. README.md says where an engine that computes in f32 may differ.
 */
import type { Head } from "../src/heads/head.ts";
import type { Plan } from "../src/plan/plan.ts";
import { type Box, boxOf, clampCorners, fitsF32, isEmpty } from "./boxes.ts";
import { ColumnReader, type Tensors } from "./element.ts";
import { type Frame, clampDetection, turnBack, undoResize, upright } from "./frame.ts";
import { type ClassScore, type Thresholds, headThresholds, scoreCell } from "./scores.ts";
import { type Suppression, inOrder, suppress } from "./suppress.ts";

export type { Frame, Tensors, Thresholds };

/** A class of a cell whose score is above its threshold. */
export interface Found extends ClassScore {
  /** Index of the head in the plan. */
  readonly head: number;
  readonly cell: number;
  /** Index of the cell, counted over all heads in their order. */
  readonly source: number;
  /** Box, normalised to the network's input. */
  readonly box: Box;
  /**
   * Outcome for the class. "notFinite": its score, box or class id is no number. "empty": its box has no area after
   * a clamp. Only a "candidate" goes on.
   */
  readonly fate: "candidate" | "notFinite" | "empty";
}

export interface Detection {
  readonly classId: number;
  readonly score: number;
  /** Box, normalised to the image. Without a frame, normalised to the network's input. */
  readonly box: Box;
  readonly source: number;
}

/** One image, decoded. */
export interface Decoded {
  readonly detections: readonly Detection[];
  /** Every class above its threshold, head by head, cell by cell, class by class. */
  readonly found: readonly Found[];
  /** Count of the candidates among `found`. */
  readonly candidates: number;
  /** True if the frame is refused, because a candidate has a probability above 1. */
  readonly refused: boolean;
  readonly dropped: {
    /**
     * Count of candidates that are left out: there is no room, they are beyond `maxCandidates`, or `maxDetections` were
     * already kept.
     */
    readonly capped: number;
    readonly notFinite: number;
    readonly empty: number;
  };
}

/** Decodes each image of a batch, with one frame for all images or one frame each. */
export const decode = (
  plan: Plan,
  tensors: Tensors,
  thresholds: Thresholds,
  frames?: Frame | readonly Frame[],
): Decoded[] =>
  Array.from({ length: plan.batch }, (_, image) =>
    decodeImage(plan, new ColumnReader(plan, tensors, image), thresholds, frameOf(frames, image)),
  );

/** Returns the frame of an image. */
export const frameOf = (frames: Frame | readonly Frame[] | undefined, image: number): Frame | undefined =>
  Array.isArray(frames) ? (frames as readonly Frame[])[image] : (frames as Frame | undefined);

function decodeImage(
  plan: Plan,
  read: ColumnReader,
  thresholds: Thresholds,
  frame: Frame | undefined,
): Decoded {
  // 1. Every cell of every head: scores, thresholds, boxes.
  const { found, refused } = scan(plan, read, thresholds);
  const candidates = found.filter(({ fate }) => fate === "candidate");
  // 2. Order: from the best score down, at most as many candidates as the columns hold and as suppression may compare.
  const ordered = inOrder(candidates).slice(0, Math.min(plan.capacity, plan.rules.maxCandidates || Infinity));
  // 3. Suppression.
  const { kept, visited } = suppress(ordered, suppressionOf(plan, thresholds));
  // 4. Back to the image.
  const detections = kept.map(({ classId, score, box, source }): Detection => ({
    classId,
    score,
    box: turnBack(
      clampDetection(undoResize(box, frame && upright(frame), plan.inputSize), plan.rules.clamp),
      frame?.rotation,
    ),
    source,
  }));
  const count = (fate: Found["fate"]): number => found.filter((f) => f.fate === fate).length;
  return {
    detections,
    found,
    candidates: candidates.length,
    refused: refused.length > 0,
    dropped: {
      capped: candidates.length - visited,
      notFinite: count("notFinite"),
      empty: count("empty"),
    },
  };
}

/** Candidates of one image, and the cells whose probabilities lead to a refusal. */
export interface Scanned {
  readonly found: readonly Found[];
  /** Sources of cells with a probability above 1. */
  readonly refused: readonly number[];
}

/** Returns the classes above their thresholds, in every cell of every head. */
export function scan(plan: Plan, read: ColumnReader, thresholds: Thresholds): Scanned {
  const heads = plan.heads.map((head, index) => scanHead(plan, head, index, read, thresholds));
  return { found: heads.flatMap((h) => h.found), refused: heads.flatMap((h) => h.refused) };
}

function scanHead(
  plan: Plan,
  head: Head,
  index: number,
  read: ColumnReader,
  thresholds: Thresholds,
): Scanned {
  const found: Found[] = [];
  const refused: number[] = [];
  const ofHead = headThresholds(plan, head, thresholds.confidenceThreshold);
  const cells = ofHead.classIds.length === 0 ? 0 : validCells(head, read);
  const first = plan.heads.slice(0, index).reduce((sum, h) => sum + h.cells, 0);
  for (let cell = 0; cell < cells; cell++) {
    const source = first + cell;
    const { passing, outOfRange } = scoreCell(plan, head, read, cell, ofHead);
    if (outOfRange) refused.push(source);
    if (passing.length === 0) continue;
    const box = boxOf(head, read, cell);
    for (const score of passing) {
      // Drop an id that is not in `keep`. An id that is no number is not dropped here, because it must be counted.
      if (plan.keep && isClassId(score.classId) && !plan.keep.includes(score.classId)) continue;
      found.push({ ...score, ...placed(plan, box, score), head: index, cell, source });
    }
  }
  return { found, refused };
}

/**
 * Returns the count of valid cells of a head.
 * - With a count: the count is the number of valid rows. Source: TFLite_Detection_PostProcess. A count that is no valid
 *   number leaves all rows.
 * - With a marker: -1 ends the rows. Source: the DetectionOutput layer, as read by depthai-core.
 */
function validCells(head: Head, read: ColumnReader): number {
  const { marker } = head;
  const count = head.count ? read.stored(head.count, 0) : NaN;
  const cells = count >= 0 && count < head.cells ? Math.trunc(count) : head.cells;
  if (marker === null) return cells;
  const end = Array.from({ length: cells }, (_, cell) => read.stored(marker, cell)).indexOf(-1);
  return end < 0 ? cells : end;
}

/** Returns the box of a class that passed its threshold, and the fate of the class and its box. */
function placed(plan: Plan, box: Box, { score, classId }: ClassScore): Pick<Found, "box" | "fate"> {
  if (![score, ...box].every(fitsF32) || !isClassId(classId)) return { box, fate: "notFinite" };
  if (plan.rules.clamp !== "before") return { box, fate: "candidate" };
  // Source: depthai-core clamps corners to the input before its suppression, and drops boxes without area.
  const clamped = clampCorners(box);
  return { box: clamped, fate: isEmpty(clamped) ? "empty" : "candidate" };
}

/** True if a class id fits the 32 bits of a result. */
const isClassId = (id: number): boolean => Math.abs(id) < 2147483000;

/**
 * Returns how boxes of a plan suppress each other. `pixelOffset` is in pixels of the input, whose size must be known.
 */
export function suppressionOf({ rules, inputSize }: Plan, thresholds: Thresholds): Suppression {
  const { suppress: nms, iouGate: suppress, pixelOffset } = rules;
  const [x, y] = inputSize === null ? [0, 0] : inputSize.map((n) => pixelOffset / n);
  const { iouThreshold, maxDetections } = thresholds;
  return { suppress: nms, iouGate: suppress, iouThreshold, maxDetections, offset: [x, y] };
}
