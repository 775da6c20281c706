/**
 * Scores -> candidates. Twin of `assembly/scan.ts`, and the readable account of what it does: cells go by in
 * blocks, a gate over raw values picks those that may hold something, `admit` does the exact work for those.
 *
 * f32 has loops of its own; other types share one loop over an integer view, chosen once per block.
 */
import * as A from "../abi.ts";
import { exp, power } from "../exp.ts";
import type { Memory } from "../memory.ts";
import { BOX_NOT_FINITE, BOX_OK, activate, box } from "./box.ts";
import { LOWEST, finite, integerKey, value } from "./value.ts";

const fround = Math.fround;
const BLOCK = A.BLOCK;

export function scan(m: Memory, at: number): number {
  const { i32 } = m;
  const plan = at >> 2;
  i32[plan + A.P_CANDIDATES] = 0;
  i32[plan + A.P_OVERFLOW] = 0;
  i32[plan + A.P_NOT_FINITE] = 0;
  i32[plan + A.P_OUT_OF_RANGE] = 0;
  let head = i32[plan + A.P_HEAD0] >> 2;
  for (let i = i32[plan + A.P_HEADS]; i > 0; i--) {
    scanHead(m, plan, head);
    head += A.HEAD_WORDS;
  }
  return i32[plan + A.P_CANDIDATES];
}

function scanHead(m: Memory, plan: number, head: number): void {
  const { i32 } = m;
  const maxima = i32[plan + A.P_BLOCK];
  const list = (maxima + A.ROW_BYTES) >> 2;
  const cells = validCells(m, head);
  const objectness = i32[head + A.H_OBJ] !== 0;
  const type = objectness ? i32[head + A.H_OBJ_TYPE] : i32[head + A.H_SCORE_TYPE];
  const plain = plainFloats(m, plan, head);
  for (let from = 0; from < cells; from += BLOCK) {
    const n = Math.min(BLOCK, cells - from);
    const count =
      type === A.TYPE_F32
        ? gateFloats(m, head, from, n, maxima >> 2, list)
        : gateIntegers(m, head, type, from, n, maxima, list);
    if (count === 0) continue;
    if (plain) admitFloats(m, plan, head, list, count);
    else for (let i = 0; i < count; i++) admit(m, plan, head, i32[list + i]);
  }
}

/** Rows before the end marker (SSD DetectionOutput) or up to the stated number (TFLite post-process). */
function validCells(m: Memory, head: number): number {
  const { i32 } = m;
  let cells = i32[head + A.H_CELLS];
  const count = i32[head + A.H_COUNT];
  if (count !== 0) {
    const n = value(m, i32[head + A.H_COUNT_TYPE], count, 1, 0);
    if (n >= 0 && n < cells) cells = n | 0;
  }
  const marker = i32[head + A.H_MARKER];
  if (marker !== 0) {
    const type = i32[head + A.H_SCORE_TYPE];
    const step = i32[head + A.H_MARKER_CELL];
    for (let i = 0; i < cells; i++) if (value(m, type, marker + i * step, 1, 0) === -1) return i;
  }
  return cells;
}

function gateFloats(m: Memory, head: number, from: number, n: number, maxima: number, list: number): number {
  const { i32, f32 } = m;
  const objectness = i32[head + A.H_OBJ];
  if (objectness !== 0) {
    const step = i32[head + A.H_OBJ_CELL];
    return passFloats(m, (objectness + from * step) >> 2, step >> 2, f32[head + A.H_OBJ_GATE], from, n, list);
  }
  if (i32[head + A.H_SCORE_FN] === A.FN_SOFTMAX) return passAll(i32, from, n, list);
  const step = i32[head + A.H_SCORE_CELL];
  const at = (i32[head + A.H_SCORE] + from * step) >> 2;
  const gate = f32[head + A.H_SCORE_GATE];
  if (i32[head + A.H_CLASSES] === 1) return passFloats(m, at, step >> 2, gate, from, n, list);
  if (step === 4) {
    if (gate > 0 && i32[head + A.H_CLASS_LIST] === 0) {
      // positive floats are ordered like their bits, and a NaN or a negative number flagged by mistake is turned
      // away by `admit`: eight integer comparisons cost one branch
      const bits = i32[head + A.H_SCORE_GATE];
      return flagged(
        i32,
        at,
        i32[head + A.H_SCORE_CHANNEL] >> 2,
        i32[head + A.H_CLASSES],
        bits,
        m.u8,
        maxima << 2,
        from,
        n,
        i32,
        list,
      );
    }
    planeMaxima(m, head, at, n, maxima);
    return passFloats(m, maxima, 1, gate, from, n, list);
  }
  const channel = i32[head + A.H_SCORE_CHANNEL] >> 2;
  const classes = i32[head + A.H_CLASSES];
  const classList = i32[head + A.H_CLASS_LIST] >> 2;
  let to = list;
  let row = at;
  for (let i = 0; i < n; i++) {
    for (let c = 0; c < classes; c++) {
      if (f32[row + (classList === 0 ? c : i32[classList + c]) * channel] >= gate) {
        i32[to++] = from + i;
        break;
      }
    }
    row += step >> 2;
  }
  return to - list;
}

