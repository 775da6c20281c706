/**
 * Makes candidates of the commonest heads, four cells at a time.
 *
 * The cells of a block that passed the gate go through three passes. Between the passes their data are in columns of
 * scratch: rows (the list itself), values, classes. A pass shortens the columns in place: remaining cells move forward.
 * The length of the columns is in bytes, four for each cell.
 *
 *     1. admitClasses, admitFloats   find the best class of each cell and its raw value. The loops are short: thus
 *                                    the core loads several cells at the same time
 *     2. admitScores                 turns raw values into scores
 *     3. emitBoxes                   makes boxes and appends the candidates
 *
 * Decoding takes 1.2 to 3.2 times as long without this file.
 */
import {
  FN_SIGMOID,
  H_BOX_0,
  H_BOX_CELL,
  H_MAX_PROBABILITY,
  H_CLASSES,
  H_CLASS_BASE,
  H_THRESHOLD,
  H_INDEX,
  H_KIND,
  H_KX,
  H_KY,
  H_OBJ,
  H_OBJ_CELL,
  H_OBJ_FN,
  H_OBJ_TYPE,
  H_RULE,
  H_SCORE,
  H_SCORE_CELL,
  H_SCORE_CHANNEL,
  H_SCORE_FN,
  H_SCORE_RAW_THRESHOLD,
  H_SCORE_SCALE,
  H_SCORE_TYPE,
  H_SCORE_ZERO,
  H_SOURCE,
  P_BOXES,
  P_CANDIDATES,
  P_CAPACITY,
  P_FLAGS,
  P_CLASS_IDS,
  P_EMPTY,
  P_NOT_FINITE,
  P_OUT_OF_RANGE,
  P_OVERFLOW,
  P_SCORES,
  P_SOURCES,
  RULE_PRODUCT,
  TYPE_F16,
  TYPE_F32,
  TYPE_I8,
  TYPE_U8,
} from "../src/core/abi";
import { emit } from "./admit";
import { box4, canBox4, canRowBox, finite4, rowBox, value4 } from "./box4";
import { bestOf } from "./classes";
import { firstEqual } from "./classes4";
import { wantsBestClass } from "./common";
import { sigmoid4 } from "./exp4";
import { equalLanes, gather4, halfOrder, rowMaximum } from "./lanes4";
import { groupCount, groupSize, rowBytes } from "./planes4";
import { column, rows, spare } from "./scratch";
import { f16, size, value } from "./value";
import { clear, flt, increment, int, ptr, setInt } from "./word";

/**
 * True if this file can handle a head: only the best of independent classes counts, and there is no objectness, or
 * class scores and objectness are f32 with the same function.
 */
export function isCommon4(plan: usize, head: usize): bool {
  if (!wantsBestClass(plan, head)) return false;
  const type = int(head, H_SCORE_TYPE);
  if (ptr(head, H_OBJ) == 0) return type <= TYPE_U8;
  return (
    int(head, H_OBJ_TYPE) == TYPE_F32 &&
    type == TYPE_F32 &&
    int(head, H_OBJ_FN) == int(head, H_SCORE_FN) &&
    // A row is read by whole vectors.
    int(head, H_CLASSES) >= 4
  );
}

/** Returns row k of a list. Beyond the end, returns the last row, so that unused lanes read a valid address. */
// @ts-ignore: decorator
@inline
function rowAt(list: usize, k: i32, count: i32): i32 {
  return load<i32>(list + ((<usize>min(k, count - 1)) << 2));
}

/** First pass, for classes without objectness. `from` is the first row of the block. */
export function admitClasses(plan: usize, head: usize, list: usize, count: i32, from: i32): void {
  const type = int(head, H_SCORE_TYPE);
  const classes = int(head, H_CLASSES);
  const bytes: usize = type == TYPE_F32 ? 4 : type == TYPE_F16 ? 2 : 1;
  let n: usize = 0;
  if (classes == 1) n = loadOneClass(plan, head, list, count);
  else if (ptr(head, H_SCORE_CELL) == bytes) {
    if (type == TYPE_F32) n = classesOf<f32>(plan, head, list, count, from);
    else if (type == TYPE_F16) n = classesOf<f16>(plan, head, list, count, from);
    // Bytes are only compared for equality here, so that u8 stands for i8 too.
    else n = classesOf<u8>(plan, head, list, count, from);
  } else {
    for (let k: usize = 0; k < (<usize>count) << 2; k += 4) n += classOf(plan, head, load<i32>(list + k), n);
  }
  admitScores(plan, head, list, n, 0, false);
}

