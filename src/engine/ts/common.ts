/** The exact work for cells of the commonest heads, in one loop. Twin of `assembly/common.ts`, which leaves more heads to `admit`. */
import * as A from "../../core/abi.ts";
import { type Memory } from "../../core/memory.ts";
import { emitKept, isOutOfRange, largest, largestInRow } from "./admit.ts";
import { BOX_NOT_FINITE, BOX_OK, activate, place } from "./box.ts";
import { nextPositive } from "./planes.ts";
import { finite, fround, OBJECTNESS, load, reg, SCORE } from "./value.ts";

/**
 * Whether `admitCommon` does for this head: independent classes, all of them, one threshold; in f32, objectness too if any,
 * unless the best class of each cell is known.
 */
export function isCommon(m: Memory, plan: number, head: number, best: boolean): boolean {
  const { i32 } = m;
  const rule = i32[head + A.H_RULE];
  return (
    (rule === A.RULE_CLASS || rule === A.RULE_PRODUCT) &&
    (i32[head + A.H_OBJ] === 0 || i32[head + A.H_OBJ_TYPE] === A.TYPE_F32) &&
    (best || i32[head + A.H_SCORE_TYPE] === A.TYPE_F32) &&
    i32[head + A.H_SCORE_FN] !== A.FN_SOFTMAX &&
    i32[head + A.H_CLASS_LIST] === 0 &&
    i32[head + A.H_CLASS_THRESHOLDS] === 0 &&
    i32[head + A.H_CLASS_ID] === 0 &&
    (i32[plan + A.P_FLAGS] & A.FLAG_MULTI_LABEL) === 0
  );
}

/**
 * `admit` for the rows of a list of the commonest heads, with everything that does not change from cell to cell read once. The best
 * classes stand at `best`, of cell `from` first; 0: they are to be found.
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
  const objectness = i32[head + A.H_OBJ] >> 2;
  const objectnessCell = i32[head + A.H_OBJ_CELL] >> 2;
  const objectnessFn = i32[head + A.H_OBJ_FN];
  const objectnessGate = f32[head + A.H_OBJ_RAW_THRESHOLD];
  const at = i32[head + A.H_SCORE];
  const type = i32[head + A.H_SCORE_TYPE];
  const cell = i32[head + A.H_SCORE_CELL];
  const channel = i32[head + A.H_SCORE_CHANNEL];
  const fn = i32[head + A.H_SCORE_FN];
  const classes = i32[head + A.H_CLASSES];
  const base = i32[head + A.H_CLASS_BASE];
  const product = i32[head + A.H_RULE] === A.RULE_PRODUCT;
  const check = f32[head + A.H_CHECK];
  const gate = f32[head + A.H_THRESHOLD];
  const scoreGate = f32[head + A.H_SCORE_RAW_THRESHOLD];
  // rows of probabilities: most are told by their bits, eight to a branch
  const side = channel === 4 && scoreGate > 0;
  // what a class of a cell with objectness o has to reach to bring the product over the gate, a hair lower for the rounding, of which a gate
  // near the smallest floats would need more: gate / o of probabilities; of logits ln(gate) - o, since sigmoid x < e^x
  const bounded = product && gate > 1e-30 && fn === objectnessFn;
  const least = bounded && fn === A.FN_NONE ? gate * 0.999999 : 0;
  const logarithm = bounded && fn === A.FN_SIGMOID ? Math.log(gate) - 0.001 : -Infinity;
  // boxes that need no function
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
  const labels = i32[plan + A.P_CLASS_IDS] >> 2;
  const sources = i32[plan + A.P_SOURCES] >> 2;
  const source = i32[head + A.H_SOURCE];
  const index = i32[head + A.H_INDEX] >> 2;
  const to = reg;
  let next = i32[plan + A.P_CANDIDATES];
  for (; list < end; list++) {
    const row = i32[list];
    let o = 1;
    let score: number;
    let label: number;
    if (best !== 0) {
      label = i32[best + row - from];
      const p = at + row * cell + label * channel;
      if (type === A.TYPE_F32) score = f32[p >> 2];
      else {
        load(m, type, p, head + A.H_SCORE_SCALE, SCORE);
        score = to[SCORE];
      }
    } else {
      if (objectness !== 0) {
        o = f32[objectness + row * objectnessCell];
        if (!(o >= objectnessGate)) continue;
      }
      const p = (at + row * cell) >> 2;
      // below the raw gate no conversion can pass
      if (least > 0) to[SCORE] = o <= check && least > scoreGate * o ? least / o : scoreGate;
      else to[SCORE] = logarithm - o > scoreGate ? logarithm - o : scoreGate;
      label = side ? largestInRow(m, p, classes) : largest(m, p, channel >> 2, classes);
      if (label < 0) continue;
      score = f32[p + ((label * channel) >> 2)];
    }
    if (isOutOfRange(objectnessFn, o, check) || isOutOfRange(fn, score, check)) {
      i32[plan + A.P_OUT_OF_RANGE]++;
      continue;
    }
    if (objectnessFn !== A.FN_NONE || fn !== A.FN_NONE) {
      to[OBJECTNESS] = o;
      to[SCORE] = score;
      // one call site for both: V8 inlines a limited number of bytes, and a function that is left out returns its number as a heap object
      for (let i = OBJECTNESS; i <= SCORE; i++) activate(i === SCORE ? fn : objectnessFn, i);
      o = to[OBJECTNESS];
      score = to[SCORE];
    }
    if (product) score = fround(score * o);
    if (!(score >= gate)) continue;
    if (next >= room) {
      i32[plan + A.P_CANDIDATES] = next;
      to[SCORE] = score;
      emitKept(m, plan, head, row, base + label);
      next = i32[plan + A.P_CANDIDATES];
      continue;
    }
    const shift = row * boxCell;
    if (boxType === A.TYPE_F32) {
      to[0] = f32[(box0 + shift) >> 2] * kx;
      to[1] = f32[(box1 + shift) >> 2] * ky;
      to[2] = f32[(box2 + shift) >> 2] * kx;
      to[3] = f32[(box3 + shift) >> 2] * ky;
    } else {
      load(m, boxType, box0 + shift, head + A.H_BOX_SCALE, 0);
      load(m, boxType, box1 + shift, head + A.H_BOX_SCALE, 1);
      load(m, boxType, box2 + shift, head + A.H_BOX_SCALE, 2);
      load(m, boxType, box3 + shift, head + A.H_BOX_SCALE, 3);
      to[0] *= kx;
      to[1] *= ky;
      to[2] *= kx;
      to[3] *= ky;
    }
    const fate = finite(score) ? place(kind, f32, flags, boxes + next * 4) : BOX_NOT_FINITE;
    if (fate === BOX_OK) {
      f32[scores + next] = score;
      i32[labels + next] = base + label;
      i32[sources + next++] = source + (index === 0 ? row : i32[index + row]);
    } else if (fate === BOX_NOT_FINITE) i32[plan + A.P_NOT_FINITE]++;
  }
  i32[plan + A.P_CANDIDATES] = next;
}

/**
 * Whether `admitColumn` does for a head that is common: one class, its scores side by side, and boxes in f32, none of which needs
 * a function.
 */
