/** The gate with vectors, for one column, or for rows of adjacent classes. */
import { passing, passing16, rowMaximum, splatThreshold } from "./lanes4";
import { key, size } from "./value";

/** Writes to `list` the cells of one column that reach the threshold. Returns their count. */
export function passColumn4<T, K>(at: usize, step: usize, threshold: K, from: i32, n: i32, list: usize): i32 {
  let to = list;
  let i = 0;
  // No byte reaches a threshold above its range, and no lane can hold such a threshold.
  if (size<T>() == 1 && threshold > <K>(isSigned<T>() ? 127 : 255)) return 0;
  const thresholds = splatThreshold<T, K>(threshold);
  if (step == size<T>()) {
    const lanes = 16 / <i32>size<T>();
    for (; i + lanes <= n; i += lanes) {
      const mask = passing<T>(v128.load(at), thresholds);
      at += 16;
      if (mask == (1 << lanes) - 1) {
        // All pass, which is usual under a low threshold: write the rows as vectors.
        for (let k = 0; k < lanes; k += 4) {
          v128.store(to, i32x4.add(i32x4.splat(from + i + k), i32x4(0, 1, 2, 3)));
          to += 16;
        }
        continue;
      }
      to = appendRows(mask, from + i, to);
    }
  } else {
    for (; i + 16 <= n; i += 16) {
      to = appendRows(passing16<T>(at, step, thresholds), from + i, to);
      at += 16 * step;
    }
  }
  for (; i < n; i++) {
    store<i32>(to, from + i);
    to += (<usize>(key<T, K>(at) >= threshold)) << 2;
    at += step;
  }
  return <i32>((to - list) >> 2);
}

/** Writes the rows whose bits are set, counted from `row`. Returns the place for the next row. */
// @ts-ignore: decorator
@inline
function appendRows(mask: i32, row: i32, to: usize): usize {
  for (; mask != 0; mask &= mask - 1) {
    store<i32>(to, row + ctz(mask));
    to += 4;
  }
  return to;
}

/** Writes to `list` the cells with a class that reaches the threshold. A row must have at least a vector of classes. */
export function passRows4<T, K>(
  at: usize,
  step: usize,
  classes: i32,
  threshold: K,
  from: i32,
  n: i32,
  list: usize,
): i32 {
  const thresholds = splatThreshold<T, K>(threshold);
  const last = <usize>classes * size<T>() - 16;
  let to = list;
  for (let i = 0; i < n; i++) {
    let found: i32 = 0;
    const m = rowMaximum<T>(at, last);
    // For f16, `m` holds bits that `halfOrder` has already converted.
    if (isReference<T>()) found = i16x8.bitmask(i16x8.ge_s(m, thresholds));
    else found = passing<T>(m, thresholds);
    store<i32>(to, from + i);
    to += (<usize>(found != 0)) << 2;
    at += step;
  }
  return <i32>((to - list) >> 2);
}
