/**
 * Makes candidates of the cells that passed the gate: class, score and box, for every kind of head.
 *
 * Only here: leastScore. `admitCommon` of the TypeScript engine computes its own bound in doubles.
 */
import {
  FLAG_MULTI_LABEL,
  FN_NONE,
  FN_SIGMOID,
  FN_SOFTMAX,
  H_MAX_OBJECTNESS,
  H_MAX_PROBABILITY,
  H_CLASSES,
  H_CLASS_BASE,
  H_CLASS_ID,
  H_CLASS_ID_CELL,
  H_CLASS_ID_SCALE,
  H_CLASS_ID_TYPE,
  H_CLASS_ID_ZERO,
  H_CLASS_LIST,
  H_CLASS_THRESHOLDS,
  H_INDEX,
  H_LIST_LENGTH,
  H_OBJ,
  H_OBJ_CELL,
  H_OBJ_FN,
  H_OBJ_SCALE,
  H_OBJ_TYPE,
  H_OBJ_ZERO,
  H_RULE,
  H_SCORE,
  H_SCORE_CELL,
  H_SCORE_CHANNEL,
  H_SCORE_FN,
  H_SCORE_RAW_THRESHOLD,
  H_SCORE_SCALE,
  H_SCORE_TYPE,
  H_SCORE_ZERO,
  H_SOFT,
  H_SOFT_COUNT,
  H_SOURCE,
  H_THRESHOLD,
  P_BOXES,
  P_CANDIDATES,
  P_CAPACITY,
  P_CLASS_IDS,
  P_FLAGS,
  P_EMPTY,
  P_NOT_FINITE,
  P_OUT_OF_RANGE,
  P_SCORES,
  P_SOURCES,
  RULE_CLASS,
  RULE_OBJECTNESS,
  RULE_PRODUCT,
  TYPE_F32,
  TYPE_I32,
} from "../src/core/abi";
import { BOX_NOT_FINITE, BOX_OK, activate, box } from "./box";
import { bestOf, classAt, largest, largestInRow } from "./classes";
import { exp, power } from "./exp";
import { passesRaw } from "./gate";
import { makeRoom } from "./overflow";
import { finite, value } from "./value";
import { flt, increment, int, ptr, setInt } from "./word";

/** Value of `best` if the gate has not found the best class. */
export const UNKNOWN: i32 = -2;

/** Makes the candidates of one cell. `best` is the index of its best class in the class list, or UNKNOWN. */
export function admit(plan: usize, head: usize, row: i32, best: i32): void {
  const rule = int(head, H_RULE);
  let objectness: f32 = 1;
  let outOfRange = false;

  // Apply the objectness. A value outside 0..1 is counted only if a class passes.
  if (ptr(head, H_OBJ) != 0) {
    const at = ptr(head, H_OBJ) + <usize>row * ptr(head, H_OBJ_CELL);
    const fn = int(head, H_OBJ_FN);
    objectness = value(int(head, H_OBJ_TYPE), at, flt(head, H_OBJ_SCALE), flt(head, H_OBJ_ZERO));
    // Drop a NaN of f16, which the gate with vectors lets pass.
    if (objectness != objectness) return;
    outOfRange = isOutOfRange(fn, objectness, flt(head, H_MAX_OBJECTNESS));
    objectness = activate(fn, objectness);
    if (rule == RULE_OBJECTNESS) {
      if (outOfRange) increment(plan, P_OUT_OF_RANGE);
      else if (objectness >= flt(head, H_THRESHOLD))
        emit(plan, head, row, int(head, H_CLASS_BASE), objectness);
      return;
    }
  }
  if (ptr(head, H_CLASS_ID) != 0) return admitClassId(plan, head, row);

  // Apply the softmax. The score is at most e^(largest class logit - largest logit). Most background cells end here,
  // before any exp.
  let top: f32 = 0;
  let sum: f64 = 1;
  if (int(head, H_SCORE_FN) == FN_SOFTMAX) {
    const classList = ptr(head, H_CLASS_LIST);
    const highest = largestLogit(head, row, ptr(head, H_SCORE), int(head, H_CLASSES), classList);
    top = largestLogit(head, row, ptr(head, H_SOFT), int(head, H_SOFT_COUNT), 0);
    if (!(highest - top >= flt(head, H_SCORE_RAW_THRESHOLD))) return;
    sum = sumSoftmax(head, row, top);
  }

  const isMultiLabel = (int(plan, P_FLAGS) & FLAG_MULTI_LABEL) != 0;
  if (ptr(head, H_CLASS_THRESHOLDS) != 0 || isMultiLabel)
    admitEach(plan, head, row, objectness, outOfRange, isMultiLabel, top, sum);
  else admitBest(plan, head, row, objectness, outOfRange, best, top, sum);
}

