/**
 * Scores -> candidates.
 *
 * Cells go by in blocks. A *gate* over the raw values picks the cells that may hold something, without
 * converting anything (gate.ts, and planes.ts where each class is a plane of its own, of which it notes the best on its way
 * where there are no vectors); the exact work is done for those few: class, score, box (admit.ts, and common.ts for the
 * commonest heads; common4.ts four cells at a time).
 * The gate may let too many through but never too few, so engines agree whatever their gates look like. Only of objectness nobody asks
 * again where the class alone is the score: there it lets no number through that does not pass.
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
  P_NOT_FINITE,
  P_OUT_OF_RANGE,
  P_OVERFLOW,
  TYPE_F16,
  TYPE_F32,
  TYPE_I8,
  TYPE_U8,
} from "../src/core/abi";
import { UNKNOWN, admit } from "./admit";
import { gate, passIntegers } from "./gate";
import { admitCommon, isCommonPlain } from "./common";
import { admitClasses, admitFloats, isCommon4 } from "./common4";
import { planeBlock } from "./head";
import { column, rows } from "./scratch";
import { f16, value } from "./value";
import { flt, int, ptr, setInt } from "./word";

export function scan(plan: usize): i32 {
  setInt(plan, P_CANDIDATES, 0);
  setInt(plan, P_OVERFLOW, 0);
  setInt(plan, P_NOT_FINITE, 0);
  setInt(plan, P_OUT_OF_RANGE, 0);
  let head = ptr(plan, P_HEAD0);
  for (let i = int(plan, P_HEADS); i > 0; i--) {
    scanHead(plan, head);
    head += HEAD_WORDS << 2;
  }
  return int(plan, P_CANDIDATES);
}

function scanHead(plan: usize, head: usize): void {
  const maxima = ASC_FEATURE_SIMD ? rows(plan) : column(plan, 1);
  const list = column(plan, 0);
  const labels = column(plan, 2);
  const cells = validCells(head);
  const objectness = ptr(head, H_OBJ) != 0;
  const classes = int(head, H_CLASSES);
  const type = objectness ? int(head, H_OBJ_TYPE) : int(head, H_SCORE_TYPE);
  const several = !objectness && classes > 1;
  const known = !ASC_FEATURE_SIMD && several && gateFindsClasses(head, type);
  const common = ASC_FEATURE_SIMD ? isCommon4(plan, head) : isCommonPlain(plan, head, known);
  const bytes = type == TYPE_F32 ? 4 : type == TYPE_F16 ? 2 : type <= TYPE_U8 ? 1 : 0;
  let block = bytes == 1 || bytes == 2 ? 2 * BLOCK : BLOCK;
  if (ASC_FEATURE_SIMD && several && bytes != 0 && int(head, H_SCORE_CELL) == bytes)
    block =
      bytes == 4
        ? planeBlock<f32>(plan, classes)
        : bytes == 2
          ? planeBlock<f16>(plan, classes)
          : planeBlock<i8>(plan, classes);
  for (let from = 0; from < cells; from += block) {
    const n = min(block, cells - from);
    let count: i32;
    if (type == TYPE_F32) count = gate<f32, f32>(plan, head, from, n, maxima, list);
    else if (type == TYPE_F16) count = gate<f16, i32>(plan, head, from, n, maxima, list);
    else if (type == TYPE_I8) count = gate<i8, i32>(plan, head, from, n, maxima, list);
    else if (type == TYPE_U8) count = gate<u8, i32>(plan, head, from, n, maxima, list);
    else count = passIntegers(head, type, from, n, list);
    if (common) {
      if (!ASC_FEATURE_SIMD) admitCommon(plan, head, list, count, known ? labels - ((<usize>from) << 2) : 0);
      else if (objectness) admitFloats(plan, head, list, count);
      else admitClasses(plan, head, list, count, from);
      continue;
    }
    for (let i = 0; i < count; i++) {
      const row = load<i32>(list + ((<usize>i) << 2));
      admit(plan, head, row, known ? load<i32>(labels + ((<usize>(row - from)) << 2)) : UNKNOWN);
    }
  }
}

/** Whether the gate finds the best class of a cell on its way, as `passPlanes` and `passWords` do; it then stands in the third column of scratch. */
function gateFindsClasses(head: usize, type: i32): bool {
  const step = ptr(head, H_SCORE_CELL);
  if (int(head, H_SCORE_FN) == FN_SOFTMAX) return false;
  if (type == TYPE_F32) return step == 4 && flt(head, H_SCORE_RAW_THRESHOLD) > 0;
  if (type == TYPE_F16) return step == 2 && int(head, H_SCORE_RAW_THRESHOLD) > 0;
  return step == 1 && (type == TYPE_I8 || type == TYPE_U8);
}

/** Rows before the end marker (SSD DetectionOutput) or up to the stated number (TFLite post-process). */
function validCells(head: usize): i32 {
  let cells = int(head, H_CELLS);
  const count = ptr(head, H_COUNT);
  if (count != 0) {
    const n = value(int(head, H_COUNT_TYPE), count, 1, 0);
    // a number that is no count leaves all rows in: their scores still gate
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
