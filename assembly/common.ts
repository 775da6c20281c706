/** The exact work for cells of the commonest heads, in one loop that reads once what does not change from cell to cell. Builds without vectors only. */
import {
  FN_NONE,
  H_BOX_0,
  H_BOX_1,
  H_BOX_2,
  H_BOX_3,
  H_BOX_CELL,
  H_BOX_TYPE,
  H_CHECK,
  H_CLASSES,
  H_CLASS_BASE,
  H_THRESHOLD,
  H_INDEX,
  H_KIND,
  H_KX,
  H_KY,
  H_OBJ,
  H_SCORE,
  H_SCORE_CELL,
  H_SCORE_CHANNEL,
  H_SCORE_FN,
  H_SCORE_TYPE,
  H_SOURCE,
  KIND_CENTRE,
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
  TYPE_F32,
} from "../src/core/abi";
import { BOX_NOT_FINITE, BOX_OK, activate, place } from "./box";
import { isCommon } from "./head";
import { finite } from "./value";
import { flt, increment, int, ptr, setInt } from "./word";

/** Whether `admitCommon` does for this head: in f32, with boxes that need no function, and the best class known, or only the one. */
export function isCommonPlain(plan: usize, head: usize, known: bool): bool {
  return (
    isCommon(plan, head) &&
    ptr(head, H_OBJ) == 0 &&
    (known || int(head, H_CLASSES) == 1) &&
    int(head, H_KIND) >= KIND_CENTRE &&
    (int(head, H_SCORE_TYPE) | int(head, H_BOX_TYPE)) == TYPE_F32
  );
}

/** `admit` for the cells of a list. At `best` stands the best class of cell 0; 0: there is only the one. */
export function admitCommon(plan: usize, head: usize, list: usize, count: i32, best: usize): void {
  const at = ptr(head, H_SCORE);
  const cell = ptr(head, H_SCORE_CELL);
  const channel = ptr(head, H_SCORE_CHANNEL);
  const fn = int(head, H_SCORE_FN);
  const check = flt(head, H_CHECK);
  const gate = flt(head, H_THRESHOLD);
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
  const labels = ptr(plan, P_CLASS_IDS);
  const sources = ptr(plan, P_SOURCES);
  const index = ptr(head, H_INDEX);
  const source = int(head, H_SOURCE);
  let n = int(plan, P_CANDIDATES);
  for (const end = list + ((<usize>count) << 2); list < end; list += 4) {
    const row = <usize>load<u32>(list);
    const label = best != 0 ? load<i32>(best + (row << 2)) : 0;
    let score = load<f32>(at + row * cell + <usize>label * channel);
    if (fn != FN_NONE) score = activate(fn, score);
    else if (score > check && finite(score)) {
      increment(plan, P_OUT_OF_RANGE);
      continue;
    }
    if (!(score >= gate)) continue;
    if (n >= capacity) {
      increment(plan, P_OVERFLOW);
      continue;
    }
    const shift = row * boxCell;
    const fate = finite(score)
      ? place(
          kind,
          load<f32>(box0 + shift) * kx,
          load<f32>(box1 + shift) * ky,
          load<f32>(box2 + shift) * kx,
          load<f32>(box3 + shift) * ky,
          flags,
          boxes + ((<usize>n) << 4),
        )
      : BOX_NOT_FINITE;
    if (fate == BOX_OK) {
      const i = (<usize>n) << 2;
      store<f32>(scores + i, score);
      store<i32>(labels + i, base + label);
      store<i32>(sources + i, source + (index != 0 ? load<i32>(index + (row << 2)) : <i32>row));
      n++;
    } else if (fate == BOX_NOT_FINITE) increment(plan, P_NOT_FINITE);
  }
  setInt(plan, P_CANDIDATES, n);
}
