/** The exact work for a cell that passed the gate: its class, its score, its box. Twin of `assembly/admit.ts`. */
import * as A from "../../core/abi.ts";
import { INDEX, type Memory } from "../../core/memory.ts";
import { BOX_NOT_FINITE, BOX_OK, activate, box } from "./box.ts";
import { nextPositive } from "./planes.ts";
import {
  classAt,
  exp,
  finite,
  fround,
  integerKey,
  LOWEST,
  load,
  reg,
  regBits,
  power,
  SCORE,
  wide,
} from "./value.ts";

/** The exact work for one cell that passed the gate; `label`: its best class where that is known, else -1. */
export function admit(m: Memory, plan: number, head: number, row: number, label: number): void {
  const { i32, f32 } = m;
  const rule = i32[head + A.H_RULE];
  const check = f32[head + A.H_CHECK];
  const gate = f32[head + A.H_THRESHOLD];
  const base = i32[head + A.H_CLASS_BASE];
  let o = 1;
  // objectness outside 0..1: told once a class passes too
  let odd = false;
  const objectness = i32[head + A.H_OBJ];
  if (objectness !== 0) {
    const at = objectness + row * i32[head + A.H_OBJ_CELL];
    if (!passesRaw(m, i32[head + A.H_OBJ_TYPE], head + A.H_OBJ_RAW_THRESHOLD, at)) return;
    load(m, i32[head + A.H_OBJ_TYPE], at, head + A.H_OBJ_SCALE, SCORE);
    const fn = i32[head + A.H_OBJ_FN];
    odd = isOutOfRange(fn, reg[SCORE], check);
    activate(fn, SCORE);
    if (rule === A.RULE_OBJECTNESS) {
      if (odd) i32[plan + A.P_OUT_OF_RANGE]++;
      else if (reg[SCORE] >= gate) emitKept(m, plan, head, row, base);
      return;
    }
    o = reg[SCORE];
  }

  const at = i32[head + A.H_SCORE] + row * i32[head + A.H_SCORE_CELL];
  const step = i32[head + A.H_SCORE_CHANNEL];
  const fn = i32[head + A.H_SCORE_FN];
  const scale = head + A.H_SCORE_SCALE;
  const type = i32[head + A.H_SCORE_TYPE];

  if (i32[head + A.H_CLASS_ID] !== 0) {
    const p = i32[head + A.H_CLASS_ID] + row * i32[head + A.H_CLASS_ID_CELL];
    load(m, type, at, scale, SCORE);
    if (isOutOfRange(fn, reg[SCORE], check)) {
      i32[plan + A.P_OUT_OF_RANGE]++;
      return;
    }
    activate(fn, SCORE);
    if (!(reg[SCORE] >= gate)) return;
    load(m, i32[head + A.H_CLASS_ID_TYPE], p, head + A.H_CLASS_ID_SCALE, 0);
    const x = reg[0];
    if (!(x > -2147483000 && x < 2147483000)) i32[plan + A.P_NOT_FINITE]++;
    else emitWithClassId(m, plan, head, row, (x | 0) + base);
    return;
  }

  const classes = i32[head + A.H_CLASSES];
  const classList = i32[head + A.H_CLASS_LIST] >> 2;
  const gates = i32[head + A.H_CLASS_THRESHOLDS] >> 2;
  let top = 0;
  let sum = 1;
  if (fn === A.FN_SOFTMAX) {
    const soft = i32[head + A.H_SOFT] + row * i32[head + A.H_SCORE_CELL];
    const logits = i32[head + A.H_SOFT_COUNT];
    top = -Infinity;
    for (let i = 0; i < logits; i++) {
      load(m, type, soft + i * step, scale, SCORE);
      const x = reg[SCORE];
      if (x > top) top = x;
    }
    let best = -Infinity;
    for (let i = 0; i < classes; i++) {
      load(m, type, at + classAt(i32, classList, i) * step, scale, SCORE);
      const x = reg[SCORE];
      if (x > best) best = x;
    }
    if (!(fround(best - top) >= f32[head + A.H_SCORE_RAW_THRESHOLD])) return;
    sum = 0;
    for (let i = 0; i < logits; i++) {
      load(m, type, soft + i * step, scale, SCORE);
      const x = reg[SCORE];
      if (x !== x) continue;
      wide[0] = fround(x - top);
      exp();
      sum += wide[0];
    }
  }

  const multi = (i32[plan + A.P_FLAGS] & A.FLAG_MULTI_LABEL) !== 0;
  if (gates !== 0 || multi) {
    let best = -Infinity;
    let bestLabel = -1;
    for (let i = 0; i < classes; i++) {
      const c = classAt(i32, classList, i);
      const p = at + c * step;
      if (fn !== A.FN_SOFTMAX && !passesRaw(m, type, head + A.H_SCORE_RAW_THRESHOLD, p)) continue;
      load(m, type, p, scale, SCORE);
      if (odd || isOutOfRange(fn, reg[SCORE], check)) {
        i32[plan + A.P_OUT_OF_RANGE]++;
        return;
      }
      convert(fn, top, sum);
      combine(rule, o);
      const score = reg[SCORE];
      if (!(score >= (gates === 0 ? gate : f32[gates + i]))) continue;
      if (multi) emitKept(m, plan, head, row, base + c);
      else if (score > best) {
        best = score;
        bestLabel = base + c;
      }
    }
    reg[SCORE] = best;
    if (bestLabel >= 0) emitKept(m, plan, head, row, bestLabel);
    return;
  }

  const known = label >= 0;
  if (!known) label = bestClass(m, type, at, step, classes, classList);
  if (label < 0) return;
  const place = at + label * step;
  // below the raw gate no score passes, but for the product with an infinite objectness, which is none
  if (!known && fn !== A.FN_SOFTMAX && !passesRaw(m, type, head + A.H_SCORE_RAW_THRESHOLD, place)) return;
  load(m, type, place, scale, SCORE);
  if (odd || isOutOfRange(fn, reg[SCORE], check)) {
    i32[plan + A.P_OUT_OF_RANGE]++;
    return;
  }
  convert(fn, top, sum);
  combine(rule, o);
  if (reg[SCORE] >= gate) emitKept(m, plan, head, row, base + label);
}

