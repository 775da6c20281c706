/**
 * Scores -> candidates.
 *
 * Cells go by in blocks. A *gate* over the raw values picks the cells that may hold something, without
 * converting or classifying anything; `admit` then does the exact work for those few: class, score, box.
 * The gate may let too many through but never too few, so engines agree whatever their gates look like.
 */
import {
  BLOCK,
  COLUMN_BYTES,
  GROUPS,
  FLAG_MULTI_LABEL,
  FN_NONE,
  FN_SOFTMAX,
  HEAD_WORDS,
  H_CELLS,
  H_CHECK,
  H_CLASSES,
  H_CLASS_BASE,
  H_CLASS_GATES,
  H_CLASS_LIST,
  H_COUNT,
  H_COUNT_TYPE,
  H_GATE,
  H_INDEX,
  H_LABEL,
  H_LABELS,
  H_LABEL_CELL,
  H_LABEL_SCALE,
  H_LABEL_TYPE,
  H_LABEL_ZERO,
  H_MARKER,
  H_MARKER_CELL,
  H_OBJ,
  H_OBJ_CELL,
  H_OBJ_FN,
  H_OBJ_GATE,
  H_OBJ_SCALE,
  H_OBJ_TYPE,
  H_OBJ_ZERO,
  H_RULE,
  H_SCORE,
  H_SCORE_CELL,
  H_SCORE_CHANNEL,
  H_SCORE_FN,
  H_SCORE_GATE,
  H_SCORE_SCALE,
  H_SCORE_TYPE,
  H_SCORE_ZERO,
  H_SOFT,
  H_SOFT_COUNT,
  FN_SIGMOID,
  H_SOURCE,
  MAXIMA,
  P_BLOCK,
  P_BOXES,
  P_CANDIDATES,
  P_CAPACITY,
  P_FLAGS,
  P_HEAD0,
  P_HEADS,
  P_LABELS,
  P_NOT_FINITE,
  P_OUT_OF_RANGE,
  P_OVERFLOW,
  P_SCORES,
  P_SOURCES,
  ROW_BYTES,
  RULE_CLASS,
  RULE_OBJECTNESS,
  RULE_PRODUCT,
  TYPE_F16,
  TYPE_F32,
  TYPE_I16,
  TYPE_I8,
  TYPE_U8,
} from "../src/abi";
import { exp, power } from "../src/exp";
import { sigmoid4 } from "./exp4";
import { BOX_NOT_FINITE, BOX_OK, activate, box, box4, inLanes, value4 } from "./box";
import { f16, finite, gather4, integer, key, lowest, size, value } from "./value";
import { clear, flt, int, ptr, setInt } from "./word";

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
  const maxima = ptr(plan, P_BLOCK) + MAXIMA;
  const list = column(plan, 0);
  const cells = validCells(head);
  const objectness = ptr(head, H_OBJ) != 0;
  const type = objectness ? int(head, H_OBJ_TYPE) : int(head, H_SCORE_TYPE);
  // without vectors the class of a cell is found on the way where `gate` goes through `passPlanes`
  const known =
    !ASC_FEATURE_SIMD &&
    !objectness &&
    int(head, H_SCORE_FN) != FN_SOFTMAX &&
    int(head, H_CLASSES) > 1 &&
    type == TYPE_F32 &&
    ptr(head, H_SCORE_CELL) == 4 &&
    flt(head, H_SCORE_GATE) > 0;
  const plain = ASC_FEATURE_SIMD && isPlain(plan, head);
  const block = type >= TYPE_F16 && type <= TYPE_U8 ? 2 * BLOCK : BLOCK;
  for (let from = 0; from < cells; from += block) {
    const n = min(block, cells - from);
    let count: i32;
    if (type == TYPE_F32) count = gate<f32, f32>(head, from, n, maxima, list);
    else if (type == TYPE_F16) count = gate<f16, i32>(head, from, n, maxima, list);
    else if (type == TYPE_I8) count = gate<i8, i32>(head, from, n, maxima, list);
    else if (type == TYPE_U8) count = gate<u8, i32>(head, from, n, maxima, list);
    else count = passIntegers(head, type, from, n, list);
    if (plain) {
      if (objectness) admitFloats(plan, head, list, count);
      else admitClasses(plan, head, list, count, from);
      continue;
    }
    for (let i = 0; i < count; i++) {
      const row = load<i32>(list + ((<usize>i) << 2));
      admit(plan, head, row, known ? load<i32>(maxima + ROW_BYTES + ((<usize>(row - from)) << 2)) : UNKNOWN);
    }
  }
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

/** Writes the rows in [from, from + n) that may pass to `list` and returns how many. */
function gate<T, K>(head: usize, from: i32, n: i32, maxima: usize, list: usize): i32 {
  const objectness = ptr(head, H_OBJ);
  if (objectness != 0) {
    const step = ptr(head, H_OBJ_CELL);
    return pass<T, K>(objectness + <usize>from * step, step, rawGate<K>(head, H_OBJ_GATE), from, n, list);
  }
  if (int(head, H_SCORE_FN) == FN_SOFTMAX) return passAll(from, n, list);
  const step = ptr(head, H_SCORE_CELL);
  const at = ptr(head, H_SCORE) + <usize>from * step;
  const rawest = rawGate<K>(head, H_SCORE_GATE);
  const classes = int(head, H_CLASSES);
  if (classes == 1) return pass<T, K>(at, step, rawest, from, n, list);
  if (fast<T>() && step == size<T>()) {
    if (ASC_FEATURE_SIMD) {
      planeMaxima<T, K>(head, at, n, maxima, rawest);
      return pass<T, K>(maxima, size<T>(), rawest, from, n, list);
    }
    // integers are in order as they stand, floats above zero
    if (isReference<T>() || !isFloat<T>()) {
      if (!isReference<T>() || rawest > <K>0)
        return passWords<T>(head, at, n, maxima, <i32>rawest, from, list);
    } else if (rawest > <K>0) return passPlanes(head, at, n, maxima, <f32>rawest, from, list);
    return passEach<T, K>(head, at, n, maxima, rawest, from, list);
  }
  return passRows<T, K>(head, at, step, classes, rawest, from, n, list);
}

/** The gate for i16 and i32, which exporters rarely write. */
function passIntegers(head: usize, type: i32, from: i32, n: i32, list: usize): i32 {
  let at = ptr(head, H_OBJ);
  let step = ptr(head, H_OBJ_CELL);
  let gate = int(head, H_OBJ_GATE);
  let classes = 1;
  let classList: usize = 0;
  const channel = ptr(head, H_SCORE_CHANNEL);
  if (at == 0) {
    if (int(head, H_SCORE_FN) == FN_SOFTMAX) return passAll(from, n, list);
    at = ptr(head, H_SCORE);
    step = ptr(head, H_SCORE_CELL);
    gate = int(head, H_SCORE_GATE);
    classes = int(head, H_CLASSES);
    // beside a label column there is one score, and the list says which labels are wanted
    if (classes > 1) classList = ptr(head, H_CLASS_LIST);
  }
  at += <usize>from * step;
  let to = list;
  for (let i = 0; i < n; i++, at += step) {
    for (let c = 0; c < classes; c++) {
      if (integer(type, at + classAt(classList, c, channel)) >= gate) {
        store<i32>(to, from + i);
        to += 4;
        break;
      }
    }
  }
  return <i32>((to - list) >> 2);
}

/** Types with vector loops of their own. */
// @ts-ignore: decorator
@inline
function fast<T>(): bool {
  return isReference<T>() || isFloat<T>() || sizeof<T>() == 1;
}

// @ts-ignore: decorator
@inline
function rawGate<K>(head: usize, word: i32): K {
  if (isFloat<K>()) return <K>flt(head, word);
  else return <K>int(head, word);
}

function passAll(from: i32, n: i32, list: usize): i32 {
  for (let i = 0; i < n; i++) store<i32>(list + ((<usize>i) << 2), from + i);
  return n;
}

