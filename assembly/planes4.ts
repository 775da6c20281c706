/** The gate for planes, one for each class, with vectors. */
import { GROUPS, H_CLASSES, H_CLASS_LIST, H_SCORE_CHANNEL, P_COLUMN, P_ROWS } from "../src/core/abi";
import { classAt } from "./classes";
import { halfOrder, inOrder, larger, lowestLanes } from "./lanes4";
import { size } from "./value";
import { int, ptr } from "./word";

/** Returns the count of classes in a group: a multiple of eight that gives at most GROUPS groups. */
// @ts-ignore: decorator
@inline
export function groupSize(classes: i32): i32 {
  return ((classes + 8 * GROUPS - 1) / (8 * GROUPS)) * 8;
}

/** Returns the count of groups. */
// @ts-ignore: decorator
@inline
export function groupCount(classes: i32): i32 {
  const group = groupSize(classes);
  return (classes + group - 1) / group;
}

/**
 * Returns the count of bytes in a row of maxima. The limits are the length of the columns and the space for all rows
 * together.
 */
// @ts-ignore: decorator
@inline
export function rowBytes<T>(plan: usize, classes: i32): usize {
  return min((ptr(plan, P_COLUMN) >> 2) * size<T>(), ptr(plan, P_ROWS) / (groupCount(classes) + 1)) & ~15;
}

/** Returns the count of cells in a block of planes. A row ends with a whole vector, so 16 bytes stay free. */
// @ts-ignore: decorator
@inline
export function planeBlock<T>(plan: usize, classes: i32): i32 {
  return <i32>((rowBytes<T>(plan, classes) - 16) / size<T>());
}

/**
 * Returns the maximum of `m`, which is no NaN, and of one vector of each of eight planes. A NaN never becomes the
 * maximum.
 * The offset of the vector must be a constant for the compiler, so it is given by type arguments: `V` = u8, u16, u32,
 * u64 means vector 0, 1, 2, 3, and `H` = u16 instead of u8 adds four vectors.
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
 * Writes the maximum over the class planes for each cell of a block, in the element's own type:
 *
 *     plane 0  ====block====......      a group of planes is folded into a row of its own:
 *     plane 1  ====block====......        row[g][i] = max over the classes of group g
 *     ...                               then the rows are folded: maxima[i] = max over g
 *
 * For the few cells that pass, the rows show which group holds the best class, so only its planes are searched. Rows
 * and maxima stay in the first-level cache.
 *
 * f16 with a positive threshold: compare raw bits as signed integers, since all negative numbers are below. Otherwise
 * convert the bits to ordered integers first.
 */
export function planeMaxima<T, K>(
  plan: usize,
  head: usize,
  at: usize,
  n: i32,
  maxima: usize,
  threshold: K,
): void {
  const step = ptr(head, H_SCORE_CHANNEL);
  const classes = int(head, H_CLASSES);
  const list = ptr(head, H_CLASS_LIST);
  const bytes = (<usize>n * size<T>() + 15) & ~15;
  const low = lowestLanes<T>();
  let ordered = false;
  if (isReference<T>()) ordered = <i32>threshold <= 0;
  const group = groupSize(classes);
  const rowStep = rowBytes<T>(plan, classes);
  let row = maxima + rowStep;
  for (let first = 0; first < classes; first += group) {
    const end = min(first + group, classes);
    let c = first;
    // Fold eight planes at a time. The first eight begin the row. If three to seven are left, repeat the last plane in
    // place of the missing ones, which does not change the maximum.
    for (; c + 2 < end; c += 8) {
      let p0 = planeAt(at, list, c, end, step);
      let p1 = planeAt(at, list, c + 1, end, step);
      let p2 = planeAt(at, list, c + 2, end, step);
      let p3 = planeAt(at, list, c + 3, end, step);
      let p4 = planeAt(at, list, c + 4, end, step);
      let p5 = planeAt(at, list, c + 5, end, step);
      let p6 = planeAt(at, list, c + 6, end, step);
      let p7 = planeAt(at, list, c + 7, end, step);
      if (ordered) {
        // Fold f16 after a conversion to ordered bits.
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
          // Eight vectors in a step share the increments of nine addresses: otherwise YOLOv8 takes 1.12 times as long.
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
    // Fold the last one or two planes one by one.
    for (; c < end; c++) {
      const p = planeAt(at, list, c, end, step);
      for (let i: usize = 0; i < bytes; i += 16) {
        let v = v128.load(p + i);
        if (ordered) v = inOrder<T>(v);
        v128.store(row + i, larger<T>(c == first ? low : v128.load(row + i), v));
      }
    }
    row += rowStep;
  }
  foldRows<T>(maxima, rowStep, row, bytes, ordered);
}

/** Returns the address of the i-th class's plane. Beyond `end`, returns the last plane before it. */
function planeAt(at: usize, list: usize, i: i32, end: i32, step: usize): usize {
  return at + classAt(list, min(i, end - 1)) * step;
}

/** Writes the maximum over the rows of the groups, which begin behind the maxima and end at `end`. */
function foldRows<T>(maxima: usize, rowStep: usize, end: usize, bytes: usize, ordered: bool): void {
  let to = maxima;
  let row = maxima + rowStep;
  const last = row + bytes;
  // Four vectors in a step, so that they do not wait for each other.
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
    v128.store(to, asRaw<T>(m0, ordered));
    v128.store(to, asRaw<T>(m1, ordered), 16);
    v128.store(to, asRaw<T>(m2, ordered), 32);
    v128.store(to, asRaw<T>(m3, ordered), 48);
  }
  for (; row < last; row += 16, to += 16) {
    let m = v128.load(row);
    for (let p = row + rowStep; p < end; p += rowStep) m = larger<T>(m, v128.load(p));
    v128.store(to, asRaw<T>(m, ordered));
  }
}

/** Returns a maximum as `passColumn4` expects it: in raw bits. */
// @ts-ignore: decorator
@inline
function asRaw<T>(m: v128, ordered: bool): v128 {
  if (isReference<T>()) {
    // Replace NaN by infinity. The end of `passColumn4` compares keys: there a NaN would drop the cell with all its
    // classes. `classesOf` tests infinities again.
    m = i16x8.min_s(m, i16x8.splat(0x7c00));
    // `passColumn4` converts raw bits to ordered ones. A second conversion makes ordered bits raw again.
    if (ordered) m = halfOrder(m);
  }
  return m;
}