function passAll(i32: Int32Array, from: number, n: number, list: number): number {
  for (let i = 0; i < n; i++) i32[list + i] = from + i;
  return n;
}

/** One column of values against the gate. */
function passFloats(
  m: Memory,
  at: number,
  step: number,
  gate: number,
  from: number,
  n: number,
  list: number,
): number {
  const { i32, f32 } = m;
  let to = list;
  for (let i = 0; i < n; i++) {
    if (f32[at] >= gate) i32[to++] = from + i;
    at += step;
  }
  return to - list;
}

/** Maximum over the class planes for a block of cells, several planes for each load and store of the maxima. */
function planeMaxima(m: Memory, head: number, at: number, n: number, maxima: number): void {
  const { i32, f32 } = m;
  const step = i32[head + A.H_SCORE_CHANNEL] >> 2;
  const classes = i32[head + A.H_CLASSES];
  const classList = i32[head + A.H_CLASS_LIST] >> 2;
  for (let i = 0; i < n; i++) f32[maxima + i] = -Infinity;
  let c = 0;
  if (classList === 0) {
    for (; c + 4 <= classes; c += 4) {
      let p = at + c * step;
      const end = maxima + n;
      for (let i = maxima; i < end; i++, p++) {
        let v = f32[i];
        const a = f32[p];
        const b = f32[p + step];
        const d = f32[p + 2 * step];
        const e = f32[p + 3 * step];
        if (a > v) v = a;
        if (b > v) v = b;
        if (d > v) v = d;
        if (e > v) v = e;
        f32[i] = v;
      }
    }
  }
  for (; c < classes; c++) {
    const p = at + (classList === 0 ? c : i32[classList + c]) * step;
    for (let i = 0; i < n; i++) {
      const v = f32[p + i];
      if (v > f32[maxima + i]) f32[maxima + i] = v;
    }
  }
}

type Integers = Int8Array | Uint8Array | Int16Array | Int32Array;

/**
 * Integers as they are; f16 through a 16-bit view, where the bits of positive numbers are in order as they
 * stand and a negative number is just "below" a positive gate. A gate that is not positive, or classes that
 * stand in rows, go cell by cell over exact keys.
 */
function gateIntegers(
  m: Memory,
  head: number,
  type: number,
  from: number,
  n: number,
  maxima: number,
  list: number,
): number {
  const { i32 } = m;
  const objectness = i32[head + A.H_OBJ];
  if (objectness === 0 && i32[head + A.H_SCORE_FN] === A.FN_SOFTMAX) return passAll(i32, from, n, list);
  const step = i32[head + (objectness !== 0 ? A.H_OBJ_CELL : A.H_SCORE_CELL)];
  const at = (objectness !== 0 ? objectness : i32[head + A.H_SCORE]) + from * step;
  const gate = i32[head + (objectness !== 0 ? A.H_OBJ_GATE : A.H_SCORE_GATE)];
  const classes = objectness !== 0 ? 1 : i32[head + A.H_CLASSES];
  const channel = i32[head + A.H_SCORE_CHANNEL];
  const classList = i32[head + A.H_CLASS_LIST] >> 2;
  let to = list;
  if (type !== A.TYPE_F16 || gate > 0) {
    const view: Integers =
      type === A.TYPE_U8 ? m.u8 : type === A.TYPE_I8 ? m.i8 : type === A.TYPE_I32 ? m.i32 : m.i16;
    const log = type === A.TYPE_U8 || type === A.TYPE_I8 ? 0 : type === A.TYPE_I32 ? 2 : 1;
    if (classes === 1) return passIntegers(view, at >> log, step >> log, gate, from, n, i32, list);
    // 32-bit differences could overflow, so i32 goes cell by cell
    if (step >> log === 1 && classList === 0 && type !== A.TYPE_I32)
      return flagged(view, at >> log, channel >> log, classes, gate, m.u8, maxima, from, n, i32, list);
  }
  for (let i = 0; i < n; i++) {
    for (let c = 0; c < classes; c++) {
      const k = classList === 0 ? c : i32[classList + c];
      if (integerKey(m, type, at + i * step + k * channel) >= gate) {
        i32[to++] = from + i;
        break;
      }
    }
  }
  return to - list;
}