/** One column of values against the gate. */
function pass<T, K>(at: usize, step: usize, gate: K, from: i32, n: i32, list: usize): i32 {
  let to = list;
  let i = 0;
  if (ASC_FEATURE_SIMD) {
    if (fast<T>() && step == size<T>()) {
      const lanes = 16 / <i32>size<T>();
      const wanted = splatGate<T, K>(gate);
      for (; i + lanes <= n; i += lanes) {
        let mask = passing<T>(v128.load(at), wanted);
        at += 16;
        if (mask == (1 << lanes) - 1) {
          // all of them, as where every cell holds something
          for (let k = 0; k < lanes; k += 4) {
            v128.store(to, i32x4.add(i32x4.splat(from + i + k), i32x4(0, 1, 2, 3)));
            to += 16;
          }
          continue;
        }
        while (mask != 0) {
          store<i32>(to, from + i + ctz(mask));
          to += 4;
          mask &= mask - 1;
        }
      }
    }
  }
  // no branch on the value: the row is always written, and counts only if it passes
  for (; i + 4 <= n; i += 4) {
    store<i32>(to, from + i);
    to += (<usize>(key<T, K>(at) >= gate)) << 2;
    store<i32>(to, from + i + 1);
    to += (<usize>(key<T, K>(at + step) >= gate)) << 2;
    store<i32>(to, from + i + 2);
    to += (<usize>(key<T, K>(at + 2 * step) >= gate)) << 2;
    store<i32>(to, from + i + 3);
    to += (<usize>(key<T, K>(at + 3 * step) >= gate)) << 2;
    at += 4 * step;
  }
  for (; i < n; i++) {
    store<i32>(to, from + i);
    to += (<usize>(key<T, K>(at) >= gate)) << 2;
    at += step;
  }
  return <i32>((to - list) >> 2);
}

/** The gate in every lane of the element's own type. */
// @ts-ignore: decorator
@inline
function splatGate<T, K>(gate: K): v128 {
  if (isReference<T>()) return i16x8.splat(<i16>min(<i32>gate, 0x7fff));
  else if (isFloat<T>()) return f32x4.splat(<f32>gate);
  else if (sizeof<T>() == 1) {
    if (isSigned<T>()) return i8x16.splat(<i8>max(min(<i32>gate, 127), -128));
    else return i8x16.splat(<i8>max(min(<i32>gate, 255), 0));
  } else if (sizeof<T>() == 2) return i16x8.splat(<i16>max(min(<i32>gate, 32767), -32768));
  else return i32x4.splat(<i32>gate);
}

/** Bit i: element i is at or above the gate. Lane types are those of `T`. */
// @ts-ignore: decorator
@inline
function passing<T>(v: v128, wanted: v128): i32 {
  if (isReference<T>()) {
    // f16 bits in sign-fixed order; a NaN that passes here is turned away by `admit`
    return i16x8.bitmask(i16x8.ge_s(halfOrder(v), wanted));
  } else if (isFloat<T>()) return i32x4.bitmask(f32x4.ge(v, wanted));
  else if (sizeof<T>() == 1) {
    if (isSigned<T>()) return i8x16.bitmask(i8x16.ge_s(v, wanted));
    else return i8x16.bitmask(i8x16.ge_u(v, wanted));
  } else if (sizeof<T>() == 2) return i16x8.bitmask(i16x8.ge_s(v, wanted));
  else return i32x4.bitmask(i32x4.ge_s(v, wanted));
}

// @ts-ignore: decorator
@inline
function halfOrder(v: v128): v128 {
  return v128.xor(v, v128.and(i16x8.shr_s(v, 15), i16x8.splat(0x7fff)));
}

/** Lane-wise maximum. For f32 `acc < v ? v : acc`: a NaN in `v` leaves `acc`, and `f32x4.max` is twice as slow. */
// @ts-ignore: decorator
@inline
function larger<T>(acc: v128, v: v128): v128 {
  if (isReference<T>()) return i16x8.max_s(acc, v);
  else if (isFloat<T>()) return f32x4.pmax(acc, v);
  else if (sizeof<T>() == 1) return isSigned<T>() ? i8x16.max_s(acc, v) : i8x16.max_u(acc, v);
  else if (sizeof<T>() == 2) return i16x8.max_s(acc, v);
  else return i32x4.max_s(acc, v);
}

// @ts-ignore: decorator
@inline
function lowestLanes<T>(): v128 {
  if (isReference<T>()) return i16x8.splat(i16.MIN_VALUE);
  else if (isFloat<T>()) return f32x4.splat(-Infinity);
  else if (sizeof<T>() == 1) return isSigned<T>() ? i8x16.splat(i8.MIN_VALUE) : i8x16.splat(0);
  else if (sizeof<T>() == 2) return i16x8.splat(i16.MIN_VALUE);
  else return i32x4.splat(i32.MIN_VALUE);
}

// @ts-ignore: decorator
@inline
function classAt(list: usize, i: i32, step: usize): usize {
  return (list != 0 ? <usize>load<u32>(list + ((<usize>i) << 2)) : <usize>i) * step;
}

/**
 * The first eight floats, from `at` on and eight by eight, of which one has bits above these of a number from 0 up (negative ones are
 * below zero as bits); else where fewer than eight are left before `end`. Apart, and with a way out for each, as engines
 * then compare in place.
 */
function nextAbove(at: usize, end: usize, below: i32): usize {
  for (; at + 32 <= end; at += 32) {
    if (load<i32>(at) > below) break;
    if (load<i32>(at, 4) > below) break;
    if (load<i32>(at, 8) > below) break;
    if (load<i32>(at, 12) > below) break;
    if (load<i32>(at, 16) > below) break;
    if (load<i32>(at, 20) > below) break;
    if (load<i32>(at, 24) > below) break;
    if (load<i32>(at, 28) > below) break;
  }
  return at;
}

/**
 * The same along four planes, four floats of each: as many bytes behind the first as come back behind `a`. Where fewer than four are
 * left before `end`, which is of the first, these are looked at in any case.
 */
function nextInFour(a: usize, b: usize, c: usize, d: usize, end: usize, below: i32): usize {
  for (; a + 16 <= end; a += 16, b += 16, c += 16, d += 16) {
    if (load<i32>(a) > below) break;
    if (load<i32>(a, 4) > below) break;
    if (load<i32>(a, 8) > below) break;
    if (load<i32>(a, 12) > below) break;
    if (load<i32>(b) > below) break;
    if (load<i32>(b, 4) > below) break;
    if (load<i32>(b, 8) > below) break;
    if (load<i32>(b, 12) > below) break;
    if (load<i32>(c) > below) break;
    if (load<i32>(c, 4) > below) break;
    if (load<i32>(c, 8) > below) break;
    if (load<i32>(c, 12) > below) break;
    if (load<i32>(d) > below) break;
    if (load<i32>(d, 4) > below) break;
    if (load<i32>(d, 8) > below) break;
    if (load<i32>(d, 12) > below) break;
  }
  return a;
}

/** Brings the values of class `c` from byte `i` to `stop` of its plane into the largest so far. */
// @ts-ignore: decorator
@inline
function topOf(plane: usize, i: usize, stop: usize, tops: usize, c: i32): void {
  for (; i < stop; i += 4) {
    const bits = load<i32>(plane + i);
    // a NaN has bits above those of all numbers
    if (bits > load<i32>(tops + i) && load<f32>(plane + i) >= 0) {
      store<i32>(tops + i, bits);
      store<i32>(tops + i + ROW_BYTES, c);
    }
  }
}

/**
 * Planes of f32 without vectors: the bits of a float above zero, as an integer, are in its order. In scratch stand the
 * largest bits of each cell so far, from those below the gate up, and behind them the class they are of, for `admit`.
 */
function passPlanes(head: usize, at: usize, n: i32, tops: usize, gate: f32, from: i32, list: usize): i32 {
  const step = ptr(head, H_SCORE_CHANNEL);
  const classes = int(head, H_CLASSES);
  const classList = ptr(head, H_CLASS_LIST);
  const below = reinterpret<i32>(gate) - 1;
  const end = tops + ((<usize>n) << 2);
  for (let t = tops; t < end; t += 4) store<i32>(t, below);
  const bytes = end - tops;
  let c = 0;
  // along four planes at once, as a core reads ahead along each
  for (; c + 4 <= classes; c += 4) {
    const p0 = at + classAt(classList, c, step);
    const p1 = at + classAt(classList, c + 1, step);
    const p2 = at + classAt(classList, c + 2, step);
    const p3 = at + classAt(classList, c + 3, step);
    for (let i: usize = 0; i < bytes; i += 16) {
      i = nextInFour(p0 + i, p1 + i, p2 + i, p3 + i, p0 + bytes, below) - p0;
      const stop = min(i + 16, bytes);
      topOf(p0, i, stop, tops, c);
      topOf(p1, i, stop, tops, c + 1);
      topOf(p2, i, stop, tops, c + 2);
      topOf(p3, i, stop, tops, c + 3);
    }
  }
  for (; c < classes; c++) topOf(at + classAt(classList, c, step), 0, bytes, tops, c);
  let to = list;
  for (let i = 0; i < n; i++) {
    store<i32>(to, from + i);
    to += (<usize>(load<i32>(tops + ((<usize>i) << 2)) > below)) << 2;
  }
  return <i32>((to - list) >> 2);
}

