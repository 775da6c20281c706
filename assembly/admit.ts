/** The exact work for a cell that passed the gate: its class, its score, its box. */
import {
  FLAG_MULTI_LABEL,
  FN_NONE,
  FN_SIGMOID,
  FN_SOFTMAX,
  H_CHECK,
  H_CLASSES,
  H_CLASS_BASE,
  H_CLASS_THRESHOLDS,
  H_CLASS_LIST,
  H_THRESHOLD,
  H_INDEX,
  H_CLASS_ID,
  H_LIST_LENGTH,
  H_CLASS_ID_CELL,
  H_CLASS_ID_SCALE,
  H_CLASS_ID_TYPE,
  H_CLASS_ID_ZERO,
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
  P_BOXES,
  P_CANDIDATES,
  P_CAPACITY,
  P_FLAGS,
  P_CLASS_IDS,
  P_NOT_FINITE,
  P_OUT_OF_RANGE,
  P_OVERFLOW,
  P_SCORES,
  P_SOURCES,
  RULE_CLASS,
  RULE_OBJECTNESS,
  RULE_PRODUCT,
  TYPE_F32,
} from "../src/core/abi";
import { exp, power } from "./exp";
import { BOX_NOT_FINITE, BOX_OK, activate, box } from "./box";
import { bestOf, largest, largestInRow } from "./classes";
import { classAt, passesRaw } from "./head";
import { finite, value } from "./value";
import { flt, increment, int, ptr, setInt } from "./word";

/** The class of a cell is still to be found. */
export const UNKNOWN: i32 = -2;

/** The exact work for one cell that passed the gate. `best`: the number of its class in the list of classes, or `UNKNOWN`. */
export function admit(plan: usize, head: usize, row: i32, best: i32): void {
  const rule = int(head, H_RULE);
  let o: f32 = 1;
  // objectness outside 0..1: told once a class passes too
  let odd = false;
  const objectness = ptr(head, H_OBJ);
  if (objectness != 0) {
    o = value(
      int(head, H_OBJ_TYPE),
      objectness + <usize>row * ptr(head, H_OBJ_CELL),
      flt(head, H_OBJ_SCALE),
      flt(head, H_OBJ_ZERO),
    );
    // the vector gate lets a NaN of an f16 through
    if (o != o) return;
    const fn = int(head, H_OBJ_FN);
    if (fn != FN_NONE) o = activate(fn, o);
    else odd = o > flt(head, H_CHECK) && finite(o);
    if (rule == RULE_OBJECTNESS) {
      if (odd) return outOfRange(plan);
      emit(plan, head, row, int(head, H_CLASS_BASE), o, flt(head, H_THRESHOLD));
      return;
    }
  }

  const at = ptr(head, H_SCORE) + <usize>row * ptr(head, H_SCORE_CELL);
  const step = ptr(head, H_SCORE_CHANNEL);
  const fn = int(head, H_SCORE_FN);
  const scale = flt(head, H_SCORE_SCALE);
  const zero = flt(head, H_SCORE_ZERO);
  const type = int(head, H_SCORE_TYPE);

  if (ptr(head, H_CLASS_ID) != 0) {
    const label = value(
      int(head, H_CLASS_ID_TYPE),
      ptr(head, H_CLASS_ID) + <usize>row * ptr(head, H_CLASS_ID_CELL),
      flt(head, H_CLASS_ID_SCALE),
      flt(head, H_CLASS_ID_ZERO),
    );
    let s = value(type, at, scale, zero);
    if (fn != FN_NONE) s = activate(fn, s);
    else if (s > flt(head, H_CHECK) && finite(s)) return outOfRange(plan);
    if (!(s >= flt(head, H_THRESHOLD))) return;
    // a label that no i32 holds: nothing can be said about this row
    if (!(label > -2147483000 && label < 2147483000)) {
      increment(plan, P_NOT_FINITE);
      return;
    }
    emitWithClassId(plan, head, row, <i32>label + int(head, H_CLASS_BASE), s);
    return;
  }

  const classes = int(head, H_CLASSES);
  const base = int(head, H_CLASS_BASE);
  const classList = ptr(head, H_CLASS_LIST);
  const gates = ptr(head, H_CLASS_THRESHOLDS);

  let top: f32 = 0;
  let sum: f64 = 1;
  if (fn == FN_SOFTMAX) {
    const soft = ptr(head, H_SOFT) + <usize>row * ptr(head, H_SCORE_CELL);
    const logits = int(head, H_SOFT_COUNT);
    top = -Infinity;
    for (let i = 0; i < logits; i++) {
      const x = value(type, soft + <usize>i * step, scale, zero);
      if (x > top) top = x;
    }
    // p <= e^(best - top): most background cells end here, before any exp
    let highest: f32 = -Infinity;
    for (let i = 0; i < classes; i++) {
      const x = value(type, at + classAt(classList, i, step), scale, zero);
      if (x > highest) highest = x;
    }
    if (!(highest - top >= flt(head, H_SCORE_RAW_THRESHOLD))) return;
    sum = 0;
    for (let i = 0; i < logits; i++) {
      const x = value(type, soft + <usize>i * step, scale, zero);
      // a NaN logit counts for nothing
      if (x == x) sum += exp(<f64>(x - top));
    }
  }

  if (gates != 0 || int(plan, P_FLAGS) & FLAG_MULTI_LABEL) {
    const multi = (int(plan, P_FLAGS) & FLAG_MULTI_LABEL) != 0;
    let highest: f32 = -Infinity;
    let bestLabel = -1;
    for (let i = 0; i < classes; i++) {
      const p = at + classAt(classList, i, step);
      if (fn != FN_SOFTMAX && !passesRaw(head, type, p)) continue;
      const s = convert(fn, value(type, p, scale, zero), top, sum);
      if (odd || (fn == FN_NONE && s > flt(head, H_CHECK) && finite(s))) return outOfRange(plan);
      const score = combine(rule, o, s);
      const smallest = gates != 0 ? load<f32>(gates + ((<usize>i) << 2)) : flt(head, H_THRESHOLD);
      if (!(score >= smallest)) continue;
      const label = base + (classList != 0 ? load<i32>(classList + ((<usize>i) << 2)) : i);
      if (multi) emitKept(plan, head, row, label, score);
      else if (score > highest) {
        highest = score;
        bestLabel = label;
      }
    }
    if (bestLabel >= 0) emitKept(plan, head, row, bestLabel, highest);
    return;
  }

  if (!ASC_FEATURE_SIMD && best == UNKNOWN && type == TYPE_F32 && classList == 0) {
    const least: f32 = fn == FN_SOFTMAX ? -Infinity : leastScore(head, rule, fn, odd ? 0 : o);
    best = step == 4 && least > 0 ? largestInRow(at, classes, least) : largest(at, step, classes, least);
  }
  if (best == UNKNOWN) best = bestOf(type, head, at, step, classes, classList);
  if (best < 0) return;
  const label = classList != 0 ? load<i32>(classList + ((<usize>best) << 2)) : best;
  const place = at + <usize>label * step;
  // below the raw gate no score passes, but for the product with an infinite objectness, which is none
  if (fn != FN_SOFTMAX && !passesRaw(head, type, place)) return;
  const s = convert(fn, value(type, place, scale, zero), top, sum);
  if (odd || (fn == FN_NONE && s > flt(head, H_CHECK) && finite(s))) return outOfRange(plan);
  emit(plan, head, row, base + label, combine(rule, o, s), flt(head, H_THRESHOLD));
}

