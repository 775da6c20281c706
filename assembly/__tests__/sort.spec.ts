import {
  CHAINS,
  FLAG_NMS_ALL,
  FLAG_NMS_CLASS,
  FLAG_SUPPRESS_EQUAL,
  KEPT4_BYTES,
  PLAN_WORDS,
  P_BOXES,
  P_CANDIDATES,
  P_CHAINS,
  P_COUNTS,
  P_DET_BOXES,
  P_DET_CLASS_IDS,
  P_DET_SCORES,
  P_DET_SOURCES,
  P_FLAGS,
  P_IOU,
  P_KEPT,
  P_CLASS_IDS,
  P_MAX_CANDIDATES,
  P_MAX_DETECTIONS,
  P_ORDER,
  P_SCALE_X,
  P_SCALE_Y,
  P_SCORES,
  P_SHIFT_X,
  P_SORTED,
  P_SOURCES,
  P_SPARE,
} from "../../src/core/abi";
import { nms } from "../nms";
import { sort, sortMore } from "../sort";

let plan: usize = 0;
let state: u32 = 1;

function random(): f32 {
  state = state * 1664525 + 1013904223;
  return <f32>(state >> 8) / 16777216;
}

function set(word: i32, v: u32): void {
  store<u32>(plan + ((<usize>word) << 2), v);
}

function setF(word: i32, v: f32): void {
  store<f32>(plan + ((<usize>word) << 2), v);
}

function get(word: i32): usize {
  return <usize>load<u32>(plan + ((<usize>word) << 2));
}

/** Makes a plan block with columns for n candidates. */
function begin(n: i32): void {
  plan = heap.alloc(PLAN_WORDS << 2);
  memory.fill(plan, 0, PLAN_WORDS << 2);
  const cap = <usize>n + 1;
  set(P_SCORES, <u32>heap.alloc(cap << 2));
  set(P_CLASS_IDS, <u32>heap.alloc(cap << 2));
  set(P_SOURCES, <u32>heap.alloc(cap << 2));
  set(P_BOXES, <u32>heap.alloc(cap << 4));
  set(P_ORDER, <u32>heap.alloc(cap << 2));
  set(P_SPARE, <u32>heap.alloc(cap << 2));
  set(P_COUNTS, <u32>heap.alloc(2048 * 4));
  set(P_CHAINS, <u32>heap.alloc(CHAINS << 2));
  set(P_KEPT, <u32>heap.alloc(cap * KEPT4_BYTES));
  set(P_DET_BOXES, <u32>heap.alloc(cap << 4));
  set(P_DET_SCORES, <u32>heap.alloc(cap << 2));
  set(P_DET_CLASS_IDS, <u32>heap.alloc(cap << 2));
  set(P_DET_SOURCES, <u32>heap.alloc(cap << 2));
  set(P_MAX_CANDIDATES, 0x7fffffff);
  set(P_MAX_DETECTIONS, n);
  set(P_CANDIDATES, n);
  setF(P_IOU, 0.45);
  setF(P_SCALE_X, 1);
  setF(P_SCALE_Y, 1);
}

function score(i: i32): f32 {
  return load<f32>(get(P_SCORES) + ((<usize>i) << 2));
}

function order(i: i32): i32 {
  return load<i32>(get(P_ORDER) + ((<usize>i) << 2));
}

/** Returns how many neighbours are out of order. Equal scores are ordered by index. */
function disorder(n: i32): i32 {
  let wrong = 0;
  for (let i = 1; i < n; i++) {
    const a = order(i - 1);
    const b = order(i);
    if (!(score(a) > score(b) || (score(a) == score(b) && a < b))) wrong++;
  }
  return wrong;
}

/**
 * Sorts waves until n candidates are in order. Checks the order after each wave. Returns the count of candidates in
 * order.
 */
function wavesTo(n: i32): i32 {
  let sorted = load<i32>(plan + ((<usize>P_SORTED) << 2));
  while (sorted < n) {
    if (disorder(sorted) != 0) return -1;
    const more = sortMore(plan);
    if (more <= sorted) return -2;
    sorted = more;
  }
  return sorted;
}

const SIZES: StaticArray<i32> = [0, 1, 2, 3, 24, 25, 33, 255, 256, 257, 3071, 3072, 3073, 5000, 20000];

describe("sort", () => {
  test("random scores, at every size where the method changes", () => {
    for (let s = 0; s < SIZES.length; s++) {
      const n = SIZES[s];
      begin(n);
      for (let i = 0; i < n; i++) store<f32>(get(P_SCORES) + ((<usize>i) << 2), random());
      expect(sort(plan)).toBe(n);
      expect(wavesTo(n)).toBe(n);
      expect(disorder(n)).toBe(0);
    }
  });

  test("ties, equal scores, both zeros, negatives and infinities", () => {
    for (let s = 0; s < SIZES.length; s++) {
      const n = SIZES[s];
      for (let kind = 0; kind < 3; kind++) {
        begin(n);
        for (let i = 0; i < n; i++) {
          const r = random();
          let v: f32 = 0.5;
          if (kind == 1) v = <f32>(<i32>(r * 3));
          if (kind == 2)
            v = r < 0.2 ? 0 : r < 0.4 ? -0.0 : r < 0.6 ? -r : r < 0.7 ? Infinity : r < 0.8 ? -Infinity : r;
          store<f32>(get(P_SCORES) + ((<usize>i) << 2), v);
        }
        expect(sort(plan)).toBe(n);
        expect(wavesTo(n)).toBe(n);
        expect(disorder(n)).toBe(0);
      }
    }
  });

  test("only so many go on", () => {
    begin(100);
    for (let i = 0; i < 100; i++) store<f32>(get(P_SCORES) + ((<usize>i) << 2), random());
    set(P_MAX_CANDIDATES, 7);
    expect(sort(plan)).toBe(7);
    expect(disorder(7)).toBe(0);
  });
});

