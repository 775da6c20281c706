/**
 * Turns scores into candidates, one block of cells at a time. Twin of `assembly/scan.ts`. The gate (gate.ts, planes.ts)
 * compares raw values and picks the few cells that may hold an object. Only their scores and boxes are computed exactly
 * (admit.ts, common.ts).
 * Only here: admitList. V8 runs faster if lists of cells are admitted in pieces.
 */
import * as A from "../../core/abi.ts";
import { type Memory } from "../../core/memory.ts";
import { admit } from "./admit.ts";
import { admitColumn, admitCommon, isColumn, isCommon } from "./common.ts";
import { passColumn, passRows } from "./gate.ts";
import { listMarked, passPlanes } from "./planes.ts";
import { LOG_BYTES, value } from "./value.ts";

/**
 * Words of the scan's scratch after the list of BLOCK cells: a bit and a best class for each cell of a block. A block
 * fills the scratch, so that each plane is read in long runs. SCAN_BYTES is for planes, SCAN_COLUMN_BYTES for a single
 * column.
 */
const PLANE_WORDS = (A.SCAN_BYTES >> 2) - A.BLOCK;
const COLUMN_WORDS = (A.SCAN_COLUMN_BYTES >> 2) - A.BLOCK;
/** Cells per block in a column whose cells lie apart. Long blocks hide latency, but must fit into a cache. */
const APART_BLOCK = 6 * A.BLOCK;

/** Scans all heads of a plan. Returns the number of candidates. */
export function scan(m: Memory, at: number): number {
  const { i32 } = m;
  const plan = at >> 2;
  i32[plan + A.P_CANDIDATES] = 0;
  i32[plan + A.P_OVERFLOW] = 0;
  i32[plan + A.P_NOT_FINITE] = 0;
  i32[plan + A.P_EMPTY] = 0;
  i32[plan + A.P_OUT_OF_RANGE] = 0;
  let head = i32[plan + A.P_HEAD0] >> 2;
  for (let i = i32[plan + A.P_HEADS]; i > 0; i--) {
    scanHead(m, plan, head);
    head += A.HEAD_WORDS;
  }
  return i32[plan + A.P_CANDIDATES];
}

/** Appends the candidates of one head. */
function scanHead(m: Memory, plan: number, head: number): void {
  const { i32 } = m;
  const list = i32[plan + A.P_SCRATCH] >> 2;
  const cells = validCells(m, head);

  // The gate compares objectness, or the classes if there is none.
  const hasObjectness = i32[head + A.H_OBJ] !== 0;
  const type = i32[head + (hasObjectness ? A.H_OBJ_TYPE : A.H_SCORE_TYPE)];
  const step = i32[head + (hasObjectness ? A.H_OBJ_CELL : A.H_SCORE_CELL)];
  const threshold = head + (hasObjectness ? A.H_OBJ_RAW_THRESHOLD : A.H_SCORE_RAW_THRESHOLD);
  const first = i32[head + (hasObjectness ? A.H_OBJ : A.H_SCORE)];
  const planes = hasObjectness ? 1 : i32[head + A.H_CLASSES];

  // Choose the gate, and the function that makes candidates.
  const passesAll = !hasObjectness && i32[head + A.H_SCORE_FN] === A.FN_SOFTMAX;
  const isSideBySide = step === 1 << LOG_BYTES[type] && !passesAll;
  const findsBest = isSideBySide && !hasObjectness;
  const common = isCommon(m, plan, head, findsBest);
  const column = common && isColumn(m, plan, head);

  // Choose the block length, and divide the scratch: one word holds marks for 32 cells.
  const words = planes > 1 ? PLANE_WORDS : COLUMN_WORDS;
  let block = planes === 1 ? APART_BLOCK : A.BLOCK;
  if (column) block = A.BLOCK;
  else if (isSideBySide) block = (words - (words >> 5)) & ~31;
  const marks = list + A.BLOCK;
  const bestClasses = marks + (block >> 5);

  for (let from = 0; from < cells; from += block) {
    const n = Math.min(block, cells - from);
    const at = first + from * step;
    if (column) admitColumn(m, plan, head, from, n);
    else if (isSideBySide) {
      i32.fill(0, marks, bestClasses);
      passPlanes(m, head, at, n, marks, bestClasses);
      for (let i = 0; i < n; i += A.BLOCK) {
        const end = listMarked(i32, marks + (i >> 5), Math.min(A.BLOCK, n - i), from + i, list);
        admitList(m, plan, head, common, list, end, findsBest ? bestClasses : 0, from);
      }
    } else {
      let end = list;
      if (passesAll || (common && planes > 1)) for (let i = 0; i < n; i++) i32[end++] = from + i;
      else if (planes === 1) end = passColumn(m, type, threshold, at, step, from, n, list);
      else end = passRows(m, head, type, at, step, from, n, list);
      // Admit in pieces of BLOCK cells. If the first calls of a function loop for long, V8 compiles code to enter the
      // loop in the middle. V8 may keep that code, which reloads every constant in each round.
      for (let k = list; k < end; k += A.BLOCK)
        admitList(m, plan, head, common, k, Math.min(k + A.BLOCK, end), 0, from);
    }
  }
}

/** Makes candidates of the rows in the words [list, end). `best`: word of the best class of row `from`, or 0. */
function admitList(
  m: Memory,
  plan: number,
  head: number,
  common: boolean,
  list: number,
  end: number,
  best: number,
  from: number,
): void {
  const { i32 } = m;
  if (common) {
    admitCommon(m, plan, head, list, end, best, from);
    return;
  }
  for (; list < end; list++) {
    const row = i32[list];
    admit(m, plan, head, row, best === 0 ? -1 : i32[best + row - from]);
  }
}

/** Returns the count of valid rows: up to the end marker (SSD DetectionOutput), or as an output states (TFLite). */
function validCells(m: Memory, head: number): number {
  const { i32 } = m;
  let cells = i32[head + A.H_CELLS];
  const count = i32[head + A.H_COUNT];
  if (count !== 0) {
    // Use all rows if the count is NaN or too large: their scores must still pass.
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
