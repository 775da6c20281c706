/** What heads have in common: their gates, their lists of wanted classes. */
import {
  FLAG_MULTI_LABEL,
  FN_SOFTMAX,
  GROUPS,
  H_CLASS_THRESHOLDS,
  H_CLASS_LIST,
  H_CLASS_ID,
  H_RULE,
  H_SCORE_FN,
  H_SCORE_RAW_THRESHOLD,
  P_COLUMN,
  P_FLAGS,
  P_ROWS,
  RULE_CLASS,
  RULE_PRODUCT,
  TYPE_F16,
  TYPE_F32,
  TYPE_I16,
  TYPE_I8,
  TYPE_U8,
} from "../src/core/abi";
import { f16, key, size } from "./value";
import { flt, int, ptr } from "./word";

/** A gate: an f32, or an integer for all other types. */
// @ts-ignore: decorator
@inline
export function loadGate<K>(head: usize, word: i32): K {
  if (isFloat<K>()) return <K>flt(head, word);
  else return <K>int(head, word);
}

/** Byte offset of the i-th wanted class, classes being `step` bytes apart: by the list if there is one, else of class i. */
// @ts-ignore: decorator
@inline
export function classAt(list: usize, i: i32, step: usize): usize {
  return (list != 0 ? <usize>load<u32>(list + ((<usize>i) << 2)) : <usize>i) * step;
}

/** Classes of a group: eight, or as many eights as keep the groups at sixteen. */
// @ts-ignore: decorator
@inline
export function groupSize(classes: i32): i32 {
  return ((classes + 8 * GROUPS - 1) / (8 * GROUPS)) * 8;
}

// @ts-ignore: decorator
@inline
export function groupCount(classes: i32): i32 {
  const group = groupSize(classes);
  return (classes + group - 1) / group;
}

/** Bytes from the maxima of one group of planes to those of the next: a block is as long as columns and rows leave room for. */
// @ts-ignore: decorator
@inline
export function rowBytes<T>(plan: usize, classes: i32): usize {
  return min((ptr(plan, P_COLUMN) >> 2) * size<T>(), ptr(plan, P_ROWS) / (groupCount(classes) + 1)) & ~15;
}

/** How many cells of planes a block has: rows end in a whole vector. */
// @ts-ignore: decorator
@inline
export function planeBlock<T>(plan: usize, classes: i32): i32 {
  return <i32>((rowBytes<T>(plan, classes) - 16) / size<T>());
}

/** Whether the classes of a head are independent, all of them wanted, under one threshold, and the best of them is asked for. */
// @ts-ignore: decorator
@inline
export function isCommon(plan: usize, head: usize): bool {
  const rule = int(head, H_RULE);
  return (
    (rule == RULE_PRODUCT || rule == RULE_CLASS) &&
    int(head, H_SCORE_FN) != FN_SOFTMAX &&
    ptr(head, H_CLASS_LIST) == 0 &&
    ptr(head, H_CLASS_THRESHOLDS) == 0 &&
    ptr(head, H_CLASS_ID) == 0 &&
    (int(plan, P_FLAGS) & FLAG_MULTI_LABEL) == 0
  );
}

/** Whether the raw score at `at` reaches the gate of the head. */
export function passesRaw(head: usize, type: i32, at: usize): bool {
  if (type == TYPE_F32) return load<f32>(at) >= flt(head, H_SCORE_RAW_THRESHOLD);
  let k: i32;
  if (type == TYPE_F16) k = key<f16, i32>(at);
  else if (type == TYPE_U8) k = <i32>load<u8>(at);
  else if (type == TYPE_I8) k = <i32>load<i8>(at);
  else if (type == TYPE_I16) k = <i32>load<i16>(at);
  else k = load<i32>(at);
  return k >= int(head, H_SCORE_RAW_THRESHOLD);
}