/** A bound for the raw class score of a cell with objectness `o`: one below it passes no gate. `admitCommon` of the plain engine has its own. */
function leastScore(head: usize, rule: i32, fn: i32, o: f32): f32 {
  const least = flt(head, H_SCORE_RAW_THRESHOLD);
  const gate = flt(head, H_THRESHOLD);
  // rounding near the smallest floats would need more room than a hair
  if (rule != RULE_PRODUCT || !(o > 0) || !(gate > 1e-30)) return least;
  let share: f32 = (gate * <f32>0.999999) / o;
  // sigmoid x < e^x; and no logarithm is below the bits of its float, which go straight from one power of two to the next
  if (fn == FN_SIGMOID) share = <f32>(reinterpret<i32>(share) - 0x3f800000) * <f32>8.262958e-8 - <f32>0.001;
  else if (fn != FN_NONE) return least;
  return share > least ? share : least;
}

/** A candidate whose label stands in a column: the class filter and the thresholds per class come now. */
function emitWithClassId(plan: usize, head: usize, row: i32, label: i32, score: f32): void {
  const labels = int(head, H_LIST_LENGTH);
  if (labels != 0) {
    const list = ptr(head, H_CLASS_LIST);
    const gates = ptr(head, H_CLASS_THRESHOLDS);
    let i = 0;
    while (i < labels && (list != 0 ? load<i32>(list + ((<usize>i) << 2)) : i) != label) i++;
    if (i == labels) {
      if (list != 0) return;
    } else if (gates != 0 && !(score >= load<f32>(gates + ((<usize>i) << 2)))) return;
  }
  emitKept(plan, head, row, label, score);
}

function outOfRange(plan: usize): void {
  increment(plan, P_OUT_OF_RANGE);
}

// @ts-ignore: decorator
@inline
function convert(fn: i32, raw: f32, top: f32, sum: f64): f32 {
  if (fn == FN_NONE) return raw;
  if (fn == FN_SOFTMAX) return raw == raw ? <f32>(exp(<f64>(raw - top)) / sum) : raw;
  return activate(fn, raw);
}

// @ts-ignore: decorator
@inline
function combine(rule: i32, o: f32, s: f32): f32 {
  if (rule == RULE_CLASS) return s;
  if (rule == RULE_PRODUCT) return o * s;
  return <f32>(power(<f64>o, 0.6) * power(<f64>s, 0.4));
}

function emit(plan: usize, head: usize, row: i32, label: i32, score: f32, gate: f32): void {
  // also turns NaN away
  if (score >= gate) emitKept(plan, head, row, label, score);
}

/** Appends a candidate whose score has passed. */
export function emitKept(plan: usize, head: usize, row: i32, label: i32, score: f32): void {
  const at = int(plan, P_CANDIDATES);
  if (at >= int(plan, P_CAPACITY)) {
    increment(plan, P_OVERFLOW);
    return;
  }
  const index = ptr(head, H_INDEX);
  const cell = index != 0 ? load<i32>(index + ((<usize>row) << 2)) : row;
  const i = <usize>at;
  const fate = finite(score)
    ? box(head, row, cell, int(plan, P_FLAGS), ptr(plan, P_BOXES) + (i << 4))
    : BOX_NOT_FINITE;
  if (fate != BOX_OK) {
    if (fate == BOX_NOT_FINITE) increment(plan, P_NOT_FINITE);
    return;
  }
  store<f32>(ptr(plan, P_SCORES) + (i << 2), score);
  store<i32>(ptr(plan, P_CLASS_IDS) + (i << 2), label);
  store<i32>(ptr(plan, P_SOURCES) + (i << 2), int(head, H_SOURCE) + cell);
  setInt(plan, P_CANDIDATES, at + 1);
}