/**
 * Planes of small elements without vectors, 64 bytes a test. With the top bit of a lane x apart, the sum of the rest and
 * `lift` has its top bit set where the rest reaches that of the gate, and cannot carry into the next lane; x passes by
 * either top bit where the gate's own is clear, by both where it is set. Eight words ORed together are in no lane below
 * the largest of them, so one test mostly does for all. Signed numbers, f16 against a gate above zero among them, are
 * brought into the order of unsigned ones by turning their top bits over.
 */
function passWords<T>(head: usize, at: usize, n: i32, flags: usize, gate: i32, from: i32, list: usize): i32 {
  const step = ptr(head, H_SCORE_CHANNEL);
  const classes = int(head, H_CLASSES);
  const classList = ptr(head, H_CLASS_LIST);
  const bytes = size<T>() == 1;
  const half: i32 = bytes ? 0x80 : 0x8000;
  const ones: u64 = bytes ? 0x0101010101010101 : 0x0001000100010001;
  const tops = <u64>half * ones;
  const flip: u64 = bytes && !isSigned<T>() ? 0 : tops;
  // the gate among unsigned numbers; one that nothing reaches lets the largest through, for `admit` to turn away
  const least = max(0, min(2 * half - 1, flip != 0 ? gate + half : gate));
  const either: u64 = least < half ? ~(<u64>0) : 0;
  const lift = <u64>((least < half ? half : 2 * half) - least) * ones;
  clear(flags, <usize>n);
  for (let c = 0; c < classes; c++) {
    let p = at + classAt(classList, c, step);
    const end = p + <usize>n * size<T>();
    let i: usize = 0;
    for (; p + 64 <= end; p += 64, i += 64 / size<T>()) {
      const x =
        (load<u64>(p) ^ flip) |
        (load<u64>(p, 8) ^ flip) |
        (load<u64>(p, 16) ^ flip) |
        (load<u64>(p, 24) ^ flip) |
        (load<u64>(p, 32) ^ flip) |
        (load<u64>(p, 40) ^ flip) |
        (load<u64>(p, 48) ^ flip) |
        (load<u64>(p, 56) ^ flip);
      if (reached(x, tops, lift, either) == 0) continue;
      for (let k: usize = 0; k < 64; k += 8) {
        let lanes = reached(load<u64>(p + k) ^ flip, tops, lift, either);
        while (lanes != 0) {
          store<u8>(flags + i + (k + <usize>(ctz(lanes) >> 3)) / size<T>(), 1);
          lanes &= lanes - 1;
        }
      }
    }
    for (; p < end; p += size<T>(), i++) {
      if (key<T, i32>(p) >= gate) store<u8>(flags + i, 1);
    }
  }
  return listed(flags, n, from, list);
}

/** Top bits of the lanes that reach the gate. */
// @ts-ignore: decorator
@inline
function reached(x: u64, tops: u64, lift: u64, either: u64): u64 {
  const sum = (x & ~tops) + lift;
  return ((sum & (x | either)) | (x & either)) & tops;
}

/** Planes of floats against a gate that is not above zero, one by one. */
function passEach<T, K>(head: usize, at: usize, n: i32, flags: usize, gate: K, from: i32, list: usize): i32 {
  const step = ptr(head, H_SCORE_CHANNEL);
  const classes = int(head, H_CLASSES);
  const classList = ptr(head, H_CLASS_LIST);
  clear(flags, <usize>n);
  for (let c = 0; c < classes; c++) {
    let p = at + classAt(classList, c, step);
    for (let i = 0; i < n; i++, p += size<T>())
      store<u8>(flags + i, load<u8>(flags + i) | (<u8>(key<T, K>(p) >= gate)));
  }
  return listed(flags, n, from, list);
}

function listed(flags: usize, n: i32, from: i32, list: usize): i32 {
  let to = list;
  for (let i = 0; i < n; i++) {
    store<i32>(to, from + i);
    to += (<usize>load<u8>(flags + i)) << 2;
  }
  return <i32>((to - list) >> 2);
}

/** Classes of a group: eight, or as many eights as keep the groups at sixteen. */
// @ts-ignore: decorator
@inline
function groupSize(classes: i32): i32 {
  return ((classes + 8 * GROUPS - 1) / (8 * GROUPS)) * 8;
}

/**
 * Maximum of `m`, which is no NaN, and of one vector of each of eight planes: a NaN never becomes the running maximum. The
 * vector is that of index 0, 1, 2, 3 where `V` is `u8`, `u16`, `u32`, `u64`: a constant, which the loads then hold.
 */
// @ts-ignore: decorator
@inline
function fold8<T, V>(
  m: v128,
  p0: usize,
  p1: usize,
  p2: usize,
  p3: usize,
  p4: usize,
  p5: usize,
  p6: usize,
  p7: usize,
): v128 {
  m = larger<T>(m, v128.load(p0, 16 * alignof<V>()));
  m = larger<T>(m, v128.load(p1, 16 * alignof<V>()));
  m = larger<T>(m, v128.load(p2, 16 * alignof<V>()));
  m = larger<T>(m, v128.load(p3, 16 * alignof<V>()));
  m = larger<T>(m, v128.load(p4, 16 * alignof<V>()));
  m = larger<T>(m, v128.load(p5, 16 * alignof<V>()));
  m = larger<T>(m, v128.load(p6, 16 * alignof<V>()));
  return larger<T>(m, v128.load(p7, 16 * alignof<V>()));
}

/**
 * Maximum over the class planes for a block of cells:
 *
 *     plane 0  ====block====......      a group of planes is folded into a row of its own:
 *     plane 1  ====block====......        row[g][i] = max over the classes of group g
 *     ...                               then the rows are folded: maxima[i] = max over g
 *
 * For the few cells that pass, the rows then say which group holds the class, so that a handful of planes is
 * searched and not all. Rows and maxima stay in the first-level cache.
 *
 * f16: where the gate is positive the raw bits do as signed integers, since a negative number then is just
 * "below"; otherwise they are brought into order first. Maxima have the element's own type.
 */
