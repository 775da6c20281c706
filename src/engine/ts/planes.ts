/**
 * The gate where cells lie side by side: planes, one a class, or a single column. Twin of `assembly/planes.ts`; it
 * finds the class of a cell on the way, as `passPlanes` and `passWords` there do. f32 has loops of its own; other types share one loop over words.
 */
import * as A from "../../core/abi.ts";
import { INDEX, type Memory } from "../../core/memory.ts";
import { LOG_BYTES, classAt, integerKey } from "./value.ts";

/**
 * Planes (or one column) whose cells lie side by side: of each cell with a raw value that reaches the gate the bit in `marks` is
 * set, and the class with the largest goes to `labels`. Sixteen bytes are tested at once, word by word whatever the
 * type, and looked at one by one only where something in them may pass.
 *
 * Lanes are brought into the order of unsigned numbers by flipping bits: the top one of signed numbers, and for
 * floats against a gate that is not positive all of them, which sorts negative ones and leaves the positive on top.
 * With the top bit of a lane x apart, the sum of the rest and `lift` has its top bit set where the rest reaches that
 * of the gate, and cannot carry into the next lane; x passes by either top bit where the gate's own is clear, by
 * both where it is set.
 */
export function sieve(
  m: Memory,
  head: number,
  type: number,
  gate: number,
  at: number,
  planes: number,
  n: number,
  marks: number,
  labels: number,
): void {
  const { i32 } = m;
  const channel = i32[head + A.H_SCORE_CHANNEL];
  const list = planes === 1 ? 0 : i32[head + A.H_CLASS_LIST] >> 2;
  const log = LOG_BYTES[type];
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
    for (; k + 4 <= planes; k += 4) sieveFour(m, gate, at, channel, list, k, n, below, marks, labels);
  for (; k < planes; k++) {
    const c = classAt(i32, list, k);
    const p = at + c * channel;
    // up to a whole word
    let i = Math.min(n, (-p & 3) >> log);
    let w = (p + (i << log)) >> 2;
    if (i > 0) look(m, type, gate, p, channel, c, 0, i, marks, labels);
    for (;;) {
      const end = w + ((n - i) >> step) * words;
      const found = !floats
        ? nextWord(i32, w, end, flip, rest, lift, both ? 0 : -1)
        : both
          ? nextPositive(i32, w, end, below)
          : nextNegative(i32, w, end, below);
      i += ((found - w) << 2) >> log;
      if (found === end) break;
      look(m, type, gate, p, channel, c, i, i + (1 << step), marks, labels);
      i += 1 << step;
      w = found + words;
    }
    if (i < n) look(m, type, gate, p, channel, c, i, n, marks, labels);
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
  marks: number,
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
        look(m, A.TYPE_F32, gate, p, channel, label, i, Math.min(i + 4, n), marks, labels);
    }
  }
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
export function nextPositive(i32: Int32Array, w: number, end: number, below: number): number {
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

/** Rows of the cells that are marked, of `n`, to the list, of which the end is returned. No branch to guess but where a word ends. */
export function marked(i32: Int32Array, marks: number, n: number, from: number, to: number): number {
  for (const end = from + n; from < end; from += 32)
    for (let bits = i32[marks++]; bits !== 0; bits &= bits - 1)
      i32[to++] = from + 31 - Math.clz32(bits & -bits);
  return to;
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
  marks: number,
  labels: number,
): void {
  const { i32, f32 } = m;
  const floats = type === A.TYPE_F32;
  const least = floats ? f32[gate] : i32[gate];
  const log = LOG_BYTES[type];
  for (; i < end; i++) {
    const q = p + (i << log);
    const v = floats ? f32[q >> 2] : integerKey(m, type, q);
    if (!(v >= least)) continue;
    const word = marks + (i >> 5);
    // shifts go by the low five bits
    const bit = 1 << i;
    if ((i32[word] & bit) !== 0) {
      const other = q + (i32[labels + i] - c) * channel;
      if (!(v > (floats ? f32[other >> 2] : integerKey(m, type, other)))) continue;
    }
    i32[word] |= bit;
    i32[labels + i] = c;
  }
}