/** Loads the scores of a head with one class. The list of rows stays as it is. Returns the length of the columns. */
function loadOneClass(plan: usize, head: usize, list: usize, count: i32): usize {
  const n = (<usize>count) << 2;
  const values = column(plan, 1);
  const type = int(head, H_SCORE_TYPE);
  const at = ptr(head, H_SCORE);
  const cell = ptr(head, H_SCORE_CELL);
  clear(column(plan, 2), n);
  if (type != TYPE_F32) {
    const scale = flt(head, H_SCORE_SCALE);
    const zero = flt(head, H_SCORE_ZERO);
    for (let k: usize = 0; k < n; k += 4)
      store<f32>(values + k, value(type, at + <usize>load<u32>(list + k) * cell, scale, zero));
    return n;
  }
  for (let k: usize = 0; k < n; k += 16) {
    const r0 = load<i32>(list + k);
    // Rows ascend: if the fourth row is the first plus 3, the four rows are neighbours.
    if (cell == 4 && k + 16 <= n && load<i32>(list + k, 12) - r0 == 3) {
      v128.store(values + k, v128.load(at + ((<usize>r0) << 2)));
      continue;
    }
    const i = <i32>(k >> 2);
    const r1 = <usize>rowAt(list, i + 1, count);
    const r2 = <usize>rowAt(list, i + 2, count);
    const r3 = <usize>rowAt(list, i + 3, count);
    v128.store(
      values + k,
      gather4<f32>(at + <usize>r0 * cell, at + r1 * cell, at + r2 * cell, at + r3 * cell),
    );
  }
  return n;
}

/** Appends one cell to the columns at `n` if it has a best class. Returns by how much the columns grew. */
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
 * Finds the best class of cells whose maxima over planes are known, four cells at a time. Returns the length of the
 * columns.
 *
 * Searches the first group of planes that holds the maximum, then the first plane of that group that does. No branch
 * depends on a value, so the core loads several cells at the same time. A maximum of zero has the sign of the first
 * zero, because `larger` keeps the earlier of equal values. So it equals that plane's value to the bit.
 */
