/**
 * Scores -> candidates. Twin of `assembly/scan.ts`, and the readable account of what it does: cells go by in
 * blocks, a gate over raw values picks those that may hold something (gate.ts, planes.ts), the exact work is done for
 * those (admit.ts, and plain.ts for the commonest heads).
 */
import * as A from "../abi.ts";
import { type Memory } from "../memory.ts";
import { admit } from "./admit.ts";
import { passColumn, passRows } from "./gate.ts";
import { admitPlain, isPlain } from "./plain.ts";
import { noLabel, sieve } from "./planes.ts";
import { LOG_BYTES, value } from "./value.ts";

/** Cells of a block of planes, or of one column: long stretches of each, a word of scratch for each cell. */
const WIDE = (A.SCAN_BYTES >> 2) & ~15;
const LONG = (A.SCAN_COLUMN_BYTES >> 2) & ~15;
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
  const list = i32[plan + A.P_BLOCK] >> 2;
  const cells = validCells(m, head);
  const objectness = i32[head + A.H_OBJ];
  const type = i32[head + (objectness !== 0 ? A.H_OBJ_TYPE : A.H_SCORE_TYPE)];
  const step = i32[head + (objectness !== 0 ? A.H_OBJ_CELL : A.H_SCORE_CELL)];
  const gate = head + (objectness !== 0 ? A.H_OBJ_GATE : A.H_SCORE_GATE);
  const first = objectness !== 0 ? objectness : i32[head + A.H_SCORE];
  const planes = objectness !== 0 ? 1 : i32[head + A.H_CLASSES];
  const all = objectness === 0 && i32[head + A.H_SCORE_FN] === A.FN_SOFTMAX;
  const sieved = step === 1 << LOG_BYTES[type] && !all;
  const best = sieved && objectness === 0;
  const plain = isPlain(m, plan, head, best);
  const block = sieved ? (planes > 1 ? WIDE : LONG) : planes === 1 ? COLUMN : A.BLOCK;
  for (let from = 0; from < cells; from += block) {
    const n = Math.min(block, cells - from);
    const at = first + from * step;
    let to = list;
    if (sieved) {
      i32.fill(0, list, list + n);
      sieve(m, head, type, gate, at, planes, n, list);
      if (best && plain) to += n;
      else if (planes > 1) {
        for (let i = 0; i < n; i++) {
          // few cells have one
          while (i + 8 < n && noLabel(i32, list + i)) i += 8;
          const label = i32[list + i];
          if (label !== 0) admit(m, plan, head, from + i, label - 1);
        }
        continue;
      } else for (let i = 0; i < n; i++) if (i32[list + i] !== 0) i32[to++] = from + i;
    } else if (all || (plain && planes > 1)) for (let i = 0; i < n; i++) i32[to++] = from + i;
    else if (planes === 1) to = passColumn(m, type, gate, at, step, from, n, list);
    else to = passRows(m, head, type, at, step, from, n, list);
    if (plain) {
      // in pieces: a function that is called once a frame and loops for long may stay for good in code that V8 made for entering
      // the middle of its loop, which reads anew each time round what was read before the loop
      for (let i = 0; i < to - list; i += A.BLOCK)
        admitPlain(m, plan, head, list + i, Math.min(A.BLOCK, to - list - i), best ? from + i : -1);
    } else for (let k = list; k < to; k++) admit(m, plan, head, i32[k], -1);
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