/** Returns the class id nearest to a number. Quantised columns hold fractions. In f64, `classId + 0.5` is exact. */
// @ts-ignore: decorator
@inline
function nearestId(classId: f32): i32 {
  return <i32>Math.floor(<f64>classId + 0.5);
}

/** Makes the candidate of a cell whose class id is in a separate column. */
function admitClassId(plan: usize, head: usize, row: i32): void {
  const fn = int(head, H_SCORE_FN);
  const at = ptr(head, H_SCORE) + <usize>row * ptr(head, H_SCORE_CELL);
  let score = value(int(head, H_SCORE_TYPE), at, flt(head, H_SCORE_SCALE), flt(head, H_SCORE_ZERO));
  if (isOutOfRange(fn, score, flt(head, H_MAX_PROBABILITY))) {
    increment(plan, P_OUT_OF_RANGE);
    return;
  }
  score = activate(fn, score);
  if (!(score >= flt(head, H_THRESHOLD))) return;
  const classId = value(
    int(head, H_CLASS_ID_TYPE),
    ptr(head, H_CLASS_ID) + <usize>row * ptr(head, H_CLASS_ID_CELL),
    flt(head, H_CLASS_ID_SCALE),
    flt(head, H_CLASS_ID_ZERO),
  );
  // Drop a class id that does not fit an i32.
  if (!(classId > -2147483000 && classId < 2147483000)) increment(plan, P_NOT_FINITE);
  else emitWithClassId(plan, head, row, nearestId(classId) + int(head, H_CLASS_BASE), score);
}

/** Returns the largest of `n` logits of a row; -Infinity if all are NaN. */
function largestLogit(head: usize, row: i32, first: usize, n: i32, classList: usize): f32 {
  const at = first + <usize>row * ptr(head, H_SCORE_CELL);
  const step = ptr(head, H_SCORE_CHANNEL);
  const type = int(head, H_SCORE_TYPE);
  const scale = flt(head, H_SCORE_SCALE);
  const zero = flt(head, H_SCORE_ZERO);
  let top: f32 = -Infinity;
  for (let i = 0; i < n; i++) {
    const logit = value(type, at + classAt(classList, i) * step, scale, zero);
    if (logit > top) top = logit;
  }
  return top;
}

/** Returns the sum of e^(logit - top) over the logits of a row. Ignores NaN. */
function sumSoftmax(head: usize, row: i32, top: f32): f64 {
  const at = ptr(head, H_SOFT) + <usize>row * ptr(head, H_SCORE_CELL);
  const step = ptr(head, H_SCORE_CHANNEL);
  const type = int(head, H_SCORE_TYPE);
  const scale = flt(head, H_SCORE_SCALE);
  const zero = flt(head, H_SCORE_ZERO);
  const logits = int(head, H_SOFT_COUNT);
  let sum: f64 = 0;
  for (let i = 0; i < logits; i++) {
    const logit = value(type, at + <usize>i * step, scale, zero);
    if (logit == logit) sum += exp(<f64>(logit - top));
  }
  return sum;
}

/**
 * Makes a candidate of each class that passes (multi-label), or of the best class that passes its own threshold. The
 * best class is the one with the largest raw value, as under a single threshold: several logits may have the same f32
 * probability.
 */
