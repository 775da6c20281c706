/** The gate: which cells of a block may hold something, by raw values alone. */
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
} from "../src/core/abi";
import { classAt, loadGate } from "./head";
import { passing, passing16, rowMaximum, splatGate } from "./lanes";
import { passEach, passPlanes, passWords, planeMaxima } from "./planes";
import { integer, key, size } from "./value";
import { int, ptr } from "./word";

/**
 * Writes the rows in [from, from + n) that may pass to `list` and returns how many. Of planes it leaves at `maxima`: with vectors what
 * `planeMaxima` says, without them the tops and labels of `passPlanes` and `passWords`.
 */
export function gate<T, K>(plan: usize, head: usize, from: i32, n: i32, maxima: usize, list: usize): i32 {
  const objectness = ptr(head, H_OBJ);
  if (objectness != 0) {
    const step = ptr(head, H_OBJ_CELL);
    return passColumn<T, K>(
      objectness + <usize>from * step,
      step,
      loadGate<K>(head, H_OBJ_RAW_THRESHOLD),
      from,
      n,
      list,
    );
  }
  if (int(head, H_SCORE_FN) == FN_SOFTMAX) return passAll(from, n, list);
  const step = ptr(head, H_SCORE_CELL);
  const at = ptr(head, H_SCORE) + <usize>from * step;
  const scoreGate = loadGate<K>(head, H_SCORE_RAW_THRESHOLD);
  const classes = int(head, H_CLASSES);
  if (classes == 1) return passColumn<T, K>(at, step, scoreGate, from, n, list);
  if (step == size<T>()) {
    if (ASC_FEATURE_SIMD) {
      planeMaxima<T, K>(plan, head, at, n, maxima, scoreGate);
      return passColumn<T, K>(maxima, size<T>(), scoreGate, from, n, list);
    }
    // integers are in order as they stand, floats above zero
    if (isReference<T>() || !isFloat<T>()) {
      if (!isReference<T>() || scoreGate > <K>0)
        return passWords<T>(head, at, n, maxima, <i32>scoreGate, from, list);
    } else if (scoreGate > <K>0) return passPlanes(head, at, n, maxima, <f32>scoreGate, from, list);
    return passEach<T, K>(head, at, n, maxima, scoreGate, from, list);
  }
  return passRows<T, K>(head, at, step, classes, scoreGate, from, n, list);
}

/** The gate for i16 and i32, which exporters rarely write. */
export function passIntegers(head: usize, type: i32, from: i32, n: i32, list: usize): i32 {
  let at = ptr(head, H_OBJ);
  let step = ptr(head, H_OBJ_CELL);
  let gate = int(head, H_OBJ_RAW_THRESHOLD);
  let classes = 1;
  let classList: usize = 0;
  const channel = ptr(head, H_SCORE_CHANNEL);
  if (at == 0) {
    if (int(head, H_SCORE_FN) == FN_SOFTMAX) return passAll(from, n, list);
    at = ptr(head, H_SCORE);
    step = ptr(head, H_SCORE_CELL);
    gate = int(head, H_SCORE_RAW_THRESHOLD);
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

function passAll(from: i32, n: i32, list: usize): i32 {
  for (let i = 0; i < n; i++) store<i32>(list + ((<usize>i) << 2), from + i);
  return n;
}

/** One column of values against the gate. */
function passColumn<T, K>(at: usize, step: usize, gate: K, from: i32, n: i32, list: usize): i32 {
  let to = list;
  let i = 0;
  if (ASC_FEATURE_SIMD) {
    // lanes of bytes hold no gate that no byte reaches
    if (size<T>() == 1 && gate > <K>(isSigned<T>() ? 127 : 255)) return 0;
    const wanted = splatGate<T, K>(gate);
    if (step == size<T>()) {
      const lanes = 16 / <i32>size<T>();
      for (; i + lanes <= n; i += lanes) {
        const mask = passing<T>(v128.load(at), wanted);
        at += 16;
        if (mask == (1 << lanes) - 1) {
          // all of them, as where every cell holds something
          for (let k = 0; k < lanes; k += 4) {
            v128.store(to, i32x4.add(i32x4.splat(from + i + k), i32x4(0, 1, 2, 3)));
            to += 16;
          }
          continue;
        }
        to = appendRows(mask, from + i, to);
      }
    } else {
      // far apart: few instructions a cell, so that many lines of memory are on their way at a time
      for (; i + 16 <= n; i += 16) {
        to = appendRows(passing16<T>(at, step, wanted), from + i, to);
        at += 16 * step;
      }
    }
  } else {
    for (; i + 4 <= n; i += 4) {
      to = passOne<T, K>(at, gate, from + i, to);
      to = passOne<T, K>(at + step, gate, from + i + 1, to);
      to = passOne<T, K>(at + 2 * step, gate, from + i + 2, to);
      to = passOne<T, K>(at + 3 * step, gate, from + i + 3, to);
      at += 4 * step;
    }
  }
  for (; i < n; i++) {
    to = passOne<T, K>(at, gate, from + i, to);
    at += step;
  }
  return <i32>((to - list) >> 2);
}

/** The rows whose bits are set, counted from `row`. Returns where the next one is written. */
// @ts-ignore: decorator
@inline
function appendRows(mask: i32, row: i32, to: usize): usize {
  for (; mask != 0; mask &= mask - 1) {
    store<i32>(to, row + ctz(mask));
    to += 4;
  }
  return to;
}

/** No branch on the value: the row is always written, and counts only if it passes. Returns where the next one is written. */
// @ts-ignore: decorator
@inline
function passOne<T, K>(at: usize, gate: K, row: i32, to: usize): usize {
  store<i32>(to, row);
  return to + ((<usize>(key<T, K>(at) >= gate)) << 2);
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
    if (channel == size<T>() && classList == 0 && classes >= lanes) {
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
