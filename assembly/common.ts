/**
 * Makes candidates of the commonest heads, in one loop that reads each constant of the plan once. Without vectors only;
 * common4.ts is the version with vectors.
 */
import {
  FLAG_MULTI_LABEL,
  FN_NONE,
  FN_SOFTMAX,
  H_BOX_0,
  H_BOX_1,
  H_BOX_2,
  H_BOX_3,
  H_BOX_CELL,
  H_BOX_TYPE,
  H_MAX_PROBABILITY,
  H_CLASSES,
  H_CLASS_BASE,
  H_CLASS_ID,
  H_CLASS_LIST,
  H_CLASS_THRESHOLDS,
  H_INDEX,
  H_KIND,
  H_KX,
  H_KY,
  H_OBJ,
  H_RULE,
  H_SCORE,
  H_SCORE_CELL,
  H_SCORE_CHANNEL,
  H_SCORE_FN,
  H_SCORE_TYPE,
  H_SOURCE,
  H_THRESHOLD,
  KIND_CENTRE,
  P_BOXES,
  P_CANDIDATES,
  P_CAPACITY,
  P_CLASS_IDS,
  P_FLAGS,
  P_EMPTY,
  P_NOT_FINITE,
  P_OUT_OF_RANGE,
  P_OVERFLOW,
  P_SCORES,
  P_SOURCES,
  RULE_CLASS,
  RULE_PRODUCT,
  TYPE_F32,
} from "../src/core/abi";
import { isOutOfRange } from "./admit";
import { BOX_NOT_FINITE, BOX_OK, activate, place } from "./box";
import { finite } from "./value";
import { flt, increment, int, ptr, setInt } from "./word";

/** True if the classes of a head are independent, all are in use under one threshold, and only the best is wanted. */
// @ts-ignore: decorator
@inline
export function wantsBestClass(plan: usize, head: usize): bool {
  const rule = int(head, H_RULE);
  return (
    (rule == RULE_PRODUCT || rule == RULE_CLASS) &&
    int(head, H_SCORE_FN) != FN_SOFTMAX &&
    ptr(head, H_CLASS_LIST) == 0 &&
    ptr(head, H_CLASS_THRESHOLDS) == 0 &&
    ptr(head, H_CLASS_ID) == 0 &&
    (int(plan, P_FLAGS) & FLAG_MULTI_LABEL) == 0
  );
}

/** True if `admitCommon` can handle a head: f32, plain boxes, and one class or a gate that finds the best (`known`). */
export function isCommon(plan: usize, head: usize, known: bool): bool {
  return (
    wantsBestClass(plan, head) &&
    ptr(head, H_OBJ) == 0 &&
    (known || int(head, H_CLASSES) == 1) &&
    int(head, H_KIND) >= KIND_CENTRE &&
    int(head, H_SCORE_TYPE) == TYPE_F32 &&
    int(head, H_BOX_TYPE) == TYPE_F32
  );
}

/**
 * Does the work of `admit` for the rows of a list. `best` is the address of the best class of row 0; 0 if there is one
 * class only.
 */
export function admitCommon(plan: usize, head: usize, list: usize, count: i32, best: usize): void {
  const at = ptr(head, H_SCORE);
  const cell = ptr(head, H_SCORE_CELL);
  const channel = ptr(head, H_SCORE_CHANNEL);
  const fn = int(head, H_SCORE_FN);
  const maxProbability = flt(head, H_MAX_PROBABILITY);
  const threshold = flt(head, H_THRESHOLD);
  const base = int(head, H_CLASS_BASE);
  const kind = int(head, H_KIND);
  const boxCell = ptr(head, H_BOX_CELL);
  const box0 = ptr(head, H_BOX_0);
  const box1 = ptr(head, H_BOX_1);
  const box2 = ptr(head, H_BOX_2);
  const box3 = ptr(head, H_BOX_3);
  const kx = flt(head, H_KX);
  const ky = flt(head, H_KY);
  const flags = int(plan, P_FLAGS);
  const capacity = int(plan, P_CAPACITY);
  const boxes = ptr(plan, P_BOXES);
  const scores = ptr(plan, P_SCORES);
  const classIds = ptr(plan, P_CLASS_IDS);
  const sources = ptr(plan, P_SOURCES);
  const index = ptr(head, H_INDEX);
  const source = int(head, H_SOURCE);
  let next = int(plan, P_CANDIDATES);
  for (const end = list + ((<usize>count) << 2); list < end; list += 4) {
    const row = <usize>load<u32>(list);
    const classIndex = best != 0 ? load<i32>(best + (row << 2)) : 0;
    let score = load<f32>(at + row * cell + <usize>classIndex * channel);
    if (isOutOfRange(fn, score, maxProbability)) {
      increment(plan, P_OUT_OF_RANGE);
      continue;
    }
    if (fn != FN_NONE) score = activate(fn, score);
    if (!(score >= threshold)) continue;
    if (next >= capacity) {
      increment(plan, P_OVERFLOW);
      continue;
    }

    // Make the box and append the candidate.
    const shift = row * boxCell;
    const fate = finite(score)
      ? place(
          kind,
          load<f32>(box0 + shift) * kx,
          load<f32>(box1 + shift) * ky,
          load<f32>(box2 + shift) * kx,
          load<f32>(box3 + shift) * ky,
          flags,
          boxes + ((<usize>next) << 4),
        )
      : BOX_NOT_FINITE;
    if (fate == BOX_OK) {
      const i = (<usize>next) << 2;
      store<f32>(scores + i, score);
      store<i32>(classIds + i, base + classIndex);
      store<i32>(sources + i, source + (index != 0 ? load<i32>(index + (row << 2)) : <i32>row));
      next++;
    } else increment(plan, fate == BOX_NOT_FINITE ? P_NOT_FINITE : P_EMPTY);
  }
  setInt(plan, P_CANDIDATES, next);
}