function planeMaxima<T, K>(head: usize, at: usize, n: i32, maxima: usize, gate: K): void {
  const step = ptr(head, H_SCORE_CHANNEL);
  const classes = int(head, H_CLASSES);
  const list = ptr(head, H_CLASS_LIST);
  let c = 0;
  const bytes = (<usize>n * size<T>() + 15) & ~15;
  const low = lowestLanes<T>();
  let ordered = false;
  if (isReference<T>()) ordered = <i32>gate <= 0;
  const group = groupSize(classes);
  let row = maxima + ROW_BYTES;
  for (let first = 0; first < classes; first += group) {
    const end = min(first + group, classes);
    c = first;
    for (; c + 8 <= end; c += 8) {
      let p0 = at + classAt(list, c, step);
      let p1 = at + classAt(list, c + 1, step);
      let p2 = at + classAt(list, c + 2, step);
      let p3 = at + classAt(list, c + 3, step);
      let p4 = at + classAt(list, c + 4, step);
      let p5 = at + classAt(list, c + 5, step);
      let p6 = at + classAt(list, c + 6, step);
      let p7 = at + classAt(list, c + 7, step);
      if (ordered) {
        for (let i: usize = 0; i < bytes; i += 16) {
          let m = c == first ? low : v128.load(row + i);
          m = larger<T>(m, inOrder<T>(v128.load(p0 + i)));
          m = larger<T>(m, inOrder<T>(v128.load(p1 + i)));
          m = larger<T>(m, inOrder<T>(v128.load(p2 + i)));
          m = larger<T>(m, inOrder<T>(v128.load(p3 + i)));
          m = larger<T>(m, inOrder<T>(v128.load(p4 + i)));
          m = larger<T>(m, inOrder<T>(v128.load(p5 + i)));
          m = larger<T>(m, inOrder<T>(v128.load(p6 + i)));
          m = larger<T>(m, inOrder<T>(v128.load(p7 + i)));
          v128.store(row + i, m);
        }
      } else {
        const last = row + bytes;
        let r = row;
        if (c == first) {
          // four vectors a step, which move nine addresses once
          for (; r + 64 <= last; r += 64) {
            v128.store(r, fold8<T, u8>(low, p0, p1, p2, p3, p4, p5, p6, p7));
            v128.store(r, fold8<T, u16>(low, p0, p1, p2, p3, p4, p5, p6, p7), 16);
            v128.store(r, fold8<T, u32>(low, p0, p1, p2, p3, p4, p5, p6, p7), 32);
            v128.store(r, fold8<T, u64>(low, p0, p1, p2, p3, p4, p5, p6, p7), 48);
            p0 += 64;
            p1 += 64;
            p2 += 64;
            p3 += 64;
            p4 += 64;
            p5 += 64;
            p6 += 64;
            p7 += 64;
          }
        }
        for (; r < last; r += 16) {
          v128.store(r, fold8<T, u8>(c != first ? v128.load(r) : low, p0, p1, p2, p3, p4, p5, p6, p7));
          p0 += 16;
          p1 += 16;
          p2 += 16;
          p3 += 16;
          p4 += 16;
          p5 += 16;
          p6 += 16;
          p7 += 16;
        }
      }
    }
    for (; c < end; c++) {
      const p = at + classAt(list, c, step);
      for (let i: usize = 0; i < bytes; i += 16) {
        let v = v128.load(p + i);
        if (ordered) v = inOrder<T>(v);
        v128.store(row + i, larger<T>(c == first ? low : v128.load(row + i), v));
      }
    }
    row += ROW_BYTES;
  }
  // the rows, four vectors a step; the first is the beginning
  const end = row;
  let to = maxima;
  row = maxima + ROW_BYTES;
  const last = row + bytes;
  for (; row + 64 <= last; row += 64, to += 64) {
    let m0 = v128.load(row);
    let m1 = v128.load(row, 16);
    let m2 = v128.load(row, 32);
    let m3 = v128.load(row, 48);
    for (let p = row + ROW_BYTES; p < end; p += ROW_BYTES) {
      m0 = larger<T>(m0, v128.load(p));
      m1 = larger<T>(m1, v128.load(p, 16));
      m2 = larger<T>(m2, v128.load(p, 32));
      m3 = larger<T>(m3, v128.load(p, 48));
    }
    v128.store(to, settled<T>(m0, ordered));
    v128.store(to, settled<T>(m1, ordered), 16);
    v128.store(to, settled<T>(m2, ordered), 32);
    v128.store(to, settled<T>(m3, ordered), 48);
  }
  for (; row < last; row += 16, to += 16) {
    let m = v128.load(row);
    for (let p = row + ROW_BYTES; p < end; p += ROW_BYTES) m = larger<T>(m, v128.load(p));
    v128.store(to, settled<T>(m, ordered));
  }
}

/** A maximum as `pass` takes it. */
// @ts-ignore: decorator
@inline
function settled<T>(m: v128, ordered: bool): v128 {
  if (isReference<T>()) {
    // a NaN stands as infinity here: where `pass` goes by keys it would hide the other classes
    m = i16x8.min_s(m, i16x8.splat(0x7c00));
    // `pass` brings raw bits into order; doing it twice gives the raw bits back
    if (ordered) m = halfOrder(m);
  }
  return m;
}

/** Cells whose classes stand next to each other (rows), or nowhere near each other. */
function passRows<T, K>(
  head: usize,
  at: usize,
  step: usize,
  classes: i32,
  gate: K,
  from: i32,
  n: i32,
  list: usize,
): i32 {
  let to = list;
  const channel = ptr(head, H_SCORE_CHANNEL);
  const classList = ptr(head, H_CLASS_LIST);
  if (ASC_FEATURE_SIMD) {
    const lanes = 16 / <i32>size<T>();
    if (fast<T>() && channel == size<T>() && classList == 0 && classes >= lanes) {
      const wanted = splatGate<T, K>(gate);
      const last = (<usize>classes - <usize>lanes) * size<T>();
      for (let i = 0; i < n; i++) {
        let found: i32 = 0;
        let m = rowMaximum<T>(at, last);
        if (isReference<T>()) found = i16x8.bitmask(i16x8.ge_s(m, wanted));
        else found = passing<T>(m, wanted);
        store<i32>(to, from + i);
        to += (<usize>(found != 0)) << 2;
        at += step;
      }
      return <i32>((to - list) >> 2);
    }
  }
  for (let i = 0; i < n; i++) {
    for (let c = 0; c < classes; c++) {
      if (key<T, K>(at + classAt(classList, c, channel)) >= gate) {
        store<i32>(to, from + i);
        to += 4;
        break;
      }
    }
    at += step;
  }
  return <i32>((to - list) >> 2);
}

/** Maxima of a row in lanes; the last load overlaps the one before it. f16 comes out in order. */
// @ts-ignore: decorator
@inline
function rowMaximum<T>(at: usize, last: usize): v128 {
  let m = lowestLanes<T>();
  let o = m;
  let i: usize = 0;
  for (; i + 32 <= last; i += 32) {
    m = larger<T>(m, inOrder<T>(v128.load(at + i)));
    o = larger<T>(o, inOrder<T>(v128.load(at + i, 16)));
  }
  for (; i < last; i += 16) m = larger<T>(m, inOrder<T>(v128.load(at + i)));
  m = larger<T>(m, inOrder<T>(v128.load(at + last)));
  return larger<T>(m, o);
}

// @ts-ignore: decorator
@inline
function inOrder<T>(v: v128): v128 {
  if (isReference<T>()) return halfOrder(v);
  else return v;
}

/**
 * Whether this is one of the commonest heads, which are admitted many cells at a time: independent classes, all of
 * them, one threshold, with no objectness or with both in f32.
 */
function isPlain(plan: usize, head: usize): bool {
  const rule = int(head, H_RULE);
  const type = int(head, H_SCORE_TYPE);
  if (
    (rule != RULE_PRODUCT && rule != RULE_CLASS) ||
    int(head, H_SCORE_FN) == FN_SOFTMAX ||
    ptr(head, H_CLASS_LIST) != 0 ||
    ptr(head, H_CLASS_GATES) != 0 ||
    ptr(head, H_LABEL) != 0 ||
    (int(plan, P_FLAGS) & FLAG_MULTI_LABEL) != 0
  )
    return false;
  if (ptr(head, H_OBJ) == 0) return type <= TYPE_U8;
  return (
    int(head, H_OBJ_TYPE) == TYPE_F32 &&
    type == TYPE_F32 &&
    int(head, H_OBJ_FN) == int(head, H_SCORE_FN) &&
    int(head, H_CLASSES) >= 4
  );
}

/*
 * The plain heads in three passes over the cells of a block that passed the gate. The first only finds the best class
 * of each, in a loop short enough that the loads of several cells are under way at once; the second makes scores, four
 * at a time; the third boxes, four at a time. Between them, in scratch, three columns: rows (the list itself), raw
 * values and then scores, labels. A column is made shorter in place: what passes moves forward.
 */

/** In scratch: the list, best scores, labels. */
// @ts-ignore: decorator
@inline
function column(plan: usize, i: i32): usize {
  return ptr(plan, P_BLOCK) + <usize>(i * COLUMN_BYTES);
}

/** In scratch: the maxima of a group, or what is needed after them. */
// @ts-ignore: decorator
@inline
function groupRow(plan: usize, i: i32): usize {
  return ptr(plan, P_BLOCK) + <usize>(MAXIMA + (1 + i) * ROW_BYTES);
}

/** The k-th row of a list, or its last: a lane without a row of its own then reads where another does. */
// @ts-ignore: decorator
@inline
function rowAt(list: usize, k: i32, count: i32): i32 {
  return load<i32>(list + ((<usize>min(k, count - 1)) << 2));
}