function put(i: i32, x1: f32, y1: f32, x2: f32, y2: f32, s: f32, label: i32): void {
  const box = get(P_BOXES) + ((<usize>i) << 4);
  store<f32>(box, x1);
  store<f32>(box, y1, 4);
  store<f32>(box, x2, 8);
  store<f32>(box, y2, 12);
  store<f32>(get(P_SCORES) + ((<usize>i) << 2), s);
  store<i32>(get(P_CLASS_IDS) + ((<usize>i) << 2), label);
  store<i32>(get(P_SOURCES) + ((<usize>i) << 2), i);
}

function edge(i: i32, k: usize): f32 {
  return load<f32>(get(P_BOXES) + ((<usize>i) << 4) + (k << 2));
}

function hits(a: i32, b: i32): bool {
  const w = max<f32>(0, min<f32>(edge(a, 2), edge(b, 2)) - max<f32>(edge(a, 0), edge(b, 0)));
  const h = max<f32>(0, min<f32>(edge(a, 3), edge(b, 3)) - max<f32>(edge(a, 1), edge(b, 1)));
  const shared = w * h;
  const areaA = (edge(a, 2) - edge(a, 0)) * (edge(a, 3) - edge(a, 1));
  const areaB = (edge(b, 2) - edge(b, 0)) * (edge(b, 3) - edge(b, 1));
  return shared > <f32>0.45 * (areaA + areaB - shared);
}

function label(i: i32): i32 {
  return load<i32>(get(P_CLASS_IDS) + ((<usize>i) << 2));
}

describe("nms", () => {
  test("keeps the better of two, of one class only, or of all", () => {
    for (let flags = 1; flags <= 2; flags++) {
      begin(2);
      put(0, 0, 0, 1, 1, 0.5, 3);
      put(1, 0, 0, 1, 1, 0.9, 4);
      set(P_FLAGS, flags);
      sort(plan);
      expect(nms(plan)).toBe(flags == FLAG_NMS_CLASS ? 2 : 1);
      expect(load<f32>(get(P_DET_SCORES))).toBe(0.9);
      expect(load<i32>(get(P_DET_SOURCES))).toBe(1);
    }
  });

  test("at the threshold itself", () => {
    for (let equal = 0; equal < 2; equal++) {
      begin(2);
      put(0, 0, 0, 1, 1, 0.9, 0);
      put(1, 0, 0, 1, 0.5, 0.5, 0);
      set(P_FLAGS, FLAG_NMS_ALL | (equal ? FLAG_SUPPRESS_EQUAL : 0));
      setF(P_IOU, 0.5);
      sort(plan);
      expect(nms(plan)).toBe(equal ? 1 : 2);
    }
  });

  test("no flag keeps all, up to the cap, in the frame's coordinates", () => {
    begin(9);
    for (let i = 0; i < 9; i++) put(i, 0, 0, 0.5, 1, 0.1 * <f32>(i + 1), 0);
    set(P_MAX_DETECTIONS, 5);
    setF(P_SCALE_X, 2);
    setF(P_SHIFT_X, -0.25);
    sort(plan);
    expect(nms(plan)).toBe(5);
    expect(load<f32>(get(P_DET_BOXES))).toBe(-0.25);
    expect(load<f32>(get(P_DET_BOXES), 8)).toBe(0.75);
    expect(load<i32>(get(P_DET_SOURCES))).toBe(8);
  });

  test("by definition: none kept overlap, each dropped has a better one kept", () => {
    for (let s = 0; s < 11; s++) {
      const n = SIZES[s] > 600 ? 600 : SIZES[s];
      begin(n);
      for (let i = 0; i < n; i++) {
        const x = random();
        const y = random();
        put(i, x, y, x + random() * 0.3, y + random() * 0.3, random(), <i32>(random() * 3) * 256);
      }
      set(P_FLAGS, FLAG_NMS_CLASS);
      sort(plan);
      const kept = nms(plan);
      const chosen = new StaticArray<i32>(n + 1);
      let wrong = 0;
      for (let d = 0; d < kept; d++) chosen[load<i32>(get(P_DET_SOURCES) + ((<usize>d) << 2))] = 1;
      for (let i = 0; i < n; i++) {
        let covered = false;
        for (let k = 0; k < n; k++) {
          if (k == i || chosen[k] == 0 || label(k) != label(i) || !hits(k, i)) continue;
          if (chosen[i] != 0) wrong++;
          else if (score(k) >= score(i)) covered = true;
        }
        if (chosen[i] == 0 && !covered) wrong++;
      }
      expect(wrong).toBe(0);
    }
  });
});
