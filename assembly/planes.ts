/** The gate where each class is a plane of its own: many planes, few cells that pass. */
import { COLUMN_BYTES, H_CLASSES, H_CLASS_LIST, H_SCORE_CHANNEL } from "../src/core/abi";
import { classAt, groupSize, rowBytes } from "./head";
import { halfOrder, inOrder, larger, lowestLanes } from "./lanes";
import { key, size } from "./value";
import { clear, int, ptr } from "./word";

/**
 * Maximum of `m`, which is no NaN, and of one vector of each of eight planes: a NaN never becomes the running maximum. The vector is
 * number 0, 1, 2 or 3 from the addresses on, as `V` is `u8`, `u16`, `u32` or `u64`, and four more where `H` is `u16`, not `u8`: an offset
 * inside a load has to be known to the compiler, and a type argument is the way to hand over a constant.
 */
// @ts-ignore: decorator
@inline
function fold8<T, V, H>(
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
  m = larger<T>(m, v128.load(p0, 16 * alignof<V>() + 64 * alignof<H>()));
  m = larger<T>(m, v128.load(p1, 16 * alignof<V>() + 64 * alignof<H>()));
  m = larger<T>(m, v128.load(p2, 16 * alignof<V>() + 64 * alignof<H>()));
  m = larger<T>(m, v128.load(p3, 16 * alignof<V>() + 64 * alignof<H>()));
  m = larger<T>(m, v128.load(p4, 16 * alignof<V>() + 64 * alignof<H>()));
  m = larger<T>(m, v128.load(p5, 16 * alignof<V>() + 64 * alignof<H>()));
  m = larger<T>(m, v128.load(p6, 16 * alignof<V>() + 64 * alignof<H>()));
  return larger<T>(m, v128.load(p7, 16 * alignof<V>() + 64 * alignof<H>()));
}

/**
 * Maximum over the class planes for a block of cells:
 *
 *     plane 0  ====block====......      a group of planes is folded into a row of its own:
 *     plane 1  ====block====......        row[g][i] = max over the classes of group g
 *     ...                               then the rows are folded: maxima[i] = max over g
 *
 * For the few cells that pass, the rows then say which group holds the class, so that a handful of planes is
 * searched and not all. Rows and maxima stay near the first-level cache.
 *
 * f16: where the gate is positive the raw bits do as signed integers, since a negative number then is just
 * "below"; otherwise they are brought into order first. Maxima have the element's own type.
 */
export function planeMaxima<T, K>(plan: usize, head: usize, at: usize, n: i32, maxima: usize, gate: K): void {
  const step = ptr(head, H_SCORE_CHANNEL);
  const classes = int(head, H_CLASSES);
  const list = ptr(head, H_CLASS_LIST);
  let c = 0;
  const bytes = (<usize>n * size<T>() + 15) & ~15;
  const low = lowestLanes<T>();
  let ordered = false;
  if (isReference<T>()) ordered = <i32>gate <= 0;
  const group = groupSize(classes);
  const rowStep = rowBytes<T>(plan, classes);
  let row = maxima + rowStep;
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
          // eight vectors a step, which move nine addresses once
          for (; r + 128 <= last; r += 128) {
            v128.store(r, fold8<T, u8, u8>(low, p0, p1, p2, p3, p4, p5, p6, p7));
            v128.store(r, fold8<T, u16, u8>(low, p0, p1, p2, p3, p4, p5, p6, p7), 16);
            v128.store(r, fold8<T, u32, u8>(low, p0, p1, p2, p3, p4, p5, p6, p7), 32);
            v128.store(r, fold8<T, u64, u8>(low, p0, p1, p2, p3, p4, p5, p6, p7), 48);
            v128.store(r, fold8<T, u8, u16>(low, p0, p1, p2, p3, p4, p5, p6, p7), 64);
            v128.store(r, fold8<T, u16, u16>(low, p0, p1, p2, p3, p4, p5, p6, p7), 80);
            v128.store(r, fold8<T, u32, u16>(low, p0, p1, p2, p3, p4, p5, p6, p7), 96);
            v128.store(r, fold8<T, u64, u16>(low, p0, p1, p2, p3, p4, p5, p6, p7), 112);
            p0 += 128;
            p1 += 128;
            p2 += 128;
            p3 += 128;
            p4 += 128;
            p5 += 128;
            p6 += 128;
            p7 += 128;
          }
        }
        for (; r < last; r += 16) {
          v128.store(r, fold8<T, u8, u8>(c != first ? v128.load(r) : low, p0, p1, p2, p3, p4, p5, p6, p7));
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
    row += rowStep;
  }
  // the rows, four vectors a step; the first is the beginning
  const end = row;
  let to = maxima;
  row = maxima + rowStep;
  const last = row + bytes;
  for (; row + 64 <= last; row += 64, to += 64) {
    let m0 = v128.load(row);
    let m1 = v128.load(row, 16);
    let m2 = v128.load(row, 32);
    let m3 = v128.load(row, 48);
    for (let p = row + rowStep; p < end; p += rowStep) {
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
    for (let p = row + rowStep; p < end; p += rowStep) m = larger<T>(m, v128.load(p));
    v128.store(to, settled<T>(m, ordered));
  }
}

