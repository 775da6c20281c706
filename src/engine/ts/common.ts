/**
 * Makes candidates of the most common heads, in one loop over cells. All constants are read before the loop. Twin of
 * `assembly/common.ts`, which leaves more heads to `admit`.
 * Only here: isColumn, admitColumn. In V8, one column of plain boxes took 1.2 to 1.7 times as long without them.
 */
import * as A from "../../core/abi.ts";
import { type Memory } from "../../core/memory.ts";
import { emit, isOutOfRange } from "./admit.ts";
import { BOX_NOT_FINITE, BOX_OK, activate, place } from "./box.ts";
import { largest, largestInRow, nextAbove } from "./classes.ts";
import { OBJECTNESS, SCORE, scratch32 } from "./registers.ts";
import { finite, fround, load } from "./value.ts";

/**
 * True if the classes of a head are independent, all are in use under one threshold, and only the best becomes a
 * candidate.
 */
function wantsBestClass({ i32 }: Memory, plan: number, head: number): boolean {
  const rule = i32[head + A.H_RULE];
  return (
    (rule === A.RULE_CLASS || rule === A.RULE_PRODUCT) &&
    i32[head + A.H_SCORE_FN] !== A.FN_SOFTMAX &&
    i32[head + A.H_CLASS_LIST] === 0 &&
    i32[head + A.H_CLASS_THRESHOLDS] === 0 &&
    i32[head + A.H_CLASS_ID] === 0 &&
    (i32[plan + A.P_FLAGS] & A.FLAG_MULTI_LABEL) === 0
  );
}

/** True if `admitCommon` can take a head. `known`: the gate finds the best class of each cell. */
export function isCommon(m: Memory, plan: number, head: number, known: boolean): boolean {
  const { i32 } = m;
  return (
    wantsBestClass(m, plan, head) &&
    (i32[head + A.H_OBJ] === 0 || i32[head + A.H_OBJ_TYPE] === A.TYPE_F32) &&
    (known || i32[head + A.H_SCORE_TYPE] === A.TYPE_F32)
  );
}

/**
 * Does the work of `admit` for the rows in the words [list, end). `best` is the word that holds the best class of row
 * `from`; 0 if the best classes are not known yet.
 *
 * One long function: each call in the loop would load the typed arrays again, and a returned double may become a heap
 * object.
 */