/**
 * First of the largest of `n` floats, `step` words apart, that reach `reg[SCORE]`; -1: none does. From behind, so that of equals the first is
 * what is left. Four are passed over at a time whose bits are among the `span` from `lowest` on, which are those of all lower numbers.
 */
export function largest(m: Memory, p: number, step: number, n: number): number {
  const { i32, f32 } = m;
  let found = -1;
  let best = reg[SCORE];
  let bits = regBits[SCORE];
  let i = n;
  let a = (p + n * step) & INDEX;
  while (i > 0) {
    // lower than a number above zero are NaN, as bits, and all negative ones; than another, those behind it
    const lowest = bits > 0 ? 0x7f800001 : (bits | -0x80000000) + 1;
    const span = ((bits > 0 ? bits : 0) - lowest) >>> 0;
    for (; i >= 4; i -= 4) {
      const b = (a - step) & INDEX;
      const c = (b - step) & INDEX;
      const d = (c - step) & INDEX;
      const e = (d - step) & INDEX;
      if (
        (i32[b] - lowest) >>> 0 >= span ||
        (i32[c] - lowest) >>> 0 >= span ||
        (i32[d] - lowest) >>> 0 >= span ||
        (i32[e] - lowest) >>> 0 >= span
      )
        break;
      a = e;
    }
    for (const stop = i > 4 ? i - 4 : 0; i > stop;) {
      i--;
      a = (a - step) & INDEX;
      if (f32[a] >= best) {
        best = f32[a];
        bits = i32[a];
        found = i;
      }
    }
  }
  return found;
}

/** The same side by side, `reg[SCORE]` above zero, which spares most of the rest: by their bits. */
export function largestInRow(m: Memory, p: number, n: number): number {
  const { i32, f32 } = m;
  let below = regBits[SCORE] - 1;
  let found = -1;
  const end = p + n;
  // eights as far as there are; the rest is looked at in any case
  const last = end - (n & 7);
  for (let w = p; (w = nextPositive(i32, w, last, below)) < end;)
    for (const stop = Math.min(w + 8, end); w < stop; w++)
      // NaN has bits above all
      if (i32[w] > below && f32[w] >= 0) {
        below = i32[w];
        found = w - p;
      }
  return found;
}