/** A maximum as `passColumn` takes it. */
// @ts-ignore: decorator
@inline
function settled<T>(m: v128, ordered: bool): v128 {
  if (isReference<T>()) {
    // a NaN stands as infinity here: where `passColumn` goes by keys it would hide the other classes
    m = i16x8.min_s(m, i16x8.splat(0x7c00));
    // `passColumn` brings raw bits into order; doing it twice gives the raw bits back
    if (ordered) m = halfOrder(m);
  }
  return m;
}

// Without vectors: floats by their bits, other types by the word.

/**
 * The next place where a number is above `below` in one of four planes, four floats of each a step, as in the first of them. Where
 * fewer than four are left before `end`, which is of the first plane, the caller looks at them in any case. The last of a plane goes
 * first: where bounds are checked by code (C), it lying inside says that the others do.
 */
function nextInFour(a: usize, b: usize, c: usize, d: usize, end: usize, below: i32): usize {
  for (; a + 16 <= end; a += 16, b += 16, c += 16, d += 16) {
    if (load<i32>(a, 12) > below) break;
    if (load<i32>(a) > below) break;
    if (load<i32>(a, 4) > below) break;
    if (load<i32>(a, 8) > below) break;
    if (load<i32>(b, 12) > below) break;
    if (load<i32>(b) > below) break;
    if (load<i32>(b, 4) > below) break;
    if (load<i32>(b, 8) > below) break;
    if (load<i32>(c, 12) > below) break;
    if (load<i32>(c) > below) break;
    if (load<i32>(c, 4) > below) break;
    if (load<i32>(c, 8) > below) break;
    if (load<i32>(d, 12) > below) break;
    if (load<i32>(d) > below) break;
    if (load<i32>(d, 4) > below) break;
    if (load<i32>(d, 8) > below) break;
  }
  return a;
}

/** Brings the values of class `c` from byte `i` to `stop` of its plane into the largest so far. */
// @ts-ignore: decorator
@inline
function topOf(plane: usize, i: usize, stop: usize, tops: usize, c: i32): void {
  for (; i < stop; i += 4) {
    const bits = load<i32>(plane + i);
    // a NaN has bits above those of all numbers, or below zero
    if (bits > load<i32>(tops + i) && load<f32>(plane + i) >= 0) {
      store<i32>(tops + i, bits);
      store<i32>(tops + i + COLUMN_BYTES, c);
    }
  }
}

/** Writes the rows of the cells whose largest is above `below` to `list` and returns how many. */
function listTops(tops: usize, n: i32, below: i32, from: i32, list: usize): i32 {
  let to = list;
  for (let i = 0; i < n; i++) {
    store<i32>(to, from + i);
    to += (<usize>(load<i32>(tops + ((<usize>i) << 2)) > below)) << 2;
  }
  return <i32>((to - list) >> 2);
}

/**
 * Planes of f32 without vectors: the bits of a float above zero, as an integer, are in its order. In scratch stand the
 * largest bits of each cell so far, from those below the gate up, and a column further the class they are of, for `admit`.
 */
export function passPlanes(
  head: usize,
  at: usize,
  n: i32,
  tops: usize,
  gate: f32,
  from: i32,
  list: usize,
): i32 {
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
  return listTops(tops, n, below, from, list);
}

