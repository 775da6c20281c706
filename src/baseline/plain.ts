/** The exact work for cells of the commonest heads, in one loop. Twin of `assembly/plain.ts`, which leaves more heads to `admit`. */
import * as A from "../abi.ts";
import { type Memory } from "../memory.ts";
import { emitKept, isOdd, largest, largestInRow } from "./admit.ts";
import { BOX_NOT_FINITE, BOX_OK, activate, place } from "./box.ts";
import { noLabel } from "./planes.ts";
import { finite, fround, OBJECTNESS, pass, passed, SCORE } from "./value.ts";

/**
 * Whether `admitPlain` does for this head: independent classes, all of them, one threshold; in f32, objectness too if any,
 * unless the best class of each cell is known.
 */
export function isPlain(m: Memory, plan: number, head: number, best: boolean): boolean {
  const { i32 } = m;
  const rule = i32[head + A.H_RULE];
  return (
    (rule === A.RULE_CLASS || rule === A.RULE_PRODUCT) &&
    (i32[head + A.H_OBJ] === 0 || i32[head + A.H_OBJ_TYPE] === A.TYPE_F32) &&
    (best || i32[head + A.H_SCORE_TYPE] === A.TYPE_F32) &&
    i32[head + A.H_SCORE_FN] !== A.FN_SOFTMAX &&
    i32[head + A.H_CLASS_LIST] === 0 &&
    i32[head + A.H_CLASS_GATES] === 0 &&
    i32[head + A.H_LABEL] === 0 &&
    (i32[plan + A.P_FLAGS] & A.FLAG_MULTI_LABEL) === 0
  );
}

/**
 * `admit` for the commonest heads, with everything that does not change from cell to cell read once. The list holds cells;
 * or, for each of the `count` cells from `from` on, the number + 1 of its best class, 0 for most, if `from` is not below 0.
 */
export function admitPlain(
  m: Memory,
  plan: number,
  head: number,
  list: number,
  count: number,
  from: number,
): void {
  const { i32, f32 } = m;
  const objectness = i32[head + A.H_OBJ] >> 2;
  const objectnessCell = i32[head + A.H_OBJ_CELL] >> 2;
  const objectnessFn = i32[head + A.H_OBJ_FN];
  const objectnessGate = f32[head + A.H_OBJ_GATE];
  const at = i32[head + A.H_SCORE];
  const type = i32[head + A.H_SCORE_TYPE];
  const cell = i32[head + A.H_SCORE_CELL];
  const channel = i32[head + A.H_SCORE_CHANNEL];
  const fn = i32[head + A.H_SCORE_FN];
  const classes = i32[head + A.H_CLASSES];
  const base = i32[head + A.H_CLASS_BASE];
  const product = i32[head + A.H_RULE] === A.RULE_PRODUCT;
  const check = f32[head + A.H_CHECK];
  const gate = f32[head + A.H_GATE];
  const rawest = f32[head + A.H_SCORE_GATE];
  // rows of probabilities: most are told by their bits, eight to a branch
  const side = channel === 4 && rawest > 0;
  // a class below gate / objectness cannot bring the product over the gate; a hair lower for the rounding, of which a
  // gate near the smallest floats would need more
  const least =
    side && product && objectnessFn === A.FN_NONE && fn === A.FN_NONE && gate > 1e-30 ? gate * 0.999999 : 0;
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
  const labels = i32[plan + A.P_LABELS] >> 2;
  const sources = i32[plan + A.P_SOURCES] >> 2;
  const source = i32[head + A.H_SOURCE];
  const index = i32[head + A.H_INDEX] >> 2;
  const to = passed;
  let next = i32[plan + A.P_CANDIDATES];
  for (let k = 0; k < count; k++) {
    let row = from + k;
    let o = 1;
    let score: number;
    let label: number;
    if (from >= 0) {
      label = i32[list + k] - 1;
      if (label < 0) {
        // few cells have one
        while (k + 8 < count && noLabel(i32, list + k + 1)) k += 8;
        while (k + 1 < count && i32[list + k + 1] === 0) k++;
        continue;
      }
      const p = at + row * cell + label * channel;
      if (type === A.TYPE_F32) score = f32[p >> 2];
      else {
        pass(m, type, p, head + A.H_SCORE_SCALE, SCORE);
        score = to[SCORE];
      }
    } else {
      row = i32[list + k];
      if (objectness !== 0) {
        o = f32[objectness + row * objectnessCell];
        if (!(o >= objectnessGate)) continue;
      }
      const p = (at + row * cell) >> 2;
      if (side) {
        to[SCORE] = least > 0 && o <= check && least > rawest * o ? least / o : rawest;
        label = largestInRow(m, p, classes);
      } else label = largest(f32, p, channel >> 2, classes);
      if (label < 0) continue;
      score = f32[p + ((label * channel) >> 2)];
      // below the raw gate no conversion can pass
      if (!(score >= rawest)) continue;
    }
    if (isOdd(objectnessFn, o, check) || isOdd(fn, score, check)) {
      i32[plan + A.P_OUT_OF_RANGE]++;
      continue;
    }
    if (objectnessFn !== A.FN_NONE || fn !== A.FN_NONE) {
      to[OBJECTNESS] = o;
      to[SCORE] = score;
      // one call for both: V8 takes in so many bytes of other functions, and a number that one left out returns is an object
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
      pass(m, boxType, box0 + shift, head + A.H_BOX_SCALE, 0);
      pass(m, boxType, box1 + shift, head + A.H_BOX_SCALE, 1);
      pass(m, boxType, box2 + shift, head + A.H_BOX_SCALE, 2);
      pass(m, boxType, box3 + shift, head + A.H_BOX_SCALE, 3);
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
