/**
 * The gate: picks the cells of a block that may hold an object, by raw values alone.
 * The gate may let too many cells through but never too few. Thus all engines agree, even though their gates differ.
 * `admit` tests every value again, except an objectness in a head where the class alone is the score: there the gate is
 * exact.
 *
 * Only here: gate, passIntegers, passAll, passOne. The TypeScript engine has no generics over element types; `scanHead`
 * there chooses among three functions for all types.
 */
import {
  FN_SOFTMAX,
  H_CLASSES,
  H_CLASS_LIST,
  H_OBJ,
  H_OBJ_CELL,
  H_OBJ_RAW_THRESHOLD,
  H_SCORE,
  H_SCORE_CELL,
  H_SCORE_CHANNEL,
  H_SCORE_FN,
  H_SCORE_RAW_THRESHOLD,
  TYPE_F16,
  TYPE_F32,
} from "../src/core/abi";
import { classAt } from "./classes";
import { passColumn4, passRows4 } from "./gate4";
import { passEach, passPlanes, passWords } from "./planes";
import { planeMaxima } from "./planes4";
import { f16, integer, key, size, wideInteger } from "./value";
import { flt, int, loadThreshold, ptr } from "./word";

/**
 * Writes to `list` the rows in [from, from + n) that may pass the threshold. Returns their count.
 *
 * For planes the gate also writes to `best`: with vectors the maxima of `planeMaxima`, otherwise the keys and classes
 * of `passPlanes` and `passWords`.
 */
export function gate<T, K>(plan: usize, head: usize, from: i32, n: i32, best: usize, list: usize): i32 {
  const objectness = ptr(head, H_OBJ);
  if (objectness != 0) {
    const step = ptr(head, H_OBJ_CELL);
    const threshold = loadThreshold<K>(head, H_OBJ_RAW_THRESHOLD);
    return passColumn<T, K>(objectness + <usize>from * step, step, threshold, from, n, list);
  }
  if (int(head, H_SCORE_FN) == FN_SOFTMAX) return passAll(from, n, list);
  const step = ptr(head, H_SCORE_CELL);
  const at = ptr(head, H_SCORE) + <usize>from * step;
  const threshold = loadThreshold<K>(head, H_SCORE_RAW_THRESHOLD);
  if (int(head, H_CLASSES) == 1) return passColumn<T, K>(at, step, threshold, from, n, list);
  if (step != size<T>()) return passRows<T, K>(head, at, step, threshold, from, n, list);
  if (ASC_FEATURE_SIMD) {
    planeMaxima<T, K>(plan, head, at, n, best, threshold);
    return passColumn<T, K>(best, size<T>(), threshold, from, n, list);
  }
  // The bits of integers order like their values. The bits of floats do so above 0.
  if (isFloat<T>() && !isReference<T>()) {
    if (threshold > <K>0) return passPlanes(head, at, n, best, <f32>threshold, from, list);
  } else if (!isReference<T>() || threshold > <K>0)
    return passWords<T>(head, at, n, best, <i32>threshold, from, list);
  return passEach<T, K>(head, at, n, best, threshold, from, list);
}

/** The gate for i16 and i32, which exporters rarely write. */
export function passIntegers(head: usize, type: i32, from: i32, n: i32, list: usize): i32 {
  let at = ptr(head, H_OBJ);
  let step = ptr(head, H_OBJ_CELL);
  let threshold = int(head, H_OBJ_RAW_THRESHOLD);
  let classes = 1;
  let classList: usize = 0;
  const channel = ptr(head, H_SCORE_CHANNEL);
  if (at == 0) {
    if (int(head, H_SCORE_FN) == FN_SOFTMAX) return passAll(from, n, list);
    at = ptr(head, H_SCORE);
    step = ptr(head, H_SCORE_CELL);
    threshold = int(head, H_SCORE_RAW_THRESHOLD);
    classes = int(head, H_CLASSES);
    // With a column of class ids, a row has one score, and the list filters ids instead of choosing scores.
    if (classes > 1) classList = ptr(head, H_CLASS_LIST);
  }
  at += <usize>from * step;
  let to = list;
  for (let i = 0; i < n; i++, at += step) {
    for (let c = 0; c < classes; c++) {
      if (wideInteger(type, at + classAt(classList, c) * channel) >= threshold) {
        store<i32>(to, from + i);
        to += 4;
        break;
      }
    }
  }
  return <i32>((to - list) >> 2);
}

function passAll(from: i32, n: i32, list: usize): i32 {
  for (let i = 0; i < n; i++) store<i32>(list + ((<usize>i) << 2), from + i);
  return n;
}

/** Writes to `list` the cells of one column that reach the threshold. Returns their count. */
function passColumn<T, K>(at: usize, step: usize, threshold: K, from: i32, n: i32, list: usize): i32 {
  if (ASC_FEATURE_SIMD) return passColumn4<T, K>(at, step, threshold, from, n, list);
  let to = list;
  let i = 0;
  for (; i + 4 <= n; i += 4) {
    to = passOne<T, K>(at, threshold, from + i, to);
    to = passOne<T, K>(at + step, threshold, from + i + 1, to);
    to = passOne<T, K>(at + 2 * step, threshold, from + i + 2, to);
    to = passOne<T, K>(at + 3 * step, threshold, from + i + 3, to);
    at += 4 * step;
  }
  for (; i < n; i++) {
    to = passOne<T, K>(at, threshold, from + i, to);
    at += step;
  }
  return <i32>((to - list) >> 2);
}

/**
 * Writes a row, and advances if its value passes. Returns the place for the next row. There is no branch, which would
 * be mispredicted if many rows pass.
 */
// @ts-ignore: decorator
@inline
function passOne<T, K>(at: usize, threshold: K, row: i32, to: usize): usize {
  store<i32>(to, row);
  return to + ((<usize>(key<T, K>(at) >= threshold)) << 2);
}

/**
 * Writes to `list` the cells with a class that reaches the threshold. Returns their count. Classes may lie at any
 * distance.
 */
function passRows<T, K>(
  head: usize,
  at: usize,
  step: usize,
  threshold: K,
  from: i32,
  n: i32,
  list: usize,
): i32 {
  const channel = ptr(head, H_SCORE_CHANNEL);
  const classList = ptr(head, H_CLASS_LIST);
  const classes = int(head, H_CLASSES);
  if (ASC_FEATURE_SIMD) {
    if (channel == size<T>() && classList == 0 && classes >= 16 / <i32>size<T>())
      return passRows4<T, K>(at, step, classes, threshold, from, n, list);
  }
  let to = list;
  for (let i = 0; i < n; i++) {
    for (let c = 0; c < classes; c++) {
      if (key<T, K>(at + classAt(classList, c) * channel) >= threshold) {
        store<i32>(to, from + i);
        to += 4;
        break;
      }
    }
    at += step;
  }
  return <i32>((to - list) >> 2);
}

/** True if the raw score at `at` reaches the raw threshold of the head. */
export function passesRaw(head: usize, type: i32, at: usize): bool {
  if (type == TYPE_F32) return load<f32>(at) >= flt(head, H_SCORE_RAW_THRESHOLD);
  const k = type == TYPE_F16 ? key<f16, i32>(at) : integer(type, at);
  return k >= int(head, H_SCORE_RAW_THRESHOLD);
}
