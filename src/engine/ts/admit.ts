/**
 * Makes candidates of the cells that passed the gate: class, score and box, for every kind of head. Twin of
 * `assembly/admit.ts`. Registers (registers.ts) hold objectness, score and the sums of a softmax.
 */
import * as A from "../../core/abi.ts";
import { type Memory } from "../../core/memory.ts";
import { BOX_NOT_FINITE, BOX_OK, activate, box } from "./box.ts";
import { bestClass, classAt } from "./classes.ts";
import { exp, power } from "./exp.ts";
import { passesRaw } from "./gate.ts";
import { makeRoom } from "./overflow.ts";
import { OBJECTNESS, SCORE, SUM, TOP_LOGIT, scratch32, scratch64 } from "./registers.ts";
import { finite, fround, load } from "./value.ts";

/** Makes the candidates of one cell. `best` is the cell's best class, or -1 if the gate has not found it. */
export function admit(m: Memory, plan: number, head: number, row: number, best: number): void {
  const { i32, f32 } = m;
  let outOfRange = false;
  scratch32[OBJECTNESS] = 1;

  // Compute objectness. Count a value outside 0..1 only if a class passes too.
  if (i32[head + A.H_OBJ] !== 0) {
    const at = i32[head + A.H_OBJ] + row * i32[head + A.H_OBJ_CELL];
    const type = i32[head + A.H_OBJ_TYPE];
    const fn = i32[head + A.H_OBJ_FN];
    if (!passesRaw(m, type, head + A.H_OBJ_RAW_THRESHOLD, at)) return;
    load(m, type, at, head + A.H_OBJ_SCALE, OBJECTNESS);
    outOfRange = isOutOfRange(fn, scratch32[OBJECTNESS], f32[head + A.H_MAX_OBJECTNESS]);
    activate(fn, OBJECTNESS);
    if (i32[head + A.H_RULE] === A.RULE_OBJECTNESS) {
      scratch32[SCORE] = scratch32[OBJECTNESS];
      if (outOfRange) i32[plan + A.P_OUT_OF_RANGE]++;
      else if (scratch32[SCORE] >= f32[head + A.H_THRESHOLD])
        emit(m, plan, head, row, i32[head + A.H_CLASS_BASE]);
      return;
    }
  }
  if (i32[head + A.H_CLASS_ID] !== 0) {
    admitClassId(m, plan, head, row);
    return;
  }

  // Reject by an upper bound of the softmax score, e^(largest class logit - largest logit). Most background cells end
  // here, before any exp.
  if (i32[head + A.H_SCORE_FN] === A.FN_SOFTMAX) {
    const classList = i32[head + A.H_CLASS_LIST] >> 2;
    largestLogit(m, head, row, i32[head + A.H_SCORE], i32[head + A.H_CLASSES], classList);
    const highest = scratch32[TOP_LOGIT];
    largestLogit(m, head, row, i32[head + A.H_SOFT], i32[head + A.H_SOFT_COUNT], 0);
    if (!(fround(highest - scratch32[TOP_LOGIT]) >= f32[head + A.H_SCORE_RAW_THRESHOLD])) return;
    sumSoftmax(m, head, row);
  }

  const isMultiLabel = (i32[plan + A.P_FLAGS] & A.FLAG_MULTI_LABEL) !== 0;
  if (i32[head + A.H_CLASS_THRESHOLDS] !== 0 || isMultiLabel)
    admitEach(m, plan, head, row, outOfRange, isMultiLabel);
  else admitBest(m, plan, head, row, outOfRange, best);
}

/** Returns the class id nearest to a value. Quantised columns have fractions. */
function nearestId(classId: number): number {
  return Math.floor(classId + 0.5);
}

/** Makes the candidate of a cell whose class id has its own column. */
function admitClassId(m: Memory, plan: number, head: number, row: number): void {
  const { i32, f32 } = m;
  const fn = i32[head + A.H_SCORE_FN];
  const at = i32[head + A.H_SCORE] + row * i32[head + A.H_SCORE_CELL];
  load(m, i32[head + A.H_SCORE_TYPE], at, head + A.H_SCORE_SCALE, SCORE);
  if (isOutOfRange(fn, scratch32[SCORE], f32[head + A.H_MAX_PROBABILITY])) {
    i32[plan + A.P_OUT_OF_RANGE]++;
    return;
  }
  activate(fn, SCORE);
  if (!(scratch32[SCORE] >= f32[head + A.H_THRESHOLD])) return;
  const classIdAt = i32[head + A.H_CLASS_ID] + row * i32[head + A.H_CLASS_ID_CELL];
  load(m, i32[head + A.H_CLASS_ID_TYPE], classIdAt, head + A.H_CLASS_ID_SCALE, 0);
  const classId = scratch32[0];
  // Drop a class id that does not fit an i32.
  if (!(classId > -2147483000 && classId < 2147483000)) i32[plan + A.P_NOT_FINITE]++;
  else emitWithClassId(m, plan, head, row, nearestId(classId) + i32[head + A.H_CLASS_BASE]);
}