/** Brings one small element, of class `c` and the i-th cell, into the largest so far. */
// @ts-ignore: decorator
@inline
function topAt<T>(p: usize, i: usize, tops: usize, c: i32): void {
  const t = tops + (i << 2);
  const k = key<T, i32>(p);
  if (k > load<i32>(t)) {
    store<i32>(t, k);
    store<i32>(t + COLUMN_BYTES, c);
  }
}

/**
 * Planes of small elements without vectors, 64 bytes a test; tops and labels as above, of keys. With the top bit of a lane x apart,
 * the sum of the rest and `lift` has its top bit set where the rest reaches that of the gate, and cannot carry into the next lane; x
 * passes by either top bit where the gate's own is clear, by both where it is set. Eight words ORed together are in no lane below
 * the largest of them, so one test mostly does for all. Signed numbers, f16 against a gate above zero among them, are
 * brought into the order of unsigned ones by turning their top bits over.
 */
export function passWords<T>(
  head: usize,
  at: usize,
  n: i32,
  tops: usize,
  gate: i32,
  from: i32,
  list: usize,
): i32 {
  const step = ptr(head, H_SCORE_CHANNEL);
  const classes = int(head, H_CLASSES);
  const classList = ptr(head, H_CLASS_LIST);
  const bytes = size<T>() == 1;
  const half: i32 = bytes ? 0x80 : 0x8000;
  const ones: u64 = bytes ? 0x0101010101010101 : 0x0001000100010001;
  const highs = <u64>half * ones;
  const flip: u64 = bytes && !isSigned<T>() ? 0 : highs;
  // the gate among unsigned numbers; for one that nothing reaches the largest is looked at closer, and is not above `below`
  const least = max(0, min(2 * half - 1, flip != 0 ? gate + half : gate));
  const either: u64 = least < half ? ~(<u64>0) : 0;
  const lift = <u64>((least < half ? half : 2 * half) - least) * ones;
  const below = gate - 1;
  const topsEnd = tops + ((<usize>n) << 2);
  for (let t = tops; t < topsEnd; t += 4) store<i32>(t, below);
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
      if (reached(x, highs, lift, either) == 0) continue;
      if (!bytes) {
        // f16 ORed together often look larger than any of them: an exponent is put together from the bits of several
        const any =
          reachedHalf(load<u64>(p), flip, lift) |
          reachedHalf(load<u64>(p, 8), flip, lift) |
          reachedHalf(load<u64>(p, 16), flip, lift) |
          reachedHalf(load<u64>(p, 24), flip, lift) |
          reachedHalf(load<u64>(p, 32), flip, lift) |
          reachedHalf(load<u64>(p, 40), flip, lift) |
          reachedHalf(load<u64>(p, 48), flip, lift) |
          reachedHalf(load<u64>(p, 56), flip, lift);
        if ((any & highs) == 0) continue;
      }
      for (let k: usize = 0; k < 64; k += 8) {
        let lanes = reached(load<u64>(p + k) ^ flip, highs, lift, either);
        while (lanes != 0) {
          const b = (k + <usize>(ctz(lanes) >> 3)) & ~(size<T>() - 1);
          topAt<T>(p + b, i + b / size<T>(), tops, c);
          lanes &= lanes - 1;
        }
      }
    }
    for (; p < end; p += size<T>(), i++) topAt<T>(p, i, tops, c);
  }
  return listTops(tops, n, below, from, list);
}

/** Top bits of the lanes that reach the gate. */
// @ts-ignore: decorator
@inline
function reached(x: u64, highs: u64, lift: u64, either: u64): u64 {
  const sum = (x & ~highs) + lift;
  return ((sum & (x | either)) | (x & either)) & highs;
}

/** The same of raw halves against a gate above zero, with anything in the other bits. */
// @ts-ignore: decorator
@inline
function reachedHalf(raw: u64, flip: u64, lift: u64): u64 {
  return ((raw & ~flip) + lift) & ~raw;
}

/** Planes of floats against a gate that is not above zero, one by one. */
export function passEach<T, K>(
  head: usize,
  at: usize,
  n: i32,
  flags: usize,
  gate: K,
  from: i32,
  list: usize,
): i32 {
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