/** A number that should be a probability and is not. */
export function isOutOfRange(fn: number, x: number, check: number): boolean {
  return fn === A.FN_NONE && x > check && finite(x);
}

/** A candidate whose label stands in a column: the class filter and the thresholds per class come now. */
function emitWithClassId(m: Memory, plan: number, head: number, row: number, label: number): void {
  const { i32, f32 } = m;
  const labels = i32[head + A.H_LIST_LENGTH];
  if (labels !== 0) {
    const list = i32[head + A.H_CLASS_LIST] >> 2;
    const gates = i32[head + A.H_CLASS_THRESHOLDS] >> 2;
    let i = 0;
    while (i < labels && classAt(i32, list, i) !== label) i++;
    if (i === labels) {
      if (list !== 0) return;
    } else if (gates !== 0 && !(reg[SCORE] >= f32[gates + i])) return;
  }
  emitKept(m, plan, head, row, label);
}

export function passesRaw(m: Memory, type: number, gate: number, at: number): boolean {
  if (type === A.TYPE_F32) return m.f32[at >> 2] >= m.f32[gate];
  return integerKey(m, type, at) >= m.i32[gate];
}

/** The raw score in `reg` through the head's function. */
function convert(fn: number, top: number, sum: number): void {
  if (fn !== A.FN_SOFTMAX) activate(fn, SCORE);
  else if (reg[SCORE] === reg[SCORE]) {
    wide[0] = fround(reg[SCORE] - top);
    exp();
    reg[SCORE] = wide[0] / sum;
  }
}

/** The score in `reg` with objectness `o`. */
function combine(rule: number, o: number): void {
  if (rule === A.RULE_PRODUCT) reg[SCORE] *= o;
  else if (rule !== A.RULE_CLASS) reg[SCORE] = power(o, 0.6) * power(reg[SCORE], 0.4);
}

/** First of the classes with the largest value; -1 where none is above -Infinity. */
function bestClass(
  m: Memory,
  type: number,
  at: number,
  step: number,
  classes: number,
  classList: number,
): number {
  const { i32, f32 } = m;
  let found = -1;
  // the mark of a NaN, which is found nowhere; of an i32 the same bits are a number like the others
  let best = type === A.TYPE_F16 ? LOWEST : -Infinity;
  for (let i = 0; i < classes; i++) {
    const c = classAt(i32, classList, i);
    const p = at + c * step;
    const v = type === A.TYPE_F32 ? f32[p >> 2] : integerKey(m, type, p);
    if (v > best) {
      best = v;
      found = c;
    }
  }
  return found;
}

/** Appends a candidate; its score stands in `reg`. */
export function emitKept(m: Memory, plan: number, head: number, row: number, label: number): void {
  const { i32, f32 } = m;
  const at = i32[plan + A.P_CANDIDATES];
  if (at >= i32[plan + A.P_CAPACITY]) {
    i32[plan + A.P_OVERFLOW]++;
    return;
  }
  const index = i32[head + A.H_INDEX] >> 2;
  const cell = index === 0 ? row : i32[index + row];
  const out = (i32[plan + A.P_BOXES] >> 2) + at * 4;
  const score = reg[SCORE];
  const fate = finite(score) ? box(m, head, row, cell, i32[plan + A.P_FLAGS], out) : BOX_NOT_FINITE;
  if (fate !== BOX_OK) {
    if (fate === BOX_NOT_FINITE) i32[plan + A.P_NOT_FINITE]++;
    return;
  }
  f32[(i32[plan + A.P_SCORES] >> 2) + at] = score;
  i32[(i32[plan + A.P_CLASS_IDS] >> 2) + at] = label;
  i32[(i32[plan + A.P_SOURCES] >> 2) + at] = i32[head + A.H_SOURCE] + cell;
  i32[plan + A.P_CANDIDATES] = at + 1;
}
