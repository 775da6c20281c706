/** Checks class ids: ids without a label, a background that wins everywhere, and ids that are not whole numbers. */
import { type PlanInMemory, valueIn } from "../decode/values.ts";
import type { Moment } from "./check.ts";
import * as A from "../core/abi.ts";
import { READINGS } from "../core/readings.ts";
import { isFloat } from "../core/tensor.ts";
import { beside } from "../heads/channels.ts";
import { cellsOf } from "../shapes/grids.ts";

/** Returns a note if a class id has no label, or is too large. `spare`: 1 if ids may count the background. */
export function checkLabels(
  classIds: Int32Array,
  labels: readonly string[] | null,
  classes: number | null,
  spare: 0 | 1,
): string | null {
  const n = labels?.length ?? classes ?? Infinity;
  const end = labels || classIds.includes(0) ? n : n + spare;
  const odd = classIds.find((c) => c < 0 || c >= end);
  if (odd !== undefined && odd < 0)
    return `class ${odd} was found, and class ids count from 0: is this the column of class ids?`;
  return odd === undefined
    ? null
    : `class ${odd} was found, and there are ${n} ${labels ? "labels" : "classes"}: are they those of this network?`;
}

/** Smallest count of queries or priors for a conclusion. With fewer, one class of objects may win everywhere. */
const FEWEST_CELLS = 40;
/** Largest fraction of all queries or priors that a class of objects may win. */
const MOST_WON = 0.9;

/** Returns a note if one class wins almost every query or prior above 0.5. Only the background wins so often. */
export function checkBackground({ work, block }: Moment<PlanInMemory>): string | null {
  const { i32, f32 } = work.memory;
  const { plan } = work;
  const p = block >> 2;
  const n = i32[p + A.P_CANDIDATES];
  const cells = cellsOf(plan.heads);
  const mayHaveBackground = plan.reading === "queries" || READINGS[plan.reading].priors;
  if (!mayHaveBackground || cells < FEWEST_CELLS) return null;
  const [ids, scores] = [i32[p + A.P_CLASS_IDS] >> 2, f32.subarray(i32[p + A.P_SCORES] >> 2)];
  // Take the median of the class ids. If more than half of the candidates share a class id, the median is this id.
  const id = i32.slice(ids, ids + n).sort()[n >> 1];
  let wins = 0;
  for (let i = 0; i < n; i++) if (i32[ids + i] === id && scores[i] > 0.5) wins++;
  return wins >= cells * MOST_WON
    ? `class ${id} wins ${wins} of ${cells} ${plan.reading === "queries" ? "queries" : "priors"}: is it ` +
        'the background ("no object")? Then leave it out of classes, and say its place by background'
    : null;
}

/** Smallest count of classes for a conclusion. With fewer, the first score may equal the best other score by chance. */
const FEWEST_CLASSES = 3;

/** Returns a note if each cell's first score equals the best of the others: it is a confidence, not a class. */
export function noteOfConfidence({ work }: Moment<PlanInMemory>): string | null {
  const { heads } = work.plan;
  if (heads.length === 0) return null;
  const { score, classes, classId, softmax, cells, about } = heads[0];
  if (classId || softmax || classes < FEWEST_CLASSES || cells < FEWEST_CELLS) return null;
  for (let cell = 0; cell < cells; cell++) {
    const others = Array.from({ length: classes - 1 }, (_, c) =>
      valueIn(work, 0, beside(score, c + 1), cell),
    );
    const best = Math.max(...others);
    // Ignore scores that are all equal: they prove nothing.
    if (valueIn(work, 0, score, cell) !== best || Math.min(...others) === best) return null;
  }
  return (
    `the first of ${classes} classes of ${about} is the best of the others in every cell: is it a confidence? Then ` +
    `say classes: ${classes - 1}`
  );
}

/** Largest allowed difference between a class id and the nearest whole number. */
const ID_SLACK = 0.1;

/** Returns a note if a class id is not whole. Allows half a step of the scale in a quantised column. */
export function checkClassIds({ work, block, image }: Moment<PlanInMemory>): string | null {
  const { memory, plan } = work;
  const [{ classId }] = plan.heads;
  // Only lists have a column of class ids, and lists have one head.
  if (!classId || plan.heads.length > 1) return null;
  const { i32 } = memory;
  const p = block >> 2;
  const s = plan.tensors[classId.tensor];
  const slack = Math.max(ID_SLACK, isFloat(s) ? 0 : (s.scale ?? 1) * 0.51);
  for (let i = 0; i < i32[p + A.P_CANDIDATES]; i++) {
    const cell = i32[(i32[p + A.P_SOURCES] >> 2) + i];
    const id = valueIn(work, image, classId, cell);
    if (Math.abs(id - Math.round(id)) > slack)
      return `class id ${Number(id.toPrecision(4))} is no whole number, and is rounded: does the column hold class ids?`;
  }
  return null;
}