function passIntegers(
  view: Integers,
  at: number,
  step: number,
  gate: number,
  from: number,
  n: number,
  i32: Int32Array,
  list: number,
): number {
  let to = list;
  for (let i = 0; i < n; i++) {
    if (view[at] >= gate) i32[to++] = from + i;
    at += step;
  }
  return to - list;
}

/**
 * Cells of a block in which some class is at or above the gate, plane by plane: a difference `gate - 1 - v` is
 * negative where v passes, so the sign of eight differences ORed together tells whether to look closer. Flags
 * stand in scratch, one byte a cell.
 */
function flagged(
  view: Integers,
  at: number,
  step: number,
  classes: number,
  gate: number,
  u8: Uint8Array,
  flags: number,
  from: number,
  n: number,
  i32: Int32Array,
  list: number,
): number {
  const below = (gate - 1) | 0;
  u8.fill(0, flags, flags + n);
  const whole = n & ~7;
  let any = 0;
  for (let c = 0; c < classes; c++) {
    let p = at + c * step;
    for (let i = 0; i < whole; i += 8, p += 8) {
      const signs =
        (below - view[p]) |
        (below - view[p + 1]) |
        (below - view[p + 2]) |
        (below - view[p + 3]) |
        (below - view[p + 4]) |
        (below - view[p + 5]) |
        (below - view[p + 6]) |
        (below - view[p + 7]);
      if (signs < 0) {
        any = 1;
        for (let k = 0; k < 8; k++) if (view[p + k] > below) u8[flags + i + k] = 1;
      }
    }
    for (let i = whole; i < n; i++, p++) {
      if (view[p] > below) {
        any = 1;
        u8[flags + i] = 1;
      }
    }
  }
  if (any === 0) return 0;
  let to = list;
  for (let i = 0; i < n; i++) if (u8[flags + i] !== 0) i32[to++] = from + i;
  return to - list;
}

/** Whether `admitFloats` does for this head: independent classes in f32, all of them, one threshold. */
function plainFloats(m: Memory, plan: number, head: number): boolean {
  const { i32 } = m;
  const rule = i32[head + A.H_RULE];
  const objectness = i32[head + A.H_OBJ] !== 0;
  return (
    (rule === A.RULE_CLASS || (rule === A.RULE_PRODUCT && objectness)) &&
    (!objectness || i32[head + A.H_OBJ_TYPE] === A.TYPE_F32) &&
    i32[head + A.H_SCORE_TYPE] === A.TYPE_F32 &&
    i32[head + A.H_SCORE_FN] !== A.FN_SOFTMAX &&
    i32[head + A.H_CLASS_LIST] === 0 &&
    i32[head + A.H_CLASS_GATES] === 0 &&
    i32[head + A.H_LABEL] === 0 &&
    (i32[plan + A.P_FLAGS] & A.FLAG_MULTI_LABEL) === 0
  );
}

/** `admit` for the commonest heads, with everything that does not change from cell to cell read once. */
function admitFloats(m: Memory, plan: number, head: number, list: number, count: number): void {
  const { i32, f32 } = m;
  const objectness = i32[head + A.H_OBJ] >> 2;
  const objectnessCell = i32[head + A.H_OBJ_CELL] >> 2;
  const objectnessFn = i32[head + A.H_OBJ_FN];
  const at = i32[head + A.H_SCORE] >> 2;
  const cell = i32[head + A.H_SCORE_CELL] >> 2;
  const channel = i32[head + A.H_SCORE_CHANNEL] >> 2;
  const fn = i32[head + A.H_SCORE_FN];
  const classes = i32[head + A.H_CLASSES];
  const base = i32[head + A.H_CLASS_BASE];
  const product = i32[head + A.H_RULE] === A.RULE_PRODUCT;
  const check = f32[head + A.H_CHECK];
  const gate = f32[head + A.H_GATE];
  const rawest = f32[head + A.H_SCORE_GATE];
  for (let k = 0; k < count; k++) {
    const row = i32[list + k];
    let o = 1;
    let odd = false;
    if (objectness !== 0) {
      o = f32[objectness + row * objectnessCell];
      if (objectnessFn !== A.FN_NONE) o = activate(objectnessFn, o);
      else odd = o > check && finite(o);
    }
    let p = at + row * cell;
    let best = -Infinity;
    let label = -1;
    for (let c = 0; c < classes; c++, p += channel) {
      const v = f32[p];
      if (v > best) {
        best = v;
        label = c;
      }
    }
    // below the raw gate no conversion can pass
    if (label < 0 || !(best >= rawest)) continue;
    let s = best;
    if (fn !== A.FN_NONE) s = activate(fn, best);
    else if (s > check && finite(s)) odd = true;
    if (odd) {
      i32[plan + A.P_OUT_OF_RANGE]++;
      continue;
    }
    const score = product ? fround(o * s) : s;
    if (score >= gate) emit(m, plan, head, row, base + label, score);
  }
}