/** First pass, classes alone. */
function admitClasses(plan: usize, head: usize, list: usize, count: i32, from: i32): void {
  const type = int(head, H_SCORE_TYPE);
  let n: usize = 0;
  if (
    int(head, H_CLASSES) > 1 &&
    ptr(head, H_SCORE_CELL) == (type == TYPE_F32 ? 4 : type == TYPE_F16 ? 2 : 1)
  ) {
    if (type == TYPE_F32) n = classesOf<f32>(plan, head, list, count, from);
    else if (type == TYPE_F16) n = classesOf<f16>(plan, head, list, count, from);
    // bytes are told apart once they are found
    else n = classesOf<u8>(plan, head, list, count, from);
  } else if (int(head, H_CLASSES) == 1) {
    // nothing to find: the list stays as it is
    n = (<usize>count) << 2;
    const tops = column(plan, 1);
    const labels = column(plan, 2);
    const at = ptr(head, H_SCORE);
    const cell = ptr(head, H_SCORE_CELL);
    const scale = flt(head, H_SCORE_SCALE);
    const zero = flt(head, H_SCORE_ZERO);
    if (type == TYPE_F32) {
      for (let k = 0; k < count; k += 4) {
        const top = gather4<f32>(
          at + <usize>rowAt(list, k, count) * cell,
          at + <usize>rowAt(list, k + 1, count) * cell,
          at + <usize>rowAt(list, k + 2, count) * cell,
          at + <usize>rowAt(list, k + 3, count) * cell,
        );
        v128.store(tops + ((<usize>k) << 2), top);
      }
    } else {
      for (let k: usize = 0; k < n; k += 4)
        store<f32>(tops + k, value(type, at + <usize>load<u32>(list + k) * cell, scale, zero));
    }
    clear(labels, n);
  } else {
    for (let k: usize = 0; k < (<usize>count) << 2; k += 4) n += classOf(plan, head, load<i32>(list + k), n);
  }
  admitTops(plan, head, list, n, 0, false);
}

/** Puts one cell into the columns at `n`, unless no class of it is a number; says by how many bytes they grew. */
function classOf(plan: usize, head: usize, row: i32, n: usize): usize {
  const type = int(head, H_SCORE_TYPE);
  const classes = int(head, H_CLASSES);
  const step = ptr(head, H_SCORE_CHANNEL);
  const at = ptr(head, H_SCORE) + <usize>row * ptr(head, H_SCORE_CELL);
  const best = bestOf(type, head, at, step, classes, 0);
  if (best < 0) return 0;
  store<i32>(column(plan, 0) + n, row);
  store<f32>(
    column(plan, 1) + n,
    value(type, at + <usize>best * step, flt(head, H_SCORE_SCALE), flt(head, H_SCORE_ZERO)),
  );
  store<i32>(column(plan, 2) + n, best);
  return 4;
}

/**
 * Cells whose maxima over planes are at hand, four at a time, whatever their places: the first group of planes that holds the
 * maximum, then the first plane of it that does. No branch depends on a value, so the loads of several cells are under way at once.
 * Of zeros the maximum has the sign of the first, as `larger` keeps what it has: it is the value of that plane to the bit.
 */
function classesOf<T>(plan: usize, head: usize, list: usize, count: i32, from: i32): usize {
  const tops = column(plan, 1);
  const labels = column(plan, 2);
  const maxima = ptr(plan, P_BLOCK) + MAXIMA;
  const classes = int(head, H_CLASSES);
  const step = ptr(head, H_SCORE_CHANNEL);
  const at = ptr(head, H_SCORE);
  const scale = flt(head, H_SCORE_SCALE);
  const zero = flt(head, H_SCORE_ZERO);
  const group = groupSize(classes);
  const groups = (classes + group - 1) / group;
  // the last group may be short of planes: it begins earlier then, and what it has in common with the one before is not in that
  const planes = min(group, classes);
  const latest = i32x4.splat(classes - planes);
  let ordered = false;
  if (isReference<T>()) ordered = int(head, H_SCORE_GATE) <= 0;
  let n: usize = 0;
  for (let k = 0; k < count; k += 4) {
    const r0 = load<i32>(list + ((<usize>k) << 2));
    const r1 = rowAt(list, k + 1, count);
    const r2 = rowAt(list, k + 2, count);
    const r3 = rowAt(list, k + 3, count);
    let p0 = maxima + <usize>(r0 - from) * size<T>();
    let p1 = maxima + <usize>(r1 - from) * size<T>();
    let p2 = maxima + <usize>(r2 - from) * size<T>();
    let p3 = maxima + <usize>(r3 - from) * size<T>();
    const m = gather4<T>(p0, p1, p2, p3);
    // rows of groups of f16 are in order where the gate is not positive
    const wanted = ordered ? halfOrder(m) : m;
    let first = i32x4.splat(0);
    for (let g = groups; g > 0;) {
      g--;
      const row = <usize>(g + 1) * ROW_BYTES;
      const same = sameIn<T>(gather4<T>(p0 + row, p1 + row, p2 + row, p3 + row), wanted);
      first = v128.bitselect(i32x4.splat(g * group), first, same);
    }
    first = i32x4.min_s(first, latest);
    const end = <usize>planes * step;
    p0 = at + <usize>r0 * size<T>() + <usize>i32x4.extract_lane(first, 0) * step + end;
    p1 = at + <usize>r1 * size<T>() + <usize>i32x4.extract_lane(first, 1) * step + end;
    p2 = at + <usize>r2 * size<T>() + <usize>i32x4.extract_lane(first, 2) * step + end;
    p3 = at + <usize>r3 * size<T>() + <usize>i32x4.extract_lane(first, 3) * step + end;
    // -1: the careful way. A NaN among halves stands as infinity; where all is -Infinity or NaN there is no class
    let label = i32x4.splat(-1);
    for (let c = planes; c > 0;) {
      c--;
      p0 -= step;
      p1 -= step;
      p2 -= step;
      p3 -= step;
      label = v128.bitselect(
        i32x4.add(first, i32x4.splat(c)),
        label,
        sameIn<T>(gather4<T>(p0, p1, p2, p3), m),
      );
    }
    if (isReference<T>()) label = v128.or(label, i32x4.eq(m, i32x4.splat(0x7c00)));
    else if (isFloat<T>()) label = v128.or(label, f32x4.eq(m, f32x4.splat(-Infinity)));
    let top = m;
    if (isReference<T>() || !isFloat<T>()) {
      const type = int(head, H_SCORE_TYPE);
      if (type == TYPE_I8) top = i32x4.shr_s(i32x4.shl(m, 24), 24);
      top = value4(type, top, scale, zero);
    }
    const lanes = min(4, count - k);
    // no `bitmask` of what is needed afterwards: on 32-bit ARM, V8 (Node 20.11) gave zeros back. A lane without a row is like the last with one
    if (!v128.any_true(i32x4.lt_s(label, i32x4.splat(0)))) {
      // what stands behind the last is written over, or room is left for it
      v128.store(tops + n, top);
      v128.store(labels + n, label);
      store<i32>(list + n, r0);
      store<i32>(list + n, r1, 4);
      store<i32>(list + n, r2, 8);
      store<i32>(list + n, r3, 12);
      n += (<usize>lanes) << 2;
      continue;
    }
    n += classOf(plan, head, r0, n);
    if (lanes > 1) n += classOf(plan, head, r1, n);
    if (lanes > 2) n += classOf(plan, head, r2, n);
    if (lanes > 3) n += classOf(plan, head, r3, n);
  }
  return n;
}

/** Lanes of `gather4` that are equal. */
// @ts-ignore: decorator
@inline
function sameIn<T>(a: v128, b: v128): v128 {
  if (!isReference<T>() && isFloat<T>()) return f32x4.eq(a, b);
  return i32x4.eq(a, b);
}