export function admitCommon(
  m: Memory,
  plan: number,
  head: number,
  list: number,
  end: number,
  best: number,
  from: number,
): void {
  const { i32, f32 } = m;
  const objectnessAt = i32[head + A.H_OBJ] >> 2;
  const objectnessCell = i32[head + A.H_OBJ_CELL] >> 2;
  const objectnessFn = i32[head + A.H_OBJ_FN];
  const objectnessThreshold = f32[head + A.H_OBJ_RAW_THRESHOLD];
  const at = i32[head + A.H_SCORE];
  const type = i32[head + A.H_SCORE_TYPE];
  const cell = i32[head + A.H_SCORE_CELL];
  const channel = i32[head + A.H_SCORE_CHANNEL];
  const fn = i32[head + A.H_SCORE_FN];
  const classes = i32[head + A.H_CLASSES];
  const base = i32[head + A.H_CLASS_BASE];
  const isProduct = i32[head + A.H_RULE] === A.RULE_PRODUCT;
  const maxObjectness = f32[head + A.H_MAX_OBJECTNESS];
  const maxProbability = f32[head + A.H_MAX_PROBABILITY];
  const threshold = f32[head + A.H_THRESHOLD];
  const rawThreshold = f32[head + A.H_SCORE_RAW_THRESHOLD];
  const isRow = channel === 4 && rawThreshold > 0;

  // A class below a bound is skipped, since its product with the objectness o cannot reach the threshold. For
  // probabilities the bound is threshold / o. For logits it is ln(threshold) - o, since sigmoid(x) < e^x. The bound is
  // lowered a little for rounding. Near the smallest floats rounding needs more, so no bound is used.
  const isBounded = isProduct && threshold > 1e-30 && fn === objectnessFn;
  const least = isBounded && fn === A.FN_NONE ? threshold * 0.999999 : 0;
  const logarithm = isBounded && fn === A.FN_SIGMOID ? Math.log(threshold) - 0.001 : -Infinity;

  // Make boxes here if they need neither sigmoid nor exp. `emit` makes the others, and those for which the columns have
  // no room.
  const kind = i32[head + A.H_KIND];
  const boxType = i32[head + A.H_BOX_TYPE];
  const boxCell = i32[head + A.H_BOX_CELL];
  const box0 = i32[head + A.H_BOX_0];
  const box1 = i32[head + A.H_BOX_1];
  const box2 = i32[head + A.H_BOX_2];
  const box3 = i32[head + A.H_BOX_3];
  const kx = f32[head + A.H_KX];
  const ky = f32[head + A.H_KY];
  const flags = i32[plan + A.P_FLAGS];
  const room = kind >= A.KIND_CENTRE ? i32[plan + A.P_CAPACITY] : 0;
  const boxes = i32[plan + A.P_BOXES] >> 2;
  const scores = i32[plan + A.P_SCORES] >> 2;
  const classIds = i32[plan + A.P_CLASS_IDS] >> 2;
  const sources = i32[plan + A.P_SOURCES] >> 2;
  const source = i32[head + A.H_SOURCE];
  const index = i32[head + A.H_INDEX] >> 2;
  const registers = scratch32;
  let next = i32[plan + A.P_CANDIDATES];
  for (; list < end; list++) {
    const row = i32[list];
    let objectness = 1;
    let score: number;
    let classIndex: number;
    if (best !== 0) {
      // Load the raw score of the class that the gate found.
      classIndex = i32[best + row - from];
      const p = at + row * cell + classIndex * channel;
      if (type === A.TYPE_F32) score = f32[p >> 2];
      else {
        load(m, type, p, head + A.H_SCORE_SCALE, SCORE);
        score = registers[SCORE];
      }
    } else {
      // Find the best class among those that reach the bound.
      if (objectnessAt !== 0) {
        objectness = f32[objectnessAt + row * objectnessCell];
        if (!(objectness >= objectnessThreshold)) continue;
      }
      const p = (at + row * cell) >> 2;
      if (least > 0)
        registers[SCORE] =
          objectness <= maxObjectness && least > rawThreshold * objectness
            ? least / objectness
            : rawThreshold;
      else registers[SCORE] = logarithm - objectness > rawThreshold ? logarithm - objectness : rawThreshold;
      classIndex = isRow ? largestInRow(m, p, classes) : largest(m, p, channel >> 2, classes);
      if (classIndex < 0) continue;
      score = f32[p + ((classIndex * channel) >> 2)];
    }
    if (isOutOfRange(objectnessFn, objectness, maxObjectness) || isOutOfRange(fn, score, maxProbability)) {
      i32[plan + A.P_OUT_OF_RANGE]++;
      continue;
    }

    // Convert the raw values to a score.
    if (objectnessFn !== A.FN_NONE || fn !== A.FN_NONE) {
      registers[OBJECTNESS] = objectness;
      registers[SCORE] = score;
      // Keep one call site for both activations, since V8 inlines a limited amount of code.
      for (let i = OBJECTNESS; i <= SCORE; i++) activate(i === SCORE ? fn : objectnessFn, i);
      objectness = registers[OBJECTNESS];
      score = registers[SCORE];
    }
    if (isProduct) score = fround(score * objectness);
    if (!(score >= threshold)) continue;
    if (next >= room) {
      i32[plan + A.P_CANDIDATES] = next;
      registers[SCORE] = score;
      emit(m, plan, head, row, base + classIndex);
      next = i32[plan + A.P_CANDIDATES];
      continue;
    }

    // Make the box and append the candidate.
    const shift = row * boxCell;
    if (boxType === A.TYPE_F32) {
      registers[0] = f32[(box0 + shift) >> 2] * kx;
      registers[1] = f32[(box1 + shift) >> 2] * ky;
      registers[2] = f32[(box2 + shift) >> 2] * kx;
      registers[3] = f32[(box3 + shift) >> 2] * ky;
    } else {
      load(m, boxType, box0 + shift, head + A.H_BOX_SCALE, 0);
      load(m, boxType, box1 + shift, head + A.H_BOX_SCALE, 1);
      load(m, boxType, box2 + shift, head + A.H_BOX_SCALE, 2);
      load(m, boxType, box3 + shift, head + A.H_BOX_SCALE, 3);
      registers[0] *= kx;
      registers[1] *= ky;
      registers[2] *= kx;
      registers[3] *= ky;
    }
    const fate = finite(score) ? place(kind, f32, flags, boxes + next * 4) : BOX_NOT_FINITE;
    if (fate === BOX_OK) {
      f32[scores + next] = score;
      i32[classIds + next] = base + classIndex;
      i32[sources + next++] = source + (index === 0 ? row : i32[index + row]);
    } else i32[plan + (fate === BOX_NOT_FINITE ? A.P_NOT_FINITE : A.P_EMPTY)]++;
  }
  i32[plan + A.P_CANDIDATES] = next;
}

