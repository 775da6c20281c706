/**
 * Scores -> candidates. Twin of `assembly/scan.ts`, and the readable account of what it does: cells go by in
 * blocks, a gate over raw values picks those that may hold something, `admit` does the exact work for those.
 *
 * f32 has loops of its own; other types share one loop over an integer view, chosen once per block.
 */
import * as A from "../abi.ts";
import { INDEX, type Memory } from "../memory.ts";
import { BOX_NOT_FINITE, BOX_OK, activate, box, place } from "./box.ts";
import {
  LOWEST,
  OBJECTNESS,
  SCORE,
  exp,
  finite,
  integerKey,
  pass,
  passed,
  passedBits,
  power,
  value,
  wide,
} from "./value.ts";

const fround = Math.fround;
/** Binary logarithm of an element's bytes, by type number. */
const LOG = [2, 1, 0, 0, 1, 2];
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
  const sieved = step === 1 << LOG[type] && !all;
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
    else if (planes === 1) to = column(m, type, gate, at, step, from, n, list);
    else to = rows(m, head, type, at, step, from, n, list);
    if (plain) {
      // piece by piece: what is called but once a frame, and then runs long, may for good stay in code that V8 made for the
      // middle of a loop, which unpacks each time round what was read before it
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

/**
 * Planes (or one column) whose cells lie side by side: for each cell the class with the largest raw value, if it
 * reaches the gate, goes to `labels` as its number + 1. Sixteen bytes are tested at once, word by word whatever the
 * type, and looked at one by one only where something in them may pass.
 *
 * Lanes are brought into the order of unsigned numbers by flipping bits: the top one of signed numbers, and for
 * floats against a gate that is not positive all of them, which sorts negative ones and leaves the positive on top.
 * With the top bit of a lane x apart, the sum of the rest and `lift` has its top bit set where the rest reaches that
 * of the gate, and cannot carry into the next lane; x passes by either top bit where the gate's own is clear, by
 * both where it is set.
 */
function sieve(
  m: Memory,
  head: number,
  type: number,
  gate: number,
  at: number,
  planes: number,
  n: number,
  labels: number,
): void {
  const { i32 } = m;
  const channel = i32[head + A.H_SCORE_CHANNEL];
  const list = planes === 1 ? 0 : i32[head + A.H_CLASS_LIST] >> 2;
  const log = LOG[type];
  const half = 2 ** ((8 << log) - 1);
  const ones = log === 0 ? 0x01010101 : log === 1 ? 0x00010001 : 1;
  let key = i32[gate];
  if (type === A.TYPE_F32) {
    // in the order of numbers; -0 is not below a gate of +0
    key ^= (key >> 31) & 0x7fffffff;
    if (key === 0) key = -1;
  } else if (type === A.TYPE_U8) key -= 128;
  key = Math.max(-half, Math.min(half - 1, key));
  const both = key > 0;
  const tops = Math.imul(half, ones);
  const rest = ~tops;
  const lift = Math.imul(both ? half - key : -key, ones);
  const flip = type === A.TYPE_U8 ? 0 : !both && type <= A.TYPE_F16 ? -1 : tops;
  const floats = type === A.TYPE_F32;
  const below = both ? key - 1 : (key ^ 0x7fffffff) + 1;
  // what is looked at closer: eight floats, or the elements of one word
  const step = floats ? 3 : 2 - log;
  const words = floats ? 8 : 1;
  let k = 0;
  if (floats && both)
    for (; k + 4 <= planes; k += 4) sieveFour(m, gate, at, channel, list, k, n, below, labels);
  for (; k < planes; k++) {
    const c = classAt(i32, list, k);
    const p = at + c * channel;
    // up to a whole word
    let i = Math.min(n, (-p & 3) >> log);
    let w = (p + (i << log)) >> 2;
    if (i > 0) look(m, type, gate, p, channel, c, 0, i, labels);
    for (;;) {
      const end = w + ((n - i) >> step) * words;
      const found = !floats
        ? nextWord(i32, w, end, flip, rest, lift, both ? 0 : -1)
        : both
          ? nextPositive(i32, w, end, below)
          : nextNegative(i32, w, end, below);
      i += ((found - w) << 2) >> log;
      if (found === end) break;
      look(m, type, gate, p, channel, c, i, i + (1 << step), labels);
      i += 1 << step;
      w = found + words;
    }
    if (i < n) look(m, type, gate, p, channel, c, i, n, labels);
  }
}

/** `sieve` for the k-th plane of floats and the three after it, against a positive gate. */
function sieveFour(
  m: Memory,
  gate: number,
  at: number,
  channel: number,
  list: number,
  k: number,
  n: number,
  below: number,
  labels: number,
): void {
  const { i32 } = m;
  const whole = n & ~3;
  const a = (at + classAt(i32, list, k) * channel) >> 2;
  const b = (at + classAt(i32, list, k + 1) * channel) >> 2;
  const c = (at + classAt(i32, list, k + 2) * channel) >> 2;
  const d = (at + classAt(i32, list, k + 3) * channel) >> 2;
  for (let i = 0; i < n; i += 4) {
    if (i < whole) i = nextInFour(i32, a + i, b + i, c + i, d + i, a + whole, below) - a;
    for (let j = k; j < k + 4 && i < n; j++) {
      const label = classAt(i32, list, j);
      const p = at + label * channel;
      const w = (p >> 2) + i;
      // the last few are looked at in any case
      if (i === whole || i32[w] > below || i32[w + 1] > below || i32[w + 2] > below || i32[w + 3] > below)
        look(m, A.TYPE_F32, gate, p, channel, label, i, Math.min(i + 4, n), labels);
    }
  }
}

/** The k-th of the classes, of all or of those in a list. */
function classAt(i32: Int32Array, list: number, k: number): number {
  return list === 0 ? k : i32[list + k];
}

// Of the words in [w, end) the first from which on something may pass, else `end`. Apart from what is done about it: a
// call in the loop would have everything about the array read anew each time round.

/**
 * Floats of four planes, four at a time, against a positive gate, as bits: those of negative numbers are below those of any
 * positive. `end` is of the first plane. What a core reads ahead it reads along several lines at once: half as fast again in the
 * second cache, and four times where the planes come from memory.
 */
function nextInFour(
  i32: Int32Array,
  a: number,
  b: number,
  c: number,
  d: number,
  end: number,
  below: number,
): number {
  a &= INDEX;
  b &= INDEX;
  c &= INDEX;
  d &= INDEX;
  for (; a < end; a = (a + 4) & INDEX, b = (b + 4) & INDEX, c = (c + 4) & INDEX, d = (d + 4) & INDEX)
    if (
      i32[a] > below ||
      i32[a + 1] > below ||
      i32[a + 2] > below ||
      i32[a + 3] > below ||
      i32[b] > below ||
      i32[b + 1] > below ||
      i32[b + 2] > below ||
      i32[b + 3] > below ||
      i32[c] > below ||
      i32[c + 1] > below ||
      i32[c + 2] > below ||
      i32[c + 3] > below ||
      i32[d] > below ||
      i32[d + 1] > below ||
      i32[d + 2] > below ||
      i32[d + 3] > below
    )
      break;
  return a;
}

/** The same of one plane, eight at a time. */
function nextPositive(i32: Int32Array, w: number, end: number, below: number): number {
  for (w &= INDEX; w < end; w = (w + 8) & INDEX)
    if (
      i32[w] > below ||
      i32[w + 1] > below ||
      i32[w + 2] > below ||
      i32[w + 3] > below ||
      i32[w + 4] > below ||
      i32[w + 5] > below ||
      i32[w + 6] > below ||
      i32[w + 7] > below
    )
      break;
  return w;
}

/** Against a gate that is not: all but the `count` bits from `first` on, which are those of the numbers below the gate. */
function nextNegative(i32: Int32Array, w: number, end: number, first: number): number {
  const count = -first >>> 0;
  for (w &= INDEX; w < end; w = (w + 8) & INDEX)
    if (
      (i32[w] - first) >>> 0 >= count ||
      (i32[w + 1] - first) >>> 0 >= count ||
      (i32[w + 2] - first) >>> 0 >= count ||
      (i32[w + 3] - first) >>> 0 >= count ||
      (i32[w + 4] - first) >>> 0 >= count ||
      (i32[w + 5] - first) >>> 0 >= count ||
      (i32[w + 6] - first) >>> 0 >= count ||
      (i32[w + 7] - first) >>> 0 >= count
    )
      break;
  return w;
}

/**
 * Words of lanes. Eight words ORed together are in no lane below the largest of them, so most of the time one test
 * does for all eight. `either`: -1 where one of the top bits is enough, else 0.
 */
function nextWord(
  i32: Int32Array,
  w: number,
  end: number,
  flip: number,
  rest: number,
  lift: number,
  either: number,
): number {
  for (w &= INDEX; w < end;) {
    for (; w + 8 <= end; w = (w + 8) & INDEX) {
      const x =
        (flip ^ i32[w]) |
        (flip ^ i32[w + 1]) |
        (flip ^ i32[w + 2]) |
        (flip ^ i32[w + 3]) |
        (flip ^ i32[w + 4]) |
        (flip ^ i32[w + 5]) |
        (flip ^ i32[w + 6]) |
        (flip ^ i32[w + 7]);
      const sum = (x & rest) + lift;
      if ((((sum & (x | either)) | (x & either)) & ~rest) !== 0) break;
    }
    for (const stop = w + 8 < end ? w + 8 : end; w < stop; w = (w + 1) & INDEX) {
      const x = flip ^ i32[w];
      const sum = (x & rest) + lift;
      if ((((sum & (x | either)) | (x & either)) & ~rest) !== 0) return w;
    }
  }
  return end;
}

function noLabel(i32: Int32Array, at: number): boolean {
  return (
    (i32[at] |
      i32[at + 1] |
      i32[at + 2] |
      i32[at + 3] |
      i32[at + 4] |
      i32[at + 5] |
      i32[at + 6] |
      i32[at + 7]) ===
    0
  );
}

/** Cells [i, end) of the plane of class `c` at `p`, exactly: a later class must be larger to take over. */
function look(
  m: Memory,
  type: number,
  gate: number,
  p: number,
  channel: number,
  c: number,
  i: number,
  end: number,
  labels: number,
): void {
  const { i32, f32 } = m;
  if (type === A.TYPE_F32) {
    const least = f32[gate];
    for (let q = p >> 2; i < end; i++) {
      const v = f32[q + i];
      if (v >= least) {
        const label = i32[labels + i];
        if (label === 0 || v > f32[q + i + (((label - 1 - c) * channel) >> 2)]) i32[labels + i] = c + 1;
      }
    }
    return;
  }
  const least = i32[gate];
  const log = LOG[type];
  for (; i < end; i++) {
    const q = p + (i << log);
    const v = integerKey(m, type, q);
    if (v >= least) {
      const label = i32[labels + i];
      if (label === 0 || v > integerKey(m, type, q + (label - 1 - c) * channel)) i32[labels + i] = c + 1;
    }
  }
}

/** One column of values, anywhere: cells that reach the gate to the list, of which the end is returned. */
function column(
  m: Memory,
  type: number,
  gate: number,
  at: number,
  step: number,
  from: number,
  n: number,
  to: number,
): number {
  const { i32, f32 } = m;
  const end = from + n;
  if (type !== A.TYPE_F32) {
    const least = i32[gate];
    for (; from < end; from++, at += step) if (integerKey(m, type, at) >= least) i32[to++] = from;
    return to;
  }
  const least = f32[gate];
  let w = at >> 2;
  const s = step >> 2;
  if (least > 0) {
    // always written, counted by the sign: a branch would be guessed wrong where many pass. Negative numbers may be
    // among them
    const below = (i32[gate] - 1) | 0;
    for (; from + 4 <= end; from += 4, w += 4 * s) {
      const a = (below - i32[w]) >>> 31;
      const b = (below - i32[w + s]) >>> 31;
      const c = (below - i32[w + 2 * s]) >>> 31;
      const d = (below - i32[w + 3 * s]) >>> 31;
      i32[to] = from;
      i32[(to += a)] = from + 1;
      i32[(to += b)] = from + 2;
      i32[(to += c)] = from + 3;
      to += d;
    }
  }
  for (; from < end; from++, w += s) if (f32[w] >= least) i32[to++] = from;
  return to;
}

/** Cells whose classes stand next to each other (rows), or nowhere near each other; `admitPlain` does without. */
function rows(
  m: Memory,
  head: number,
  type: number,
  at: number,
  step: number,
  from: number,
  n: number,
  to: number,
): number {
  const { i32 } = m;
  const classes = i32[head + A.H_CLASSES];
  const channel = i32[head + A.H_SCORE_CHANNEL];
  const list = i32[head + A.H_CLASS_LIST] >> 2;
  for (const end = from + n; from < end; from++, at += step) {
    for (let c = 0; c < classes; c++) {
      if (passesRaw(m, type, head + A.H_SCORE_GATE, at + classAt(i32, list, c) * channel)) {
        i32[to++] = from;
        break;
      }
    }
  }
  return to;
}

/**
 * Whether `admitPlain` does for this head: independent classes, all of them, one threshold; in f32, objectness too if any,
 * unless the best class of each cell is known.
 */
function isPlain(m: Memory, plan: number, head: number, best: boolean): boolean {
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
function admitPlain(m: Memory, plan: number, head: number, list: number, count: number, from: number): void {
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
      emit(m, plan, head, row, base + label);
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

/** First of the largest of `n` floats, `step` words apart; -1 where all are NaN. */
function largest(f32: Float32Array, p: number, step: number, n: number): number {
  let best = -Infinity;
  let found = -1;
  let i = 0;
  p &= INDEX;
  for (; i + 4 <= n; i += 4, p = (p + 4 * step) & INDEX) {
    const b = (p + step) & INDEX;
    const c = (b + step) & INDEX;
    const d = (c + step) & INDEX;
    // most are not
    if (f32[p] > best || f32[b] > best || f32[c] > best || f32[d] > best)
      for (let k = 0, q = p; k < 4; k++, q += step)
        if (f32[q] > best) {
          best = f32[q];
          found = i + k;
        }
  }
  for (; i < n; i++, p += step)
    if (f32[p] > best) {
      best = f32[p];
      found = i;
    }
  return found;
}

/** The same side by side, of those that reach the positive number in `passed`, which spares most of the rest: by their bits. */
function largestInRow(m: Memory, p: number, n: number): number {
  const { i32, f32 } = m;
  let below = passedBits[SCORE] - 1;
  let found = -1;
  const end = p + n;
  // eights as far as there are; the rest is looked at in any case
  const last = end - (n & 7);
  for (let w = p; (w = nextPositive(i32, w, last, below)) < end;)
    for (const stop = Math.min(w + 8, end); w < stop; w++)
      // NaN has bits above all
      if (i32[w] > below && f32[w] >= 0) {
        below = i32[w];
        found = w - p;
      }
  return found;
}

/** A number that should be a probability and is not. */
function isOdd(fn: number, x: number, check: number): boolean {
  return fn === A.FN_NONE && x > check && finite(x);
}

/** The exact work for one cell that passed the gate; `label`: its best class where that is known, else -1. */
function admit(m: Memory, plan: number, head: number, row: number, label: number): void {
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
    if (!passesRaw(m, i32[head + A.H_OBJ_TYPE], head + A.H_OBJ_GATE, at)) return;
    pass(m, i32[head + A.H_OBJ_TYPE], at, head + A.H_OBJ_SCALE, SCORE);
    const fn = i32[head + A.H_OBJ_FN];
    odd = isOdd(fn, passed[SCORE], check);
    activate(fn, SCORE);
    if (rule === A.RULE_OBJECTNESS) {
      if (odd) i32[plan + A.P_OUT_OF_RANGE]++;
      else if (passed[SCORE] >= gate) emit(m, plan, head, row, base);
      return;
    }
    o = passed[SCORE];
  }

  const at = i32[head + A.H_SCORE] + row * i32[head + A.H_SCORE_CELL];
  const step = i32[head + A.H_SCORE_CHANNEL];
  const fn = i32[head + A.H_SCORE_FN];
  const scale = head + A.H_SCORE_SCALE;
  const type = i32[head + A.H_SCORE_TYPE];

  if (i32[head + A.H_LABEL] !== 0) {
    const p = i32[head + A.H_LABEL] + row * i32[head + A.H_LABEL_CELL];
    pass(m, type, at, scale, SCORE);
    if (isOdd(fn, passed[SCORE], check)) {
      i32[plan + A.P_OUT_OF_RANGE]++;
      return;
    }
    activate(fn, SCORE);
    if (!(passed[SCORE] >= gate)) return;
    pass(m, i32[head + A.H_LABEL_TYPE], p, head + A.H_LABEL_SCALE, 0);
    const x = passed[0];
    if (!(x > -2147483000 && x < 2147483000)) i32[plan + A.P_NOT_FINITE]++;
    else emitLabel(m, plan, head, row, (x | 0) + base);
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
      pass(m, type, soft + i * step, scale, SCORE);
      const x = passed[SCORE];
      if (x > top) top = x;
    }
    let best = -Infinity;
    for (let i = 0; i < classes; i++) {
      pass(m, type, at + classAt(i32, classList, i) * step, scale, SCORE);
      const x = passed[SCORE];
      if (x > best) best = x;
    }
    if (!(fround(best - top) >= f32[head + A.H_SCORE_GATE])) return;
    sum = 0;
    for (let i = 0; i < logits; i++) {
      pass(m, type, soft + i * step, scale, SCORE);
      const x = passed[SCORE];
      if (x !== x) continue;
      wide[0] = fround(x - top);
      exp();
      sum += wide[0];
    }
  }

  const multi = (i32[plan + A.P_FLAGS] & A.FLAG_MULTI_LABEL) !== 0;
  if (gates !== 0 || multi) {
    let best = -Infinity;
    let bestLabel = -1;
    for (let i = 0; i < classes; i++) {
      const c = classAt(i32, classList, i);
      const p = at + c * step;
      if (fn !== A.FN_SOFTMAX && !passesRaw(m, type, head + A.H_SCORE_GATE, p)) continue;
      pass(m, type, p, scale, SCORE);
      if (odd || isOdd(fn, passed[SCORE], check)) {
        i32[plan + A.P_OUT_OF_RANGE]++;
        return;
      }
      convert(fn, top, sum);
      combine(rule, o);
      const score = passed[SCORE];
      if (!(score >= (gates === 0 ? gate : f32[gates + i]))) continue;
      if (multi) emit(m, plan, head, row, base + c);
      else if (score > best) {
        best = score;
        bestLabel = base + c;
      }
    }
    passed[SCORE] = best;
    if (bestLabel >= 0) emit(m, plan, head, row, bestLabel);
    return;
  }

  const known = label >= 0;
  if (!known) label = bestClass(m, type, at, step, classes, classList);
  if (label < 0) return;
  const place = at + label * step;
  // below the raw gate no score passes, but for the product with an infinite objectness, which is none
  if (!known && fn !== A.FN_SOFTMAX && !passesRaw(m, type, head + A.H_SCORE_GATE, place)) return;
  pass(m, type, place, scale, SCORE);
  if (odd || isOdd(fn, passed[SCORE], check)) {
    i32[plan + A.P_OUT_OF_RANGE]++;
    return;
  }
  convert(fn, top, sum);
  combine(rule, o);
  if (passed[SCORE] >= gate) emit(m, plan, head, row, base + label);
}

/** A candidate whose label stands in a column: the class filter and the thresholds per class come now. */
function emitLabel(m: Memory, plan: number, head: number, row: number, label: number): void {
  const { i32, f32 } = m;
  const labels = i32[head + A.H_LABELS];
  if (labels !== 0) {
    const list = i32[head + A.H_CLASS_LIST] >> 2;
    const gates = i32[head + A.H_CLASS_GATES] >> 2;
    let i = 0;
    while (i < labels && classAt(i32, list, i) !== label) i++;
    if (i === labels) {
      if (list !== 0) return;
    } else if (gates !== 0 && !(passed[SCORE] >= f32[gates + i])) return;
  }
  emit(m, plan, head, row, label);
}

function passesRaw(m: Memory, type: number, gate: number, at: number): boolean {
  if (type === A.TYPE_F32) return m.f32[at >> 2] >= m.f32[gate];
  return integerKey(m, type, at) >= m.i32[gate];
}

/** The raw score in `passed` through the head's function. */
function convert(fn: number, top: number, sum: number): void {
  if (fn !== A.FN_SOFTMAX) activate(fn, SCORE);
  else if (passed[SCORE] === passed[SCORE]) {
    wide[0] = fround(passed[SCORE] - top);
    exp();
    passed[SCORE] = wide[0] / sum;
  }
}

/** The score in `passed` with objectness `o`. */
function combine(rule: number, o: number): void {
  if (rule === A.RULE_PRODUCT) passed[SCORE] *= o;
  else if (rule !== A.RULE_CLASS) passed[SCORE] = power(o, 0.6) * power(passed[SCORE], 0.4);
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
    const c = classAt(i32, classList, i);
    const p = at + c * step;
    const v = type === A.TYPE_F32 ? f32[p >> 2] : integerKey(m, type, p);
    if (v > best) {
      best = v;
      found = c;
    }
  }
  return found;
}

/** Appends a candidate; its score stands in `passed`. */
function emit(m: Memory, plan: number, head: number, row: number, label: number): void {
  const { i32, f32 } = m;
  const at = i32[plan + A.P_CANDIDATES];
  if (at >= i32[plan + A.P_CAPACITY]) {
    i32[plan + A.P_OVERFLOW]++;
    return;
  }
  const index = i32[head + A.H_INDEX] >> 2;
  const cell = index === 0 ? row : i32[index + row];
  const out = (i32[plan + A.P_BOXES] >> 2) + at * 4;
  const score = passed[SCORE];
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
