/** Checks for tensors that no picture can give: objects in nearly all cells, a map of one value, equal boxes. */
import type { Moment } from "./check.ts";
import * as A from "../core/abi.ts";
import { READINGS } from "../core/readings.ts";
import type { Column } from "../heads/channels.ts";
import type { Head } from "../heads/head.ts";
import { type PlanInMemory, everyValue, valueIn } from "../decode/values.ts";
import { shape, volume } from "../core/tensor.ts";
import { smallestPassing } from "../memory/thresholds.ts";

/** Smallest cell count of a head that is checked. With fewer cells, each cell may have an object. */
const FEW_CELLS = 4;
/** From this cell count on, objects in half of a head's cells are too many. */
const MANY_CELLS = 64;
/** Smallest count of values in a map that is checked for a single value. Fewer values may be equal by chance. */
const FEWEST_VALUES = 16;

/**
 * Returns a note if too many cells of a head score 0.5 or more: half of them, all of a small head, or nine tenths of
 * rows of a network that outputs each object once.
 */
export function noteOfCrowd({ work, block }: Moment<PlanInMemory>): string | null {
  const { i32, f32 } = work.memory;
  const { plan } = work;
  const reading = READINGS[plan.reading];
  if (!reading.cells) return null;
  const most = reading.suppressed && !reading.maps ? 0.9 : 0.5;
  const p = block >> 2;
  const [scores, sources] = [i32[p + A.P_SCORES] >> 2, i32[p + A.P_SOURCES] >> 2];
  const likely = new Set<number>();
  for (let i = 0; i < i32[p + A.P_CANDIDATES]; i++) if (f32[scores + i] >= 0.5) likely.add(i32[sources + i]);
  let first = 0;
  for (const { cells, about } of plan.heads) {
    const [from, end] = [first, first + cells];
    first = end;
    if (cells < FEW_CELLS || likely.size < cells * most) continue;
    const crowded = [...likely].filter((cell) => cell >= from && cell < end).length;
    if (crowded < cells && (cells < MANY_CELLS || crowded <= cells * most)) continue;
    return (
      `${crowded} of ${cells} cells of ${about} have a score of 0.5 or more: are these the scores, and was the sigmoid ` +
      "applied once (option scores)?"
    );
  }
  return null;
}

function onlyValue(work: PlanInMemory, { cells }: Head, column: Column, channels: number): number | null {
  const first = valueIn(work, 0, column, 0);
  return everyValue(work, cells, column, channels, [first, first]) ? first : null;
}

/** Returns a note if all box values of a map are equal. Else returns null. */
export function noteOfConstantBoxes({ work }: Moment<PlanInMemory>): string | null {
  const heads = READINGS[work.plan.reading].cells ? work.plan.heads : [];
  for (const head of heads) {
    const channels = 4 * (head.bins || 1);
    const only = head.cells * channels < FEWEST_VALUES ? null : onlyValue(work, head, head.box, channels);
    if (only !== null) return `every box value of ${head.about} is ${only}: ${ASK_IF_WRITTEN}`;
  }
  return null;
}

/** Returns a note if all scores of one map are equal, and every score of the other maps is above them. */
export function noteOfConstantScores({ work }: Moment<PlanInMemory>): string | null {
  const heads = READINGS[work.plan.reading].cells ? work.plan.heads : [];
  for (const head of heads.length > 1 ? heads : []) {
    const { cells, classes, score, about } = head;
    const only = cells * classes < FEWEST_VALUES ? null : onlyValue(work, head, score, classes);
    if (only === null) continue;
    const above = [smallestPassing(only, ">"), Infinity] as const;
    if (heads.every((h) => h === head || everyValue(work, h.cells, h.score, h.classes, above)))
      return `every score of ${about} is ${only}, and no score of the other maps: ${ASK_IF_WRITTEN}`;
  }
  return null;
}

/** Returns a note if the only map of a network is 0 everywhere. Else returns null. */
export function noteOfEmptyMap({ work }: Moment<PlanInMemory>): string | null {
  const { plan } = work;
  if (plan.reading !== "text-map") return null;
  const [{ score }] = plan.heads;
  const spec = plan.tensors[score.tensor];
  const column = { tensor: score.tensor, offset: 0, channel: 1, cell: 1 };
  return everyValue(work, volume(spec.dims) / plan.batch, column, 1, [0, 0])
    ? `every score of ${shape(spec)} is 0: ${ASK_IF_WRITTEN}`
    : null;
}

/** Smallest length of a list that is checked. All scores of a shorter list may lie in this range by chance. */
const FEWEST_SCORES = 16;
/** Range of values that the sigmoid of a probability can have. */
const SIGMOIDS = [0.5, 0.7311] as const;
/** Sigmoid of 0.1. */
const LOW = 0.525;

