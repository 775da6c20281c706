/**
 * The gate for planes (one for each class) without vectors; planes4.ts is the version with vectors. The gate also finds
 * the best class of a cell. Scratch holds the largest key of each cell so far at `tops`, and the key's class in the
 * next column. A top starts just below the threshold, so a cell passes if its top has risen.
 *
 * Only here: passWords, passEach, nextAboveInFour, noteBest, noteBestOf, reached, reachedHalf, listTops, listFlags. The
 * kernel has u64 and a function for each kind of element; the TypeScript engine has one loop over 32-bit words, and
 * marks cells in bits.
 */
import { COLUMN_BYTES, H_CLASSES, H_CLASS_LIST, H_SCORE_CHANNEL } from "../src/core/abi";
import { classAt } from "./classes";
import { key, size } from "./value";
import { clear, int, ptr } from "./word";

/**
 * Handles planes of f32 with a threshold above 0: there the bits, as integers, have the order of floats. Returns the
 * count of rows.
 */
export function passPlanes(
  head: usize,
  at: usize,
  n: i32,
  tops: usize,
  threshold: f32,
  from: i32,
  list: usize,
): i32 {
  const step = ptr(head, H_SCORE_CHANNEL);
  const classes = int(head, H_CLASSES);
  const classList = ptr(head, H_CLASS_LIST);
  const below = reinterpret<i32>(threshold) - 1;
  const bytes = (<usize>n) << 2;
  for (let t = tops; t < tops + bytes; t += 4) store<i32>(t, below);
  let c = 0;
  // Go through four planes at once: the core prefetches from each. Plane by plane, YOLOv8 took 1.14 times as long.
  for (; c + 4 <= classes; c += 4) {
    const p0 = at + classAt(classList, c) * step;
    const p1 = at + classAt(classList, c + 1) * step;
    const p2 = at + classAt(classList, c + 2) * step;
    const p3 = at + classAt(classList, c + 3) * step;
    for (let i: usize = 0; i < bytes; i += 16) {
      i = nextAboveInFour(p0 + i, p1 + i, p2 + i, p3 + i, p0 + bytes, below) - p0;
      const stop = min(i + 16, bytes);
      noteBest(p0, i, stop, tops, c);
      noteBest(p1, i, stop, tops, c + 1);
      noteBest(p2, i, stop, tops, c + 2);
      noteBest(p3, i, stop, tops, c + 3);
    }
  }
  for (; c < classes; c++) noteBest(at + classAt(classList, c) * step, 0, bytes, tops, c);
  return listTops(tops, n, below, from, list);
}

/**
 * Goes through four planes in steps of four floats, until a float has bits above `below`. Returns the address of that
 * step in plane `a`. If there is none, returns the address where fewer than four are left before `end`.
 *
 * The last float of each four is tested first: where bounds are checked by code, as in C, that test covers the others.
 */
