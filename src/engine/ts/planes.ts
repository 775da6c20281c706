/**
 * The gate for adjacent cells: planes, one for each class, or a single column of objectness. Twin of
 * `assembly/planes.ts`. The gate also finds the best class of each cell.
 * Only here: laneKey, nextNegative, nextWord, scanPlane, listMarked. One loop over 32-bit words takes all element
 * types, and bits mark cells. The kernel uses u64, and a function for each kind of element.
 */
import * as A from "../../core/abi.ts";
import { INDEX, type Memory } from "../../core/memory.ts";
import { classAt, nextAbove } from "./classes.ts";
import { LOG_BYTES, integerKey } from "./value.ts";

/**
 * Marks the cells with a raw value that reaches the threshold, and writes the best class of each.
 *
 * f32 has loops of its own. Values of other types are tested by the word, and one by one only if a value of the word
 * may pass. A word holds lanes of 8, 16 or 32 bits:
 *
 *     flip      bits to invert, so that lanes order like unsigned integers: the top bit of signed integers and f16; all
 *               bits of an f16 if the threshold is not positive, which orders the negative numbers and leaves the
 *               positive ones on top
 *     rest      all bits of a lane but the top bit
 *     lift      added to the rest, it sets the top bit if the rest reaches the rest of the threshold. The rest is below
 *               the top bit and the lift is at most the top bit, so the sum never carries into the next lane
 *     either    all bits set if the threshold is not positive: then one top bit, of the lane or of the sum, is enough.
 *               Against a positive threshold a lane needs both top bits
 *
 * `n` cells begin at byte address `at`. `marks` is the index of the first word of n bits. `bestClasses` is the index of
 * the first of n words.
 */
export function passPlanes(
  m: Memory,
  head: number,
  at: number,
  n: number,
  marks: number,
  bestClasses: number,
): void {
  const { i32 } = m;
  const objectness = i32[head + A.H_OBJ] !== 0;
  const type = i32[head + (objectness ? A.H_OBJ_TYPE : A.H_SCORE_TYPE)];
  const threshold = i32[head + (objectness ? A.H_OBJ_RAW_THRESHOLD : A.H_SCORE_RAW_THRESHOLD)];
  const planes = objectness ? 1 : i32[head + A.H_CLASSES];
  const channel = i32[head + A.H_SCORE_CHANNEL];
  const list = planes === 1 ? 0 : i32[head + A.H_CLASS_LIST] >> 2;
  const isFloat = type === A.TYPE_F32;
  const log = LOG_BYTES[type];

  // Compute the threshold's lanes.
  const half = 2 ** ((8 << log) - 1);
  const ones = log === 0 ? 0x01010101 : log === 1 ? 0x00010001 : 1;
  const key = laneKey(type, threshold, half);
  const isPositive = key > 0;
  const tops = Math.imul(half, ones);
  const rest = ~tops;
  const lift = Math.imul(isPositive ? half - key : -key, ones);
  const flip = type === A.TYPE_U8 ? 0 : !isPositive && type <= A.TYPE_F16 ? -1 : tops;
  const below = isPositive ? key - 1 : (key ^ 0x7fffffff) + 1;

  // A test covers eight floats, or the elements of one word.
  const step = isFloat ? 3 : 2 - log;
  const words = isFloat ? 8 : 1;
  for (let k = 0; k < planes; k++) {
    const c = classAt(i32, list, k);
    const plane = at + c * channel;
    // Test single cells up to the first whole word.
    let i = Math.min(n, (-plane & 3) >> log);
    let w = (plane + (i << log)) >> 2;
    if (i > 0) scanPlane(m, head, plane, c, 0, i, marks, bestClasses);
    for (;;) {
      const end = w + ((n - i) >> step) * words;
      const found = !isFloat
        ? nextWord(i32, w, end, flip, rest, lift, isPositive ? 0 : -1)
        : isPositive
          ? nextAbove(i32, w, end, below)
          : nextNegative(i32, w, end, below);
      i += ((found - w) << 2) >> log;
      if (found === end) break;
      scanPlane(m, head, plane, c, i, i + (1 << step), marks, bestClasses);
      i += 1 << step;
      w = found + words;
    }
    if (i < n) scanPlane(m, head, plane, c, i, n, marks, bestClasses);
  }
}

/** Returns a raw threshold as an integer that orders like the elements in a lane whose top bit is `half`. */
function laneKey(type: number, threshold: number, half: number): number {
  let key = threshold;
  if (type === A.TYPE_F32) {
    key ^= (key >> 31) & 0x7fffffff;
    // Lower the key of +0: -0 reaches this threshold too.
    if (key === 0) key = -1;
  } else if (type === A.TYPE_U8) key -= 128;
  return Math.max(-half, Math.min(half - 1, key));
}

/**
 * Does the work of `nextAbove` for a threshold that is not positive. Floats below the threshold have the bits from
 * `first` to the end of the integers. A NaN may be found as if it passed.
 */
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
 * Returns the first word in [w, end) with a lane that may pass; `end` if there is none. In each lane, the OR of eight
 * words is at least the largest of the eight. One test therefore rejects most groups of eight.
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

/** Compares cells [i, end) of the plane of class `c` exactly. On equal values the earlier class wins. */
function scanPlane(
  m: Memory,
  head: number,
  plane: number,
  c: number,
  i: number,
  end: number,
  marks: number,
  bestClasses: number,
): void {
  const { i32, f32 } = m;
  const objectness = i32[head + A.H_OBJ] !== 0;
  const type = i32[head + (objectness ? A.H_OBJ_TYPE : A.H_SCORE_TYPE)];
  const threshold = head + (objectness ? A.H_OBJ_RAW_THRESHOLD : A.H_SCORE_RAW_THRESHOLD);
  const channel = i32[head + A.H_SCORE_CHANNEL];
  const isFloat = type === A.TYPE_F32;
  const least = isFloat ? f32[threshold] : i32[threshold];
  const log = LOG_BYTES[type];
  for (; i < end; i++) {
    const at = plane + (i << log);
    const v = isFloat ? f32[at >> 2] : integerKey(m, type, at);
    if (!(v >= least)) continue;
    const word = marks + (i >> 5);
    // Rely on JavaScript's shift, which uses the low five bits of i.
    const bit = 1 << i;
    if ((i32[word] & bit) !== 0) {
      const other = at + (i32[bestClasses + i] - c) * channel;
      if (!(v > (isFloat ? f32[other >> 2] : integerKey(m, type, other)))) continue;
    }
    i32[word] |= bit;
    i32[bestClasses + i] = c;
  }
}

/** Writes the marked cells among `n` from `from` on as a list, from word `to` on. Returns the end of the list. */
export function listMarked(i32: Int32Array, marks: number, n: number, from: number, to: number): number {
  for (const end = from + n; from < end; from += 32)
    for (let bits = i32[marks++]; bits !== 0; bits &= bits - 1)
      i32[to++] = from + 31 - Math.clz32(bits & -bits);
  return to;
}