function classesOf<T>(plan: usize, head: usize, list: usize, count: i32, from: i32): usize {
  if (count == 0) return 0;
  const values = column(plan, 1);
  const bestClasses = column(plan, 2);
  const maxima = rows(plan);
  const classes = int(head, H_CLASSES);
  const step = ptr(head, H_SCORE_CHANNEL);
  const at = ptr(head, H_SCORE);
  const scale = flt(head, H_SCORE_SCALE);
  const zero = flt(head, H_SCORE_ZERO);
  const group = groupSize(classes);
  // The last group may have too few planes. Then start at an earlier plane. This does no harm: planes of the previous
  // group do not hold the maximum, otherwise that group would have been found.
  const planes = min(group, classes);
  const rowStep = rowBytes<T>(plan, classes);
  const rowsEnd = <usize>(groupCount(classes) + 1) * rowStep;
  const planesEnd = <usize>planes * step;
  const latest = i32x4.splat(classes - planes);
  const sizes = i32x4.splat(group);
  let ordered = false;
  if (isReference<T>()) ordered = int(head, H_SCORE_RAW_THRESHOLD) <= 0;
  let n: usize = 0;
  let k = 0;
  // Use do-while: V8 then computes loop invariants once, before the
  // loop.
  do {
    const r0 = load<i32>(list + ((<usize>k) << 2));
    const r1 = rowAt(list, k + 1, count);
    const r2 = rowAt(list, k + 2, count);
    const r3 = rowAt(list, k + 3, count);
    let p0 = maxima + <usize>(r0 - from) * size<T>();
    let p1 = maxima + <usize>(r1 - from) * size<T>();
    let p2 = maxima + <usize>(r2 - from) * size<T>();
    let p3 = maxima + <usize>(r3 - from) * size<T>();
    const maximum = gather4<T>(p0, p1, p2, p3);
    // If the threshold is not positive, the rows of f16 groups hold bits that `halfOrder` converted.
    const wanted = ordered ? halfOrder(maximum) : maximum;

    // Count the groups before the first that holds the maximum. A lane of `isAhead` is -1 (all bits set) until then.
    let isAhead = i32x4.splat(-1);
    let groups = i32x4.splat(0);
    let row = rowStep;
    do {
      isAhead = v128.andnot(
        isAhead,
        equalLanes<T>(gather4<T>(p0 + row, p1 + row, p2 + row, p3 + row), wanted),
      );
      groups = i32x4.sub(groups, isAhead);
      row += rowStep;
    } while (row != rowsEnd);

    // Count the planes of that group before the first that holds the maximum.
    const first = i32x4.min_s(i32x4.mul(groups, sizes), latest);
    p0 = at + <usize>r0 * size<T>() + <usize>i32x4.extract_lane(first, 0) * step;
    p1 = at + <usize>r1 * size<T>() + <usize>i32x4.extract_lane(first, 1) * step;
    p2 = at + <usize>r2 * size<T>() + <usize>i32x4.extract_lane(first, 2) * step;
    p3 = at + <usize>r3 * size<T>() + <usize>i32x4.extract_lane(first, 3) * step;
    const end = p0 + planesEnd;
    isAhead = i32x4.splat(-1);
    let bestClass = first;
    do {
      isAhead = v128.andnot(isAhead, equalLanes<T>(gather4<T>(p0, p1, p2, p3), maximum));
      bestClass = i32x4.sub(bestClass, isAhead);
      p0 += step;
      p1 += step;
      p2 += step;
      p3 += step;
    } while (p0 != end);

    // `classOf` handles the other cells, one at a time: a maximum that no plane holds; infinite halves, which may stand
    // for a NaN; a half of 0, which equals -0; cells with only -Infinity or NaN, which have no best class.
    let lost = isAhead;
    if (isReference<T>()) {
      lost = v128.or(lost, i32x4.eq(maximum, i32x4.splat(0x7c00)));
      if (ordered) lost = v128.or(i32x4.eq(maximum, i32x4.splat(0)), lost);
    } else if (isFloat<T>()) lost = v128.or(lost, f32x4.eq(maximum, f32x4.splat(-Infinity)));
    let top = maximum;
    if (isReference<T>() || !isFloat<T>()) {
      const type = int(head, H_SCORE_TYPE);
      if (type == TYPE_I8) top = i32x4.shr_s(i32x4.shl(maximum, 24), 24);
      top = value4(type, top, scale, zero);
    }

    // Write the columns. A lane without a row repeats the last row, so its answer changes nothing. Test with any_true:
    // if a vector's bitmask was taken and the vector was needed later, V8 on 32-bit ARM (Node 20.11) replaced it by
    // zeros.
    const lanes = min(4, count - k);
    if (!v128.any_true(lost)) {
      // Write four places, though only `lanes` of them count. The next round overwrites the rest.
      v128.store(values + n, top);
      v128.store(bestClasses + n, bestClass);
      store<i32>(list + n, r0);
      store<i32>(list + n, r1, 4);
      store<i32>(list + n, r2, 8);
      store<i32>(list + n, r3, 12);
      n += (<usize>lanes) << 2;
    } else {
      n += classOf(plan, head, r0, n);
      if (lanes > 1) n += classOf(plan, head, r1, n);
      if (lanes > 2) n += classOf(plan, head, r2, n);
      if (lanes > 3) n += classOf(plan, head, r3, n);
    }
    k += 4;
  } while (k < count);
  return n;
}