export function isColumn(m: Memory, plan: number, head: number): boolean {
  const { i32 } = m;
  return (
    i32[head + A.H_OBJ] === 0 &&
    i32[head + A.H_CLASSES] === 1 &&
    i32[head + A.H_SCORE_CELL] === 4 &&
    i32[head + A.H_KIND] >= A.KIND_CENTRE &&
    (i32[head + A.H_SCORE_TYPE] |
      i32[head + A.H_BOX_TYPE] |
      i32[head + A.H_SCORE_FN] |
      i32[head + A.H_INDEX]) ===
      0 &&
    (i32[plan + A.P_FLAGS] & A.FLAG_CLAMP_BEFORE) === 0
  );
}

/**
 * `admit` for the `n` cells from `from` on of such a head. Boxes are made here as `place` makes them: through it a column takes 1.23
 * times as long.
 */
export function admitColumn(m: Memory, plan: number, head: number, from: number, n: number): void {
  const { i32, f32 } = m;
  const first = (i32[head + A.H_SCORE] >> 2) + from;
  const end = first + n;
  const check = f32[head + A.H_CHECK];
  const gate = f32[head + A.H_THRESHOLD];
  const below = gate > 0 ? i32[head + A.H_THRESHOLD] - 1 : -1;
  const label = i32[head + A.H_CLASS_BASE];
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
  const labels = i32[plan + A.P_CLASS_IDS] >> 2;
  const sources = i32[plan + A.P_SOURCES] >> 2;
  const source = i32[head + A.H_SOURCE];
  const room = i32[plan + A.P_CAPACITY];
  let next = i32[plan + A.P_CANDIDATES];
  for (let w = first; w < end; w++) {
    // in most columns few pass: by their bits eight at a time, as far as there are eights
    if (below >= 0 && ((w - first) & 7) === 0 && (w = nextPositive(i32, w, end - 7, below)) >= end) break;
    const score = f32[w];
    if (!(score >= gate)) continue;
    if (isOutOfRange(A.FN_NONE, score, check)) {
      i32[plan + A.P_OUT_OF_RANGE]++;
      continue;
    }
    if (next >= room) {
      i32[plan + A.P_OVERFLOW]++;
      continue;
    }
    const row = from + w - first;
    const shift = row * boxCell;
    let x1 = fround(f32[box0 + shift] * kx);
    let y1 = fround(f32[box1 + shift] * ky);
    let x2 = fround(f32[box2 + shift] * kx);
    let y2 = fround(f32[box3 + shift] * ky);
    if (kind === A.KIND_CENTRE) {
      const w = fround(x2 * 0.5);
      const h = fround(y2 * 0.5);
      x2 = fround(x1 + w);
      y2 = fround(y1 + h);
      x1 = fround(x1 - w);
      y1 = fround(y1 - h);
    } else if (kind === A.KIND_TOPLEFT) {
      x2 = fround(x1 + x2);
      y2 = fround(y1 + y2);
    }
    // as doubles five floats cannot add up to an infinity
    if (!finite(x1 + y1 + x2 + y2 + score)) {
      i32[plan + A.P_NOT_FINITE]++;
      continue;
    }
    const out = boxes + next * 4;
    f32[out] = x1;
    f32[out + 1] = y1;
    f32[out + 2] = x2;
    f32[out + 3] = y2;
    f32[scores + next] = score;
    i32[labels + next] = label;
    i32[sources + next++] = source + row;
  }
  i32[plan + A.P_CANDIDATES] = next;
}