/** Puts the largest of `n` logits of a row into the TOP_LOGIT register, or -Infinity if all are NaN. */
function largestLogit(
  m: Memory,
  head: number,
  row: number,
  first: number,
  n: number,
  classList: number,
): void {
  const { i32 } = m;
  const at = first + row * i32[head + A.H_SCORE_CELL];
  const step = i32[head + A.H_SCORE_CHANNEL];
  const type = i32[head + A.H_SCORE_TYPE];
  let top = -Infinity;
  for (let i = 0; i < n; i++) {
    load(m, type, at + classAt(i32, classList, i) * step, head + A.H_SCORE_SCALE, SCORE);
    if (scratch32[SCORE] > top) top = scratch32[SCORE];
  }
  scratch32[TOP_LOGIT] = top;
}

/** Puts the sum of e^(logit - top) over the logits of a row into the SUM register. A NaN logit counts as nothing. */
function sumSoftmax(m: Memory, head: number, row: number): void {
  const { i32 } = m;
  const at = i32[head + A.H_SOFT] + row * i32[head + A.H_SCORE_CELL];
  const step = i32[head + A.H_SCORE_CHANNEL];
  const type = i32[head + A.H_SCORE_TYPE];
  const logits = i32[head + A.H_SOFT_COUNT];
  const top = scratch32[TOP_LOGIT];
  let sum = 0;
  for (let i = 0; i < logits; i++) {
    load(m, type, at + i * step, head + A.H_SCORE_SCALE, SCORE);
    const logit = scratch32[SCORE];
    if (logit !== logit) continue;
    scratch64[0] = fround(logit - top);
    exp();
    sum += scratch64[0];
  }
  scratch64[SUM] = sum;
}

/**
 * Makes a candidate of each class that passes (multi-label), or of the best class that passes its own threshold. The
 * best class has the largest raw value, as under a single threshold.
 */
function admitEach(
  m: Memory,
  plan: number,
  head: number,
  row: number,
  objectnessOutOfRange: boolean,
  isMultiLabel: boolean,
): void {
  const { i32, f32 } = m;
  const at = i32[head + A.H_SCORE] + row * i32[head + A.H_SCORE_CELL];
  const step = i32[head + A.H_SCORE_CHANNEL];
  const fn = i32[head + A.H_SCORE_FN];
  const type = i32[head + A.H_SCORE_TYPE];
  const base = i32[head + A.H_CLASS_BASE];
  const classes = i32[head + A.H_CLASSES];
  const classList = i32[head + A.H_CLASS_LIST] >> 2;
  const thresholds = i32[head + A.H_CLASS_THRESHOLDS] >> 2;
  let best = -1;
  let highest = -Infinity;
  let highestScore = 0;
  for (let i = 0; i < classes; i++) {
    const c = classAt(i32, classList, i);
    const p = at + c * step;
    if (fn !== A.FN_SOFTMAX && !passesRaw(m, type, head + A.H_SCORE_RAW_THRESHOLD, p)) continue;
    load(m, type, p, head + A.H_SCORE_SCALE, SCORE);
    // Compare the integers: some i32 values have no exact f32.
    const order = type === A.TYPE_I32 ? i32[p >> 2] : scratch32[SCORE];
    // Skip a masked class (-Infinity), which passes no threshold, not even 0.
    if (order === -Infinity) continue;
    if (objectnessOutOfRange || isOutOfRange(fn, scratch32[SCORE], f32[head + A.H_MAX_PROBABILITY])) {
      i32[plan + A.P_OUT_OF_RANGE]++;
      return;
    }
    convert(fn);
    combine(i32[head + A.H_RULE]);
    const score = scratch32[SCORE];
    if (!(score >= f32[thresholds === 0 ? head + A.H_THRESHOLD : thresholds + i])) continue;
    if (isMultiLabel) emit(m, plan, head, row, base + c);
    else if (order > highest) {
      best = c;
      highest = order;
      highestScore = score;
    }
  }
  scratch32[SCORE] = highestScore;
  if (best >= 0) emit(m, plan, head, row, base + best);
}