/** First pass, objectness and classes in f32. */
function admitFloats(plan: usize, head: usize, list: usize, count: i32): void {
  const tops = column(plan, 1);
  const labels = column(plan, 2);
  const objectnesses = groupRow(plan, 0);
  const temp = groupRow(plan, 1);
  const classes = int(head, H_CLASSES);
  const at = ptr(head, H_SCORE);
  const cell = ptr(head, H_SCORE_CELL);
  const channel = ptr(head, H_SCORE_CHANNEL);
  const objectness = ptr(head, H_OBJ);
  const objectnessCell = ptr(head, H_OBJ_CELL);
  const rawest = flt(head, H_SCORE_GATE);
  const side = channel == 4;
  let n: usize = 0;
  if (side) {
    const last = (<usize>(classes - 4)) << 2;
    for (let k = 0; k < count; k++) {
      const row = load<i32>(list + ((<usize>k) << 2));
      const m = rowMaximum<f32>(at + <usize>row * cell, last);
      const two = f32x4.pmax(m, v128.shuffle<u32>(m, m, 2, 3, 0, 1));
      const top = f32x4.extract_lane(f32x4.pmax(two, v128.shuffle<u32>(two, two, 1, 0, 3, 2)), 0);
      store<i32>(list + n, row);
      store<f32>(tops + n, top);
      store<f32>(objectnesses + n, load<f32>(objectness + <usize>row * objectnessCell));
      // no branch: overwritten by the next unless it passes
      n += (<usize>(top >= rawest)) << 2;
    }
  } else {
    // four cells at a time, whatever their places: class by class, four values gathered and folded
    for (let k = 0; k < count; k += 4) {
      const r0 = load<i32>(list + ((<usize>k) << 2));
      const r1 = rowAt(list, k + 1, count);
      const r2 = rowAt(list, k + 2, count);
      const r3 = rowAt(list, k + 3, count);
      let p0 = at + <usize>r0 * cell;
      let p1 = at + <usize>r1 * cell;
      let p2 = at + <usize>r2 * cell;
      let p3 = at + <usize>r3 * cell;
      let top = f32x4.splat(-Infinity);
      // classes are counted from 1, and a later one is the larger number: no selection is needed to take it
      let label = i32x4.splat(0);
      const one = i32x4.splat(1);
      let number = one;
      for (let c = 0; c < classes; c++) {
        const v = gather4<f32>(p0, p1, p2, p3);
        const more = f32x4.gt(v, top);
        top = f32x4.pmax(top, v);
        label = i32x4.max_s(label, v128.and(number, more));
        number = i32x4.add(number, one);
        p0 += channel;
        p1 += channel;
        p2 += channel;
        p3 += channel;
      }
      // without a class where all are -Infinity or NaN
      const found = f32x4.gt(top, f32x4.splat(-Infinity));
      const mask = i32x4.bitmask(v128.and(found, f32x4.ge(top, f32x4.splat(rawest))));
      if (mask == 0) continue;
      v128.store(temp, top);
      v128.store(temp + 16, i32x4.sub(label, one));
      const lanes = min(4, count - k);
      for (let j = 0; j < lanes; j++) {
        const lane = (<usize>j) << 2;
        const row = load<i32>(list + ((<usize>(k + j)) << 2));
        store<i32>(list + n, row);
        store<f32>(tops + n, load<f32>(temp + lane));
        store<i32>(labels + n, load<i32>(temp + 16 + lane));
        store<f32>(objectnesses + n, load<f32>(objectness + <usize>row * objectnessCell));
        n += ((mask >> j) & 1) << 2;
      }
    }
  }
  admitTops(plan, head, list, n, objectnesses, side);
}

/** Second pass: raw values to scores, for `n` bytes of the columns. `side`: the label is still to be found. */
function admitTops(plan: usize, head: usize, list: usize, n: usize, objectnesses: usize, side: bool): void {
  const tops = column(plan, 1);
  const labels = column(plan, 2);
  const temp = groupRow(plan, 1);
  const classes = int(head, H_CLASSES);
  const at = ptr(head, H_SCORE);
  const cell = ptr(head, H_SCORE_CELL);
  const sigmoid = int(head, H_SCORE_FN) == FN_SIGMOID;
  const product = objectnesses != 0 && int(head, H_RULE) == RULE_PRODUCT;
  const gates = f32x4.splat(flt(head, H_GATE));
  const check = f32x4.splat(flt(head, H_CHECK));
  const base = int(head, H_CLASS_BASE);
  const zero = f32x4.splat(0);
  let m: usize = 0;
  for (let k: usize = 0; k < n; k += 16) {
    // without objectness its lanes are those of the class: nothing comes of them
    let o = v128.load((objectnesses != 0 ? objectnesses : tops) + k);
    let s = v128.load(tops + k);
    // lanes past the end hold leftovers: they are masked out
    const left = (n - k) >> 2;
    const inside = left >= 4 ? 15 : (1 << (<i32>left)) - 1;
    let odd = 0;
    if (sigmoid) {
      s = sigmoid4(s);
      if (product) o = sigmoid4(o);
    } else {
      odd =
        inside &
        (i32x4.bitmask(v128.and(f32x4.gt(o, check), f32x4.eq(f32x4.sub(o, o), zero))) |
          i32x4.bitmask(v128.and(f32x4.gt(s, check), f32x4.eq(f32x4.sub(s, s), zero))));
      if (odd != 0) setInt(plan, P_OUT_OF_RANGE, int(plan, P_OUT_OF_RANGE) + popcnt(odd));
    }
    const score = product ? f32x4.mul(o, s) : s;
    v128.store(temp, score);
    let mask = inside & ~odd & i32x4.bitmask(f32x4.ge(score, gates));
    if (mask == 15 && !side) {
      v128.store(list + m, v128.load(list + k));
      v128.store(tops + m, score);
      v128.store(labels + m, i32x4.add(v128.load(labels + k), i32x4.splat(base)));
      m += 16;
      continue;
    }
    while (mask != 0) {
      const lane = (<usize>ctz(mask)) << 2;
      mask &= mask - 1;
      const row = load<i32>(list + k + lane);
      const label = side
        ? firstEqual(at + <usize>row * cell, load<f32>(tops + k + lane), classes)
        : load<i32>(labels + k + lane);
      if (label < 0) continue;
      store<i32>(list + m, row);
      store<f32>(tops + m, load<f32>(temp + lane));
      store<i32>(labels + m, base + label);
      m += 4;
    }
  }
  if (inLanes(head)) return emitMany(plan, head, list, m);
  for (let k: usize = 0; k < m; k += 4)
    emitKept(plan, head, load<i32>(list + k), load<i32>(labels + k), load<f32>(tops + k));
}

/** Third pass: `emitKept` for `n` bytes of the columns, boxes four at a time. */
function emitMany(plan: usize, head: usize, list: usize, n: usize): void {
  const scores = column(plan, 1);
  const labels = column(plan, 2);
  const cells = groupRow(plan, 1);
  const boxes = cells + 16;
  const index = ptr(head, H_INDEX);
  const flags = int(plan, P_FLAGS);
  const source = int(head, H_SOURCE);
  const toScores = ptr(plan, P_SCORES);
  const toLabels = ptr(plan, P_LABELS);
  const toSources = ptr(plan, P_SOURCES);
  const toBoxes = ptr(plan, P_BOXES);
  let at = ptr(plan, P_CANDIDATES) << 2;
  const end = ptr(plan, P_CAPACITY) << 2;
  let notFinite = 0;
  for (let k: usize = 0; k < n; k += 16) {
    const lanes = min(4, <i32>((n - k) >> 2));
    // behind the last row stands the last row again, so that no lane reads elsewhere
    for (let j = lanes; j < 4; j++) {
      const place = list + k + ((<usize>j) << 2);
      store<u32>(place, load<u32>(place - 4));
    }
    if (index == 0) v128.store(cells, v128.load(list + k));
    else
      for (let j: usize = 0; j < 16; j += 4)
        store<u32>(cells + j, load<u32>(index + ((<usize>load<u32>(list + k + j)) << 2)));
    if (v128.any_true(i32x4.shr_u(v128.load(cells), 22))) {
      setInt(plan, P_CANDIDATES, <i32>(at >> 2));
      for (let j = 0; j < lanes; j++) {
        const i = k + ((<usize>j) << 2);
        emitKept(plan, head, load<i32>(list + i), load<i32>(labels + i), load<f32>(scores + i));
      }
      at = ptr(plan, P_CANDIDATES) << 2;
      continue;
    }
    const score = v128.load(scores + k);
    const fate = box4(head, list + k, cells, flags, boxes);
    const inside = (1 << lanes) - 1;
    const strange = inside & (fate | ~i32x4.bitmask(f32x4.eq(f32x4.sub(score, score), f32x4.splat(0))));
    const kept = inside & ~strange & ~(fate >> 4);
    notFinite += popcnt(strange & 15);
    if (kept == 15 && at + 16 <= end) {
      v128.store(toScores + at, score);
      v128.store(toLabels + at, v128.load(labels + k));
      v128.store(toSources + at, i32x4.add(v128.load(cells), i32x4.splat(source)));
      for (let j: usize = 0; j < 64; j += 16) v128.store(toBoxes + (at << 2) + j, v128.load(boxes + j));
      at += 16;
      continue;
    }
    for (let j: usize = 0; j < 4; j++) {
      if (((kept >> (<i32>j)) & 1) == 0) continue;
      if (at >= end) {
        setInt(plan, P_OVERFLOW, int(plan, P_OVERFLOW) + 1);
        continue;
      }
      const lane = j << 2;
      store<f32>(toScores + at, load<f32>(scores + k + lane));
      store<i32>(toLabels + at, load<i32>(labels + k + lane));
      store<i32>(toSources + at, load<i32>(cells + lane) + source);
      v128.store(toBoxes + (at << 2), v128.load(boxes + (j << 4)));
      at += 4;
    }
  }
  setInt(plan, P_CANDIDATES, <i32>(at >> 2));
  if (notFinite != 0) setInt(plan, P_NOT_FINITE, int(plan, P_NOT_FINITE) + notFinite);
}