/** True if `admitColumn` can take a head: one class, adjacent scores, and f32 boxes without an activation. */
export function isColumn({ i32 }: Memory, plan: number, head: number): boolean {
  return (
    i32[head + A.H_OBJ] === 0 &&
    i32[head + A.H_CLASSES] === 1 &&
    i32[head + A.H_SCORE_CELL] === 4 &&
    i32[head + A.H_KIND] >= A.KIND_CENTRE &&
    i32[head + A.H_SCORE_TYPE] === A.TYPE_F32 &&
    i32[head + A.H_BOX_TYPE] === A.TYPE_F32 &&
    i32[head + A.H_SCORE_FN] === A.FN_NONE &&
    i32[head + A.H_INDEX] === 0 &&
    (i32[plan + A.P_FLAGS] & A.FLAG_CLAMP_BEFORE) === 0
  );
}

/**
 * Does the work of the gate and of `admit` for `n` cells from `from` on. Repeats the steps of `place` here: a call of
 * `place` made a column 1.23 times as slow.
 */
export function admitColumn(m: Memory, plan: number, head: number, from: number, n: number): void {
  const { i32, f32 } = m;
  const first = (i32[head + A.H_SCORE] >> 2) + from;
  const end = first + n;
  const maxProbability = f32[head + A.H_MAX_PROBABILITY];
  const threshold = f32[head + A.H_THRESHOLD];
  const below = threshold > 0 ? i32[head + A.H_THRESHOLD] - 1 : -1;
  const classId = i32[head + A.H_CLASS_BASE];
  const kind = i32[head + A.H_KIND];
  const boxCell = i32[head + A.H_BOX_CELL] >> 2;
  const box0 = i32[head + A.H_BOX_0] >> 2;
  const box1 = i32[head + A.H_BOX_1] >> 2;
  const box2 = i32[head + A.H_BOX_2] >> 2;
  const box3 = i32[head + A.H_BOX_3] >> 2;
  const kx = f32[head + A.H_KX];
  const ky = f32[head + A.H_KY];
  const boxes = i32[plan + A.P_BOXES] >> 2;
  const scores = i32[plan + A.P_SCORES] >> 2;
  const classIds = i32[plan + A.P_CLASS_IDS] >> 2;
  const sources = i32[plan + A.P_SOURCES] >> 2;
  const source = i32[head + A.H_SOURCE];
  const room = i32[plan + A.P_CAPACITY];
  let next = i32[plan + A.P_CANDIDATES];
  for (let w = first; w < end; w++) {
    // Skip eight cells at a time by their bits: few cells of most columns pass.
    if (below >= 0 && ((w - first) & 7) === 0 && (w = nextAbove(i32, w, end - 7, below)) >= end) break;
    const score = f32[w];
    if (!(score >= threshold)) continue;
    if (isOutOfRange(A.FN_NONE, score, maxProbability)) {
      i32[plan + A.P_OUT_OF_RANGE]++;
      continue;
    }
    if (next >= room) {
      i32[plan + A.P_OVERFLOW]++;
      continue;
    }

    // Make the box.
    const row = from + w - first;
    const shift = row * boxCell;
    let x1 = fround(f32[box0 + shift] * kx);
    let y1 = fround(f32[box1 + shift] * ky);
    let x2 = fround(f32[box2 + shift] * kx);
    let y2 = fround(f32[box3 + shift] * ky);
    if (kind === A.KIND_CENTRE) {
      const halfWidth = fround(x2 * 0.5);
      const halfHeight = fround(y2 * 0.5);
      x2 = fround(x1 + halfWidth);
      y2 = fround(y1 + halfHeight);
      x1 = fround(x1 - halfWidth);
      y1 = fround(y1 - halfHeight);
    } else if (kind === A.KIND_TOPLEFT) {
      x2 = fround(x1 + x2);
      y2 = fround(y1 + y2);
    }
    // Test the sum: five finite floats have a finite sum in doubles.
    if (!finite(x1 + y1 + x2 + y2 + score)) {
      i32[plan + A.P_NOT_FINITE]++;
      continue;
    }

    // Append the candidate.
    const out = boxes + next * 4;
    f32[out] = x1;
    f32[out + 1] = y1;
    f32[out + 2] = x2;
    f32[out + 3] = y2;
    f32[scores + next] = score;
    i32[classIds + next] = classId;
    i32[sources + next++] = source + row;
  }
  i32[plan + A.P_CANDIDATES] = next;
}