function nextAboveInFour(a: usize, b: usize, c: usize, d: usize, end: usize, below: i32): usize {
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

/** Compares bytes [i, stop) of class `c`'s plane with the tops. A larger float becomes the top. */
// @ts-ignore: decorator
@inline
function noteBest(plane: usize, i: usize, stop: usize, tops: usize, c: i32): void {
  for (; i < stop; i += 4) {
    const bits = load<i32>(plane + i);
    // The bits of a NaN are above those of all floats, or negative.
    if (bits > load<i32>(tops + i) && load<f32>(plane + i) >= 0) {
      store<i32>(tops + i, bits);
      store<i32>(tops + i, c, COLUMN_BYTES);
    }
  }
}

/** Makes an element of 8 or 16 bits the top of its cell if its key is larger. */
// @ts-ignore: decorator
@inline
function noteBestOf<T>(at: usize, top: usize, c: i32): void {
  const k = key<T, i32>(at);
  if (k > load<i32>(top)) {
    store<i32>(top, k);
    store<i32>(top, c, COLUMN_BYTES);
  }
}

/** Writes to `list` the rows of the cells whose top is above `below`. Returns their count. */
function listTops(tops: usize, n: i32, below: i32, from: i32, list: usize): i32 {
  let to = list;
  for (let i = 0; i < n; i++) {
    store<i32>(to, from + i);
    to += (<usize>(load<i32>(tops + ((<usize>i) << 2)) > below)) << 2;
  }
  return <i32>((to - list) >> 2);
}

/**
 * Handles planes of i8, u8 and f16, 64 bytes in a test; f16 only with a threshold above 0. Returns the count of rows.
 *
 * A u64 holds lanes of 8 or 16 bits:
 *
 *     flip      the top bits to invert, so that signed lanes have the order of unsigned ones
 *     lift      added to a lane without its top bit, it sets the top bit if the rest reaches the rest of the threshold.
 *               The rest is below the top bit and the lift at most the top bit, so the sum never carries into the
 *               next lane
 *     either    all bits set if the top bit of the threshold is clear: then one top bit, of the lane or of the sum, is
 *                enough. Otherwise a lane needs both
 *
 * The OR of eight words is in each lane at least the largest of the eight. So one test usually rejects all 64 bytes.
 */
export function passWords<T>(
  head: usize,
  at: usize,
  n: i32,
  tops: usize,
  threshold: i32,
  from: i32,
  list: usize,
): i32 {
  const step = ptr(head, H_SCORE_CHANNEL);
  const classes = int(head, H_CLASSES);
  const classList = ptr(head, H_CLASS_LIST);
  const isByte = size<T>() == 1;
  const half: i32 = isByte ? 0x80 : 0x8000;
  const ones: u64 = isByte ? 0x0101010101010101 : 0x0001000100010001;
  const highs = <u64>half * ones;
  const flip: u64 = isByte && !isSigned<T>() ? 0 : highs;

  // Convert the threshold to an unsigned lane. A threshold out of reach becomes the largest lane; `below` rejects it.
  const least = max(0, min(2 * half - 1, flip != 0 ? threshold + half : threshold));
  const either: u64 = least < half ? ~(<u64>0) : 0;
  const lift = <u64>((least < half ? half : 2 * half) - least) * ones;
  const below = threshold - 1;
  const topsEnd = tops + ((<usize>n) << 2);
  for (let t = tops; t < topsEnd; t += 4) store<i32>(t, below);
  for (let c = 0; c < classes; c++) {
    let p = at + classAt(classList, c) * step;
    const end = p + <usize>n * size<T>();
    let top = tops;
    for (; p + 64 <= end; p += 64, top += 256 / size<T>()) {
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
      if (!isByte) {
        // The OR of several halves is often larger than each of them, because their exponents mix. Test each word
        // before the lanes.
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

      // Look closer at each lane that may pass.
      for (let k: usize = 0; k < 64; k += 8) {
        let lanes = reached(load<u64>(p + k) ^ flip, highs, lift, either);
        while (lanes != 0) {
          const b = (k + <usize>(ctz(lanes) >> 3)) & ~(size<T>() - 1);
          noteBestOf<T>(p + b, top + (b / size<T>()) * 4, c);
          lanes &= lanes - 1;
        }
      }
    }
    for (; p < end; p += size<T>(), top += 4) noteBestOf<T>(p, top, c);
  }
  return listTops(tops, n, below, from, list);
}

/** Returns the top bits of the lanes that reach the threshold. */
// @ts-ignore: decorator
@inline
function reached(x: u64, highs: u64, lift: u64, either: u64): u64 {
  const sum = (x & ~highs) + lift;
  return ((sum & (x | either)) | (x & either)) & highs;
}

/** Does the work of `reached` for raw halves and a threshold above 0. Bits other than the top bits are arbitrary. */
// @ts-ignore: decorator
@inline
function reachedHalf(raw: u64, flip: u64, lift: u64): u64 {
  return ((raw & ~flip) + lift) & ~raw;
}

/** Handles planes of floats with a threshold of 0 or less, one value at a time. `flags` has a byte for each cell. */
export function passEach<T, K>(
  head: usize,
  at: usize,
  n: i32,
  flags: usize,
  threshold: K,
  from: i32,
  list: usize,
): i32 {
  const step = ptr(head, H_SCORE_CHANNEL);
  const classes = int(head, H_CLASSES);
  const classList = ptr(head, H_CLASS_LIST);
  clear(flags, <usize>n);
  for (let c = 0; c < classes; c++) {
    let p = at + classAt(classList, c) * step;
    for (let i = 0; i < n; i++, p += size<T>())
      store<u8>(flags + i, load<u8>(flags + i) | (<u8>(key<T, K>(p) >= threshold)));
  }
  return listFlags(flags, n, from, list);
}

/** Writes to `list` the rows of the cells whose flag is set. Returns their count. */
function listFlags(flags: usize, n: i32, from: i32, list: usize): i32 {
  let to = list;
  for (let i = 0; i < n; i++) {
    store<i32>(to, from + i);
    to += (<usize>load<u8>(flags + i)) << 2;
  }
  return <i32>((to - list) >> 2);
}
