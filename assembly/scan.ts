/**
 * Turns scores into candidates.
 * The scan goes through the cells in blocks. The gate compares raw values, without conversions, and picks the cells
 * that may hold an object (gate.ts; planes.ts if each class is a plane). Only these few cells get the exact work:
 * class, score, box (admit.ts; common.ts for the commonest heads, common4.ts for four cells at a time).
 *
 * Only here: gateFindsBest. `scanHead` of the TypeScript engine has a simpler condition: its gate finds the best class
 * in every layout with adjacent cells.
 */
import {
  BLOCK,
  FN_SOFTMAX,
  HEAD_WORDS,
  H_CELLS,
  H_CLASSES,
  H_COUNT,
  H_COUNT_TYPE,
  H_MARKER,
  H_MARKER_CELL,
  H_OBJ,
  H_OBJ_TYPE,
  H_SCORE_CELL,
  H_SCORE_FN,
  H_SCORE_RAW_THRESHOLD,
  H_SCORE_TYPE,
  P_CANDIDATES,
  P_HEAD0,
  P_HEADS,
  P_EMPTY,
  P_NOT_FINITE,
  P_OUT_OF_RANGE,
  P_OVERFLOW,
  TYPE_F16,
  TYPE_F32,
  TYPE_I8,
  TYPE_U8,
} from "../src/core/abi";
import { UNKNOWN, admit } from "./admit";
import { admitCommon, isCommon } from "./common";
import { admitClasses, admitFloats, isCommon4 } from "./common4";
import { gate, passIntegers } from "./gate";
import { planeBlock } from "./planes4";
import { column, rows } from "./scratch";
import { f16, value } from "./value";
import { flt, int, ptr, setInt } from "./word";

/** Scans all heads of a plan. Returns the number of candidates. */
export function scan(plan: usize): i32 {
  setInt(plan, P_CANDIDATES, 0);
  setInt(plan, P_OVERFLOW, 0);
  setInt(plan, P_NOT_FINITE, 0);
  setInt(plan, P_EMPTY, 0);
  setInt(plan, P_OUT_OF_RANGE, 0);
  let head = ptr(plan, P_HEAD0);
  for (let i = int(plan, P_HEADS); i > 0; i--) {
    scanHead(plan, head);
    head += HEAD_WORDS << 2;
  }
  return int(plan, P_CANDIDATES);
}

/** Appends the candidates of one head. */
function scanHead(plan: usize, head: usize): void {
  const list = column(plan, 0);
  const best = ASC_FEATURE_SIMD ? rows(plan) : column(plan, 1);
  const bestClasses = column(plan, 2);
  const cells = validCells(head);

  // The gate looks at objectness, or at the classes if there is none.
  const hasObjectness = ptr(head, H_OBJ) != 0;
  const classes = int(head, H_CLASSES);
  const type = hasObjectness ? int(head, H_OBJ_TYPE) : int(head, H_SCORE_TYPE);
  const gatesClasses = !hasObjectness && classes > 1;
  const isKnown = !ASC_FEATURE_SIMD && gatesClasses && gateFindsBest(head, type);
  const common = ASC_FEATURE_SIMD ? isCommon4(plan, head) : isCommon(plan, head, isKnown);

  // Choose the size of the block: with vectors, planes have blocks as long as scratch permits.
  const bytes = type == TYPE_F32 ? 4 : type == TYPE_F16 ? 2 : type <= TYPE_U8 ? 1 : 0;
  let block = bytes == 1 || bytes == 2 ? 2 * BLOCK : BLOCK;
  if (ASC_FEATURE_SIMD && gatesClasses && bytes != 0 && int(head, H_SCORE_CELL) == bytes)
    block =
      bytes == 4
        ? planeBlock<f32>(plan, classes)
        : bytes == 2
          ? planeBlock<f16>(plan, classes)
          : planeBlock<i8>(plan, classes);

  for (let from = 0; from < cells; from += block) {
    // Gate.
    const n = min(block, cells - from);
    let count: i32;
    if (type == TYPE_F32) count = gate<f32, f32>(plan, head, from, n, best, list);
    else if (type == TYPE_F16) count = gate<f16, i32>(plan, head, from, n, best, list);
    else if (type == TYPE_I8) count = gate<i8, i32>(plan, head, from, n, best, list);
    else if (type == TYPE_U8) count = gate<u8, i32>(plan, head, from, n, best, list);
    else count = passIntegers(head, type, from, n, list);

    // Admit.
    if (common) {
      if (!ASC_FEATURE_SIMD)
        admitCommon(plan, head, list, count, isKnown ? bestClasses - ((<usize>from) << 2) : 0);
      else if (hasObjectness) admitFloats(plan, head, list, count);
      else admitClasses(plan, head, list, count, from);
      continue;
    }
    for (let i = 0; i < count; i++) {
      const row = load<i32>(list + ((<usize>i) << 2));
      admit(plan, head, row, isKnown ? load<i32>(bestClasses + ((<usize>(row - from)) << 2)) : UNKNOWN);
    }
  }
}

/** True if the gate finds the best class of a cell, as `passPlanes` and `passWords` do. Without vectors only. */
function gateFindsBest(head: usize, type: i32): bool {
  const step = ptr(head, H_SCORE_CELL);
  if (int(head, H_SCORE_FN) == FN_SOFTMAX) return false;
  if (type == TYPE_F32) return step == 4 && flt(head, H_SCORE_RAW_THRESHOLD) > 0;
  if (type == TYPE_F16) return step == 2 && int(head, H_SCORE_RAW_THRESHOLD) > 0;
  return step == 1 && (type == TYPE_I8 || type == TYPE_U8);
}

/**
 * Returns the count of valid rows: those before the end marker (SSD DetectionOutput), or as many as an output states
 * (TFLite post-process).
 */
function validCells(head: usize): i32 {
  let cells = int(head, H_CELLS);
  const count = ptr(head, H_COUNT);
  if (count != 0) {
    // If the count is NaN or too large, keep all rows: their scores still decide.
    const n = value(int(head, H_COUNT_TYPE), count, 1, 0);
    if (n >= 0 && n < <f32>cells) cells = <i32>n;
  }
  const marker = ptr(head, H_MARKER);
  if (marker != 0) {
    const type = int(head, H_SCORE_TYPE);
    const step = ptr(head, H_MARKER_CELL);
    for (let i = 0; i < cells; i++) {
      if (value(type, marker + <usize>i * step, 1, 0) == -1) return i;
    }
  }
  return cells;
}