/** Returns a note if all scores of a list look like sigmoids of probabilities, most near 0: a sigmoid too many. */
export function noteOfTwoSigmoids({ work }: Moment<PlanInMemory>): string | null {
  const { plan } = work;
  if (!READINGS[plan.reading].finished) return null;
  const columns = plan.heads.map((h) => ({ ...h, channels: h.classId ? 1 : h.classes }));
  const count = plan.batch * columns.reduce((n, { cells, channels }) => n + cells * channels, 0);
  const isTwice = columns.every(({ cells, score, channels }) =>
    everyValue(work, cells, score, channels, SIGMOIDS),
  );
  if (!isTwice || count < FEWEST_SCORES) return null;
  let high = 0;
  for (const { cells, score, channels } of columns)
    everyValue(work, cells, score, channels, [-Infinity, LOW], () => {
      high++;
      return true;
    });
  return high * 2 < count
    ? `all ${count} scores lie in 0.5..0.731, where a sigmoid puts probabilities: is it applied once too often?`
    : null;
}

/** End of a note about values that are all equal, as in memory into which no network has written. */
const ASK_IF_WRITTEN = "has the network run, and is this the tensor that it wrote?";

/** Smallest count of candidates that are compared. Fewer may have the same box by chance. */
const FEW_BOXES = 4;

/** Returns a note if all candidates, which come from different cells, have the same box. Else returns null. */
export function noteOfSameBoxes({ work, block }: Moment): string | null {
  const { i32, f32 } = work.engine.memory;
  const p = block >> 2;
  const n = i32[p + A.P_CANDIDATES];
  const [boxes, sources] = [i32[p + A.P_BOXES] >> 2, i32[p + A.P_SOURCES] >> 2];
  const cells = new Set<number>();
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < 4; k++) if (f32[boxes + 4 * i + k] !== f32[boxes + k]) return null;
    cells.add(i32[sources + i]);
  }
  return cells.size >= FEW_BOXES
    ? `all ${n} candidates of the first frame have the same box: ${ASK_IF_WRITTEN}`
    : null;
}

/** Fraction of the input's side by which boxes of trained networks rarely extend over the edge. */
const FAR_OUT = 0.1;

/** Smallest score of a box that is checked. Boxes with a lower score may lie anywhere. */
const LEAST_SCORE = 0.25;

/** Returns a note if more than half of the candidates reach far over an edge of the input. Else returns null. */
export function noteOfOutside({ work, block }: Moment<PlanInMemory>): string | null {
  const { i32, f32 } = work.memory;
  const { plan } = work;
  const p = block >> 2;
  // Skip rotated boxes: their extent is not their width and height.
  if (plan.inPhoto || plan.task?.name === "oriented") return null;
  const [boxes, scores] = [i32[p + A.P_BOXES] >> 2, i32[p + A.P_SCORES] >> 2];
  let [n, outside] = [0, 0];
  for (let k = 0; k < i32[p + A.P_CANDIDATES]; k++) {
    if (f32[scores + k] < LEAST_SCORE) continue;
    n++;
    const i = boxes + 4 * k;
    if (Math.min(f32[i], f32[i + 1]) < -FAR_OUT || Math.max(f32[i + 2], f32[i + 3]) > 1 + FAR_OUT) outside++;
  }
  return n >= FEW_BOXES && outside * 2 > n
    ? `${outside} of the first ${n} candidates reach over an edge by more than a tenth of the input: are boxFormat, ` +
        "coordinates and inputSize those of the network?"
    : null;
}

/** Returns a note if no detection has an area, or if all points of each detection are equal. Else returns null. */
export function noteOfResult({ detections: { length, boxes, keypoints } }: Moment): string | null {
  if (length === 0) return null;
  const rows = Array.from({ length }, (_, i) => i);
  const isFlat = (i: number): boolean =>
    boxes[4 * i + 2] <= boxes[4 * i] || boxes[4 * i + 3] <= boxes[4 * i + 1];
  if (rows.every(isFlat))
    return `no box of the first ${length} detections has a width and a height: are these the network's boxes?`;
  // Count of values in a row: x, y and confidence of each point.
  const values = keypoints ? keypoints.length / (boxes.length / 4) : 0;
  const isOne = (i: number): boolean => {
    const points = (keypoints as Float32Array).subarray(i * values, (i + 1) * values);
    return points.every((x, k) => k % 3 === 2 || x === points[k % 3]);
  };
  return values > 3 && rows.every(isOne)
    ? `all points of each of the first ${length} detections are one point: ${ASK_IF_WRITTEN}`
    : null;
}