/** First of `classes` values that lie side by side which equals `top`; -1: none. */
function firstEqual(at: usize, top: f32, classes: i32): i32 {
  const wanted = f32x4.splat(top);
  const last = (<usize>(classes - 4)) << 2;
  for (let i: usize = 0; i < last; i += 16) {
    const mask = i32x4.bitmask(f32x4.eq(v128.load(at + i), wanted));
    if (mask != 0) return <i32>(i >> 2) + ctz(mask);
  }
  const mask = i32x4.bitmask(f32x4.eq(v128.load(at + last), wanted));
  return mask != 0 ? classes - 4 + ctz(mask) : -1;
}

/** The class of a cell is still to be found. */
const UNKNOWN: i32 = -2;

/** The exact work for one cell that passed the gate. `best`: the number of its class in the list of classes, or `UNKNOWN`. */
function admit(plan: usize, head: usize, row: i32, best: i32): void {
  const rule = int(head, H_RULE);
  let o: f32 = 1;
  // objectness outside 0..1: told once a class passes too
  let odd = false;
  const objectness = ptr(head, H_OBJ);
  if (objectness != 0) {
    o = value(
      int(head, H_OBJ_TYPE),
      objectness + <usize>row * ptr(head, H_OBJ_CELL),
      flt(head, H_OBJ_SCALE),
      flt(head, H_OBJ_ZERO),
    );
    // the vector gate lets a NaN of an f16 through
    if (o != o) return;
    const fn = int(head, H_OBJ_FN);
    if (fn != FN_NONE) o = activate(fn, o);
    else odd = o > flt(head, H_CHECK) && finite(o);
    if (rule == RULE_OBJECTNESS) {
      if (odd) return outOfRange(plan);
      emit(plan, head, row, int(head, H_CLASS_BASE), o, flt(head, H_GATE));
      return;
    }
  }

  const at = ptr(head, H_SCORE) + <usize>row * ptr(head, H_SCORE_CELL);
  const step = ptr(head, H_SCORE_CHANNEL);
  const fn = int(head, H_SCORE_FN);
  const scale = flt(head, H_SCORE_SCALE);
  const zero = flt(head, H_SCORE_ZERO);
  const type = int(head, H_SCORE_TYPE);

  if (ptr(head, H_LABEL) != 0) {
    const label = value(
      int(head, H_LABEL_TYPE),
      ptr(head, H_LABEL) + <usize>row * ptr(head, H_LABEL_CELL),
      flt(head, H_LABEL_SCALE),
      flt(head, H_LABEL_ZERO),
    );
    let s = value(type, at, scale, zero);
    if (fn != FN_NONE) s = activate(fn, s);
    else if (s > flt(head, H_CHECK) && finite(s)) return outOfRange(plan);
    if (!(s >= flt(head, H_GATE))) return;
    // a label that no i32 holds: nothing can be said about this row
    if (!(label > -2147483000 && label < 2147483000)) {
      setInt(plan, P_NOT_FINITE, int(plan, P_NOT_FINITE) + 1);
      return;
    }
    emitLabel(plan, head, row, <i32>label + int(head, H_CLASS_BASE), s);
    return;
  }

  const classes = int(head, H_CLASSES);
  const base = int(head, H_CLASS_BASE);
  const classList = ptr(head, H_CLASS_LIST);
  const gates = ptr(head, H_CLASS_GATES);

  let top: f32 = 0;
  let sum: f64 = 1;
  if (fn == FN_SOFTMAX) {
    const soft = ptr(head, H_SOFT) + <usize>row * ptr(head, H_SCORE_CELL);
    const logits = int(head, H_SOFT_COUNT);
    top = -Infinity;
    for (let i = 0; i < logits; i++) {
      const x = value(type, soft + <usize>i * step, scale, zero);
      if (x > top) top = x;
    }
    // p <= e^(best - top): most background cells end here, before any exp
    let highest: f32 = -Infinity;
    for (let i = 0; i < classes; i++) {
      const x = value(type, at + classAt(classList, i, step), scale, zero);
      if (x > highest) highest = x;
    }
    if (!(highest - top >= flt(head, H_SCORE_GATE))) return;
    sum = 0;
    for (let i = 0; i < logits; i++) {
      const x = value(type, soft + <usize>i * step, scale, zero);
      // a NaN logit counts for nothing
      if (x == x) sum += exp(<f64>(x - top));
    }
  }

  if (gates != 0 || int(plan, P_FLAGS) & FLAG_MULTI_LABEL) {
    const multi = (int(plan, P_FLAGS) & FLAG_MULTI_LABEL) != 0;
    let highest: f32 = -Infinity;
    let bestLabel = -1;
    for (let i = 0; i < classes; i++) {
      const p = at + classAt(classList, i, step);
      if (fn != FN_SOFTMAX && !passesRaw(head, type, p)) continue;
      const s = convert(head, fn, value(type, p, scale, zero), top, sum);
      if (odd || (fn == FN_NONE && s > flt(head, H_CHECK) && finite(s))) return outOfRange(plan);
      const score = combine(rule, o, s);
      const smallest = gates != 0 ? load<f32>(gates + ((<usize>i) << 2)) : flt(head, H_GATE);
      if (!(score >= smallest)) continue;
      const label = base + (classList != 0 ? load<i32>(classList + ((<usize>i) << 2)) : i);
      if (multi) emitKept(plan, head, row, label, score);
      else if (score > highest) {
        highest = score;
        bestLabel = label;
      }
    }
    if (bestLabel >= 0) emitKept(plan, head, row, bestLabel, highest);
    return;
  }

  if (
    !ASC_FEATURE_SIMD &&
    best == UNKNOWN &&
    type == TYPE_F32 &&
    step == 4 &&
    classList == 0 &&
    rule == RULE_PRODUCT
  ) {
    // a class below gate / objectness cannot bring the product over the gate; a hair lower for the rounding, of which a
    // gate near the smallest floats would need more
    const gate = flt(head, H_GATE);
    const rawest = flt(head, H_SCORE_GATE);
    if (
      fn == FN_NONE &&
      int(head, H_OBJ_FN) == FN_NONE &&
      gate > 1e-30 &&
      rawest > 0 &&
      o > 0 &&
      o <= flt(head, H_CHECK)
    ) {
      const least: f32 = (gate * <f32>0.999999) / o;
      best = largestInRow(at, classes, least > rawest ? least : rawest);
    }
  }
  if (best == UNKNOWN) best = bestOf(type, head, at, step, classes, classList);
  if (best < 0) return;
  const label = classList != 0 ? load<i32>(classList + ((<usize>best) << 2)) : best;
  const place = at + <usize>label * step;
  // below the raw gate no score passes, but for the product with an infinite objectness, which is none
  if (fn != FN_SOFTMAX && !passesRaw(head, type, place)) return;
  const s = convert(head, fn, value(type, place, scale, zero), top, sum);
  if (odd || (fn == FN_NONE && s > flt(head, H_CHECK) && finite(s))) return outOfRange(plan);
  emit(plan, head, row, base + label, combine(rule, o, s), flt(head, H_GATE));
}