/** The exact work for one cell that passed the gate. */
function admit(m: Memory, plan: number, head: number, row: number): void {
  const { i32, f32 } = m;
  const rule = i32[head + A.H_RULE];
  const check = f32[head + A.H_CHECK];
  const gate = f32[head + A.H_GATE];
  const base = i32[head + A.H_CLASS_BASE];
  let o = 1;
  // objectness outside 0..1: told once a class passes too
  let odd = false;
  const objectness = i32[head + A.H_OBJ];
  if (objectness !== 0) {
    const at = objectness + row * i32[head + A.H_OBJ_CELL];
    o = value(m, i32[head + A.H_OBJ_TYPE], at, f32[head + A.H_OBJ_SCALE], f32[head + A.H_OBJ_ZERO]);
    // the vector gate lets a NaN of an f16 through
    if (o !== o) return;
    const fn = i32[head + A.H_OBJ_FN];
    if (fn !== A.FN_NONE) o = activate(fn, o);
    else odd = o > check && finite(o);
    if (rule === A.RULE_OBJECTNESS) {
      if (odd) i32[plan + A.P_OUT_OF_RANGE]++;
      else if (o >= gate) emit(m, plan, head, row, base, o);
      return;
    }
  }

  const at = i32[head + A.H_SCORE] + row * i32[head + A.H_SCORE_CELL];
  const step = i32[head + A.H_SCORE_CHANNEL];
  const fn = i32[head + A.H_SCORE_FN];
  const scale = f32[head + A.H_SCORE_SCALE];
  const zero = f32[head + A.H_SCORE_ZERO];
  const type = i32[head + A.H_SCORE_TYPE];

  if (i32[head + A.H_LABEL] !== 0) {
    const p = i32[head + A.H_LABEL] + row * i32[head + A.H_LABEL_CELL];
    const label = value(
      m,
      i32[head + A.H_LABEL_TYPE],
      p,
      f32[head + A.H_LABEL_SCALE],
      f32[head + A.H_LABEL_ZERO],
    );
    let s = value(m, type, at, scale, zero);
    if (fn !== A.FN_NONE) s = activate(fn, s);
    else if (s > check && finite(s)) {
      i32[plan + A.P_OUT_OF_RANGE]++;
      return;
    }
    if (!(s >= gate)) return;
    if (!(label > -2147483000 && label < 2147483000)) i32[plan + A.P_NOT_FINITE]++;
    else emitLabel(m, plan, head, row, (label | 0) + base, s);
    return;
  }

  const classes = i32[head + A.H_CLASSES];
  const classList = i32[head + A.H_CLASS_LIST] >> 2;
  const gates = i32[head + A.H_CLASS_GATES] >> 2;
  let top = 0;
  let sum = 1;
  if (fn === A.FN_SOFTMAX) {
    const soft = i32[head + A.H_SOFT] + row * i32[head + A.H_SCORE_CELL];
    const logits = i32[head + A.H_SOFT_COUNT];
    top = -Infinity;
    for (let i = 0; i < logits; i++) {
      const x = value(m, type, soft + i * step, scale, zero);
      if (x > top) top = x;
    }
    let best = -Infinity;
    for (let i = 0; i < classes; i++) {
      const x = value(m, type, at + (classList === 0 ? i : i32[classList + i]) * step, scale, zero);
      if (x > best) best = x;
    }
    if (!(fround(best - top) >= f32[head + A.H_SCORE_GATE])) return;
    sum = 0;
    for (let i = 0; i < logits; i++) {
      const x = value(m, type, soft + i * step, scale, zero);
      if (x === x) sum += exp(fround(x - top));
    }
  }

  const multi = (i32[plan + A.P_FLAGS] & A.FLAG_MULTI_LABEL) !== 0;
  if (gates !== 0 || multi) {
    let best = -Infinity;
    let bestLabel = -1;
    for (let i = 0; i < classes; i++) {
      const c = classList === 0 ? i : i32[classList + i];
      const p = at + c * step;
      if (fn !== A.FN_SOFTMAX && !passesRaw(m, head, type, p)) continue;
      const s = convert(fn, value(m, type, p, scale, zero), top, sum);
      if (odd || (fn === A.FN_NONE && s > check && finite(s))) {
        i32[plan + A.P_OUT_OF_RANGE]++;
        return;
      }
      const score = combine(rule, o, s);
      if (!(score >= (gates === 0 ? gate : f32[gates + i]))) continue;
      if (multi) emit(m, plan, head, row, base + c, score);
      else if (score > best) {
        best = score;
        bestLabel = base + c;
      }
    }
    if (bestLabel >= 0) emit(m, plan, head, row, bestLabel, best);
    return;
  }

  const label = bestClass(m, type, at, step, classes, classList);
  if (label < 0) return;
  const place = at + label * step;
  // below the raw gate no score passes, but for the product with an infinite objectness, which is none
  if (fn !== A.FN_SOFTMAX && !passesRaw(m, head, type, place)) return;
  const s = convert(fn, value(m, type, place, scale, zero), top, sum);
  if (odd || (fn === A.FN_NONE && s > check && finite(s))) {
    i32[plan + A.P_OUT_OF_RANGE]++;
    return;
  }
  const score = combine(rule, o, s);
  if (score >= gate) emit(m, plan, head, row, base + label, score);
}