/** First pass, for objectness and classes in f32. */
export function admitFloats(plan: usize, head: usize, list: usize, count: i32): void {
  const values = column(plan, 1);
  const bestClasses = column(plan, 2);
  const objectnesses = spare(plan, 0);
  const temp = spare(plan, 1);
  const classes = int(head, H_CLASSES);
  const at = ptr(head, H_SCORE);
  const cell = ptr(head, H_SCORE_CELL);
  const channel = ptr(head, H_SCORE_CHANNEL);
  const objectness = ptr(head, H_OBJ);
  const objectnessCell = ptr(head, H_OBJ_CELL);
  const rawThreshold = flt(head, H_SCORE_RAW_THRESHOLD);
  const isRow = channel == 4;
  let n: usize = 0;
  if (isRow) {
    const last = (<usize>(classes - 4)) << 2;
    for (let k = 0; k < count; k++) {
      const row = load<i32>(list + ((<usize>k) << 2));
      const m = rowMaximum<f32>(at + <usize>row * cell, last);
      const two = f32x4.pmax(m, v128.shuffle<u32>(m, m, 2, 3, 0, 1));
      const top = f32x4.extract_lane(f32x4.pmax(two, v128.shuffle<u32>(two, two, 1, 0, 3, 2)), 0);
      store<i32>(list + n, row);
      store<f32>(values + n, top);
      store<f32>(objectnesses + n, load<f32>(objectness + <usize>row * objectnessCell));
      // Write every cell and advance only if it passes.
      n += (<usize>(top >= rawThreshold)) << 2;
    }
  } else {
    // Class by class, gather and fold the values of four cells.
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
      // Count classes from 1. A later class is a larger number, so the maximum takes it and no selection is needed.
      let bestClass = i32x4.splat(0);
      const one = i32x4.splat(1);
      let number = one;
      for (let c = 0; c < classes; c++) {
        const v = gather4<f32>(p0, p1, p2, p3);
        const more = f32x4.gt(v, top);
        top = f32x4.pmax(top, v);
        bestClass = i32x4.max_s(bestClass, v128.and(number, more));
        number = i32x4.add(number, one);
        p0 += channel;
        p1 += channel;
        p2 += channel;
        p3 += channel;
      }
      // There is no best class if all values are -Infinity or NaN.
      const found = f32x4.gt(top, f32x4.splat(-Infinity));
      const mask = i32x4.bitmask(v128.and(found, f32x4.ge(top, f32x4.splat(rawThreshold))));
      if (mask == 0) continue;
      v128.store(temp, top);
      v128.store(temp + 16, i32x4.sub(bestClass, one));
      const lanes = min(4, count - k);
      for (let j = 0; j < lanes; j++) {
        const lane = (<usize>j) << 2;
        const row = load<i32>(list + ((<usize>(k + j)) << 2));
        store<i32>(list + n, row);
        store<f32>(values + n, load<f32>(temp + lane));
        store<i32>(bestClasses + n, load<i32>(temp + 16 + lane));
        store<f32>(objectnesses + n, load<f32>(objectness + <usize>row * objectnessCell));
        n += ((mask >> j) & 1) << 2;
      }
    }
  }
  admitScores(plan, head, list, n, objectnesses, isRow);
}

/**
 * Second pass: turns raw values into scores. `n` is the length of the columns. `isRow`: the best class is not known yet
 * and is found last.
 */
function admitScores(
  plan: usize,
  head: usize,
  list: usize,
  n: usize,
  objectnesses: usize,
  isRow: bool,
): void {
  const values = column(plan, 1);
  const bestClasses = column(plan, 2);
  const temp = spare(plan, 1);
  const classes = int(head, H_CLASSES);
  const at = ptr(head, H_SCORE);
  const cell = ptr(head, H_SCORE_CELL);
  const sigmoid = int(head, H_SCORE_FN) == FN_SIGMOID;
  const product = objectnesses != 0 && int(head, H_RULE) == RULE_PRODUCT;
  const thresholds = f32x4.splat(flt(head, H_THRESHOLD));
  const maxProbability = f32x4.splat(flt(head, H_MAX_PROBABILITY));
  const base = int(head, H_CLASS_BASE);
  const bases = i32x4.splat(base);
  const zero = f32x4.splat(0);
  // Without objectness, load the values instead: this avoids a branch, and the result is unused.
  const objectnessColumn = objectnesses != 0 ? objectnesses : values;
  let m: usize = 0;
  for (let k: usize = 0; k < n; k += 16) {
    let objectness = v128.load(objectnessColumn + k);
    let value = v128.load(values + k);
    let over = zero;
    if (sigmoid) {
      value = sigmoid4(value);
      if (product) objectness = sigmoid4(objectness);
    } else over = v128.or(f32x4.gt(objectness, maxProbability), f32x4.gt(value, maxProbability));
    const score = product ? f32x4.mul(objectness, value) : value;
    const passes = v128.andnot(f32x4.ge(score, thresholds), over);
    if (i32x4.all_true(passes) && k + 16 <= n && !isRow) {
      if (m != k) v128.store(list + m, v128.load(list + k));
      v128.store(values + m, score);
      v128.store(bestClasses + m, i32x4.add(v128.load(bestClasses + k), bases));
      m += 16;
      continue;
    }

    // Mask out the lanes past the end.
    const left = (n - k) >> 2;
    const inside = left >= 4 ? 15 : (1 << (<i32>left)) - 1;
    // Count the values out of range, without infinities: these are dropped later, as not finite.
    let outOfRange = 0;
    if (v128.any_true(over)) {
      outOfRange =
        inside &
        (i32x4.bitmask(v128.and(f32x4.gt(objectness, maxProbability), finite4(objectness))) |
          i32x4.bitmask(v128.and(f32x4.gt(value, maxProbability), finite4(value))));
      if (outOfRange != 0) setInt(plan, P_OUT_OF_RANGE, int(plan, P_OUT_OF_RANGE) + popcnt(outOfRange));
    }

    // Move forward the cells that pass.
    v128.store(temp, score);
    let mask = inside & ~outOfRange & i32x4.bitmask(f32x4.ge(score, thresholds));
    while (mask != 0) {
      const lane = (<usize>ctz(mask)) << 2;
      mask &= mask - 1;
      const row = load<i32>(list + k + lane);
      const bestClass = isRow
        ? firstEqual(at + <usize>row * cell, load<f32>(values + k + lane), classes)
        : load<i32>(bestClasses + k + lane);
      if (bestClass < 0) continue;
      store<i32>(list + m, row);
      store<f32>(values + m, load<f32>(temp + lane));
      store<i32>(bestClasses + m, base + bestClass);
      m += 4;
    }
  }
  if (canBox4(head)) return emitBoxes(plan, head, list, m);
  for (let k: usize = 0; k < m; k += 4)
    emit(plan, head, load<i32>(list + k), load<i32>(bestClasses + k), load<f32>(values + k));
}

