/**
 * Scores -> candidates. Twin of `assembly/scan.ts`, and the readable account of what it does: cells go by in
 * blocks, a gate over raw values picks those that may hold something (gate.ts, planes.ts), the exact work is done for
 * those (admit.ts, and common.ts for the commonest heads).
 */
import * as A from "../../core/abi.ts";
import { type Memory } from "../../core/memory.ts";
import { admit } from "./admit.ts";
import { passColumn, passRows } from "./gate.ts";
import { admitColumn, admitCommon, isColumn, isCommon } from "./common.ts";
import { marked, sieve } from "./planes.ts";
import { LOG_BYTES, value } from "./value.ts";

/**
 * Words of scratch for planes, or for one column: a list, a bit for each cell of a block, a label for each. Blocks are long, so that
 * each plane is read in long stretches.
 */
const WIDE = (A.SCAN_BYTES >> 2) - A.BLOCK;
const LONG = (A.SCAN_COLUMN_BYTES >> 2) - A.BLOCK;
/** Of a column whose cells lie apart: many, since it waits for memory and must not be stopped often, yet few enough to find their rows in a cache. */
const COLUMN = 6 * A.BLOCK;

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
  const list = i32[plan + A.P_SCRATCH] >> 2;
  const cells = validCells(m, head);
  const objectness = i32[head + A.H_OBJ];
  const type = i32[head + (objectness !== 0 ? A.H_OBJ_TYPE : A.H_SCORE_TYPE)];
  const step = i32[head + (objectness !== 0 ? A.H_OBJ_CELL : A.H_SCORE_CELL)];
  const gate = head + (objectness !== 0 ? A.H_OBJ_RAW_THRESHOLD : A.H_SCORE_RAW_THRESHOLD);
  const first = objectness !== 0 ? objectness : i32[head + A.H_SCORE];
  const planes = objectness !== 0 ? 1 : i32[head + A.H_CLASSES];
  const all = objectness === 0 && i32[head + A.H_SCORE_FN] === A.FN_SOFTMAX;
  const sieved = step === 1 << LOG_BYTES[type] && !all;
  const best = sieved && objectness === 0;
  const common = isCommon(m, plan, head, best);
  const column = common && isColumn(m, plan, head);
  const words = planes > 1 ? WIDE : LONG;
  const block = column ? A.BLOCK : sieved ? (words - (words >> 5)) & ~31 : planes === 1 ? COLUMN : A.BLOCK;
  const marks = list + A.BLOCK;
  const labels = marks + (block >> 5);
  for (let from = 0; from < cells; from += block) {
    const n = Math.min(block, cells - from);
    const at = first + from * step;
    if (column) admitColumn(m, plan, head, from, n);
    else if (sieved) {
      i32.fill(0, marks, labels);
      sieve(m, head, type, gate, at, planes, n, marks, labels);
      for (let i = 0; i < n; i += A.BLOCK) {
        const to = marked(i32, marks + (i >> 5), Math.min(A.BLOCK, n - i), from + i, list);
        admitList(m, plan, head, common, list, to, best ? labels : 0, from);
      }
    } else {
      let to = list;
      if (all || (common && planes > 1)) for (let i = 0; i < n; i++) i32[to++] = from + i;
      else if (planes === 1) to = passColumn(m, type, gate, at, step, from, n, list);
      else to = passRows(m, head, type, at, step, from, n, list);
      // in pieces: a function that is called once a frame and loops for long may stay for good in code that V8 made for entering
      // the middle of its loop, which reads anew each time round what was read before the loop
      for (let k = list; k < to; k += A.BLOCK)
        admitList(m, plan, head, common, k, Math.min(k + A.BLOCK, to), 0, from);
    }
  }
}

/** `admit` for the rows of a list. The best classes stand at `labels`, of cell `from` first; 0: they are to be found. */
function admitList(
  m: Memory,
  plan: number,
  head: number,
  common: boolean,
  list: number,
  to: number,
  labels: number,
  from: number,
): void {
  const { i32 } = m;
  if (common) admitCommon(m, plan, head, list, to, labels, from);
  else
    for (; list < to; list++) {
      const row = i32[list];
      admit(m, plan, head, row, labels === 0 ? -1 : i32[labels + row - from]);
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