function admitEach(
  plan: usize,
  head: usize,
  row: i32,
  objectness: f32,
  objectnessOutOfRange: bool,
  isMultiLabel: bool,
  top: f32,
  sum: f64,
): void {
  const at = ptr(head, H_SCORE) + <usize>row * ptr(head, H_SCORE_CELL);
  const step = ptr(head, H_SCORE_CHANNEL);
  const fn = int(head, H_SCORE_FN);
  const type = int(head, H_SCORE_TYPE);
  const base = int(head, H_CLASS_BASE);
  const classes = int(head, H_CLASSES);
  const classList = ptr(head, H_CLASS_LIST);
  const thresholds = ptr(head, H_CLASS_THRESHOLDS);
  let best = -1;
  let highest: f64 = -Infinity;
  let highestScore: f32 = 0;
  for (let i = 0; i < classes; i++) {
    const c = classAt(classList, i);
    const p = at + c * step;
    if (fn != FN_SOFTMAX && !passesRaw(head, type, p)) continue;
    const raw = value(type, p, flt(head, H_SCORE_SCALE), flt(head, H_SCORE_ZERO));
    // Skip a masked class (-Infinity), which passes no threshold, not even 0.
    if (raw == -Infinity) continue;
    if (objectnessOutOfRange || isOutOfRange(fn, raw, flt(head, H_MAX_PROBABILITY))) {
      increment(plan, P_OUT_OF_RANGE);
      return;
    }
    const score = combine(int(head, H_RULE), objectness, convert(fn, raw, top, sum));
    const least = thresholds != 0 ? load<f32>(thresholds + ((<usize>i) << 2)) : flt(head, H_THRESHOLD);
    if (!(score >= least)) continue;
    if (isMultiLabel) {
      emit(plan, head, row, base + <i32>c, score);
      continue;
    }
    // Compare as f64: f32 cannot represent every i32.
    const order = type == TYPE_I32 ? <f64>load<i32>(p) : <f64>raw;
    if (order > highest) {
      best = <i32>c;
      highest = order;
      highestScore = score;
    }
  }
  if (best >= 0) emit(plan, head, row, base + best, highestScore);
}

/** Makes the candidate of the best class of a cell. `best` is its index in the class list, or UNKNOWN. */
// @ts-ignore: decorator
@inline
function admitBest(
  plan: usize,
  head: usize,
  row: i32,
  objectness: f32,
  objectnessOutOfRange: bool,
  best: i32,
  top: f32,
  sum: f64,
): void {
  const rule = int(head, H_RULE);
  const at = ptr(head, H_SCORE) + <usize>row * ptr(head, H_SCORE_CELL);
  const step = ptr(head, H_SCORE_CHANNEL);
  const fn = int(head, H_SCORE_FN);
  const type = int(head, H_SCORE_TYPE);
  const classes = int(head, H_CLASSES);
  const classList = ptr(head, H_CLASS_LIST);

  // Find the best class. Without vectors, a bound skips most classes.
  if (!ASC_FEATURE_SIMD && best == UNKNOWN && type == TYPE_F32 && classList == 0) {
    const least: f32 =
      fn == FN_SOFTMAX ? -Infinity : leastScore(head, rule, fn, objectnessOutOfRange ? 0 : objectness);
    best = step == 4 && least > 0 ? largestInRow(at, classes, least) : largest(at, step, classes, least);
  }
  if (best == UNKNOWN) best = bestOf(type, head, at, step, classes, classList);
  if (best < 0) return;

  // Make the score. Below the raw threshold no score passes. The one exception is the product with an infinite
  // objectness, which is dropped later.
  const c = classAt(classList, best);
  const p = at + c * step;
  if (fn != FN_SOFTMAX && !passesRaw(head, type, p)) return;
  const raw = value(type, p, flt(head, H_SCORE_SCALE), flt(head, H_SCORE_ZERO));
  if (objectnessOutOfRange || isOutOfRange(fn, raw, flt(head, H_MAX_PROBABILITY))) {
    increment(plan, P_OUT_OF_RANGE);
    return;
  }
  const score = combine(rule, objectness, convert(fn, raw, top, sum));
  if (score >= flt(head, H_THRESHOLD)) emit(plan, head, row, int(head, H_CLASS_BASE) + <i32>c, score);
}