/** First of the largest of so many floats side by side that reach `least`, which is above zero; -1: none. */
function largestInRow(at: usize, n: i32, least: f32): i32 {
  let below = reinterpret<i32>(least) - 1;
  let found = -1;
  const end = at + ((<usize>n) << 2);
  for (let p = at; (p = nextAbove(p, end, below)) < end;) {
    for (const stop = min(p + 32, end); p < stop; p += 4) {
      if (load<i32>(p) > below && load<f32>(p) >= 0) {
        below = load<i32>(p);
        found = <i32>((p - at) >> 2);
      }
    }
  }
  return found;
}

/** A candidate whose label stands in a column: the class filter and the thresholds per class come now. */
function emitLabel(plan: usize, head: usize, row: i32, label: i32, score: f32): void {
  const labels = int(head, H_LABELS);
  if (labels != 0) {
    const list = ptr(head, H_CLASS_LIST);
    const gates = ptr(head, H_CLASS_GATES);
    let i = 0;
    while (i < labels && (list != 0 ? load<i32>(list + ((<usize>i) << 2)) : i) != label) i++;
    if (i == labels) {
      if (list != 0) return;
    } else if (gates != 0 && !(score >= load<f32>(gates + ((<usize>i) << 2)))) return;
  }
  emitKept(plan, head, row, label, score);
}

function passesRaw(head: usize, type: i32, at: usize): bool {
  if (type == TYPE_F32) return load<f32>(at) >= flt(head, H_SCORE_GATE);
  let k: i32;
  if (type == TYPE_F16) k = key<f16, i32>(at);
  else if (type == TYPE_U8) k = <i32>load<u8>(at);
  else if (type == TYPE_I8) k = <i32>load<i8>(at);
  else if (type == TYPE_I16) k = <i32>load<i16>(at);
  else k = load<i32>(at);
  return k >= int(head, H_SCORE_GATE);
}

function outOfRange(plan: usize): void {
  setInt(plan, P_OUT_OF_RANGE, int(plan, P_OUT_OF_RANGE) + 1);
}

// @ts-ignore: decorator
@inline
function convert(head: usize, fn: i32, raw: f32, top: f32, sum: f64): f32 {
  if (fn == FN_NONE) return raw;
  if (fn == FN_SOFTMAX) return raw == raw ? <f32>(exp(<f64>(raw - top)) / sum) : raw;
  return activate(fn, raw);
}

// @ts-ignore: decorator
@inline
function combine(rule: i32, o: f32, s: f32): f32 {
  if (rule == RULE_CLASS) return s;
  if (rule == RULE_PRODUCT) return o * s;
  return <f32>(power(<f64>o, 0.6) * power(<f64>s, 0.4));
}

function bestOf(type: i32, head: usize, at: usize, step: usize, classes: i32, classList: usize): i32 {
  if (type == TYPE_F32) return bestClass<f32, f32>(head, at, step, classes, classList);
  if (type == TYPE_F16) return bestClass<f16, i32>(head, at, step, classes, classList);
  if (type == TYPE_I8) return bestClass<i8, i32>(head, at, step, classes, classList);
  if (type == TYPE_U8) return bestClass<u8, i32>(head, at, step, classes, classList);
  let best = lowest<i32>();
  let found = -1;
  for (let i = 0; i < classes; i++) {
    const k = integer(type, at + classAt(classList, i, step));
    if (k > best) {
      best = k;
      found = i;
    }
  }
  return found;
}

/** First of the classes with the largest value; -1 where every value is NaN or none can pass. */
function bestClass<T, K>(head: usize, at: usize, step: usize, classes: i32, classList: usize): i32 {
  if (ASC_FEATURE_SIMD) {
    const lanes = 16 / <i32>size<T>();
    if (fast<T>() && step == size<T>() && classList == 0 && classes >= lanes) {
      const last = (<usize>classes - <usize>lanes) * size<T>();
      const m = spreadMaximum<T>(rowMaximum<T>(at, last));
      if (
        int(head, H_SCORE_FN) != FN_SOFTMAX &&
        passing<T>(inOrder<T>(m), splatGate<T, K>(rawGate<K>(head, H_SCORE_GATE))) == 0
      ) {
        if (!isReference<T>()) return -1;
      }
      for (let i: usize = 0; i < last; i += 16) {
        const mask = equal<T>(inOrder<T>(v128.load(at + i)), m);
        if (mask != 0) {
          if (isReference<T>()) {
            if (i16x8.extract_lane_s(m, 0) > 0x7c00) break; // a NaN on top: the careful way below
          }
          return <i32>(i / size<T>()) + ctz(mask);
        }
      }
      let careful = false;
      if (isReference<T>()) careful = i16x8.extract_lane_s(m, 0) > 0x7c00;
      if (!careful) {
        const mask = equal<T>(inOrder<T>(v128.load(at + last)), m);
        return mask != 0 ? classes - lanes + ctz(mask) : -1;
      }
    }
  }
  if (!ASC_FEATURE_SIMD && !isReference<T>() && isFloat<T>() && classList == 0)
    return largest(at, step, classes);
  let best = lowest<K>();
  let found = -1;
  for (let i = 0; i < classes; i++) {
    const k = key<T, K>(at + classAt(classList, i, step));
    if (k > best) {
      best = k;
      found = i;
    }
  }
  return found;
}

/** First of the largest of `n` floats, `step` apart; -1 where none is above -Infinity. */
function largest(at: usize, step: usize, n: i32): i32 {
  let best: f32 = -Infinity;
  let found = -1;
  let i = 0;
  for (; i < n; i++, at += step) {
    // most are not: four to a round
    for (; i + 4 <= n; i += 4, at += 4 * step) {
      if (load<f32>(at) > best) break;
      if (load<f32>(at + step) > best) break;
      if (load<f32>(at + 2 * step) > best) break;
      if (load<f32>(at + 3 * step) > best) break;
    }
    if (i < n && load<f32>(at) > best) {
      best = load<f32>(at);
      found = i;
    }
  }
  return found;
}

// @ts-ignore: decorator
@inline
function equal<T>(a: v128, b: v128): i32 {
  if (isReference<T>()) return i16x8.bitmask(i16x8.eq(a, b));
  else if (isFloat<T>()) return i32x4.bitmask(f32x4.eq(a, b));
  else if (sizeof<T>() == 1) return i8x16.bitmask(i8x16.eq(a, b));
  else if (sizeof<T>() == 2) return i16x8.bitmask(i16x8.eq(a, b));
  else return i32x4.bitmask(i32x4.eq(a, b));
}

/** The largest lane in every lane. */
// @ts-ignore: decorator
@inline
function spreadMaximum<T>(m: v128): v128 {
  m = larger<T>(m, v128.shuffle<u8>(m, m, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  m = larger<T>(m, v128.shuffle<u8>(m, m, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
  if (size<T>() <= 2)
    m = larger<T>(m, v128.shuffle<u8>(m, m, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
  if (size<T>() == 1)
    m = larger<T>(m, v128.shuffle<u8>(m, m, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
  return m;
}

function emit(plan: usize, head: usize, row: i32, label: i32, score: f32, gate: f32): void {
  // also turns NaN away
  if (score >= gate) emitKept(plan, head, row, label, score);
}

/** Appends a candidate whose score has passed. */
function emitKept(plan: usize, head: usize, row: i32, label: i32, score: f32): void {
  const at = int(plan, P_CANDIDATES);
  if (at >= int(plan, P_CAPACITY)) {
    setInt(plan, P_OVERFLOW, int(plan, P_OVERFLOW) + 1);
    return;
  }
  const index = ptr(head, H_INDEX);
  const cell = index != 0 ? load<i32>(index + ((<usize>row) << 2)) : row;
  const i = <usize>at;
  const fate = finite(score)
    ? box(head, row, cell, int(plan, P_FLAGS), ptr(plan, P_BOXES) + (i << 4))
    : BOX_NOT_FINITE;
  if (fate != BOX_OK) {
    if (fate == BOX_NOT_FINITE) setInt(plan, P_NOT_FINITE, int(plan, P_NOT_FINITE) + 1);
    return;
  }
  store<f32>(ptr(plan, P_SCORES) + (i << 2), score);
  store<i32>(ptr(plan, P_LABELS) + (i << 2), label);
  store<i32>(ptr(plan, P_SOURCES) + (i << 2), int(head, H_SOURCE) + cell);
  setInt(plan, P_CANDIDATES, at + 1);
}