/** A candidate whose label stands in a column: the class filter and the thresholds per class come now. */
function emitLabel(m: Memory, plan: number, head: number, row: number, label: number, score: number): void {
  const { i32, f32 } = m;
  const labels = i32[head + A.H_LABELS];
  if (labels !== 0) {
    const list = i32[head + A.H_CLASS_LIST] >> 2;
    const gates = i32[head + A.H_CLASS_GATES] >> 2;
    let i = 0;
    while (i < labels && (list === 0 ? i : i32[list + i]) !== label) i++;
    if (i === labels) {
      if (list !== 0) return;
    } else if (gates !== 0 && !(score >= f32[gates + i])) return;
  }
  emit(m, plan, head, row, label, score);
}

function passesRaw(m: Memory, head: number, type: number, at: number): boolean {
  if (type === A.TYPE_F32) return m.f32[at >> 2] >= m.f32[head + A.H_SCORE_GATE];
  return integerKey(m, type, at) >= m.i32[head + A.H_SCORE_GATE];
}

function convert(fn: number, raw: number, top: number, sum: number): number {
  if (fn === A.FN_NONE) return raw;
  if (fn === A.FN_SOFTMAX) return raw === raw ? fround(exp(fround(raw - top)) / sum) : raw;
  return activate(fn, raw);
}

function combine(rule: number, o: number, s: number): number {
  if (rule === A.RULE_CLASS) return s;
  if (rule === A.RULE_PRODUCT) return fround(o * s);
  return fround(power(o, 0.6) * power(s, 0.4));
}

/** First of the classes with the largest value; -1 where every value is NaN. */
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
  let best = type === A.TYPE_F32 ? -Infinity : LOWEST;
  for (let i = 0; i < classes; i++) {
    const c = classList === 0 ? i : i32[classList + i];
    const p = at + c * step;
    const v = type === A.TYPE_F32 ? f32[p >> 2] : integerKey(m, type, p);
    if (v > best) {
      best = v;
      found = c;
    }
  }
  return found;
}

/** Appends a candidate whose score has passed. */
function emit(m: Memory, plan: number, head: number, row: number, label: number, score: number): void {
  const { i32, f32 } = m;
  const at = i32[plan + A.P_CANDIDATES];
  if (at >= i32[plan + A.P_CAPACITY]) {
    i32[plan + A.P_OVERFLOW]++;
    return;
  }
  const index = i32[head + A.H_INDEX] >> 2;
  const cell = index === 0 ? row : i32[index + row];
  const out = (i32[plan + A.P_BOXES] >> 2) + at * 4;
  const fate = finite(score) ? box(m, head, row, cell, i32[plan + A.P_FLAGS], out) : BOX_NOT_FINITE;
  if (fate !== BOX_OK) {
    if (fate === BOX_NOT_FINITE) i32[plan + A.P_NOT_FINITE]++;
    return;
  }
  f32[(i32[plan + A.P_SCORES] >> 2) + at] = score;
  i32[(i32[plan + A.P_LABELS] >> 2) + at] = label;
  i32[(i32[plan + A.P_SOURCES] >> 2) + at] = i32[head + A.H_SOURCE] + cell;
  i32[plan + A.P_CANDIDATES] = at + 1;
}