/**
 * Returns a bound: a raw class score below it does not pass in a cell with this objectness. For probabilities the bound
 * is threshold / objectness. For logits it is the logarithm of this quotient, since sigmoid(x) < e^x. Both bounds are
 * lowered a little, because of rounding.
 */
function leastScore(head: usize, rule: i32, fn: i32, objectness: f32): f32 {
  const least = flt(head, H_SCORE_RAW_THRESHOLD);
  const threshold = flt(head, H_THRESHOLD);
  // Near the smallest floats, rounding needs a larger margin.
  if (rule != RULE_PRODUCT || !(objectness > 0) || !(threshold > 1e-30)) return least;
  let share: f32 = (threshold * <f32>0.999999) / objectness;
  // Take the bits of a float, minus those of 1, as 2^23 times its binary logarithm. Between powers of two the bits rise
  // in a straight line and the logarithm lies above this line, so the result is never too large. The factor is ln 2 /
  // 2^23.
  if (fn == FN_SIGMOID) share = <f32>(reinterpret<i32>(share) - 0x3f800000) * <f32>8.262958e-8 - <f32>0.001;
  else if (fn != FN_NONE) return least;
  return share > least ? share : least;
}

/** True if x should be a probability but exceeds 1. Infinities are dropped later as not finite. */
// @ts-ignore: decorator
@inline
export function isOutOfRange(fn: i32, x: f32, maxProbability: f32): bool {
  return fn == FN_NONE && x > maxProbability && finite(x);
}

/** Applies the function of the head to a raw score. `top` and `sum` are the largest logit and the sum of a softmax. */
// @ts-ignore: decorator
@inline
function convert(fn: i32, raw: f32, top: f32, sum: f64): f32 {
  if (fn == FN_NONE) return raw;
  if (fn == FN_SOFTMAX) return raw == raw ? <f32>(exp(<f64>(raw - top)) / sum) : raw;
  return activate(fn, raw);
}

/** Combines a class score with the objectness. */
// @ts-ignore: decorator
@inline
function combine(rule: i32, objectness: f32, score: f32): f32 {
  if (rule == RULE_CLASS) return score;
  if (rule == RULE_PRODUCT) return objectness * score;
  return <f32>(power(<f64>objectness, 0.6) * power(<f64>score, 0.4));
}

/**
 * Appends a candidate whose class id comes from a column, if the class filter and the class's threshold let it pass.
 */
function emitWithClassId(plan: usize, head: usize, row: i32, classId: i32, score: f32): void {
  const length = int(head, H_LIST_LENGTH);
  if (length != 0) {
    const list = ptr(head, H_CLASS_LIST);
    const thresholds = ptr(head, H_CLASS_THRESHOLDS);
    let i = 0;
    while (i < length && <i32>classAt(list, i) != classId) i++;
    if (i == length) {
      if (list != 0) return;
    } else if (thresholds != 0 && !(score >= load<f32>(thresholds + ((<usize>i) << 2)))) return;
  }
  emit(plan, head, row, classId, score);
}

/**
 * Appends a candidate, unless its score or box is not finite. If the columns are full, the worst candidates make room.
 */
export function emit(plan: usize, head: usize, row: i32, classId: i32, score: f32): void {
  if (int(plan, P_CANDIDATES) >= int(plan, P_CAPACITY)) makeRoom(plan);
  const at = int(plan, P_CANDIDATES);
  const index = ptr(head, H_INDEX);
  const cell = index != 0 ? load<i32>(index + ((<usize>row) << 2)) : row;
  const i = <usize>at;
  const fate = finite(score)
    ? box(head, row, cell, int(plan, P_FLAGS), ptr(plan, P_BOXES) + (i << 4))
    : BOX_NOT_FINITE;
  if (fate != BOX_OK) {
    increment(plan, fate == BOX_NOT_FINITE ? P_NOT_FINITE : P_EMPTY);
    return;
  }
  store<f32>(ptr(plan, P_SCORES) + (i << 2), score);
  store<i32>(ptr(plan, P_CLASS_IDS) + (i << 2), classId);
  store<i32>(ptr(plan, P_SOURCES) + (i << 2), int(head, H_SOURCE) + cell);
  setInt(plan, P_CANDIDATES, at + 1);
}