/** Third pass: makes boxes and appends the candidates. `n` is the length of the columns. */
function emitBoxes(plan: usize, head: usize, list: usize, n: usize): void {
  const scores = column(plan, 1);
  const classIds = column(plan, 2);
  const cells = spare(plan, 1);
  const boxes = cells + 16;
  const index = ptr(head, H_INDEX);
  const flags = int(plan, P_FLAGS);
  const hasRows = canRowBox(head, flags);
  const source = int(head, H_SOURCE);
  const toScores = ptr(plan, P_SCORES);
  const toClassIds = ptr(plan, P_CLASS_IDS);
  const toSources = ptr(plan, P_SOURCES);
  const toBoxes = ptr(plan, P_BOXES);
  let at = ptr(plan, P_CANDIDATES) << 2;
  const end = ptr(plan, P_CAPACITY) << 2;
  let notFinite = 0;
  let empty = 0;
  for (let k: usize = 0; k < n; k += 16) {
    // Append plain rows four at a time while all four are kept.
    if (hasRows) {
      setInt(plan, P_CANDIDATES, <i32>(at >> 2));
      k = emitRows(plan, head, list, k, n);
      at = ptr(plan, P_CANDIDATES) << 2;
      if (k >= n) break;
    }
    const lanes = min(4, <i32>((n - k) >> 2));
    // Repeat the last row in the unused lanes, so that all lanes read valid addresses.
    for (let j = lanes; j < 4; j++) {
      const place = list + k + ((<usize>j) << 2);
      store<u32>(place, load<u32>(place - 4));
    }
    if (index == 0) v128.store(cells, v128.load(list + k));
    else
      for (let j: usize = 0; j < 16; j += 4)
        store<u32>(cells + j, load<u32>(index + ((<usize>load<u32>(list + k + j)) << 2)));
    // `box4` needs cell numbers below 2^22. `emit` takes the others.
    if (v128.any_true(i32x4.shr_u(v128.load(cells), 22))) {
      setInt(plan, P_CANDIDATES, <i32>(at >> 2));
      for (let j = 0; j < lanes; j++) {
        const i = k + ((<usize>j) << 2);
        emit(plan, head, load<i32>(list + i), load<i32>(classIds + i), load<f32>(scores + i));
      }
      at = ptr(plan, P_CANDIDATES) << 2;
      continue;
    }
    const score = v128.load(scores + k);
    const fate = box4(head, list + k, cells, flags, boxes);

    // Drop boxes and scores that are not finite, and empty boxes.
    const inside = (1 << lanes) - 1;
    const notFiniteBits = inside & (fate | ~i32x4.bitmask(finite4(score)));
    const kept = inside & ~notFiniteBits & ~(fate >> 4);
    notFinite += popcnt(notFiniteBits & 15);
    empty += popcnt(inside & ~notFiniteBits & (fate >> 4));

    // Append the kept cells.
    if (kept == 15 && at + 16 <= end) {
      v128.store(toScores + at, score);
      v128.store(toClassIds + at, v128.load(classIds + k));
      v128.store(toSources + at, i32x4.add(v128.load(cells), i32x4.splat(source)));
      const to = toBoxes + (at << 2);
      v128.store(to, v128.load(boxes));
      v128.store(to, v128.load(boxes, 16), 16);
      v128.store(to, v128.load(boxes, 32), 32);
      v128.store(to, v128.load(boxes, 48), 48);
      at += 16;
      continue;
    }
    for (let j: usize = 0; j < 4; j++) {
      if (((kept >> (<i32>j)) & 1) == 0) continue;
      if (at >= end) {
        increment(plan, P_OVERFLOW);
        continue;
      }
      const lane = j << 2;
      store<f32>(toScores + at, load<f32>(scores + k + lane));
      store<i32>(toClassIds + at, load<i32>(classIds + k + lane));
      store<i32>(toSources + at, load<i32>(cells + lane) + source);
      v128.store(toBoxes + (at << 2), v128.load(boxes + (j << 4)));
      at += 4;
    }
  }
  setInt(plan, P_CANDIDATES, <i32>(at >> 2));
  if (notFinite != 0) setInt(plan, P_NOT_FINITE, int(plan, P_NOT_FINITE) + notFinite);
  if (empty != 0) setInt(plan, P_EMPTY, int(plan, P_EMPTY) + empty);
}