/** Makes the candidate of a cell's best class. `best` is that class, or -1 if unknown. */
function admitBest(
  m: Memory,
  plan: number,
  head: number,
  row: number,
  objectnessOutOfRange: boolean,
  best: number,
): void {
  const { i32, f32 } = m;
  const at = i32[head + A.H_SCORE] + row * i32[head + A.H_SCORE_CELL];
  const step = i32[head + A.H_SCORE_CHANNEL];
  const fn = i32[head + A.H_SCORE_FN];
  const type = i32[head + A.H_SCORE_TYPE];
  const isKnown = best >= 0;
  if (!isKnown) best = bestClass(m, type, at, step, i32[head + A.H_CLASSES], i32[head + A.H_CLASS_LIST] >> 2);
  if (best < 0) return;
  const p = at + best * step;
  // Stop below the raw threshold, where no score passes. (A product with an infinite objectness would pass, but is no
  // valid score.)
  if (!isKnown && fn !== A.FN_SOFTMAX && !passesRaw(m, type, head + A.H_SCORE_RAW_THRESHOLD, p)) return;
  load(m, type, p, head + A.H_SCORE_SCALE, SCORE);
  if (objectnessOutOfRange || isOutOfRange(fn, scratch32[SCORE], f32[head + A.H_MAX_PROBABILITY])) {
    i32[plan + A.P_OUT_OF_RANGE]++;
    return;
  }
  convert(fn);
  combine(i32[head + A.H_RULE]);
  if (scratch32[SCORE] >= f32[head + A.H_THRESHOLD])
    emit(m, plan, head, row, i32[head + A.H_CLASS_BASE] + best);
}

/** True if x should be a probability but exceeds 1. Infinities are dropped later as not finite. */
export function isOutOfRange(fn: number, x: number, maxProbability: number): boolean {
  return fn === A.FN_NONE && x > maxProbability && finite(x);
}

/** Applies the function of the head to the raw score in the SCORE register. */
function convert(fn: number): void {
  if (fn !== A.FN_SOFTMAX) activate(fn, SCORE);
  else if (scratch32[SCORE] === scratch32[SCORE]) {
    scratch64[0] = fround(scratch32[SCORE] - scratch32[TOP_LOGIT]);
    exp();
    scratch32[SCORE] = scratch64[0] / scratch64[SUM];
  }
}

/** Combines the SCORE register with the OBJECTNESS register. */
function combine(rule: number): void {
  if (rule === A.RULE_PRODUCT) scratch32[SCORE] *= scratch32[OBJECTNESS];
  else if (rule !== A.RULE_CLASS)
    scratch32[SCORE] = power(scratch32[OBJECTNESS], 0.6) * power(scratch32[SCORE], 0.4);
}

/** Emits a candidate whose class id comes from a column, if it passes the class filter and its own threshold. */
function emitWithClassId(m: Memory, plan: number, head: number, row: number, classId: number): void {
  const { i32, f32 } = m;
  const length = i32[head + A.H_LIST_LENGTH];
  if (length !== 0) {
    const list = i32[head + A.H_CLASS_LIST] >> 2;
    const thresholds = i32[head + A.H_CLASS_THRESHOLDS] >> 2;
    let i = 0;
    while (i < length && classAt(i32, list, i) !== classId) i++;
    if (i === length) {
      if (list !== 0) return;
    } else if (thresholds !== 0 && !(scratch32[SCORE] >= f32[thresholds + i])) return;
  }
  emit(m, plan, head, row, classId);
}

/**
 * Appends a candidate with the score in SCORE, unless its score or box is not finite. If the columns are full, the
 * worst candidates make room.
 */
export function emit(m: Memory, plan: number, head: number, row: number, classId: number): void {
  const { i32, f32 } = m;
  const score = scratch32[SCORE];
  if (i32[plan + A.P_CANDIDATES] >= i32[plan + A.P_CAPACITY]) makeRoom(m, plan);
  const at = i32[plan + A.P_CANDIDATES];
  const index = i32[head + A.H_INDEX] >> 2;
  const cell = index === 0 ? row : i32[index + row];
  const out = (i32[plan + A.P_BOXES] >> 2) + at * 4;
  const fate = finite(score) ? box(m, head, row, cell, i32[plan + A.P_FLAGS], out) : BOX_NOT_FINITE;
  if (fate !== BOX_OK) {
    i32[plan + (fate === BOX_NOT_FINITE ? A.P_NOT_FINITE : A.P_EMPTY)]++;
    return;
  }
  f32[(i32[plan + A.P_SCORES] >> 2) + at] = score;
  i32[(i32[plan + A.P_CLASS_IDS] >> 2) + at] = classId;
  i32[(i32[plan + A.P_SOURCES] >> 2) + at] = i32[head + A.H_SOURCE] + cell;
  i32[plan + A.P_CANDIDATES] = at + 1;
}