/**
 * Appends four cells of the columns at a time, from `k` on, while all four are kept. Reads their boxes row by row.
 * Returns where it stopped: at the first four that need a closer test, or where fewer than four are left.
 */
function emitRows(plan: usize, head: usize, list: usize, k: usize, n: usize): usize {
  const scores = column(plan, 1);
  const classIds = column(plan, 2);
  const index = ptr(head, H_INDEX);
  const toScores = ptr(plan, P_SCORES);
  const toClassIds = ptr(plan, P_CLASS_IDS);
  const toSources = ptr(plan, P_SOURCES);
  const toBoxes = ptr(plan, P_BOXES);
  const sources = i32x4.splat(int(head, H_SOURCE));
  const kind = int(head, H_KIND);
  const step = ptr(head, H_BOX_CELL);
  const box = ptr(head, H_BOX_0);
  const scale = v128.shuffle<u32>(f32x4.splat(flt(head, H_KX)), f32x4.splat(flt(head, H_KY)), 0, 4, 0, 4);
  const most = ptr(plan, P_CAPACITY) << 2;
  let at = ptr(plan, P_CANDIDATES) << 2;
  for (; k + 16 <= n && at + 16 <= most; k += 16, at += 16) {
    const r0 = <usize>load<u32>(list + k);
    const r1 = <usize>load<u32>(list + k, 4);
    const r2 = <usize>load<u32>(list + k, 8);
    const r3 = <usize>load<u32>(list + k, 12);
    const b0 = rowBox(kind, box + r0 * step, scale);
    const b1 = rowBox(kind, box + r1 * step, scale);
    const b2 = rowBox(kind, box + r2 * step, scale);
    const b3 = rowBox(kind, box + r3 * step, scale);
    const score = v128.load(scores + k);
    // A sum that is not finite gives NaN when subtracted from itself. Sums too large for f32 get the closer test too.
    const sum = f32x4.add(f32x4.add(f32x4.add(b0, b1), f32x4.add(b2, b3)), score);
    if (v128.any_true(f32x4.ne(f32x4.sub(sum, sum), f32x4.splat(0)))) break;
    const to = toBoxes + (at << 2);
    v128.store(to, b0);
    v128.store(to, b1, 16);
    v128.store(to, b2, 32);
    v128.store(to, b3, 48);
    v128.store(toScores + at, score);
    v128.store(toClassIds + at, v128.load(classIds + k));
    const cells =
      index == 0
        ? v128.load(list + k)
        : gather4<f32>(index + (r0 << 2), index + (r1 << 2), index + (r2 << 2), index + (r3 << 2));
    v128.store(toSources + at, i32x4.add(cells, sources));
  }
  setInt(plan, P_CANDIDATES, <i32>(at >> 2));
  return k;
}
