import {
  FLAG_CLAMP_BEFORE,
  FN_EXP,
  FN_NONE,
  FN_SIGMOID,
  FN_CLAMP,
  FN_SQUARE,
  FN_SQUARE_SIGMOID,
  FN_TANH,
  HEAD_WORDS,
  H_BIN,
  H_BINS,
  H_BOX_0,
  H_BOX_1,
  H_BOX_2,
  H_BOX_3,
  H_BOX_CELL,
  H_CELLS,
  H_MAX_PROBABILITY,
  H_CLASSES,
  H_THRESHOLD,
  H_GRID_W,
  H_H,
  H_KIND,
  H_KX,
  H_KY,
  H_SCORE,
  H_SCORE_CELL,
  H_SCORE_CHANNEL,
  H_SCORE_RAW_THRESHOLD,
  H_SCORE_SCALE,
  H_SCORE_TYPE,
  H_TABLE,
  H_V0,
  H_V1,
  H_V2,
  H_V3,
  H_W,
  H_WH_FN,
  H_XY_BIAS,
  H_XY_FN,
  H_XY_SCALE,
  KIND_CENTRE,
  KIND_CORNERS,
  KIND_DISTANCE,
  KIND_GRID,
  KIND_PRIOR,
  KIND_TOPLEFT,
  PLAN_WORDS,
  P_SCRATCH,
  P_BOXES,
  P_CANDIDATES,
  P_CAPACITY,
  P_HEAD0,
  P_HEADS,
  P_CLASS_IDS,
  P_NOT_FINITE,
  P_SCORES,
  P_SOURCES,
  COLUMN_BYTES,
  GROUP_ROWS_BYTES,
  P_COLUMN,
  P_ROWS,
  SCAN_BYTES,
  TYPE_F16,
  TYPE_F32,
  TYPE_I16,
  TYPE_I32,
  TYPE_I8,
  TYPE_U8,
} from "../../src/core/abi";
import { BOX_EMPTY, BOX_NOT_FINITE, BOX_OK, activate, box } from "../box";
import { scan } from "../scan";

function near(a: f32, b: f64): bool {
  return Math.abs(<f64>a - b) < 1e-6;
}

function setAt(at: usize, word: i32, v: u32): void {
  store<u32>(at + ((<usize>word) << 2), v);
}

function floatAt(at: usize, word: i32, v: f32): void {
  store<f32>(at + ((<usize>word) << 2), v);
}

/** Returns a head whose four box channels are adjacent. */
function boxHead(kind: i32, a: f32, b: f32, c: f32, d: f32): usize {
  const head = heap.alloc(HEAD_WORDS << 2);
  memory.fill(head, 0, HEAD_WORDS << 2);
  const data = heap.alloc(32);
  store<f32>(data, a);
  store<f32>(data, b, 4);
  store<f32>(data, c, 8);
  store<f32>(data, d, 12);
  setAt(head, H_KIND, kind);
  setAt(head, H_BOX_CELL, 16);
  setAt(head, H_BOX_0, <u32>data);
  setAt(head, H_BOX_1, <u32>data + 4);
  setAt(head, H_BOX_2, <u32>data + 8);
  setAt(head, H_BOX_3, <u32>data + 12);
  floatAt(head, H_KX, 0.5);
  floatAt(head, H_KY, 0.25);
  setAt(head, H_GRID_W, 2);
  return head;
}

let out: usize = 0;

function corners(x1: f64, y1: f64, x2: f64, y2: f64): bool {
  return (
    near(load<f32>(out), x1) &&
    near(load<f32>(out, 4), y1) &&
    near(load<f32>(out, 8), x2) &&
    near(load<f32>(out, 12), y2)
  );
}

describe("box", () => {
  test("activations", () => {
    expect(near(activate(FN_NONE, 0.3), 0.3)).toBe(true);
    expect(near(activate(FN_SIGMOID, 0), 0.5)).toBe(true);
    expect(near(activate(FN_EXP, 1), 2.718281828)).toBe(true);
    expect(near(activate(FN_TANH, 0.5), 0.46211715726)).toBe(true);
    expect(near(activate(FN_SQUARE, 0.75), 2.25)).toBe(true);
    expect(near(activate(FN_SQUARE_SIGMOID, 0), 1)).toBe(true);
    expect(activate(FN_CLAMP, 0.25)).toBe(0.25);
    expect(activate(FN_CLAMP, -0.25)).toBe(0);
    expect(activate(FN_CLAMP, 1.25)).toBe(1);
  });

  test("plain: corners, centre, top left", () => {
    out = heap.alloc(16);
    expect(box(boxHead(KIND_CORNERS, 0.2, 0.4, 1, 2), 0, 0, 0, out)).toBe(BOX_OK);
    expect(corners(0.1, 0.1, 0.5, 0.5)).toBe(true);
    expect(box(boxHead(KIND_CENTRE, 1, 2, 0.4, 0.8), 0, 0, 0, out)).toBe(BOX_OK);
    expect(corners(0.4, 0.4, 0.6, 0.6)).toBe(true);
    expect(box(boxHead(KIND_TOPLEFT, 0.2, 0.4, 1, 2), 0, 0, 0, out)).toBe(BOX_OK);
    expect(corners(0.1, 0.1, 0.6, 0.6)).toBe(true);
  });

  test("grid: cell 3 of a map two wide, sensitivity 2, exp", () => {
    out = heap.alloc(16);
    const head = boxHead(KIND_GRID, 0.75, 0.5, 0, 0);
    setAt(head, H_XY_FN, FN_NONE);
    setAt(head, H_WH_FN, FN_EXP);
    floatAt(head, H_XY_SCALE, 2);
    floatAt(head, H_XY_BIAS, -0.5);
    floatAt(head, H_W, 0.2);
    floatAt(head, H_H, 0.1);
    setAt(head, H_BOX_CELL, 0);
    // Column 1, line 1: cx = (1 + 1.5 - 0.5) / 2, cy = (1 + 1 - 0.5) / 4
    expect(box(head, 0, 3, 0, out)).toBe(BOX_OK);
    expect(corners(0.9, 0.325, 1.1, 0.425)).toBe(true);
  });

  test("distance, as numbers and as distributions", () => {
    out = heap.alloc(16);
    const head = boxHead(KIND_DISTANCE, 0.5, 0.25, 1, 2);
    floatAt(head, H_XY_BIAS, 0.5);
    floatAt(head, H_XY_SCALE, 1);
    expect(box(head, 0, 0, 0, out)).toBe(BOX_OK);
    expect(corners(0, 0.0625, 0.75, 0.625)).toBe(true);
    // Distances in half cells.
    floatAt(head, H_XY_SCALE, 0.5);
    expect(box(head, 0, 0, 0, out)).toBe(BOX_OK);
    expect(corners(0.125, 0.09375, 0.5, 0.375)).toBe(true);
    floatAt(head, H_XY_SCALE, 1);
    // Two bins with equal logits: the mean of 0 and 1.
    const data = heap.alloc(32);
    for (let i: usize = 0; i < 32; i += 4) store<f32>(data + i, 7);
    for (let k = 0; k < 4; k++) setAt(head, H_BOX_0 + k, <u32>data + 8 * k);
    setAt(head, H_BIN, 4);
    setAt(head, H_BINS, 2);
    expect(box(head, 0, 0, 0, out)).toBe(BOX_OK);
    expect(corners(0, 0, 0.5, 0.25)).toBe(true);
  });

  test("prior", () => {
    out = heap.alloc(16);
    const head = boxHead(KIND_PRIOR, 1, -1, 0, 0);
    const table = heap.alloc(16);
    store<f32>(table, 0.5);
    store<f32>(table, 0.4, 4);
    store<f32>(table, 0.2, 8);
    store<f32>(table, 0.1, 12);
    setAt(head, H_TABLE, <u32>table);
    setAt(head, H_WH_FN, FN_EXP);
    floatAt(head, H_V0, 0.1);
    floatAt(head, H_V1, 0.1);
    floatAt(head, H_V2, 0.2);
    floatAt(head, H_V3, 0.2);
    expect(box(head, 0, 0, 0, out)).toBe(BOX_OK);
    expect(corners(0.42, 0.34, 0.62, 0.44)).toBe(true);
  });

  test("what is not finite, and what is empty after clamping", () => {
    out = heap.alloc(16);
    expect(box(boxHead(KIND_CORNERS, NaN, 0, 1, 1), 0, 0, 0, out)).toBe(BOX_NOT_FINITE);
    expect(box(boxHead(KIND_CORNERS, 0, 0, Infinity, 1), 0, 0, 0, out)).toBe(BOX_NOT_FINITE);
    expect(box(boxHead(KIND_CORNERS, -3, 0, -1, 1), 0, 0, 0, out)).toBe(BOX_OK);
    expect(box(boxHead(KIND_CORNERS, -3, 0, -1, 1), 0, 0, FLAG_CLAMP_BEFORE, out)).toBe(BOX_EMPTY);
    expect(box(boxHead(KIND_CORNERS, -3, -3, 9, 9), 0, 0, FLAG_CLAMP_BEFORE, out)).toBe(BOX_OK);
    expect(corners(0, 0, 1, 1)).toBe(true);
  });
});

const CELLS: StaticArray<i32> = [0, 1, 3, 4, 5, 8, 15, 16, 17, 33, 511, 512, 513, 1025, 1700];
const COUNTS: StaticArray<i32> = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 80, 91, 129];

let plan: usize = 0;
let state: u32 = 7;

function draw(below: u32): i32 {
  state = state * 1664525 + 1013904223;
  return <i32>((state >> 8) % below);
}

/** Scans random scores of 0..9, divided by 10, in each type. Returns for how many cells the scan is wrong. */
function check(type: i32, bytes: i32, cells: i32, classes: i32, planes: bool): i32 {
  plan = heap.alloc(PLAN_WORDS << 2);
  memory.fill(plan, 0, PLAN_WORDS << 2);
  const head = boxHead(KIND_CORNERS, 0, 0, 1, 1);
  const data = heap.alloc(<usize>(cells * classes * bytes) + 32);
  const raw = new StaticArray<i32>(cells * classes + 1);
  const cell = planes ? bytes : bytes * classes;
  const channel = planes ? bytes * cells : bytes;
  for (let i = 0; i < cells; i++) {
    for (let c = 0; c < classes; c++) {
      const v = draw(100) < 3 ? 8 + draw(2) : draw(8);
      raw[i * classes + c] = v;
      const at = data + <usize>(i * cell + c * channel);
      if (type == TYPE_F32) store<f32>(at, <f32>v);
      // As half floats 0 stays 0, and 1..9 become values in the same order: 1 (0x3c00), then steps of an eighth.
      else if (type == TYPE_F16) store<u16>(at, v == 0 ? 0 : <u16>(0x3c00 + (v - 1) * 128));
      else if (type == TYPE_U8 || type == TYPE_I8) store<i8>(at, <i8>v);
      else if (type == TYPE_I16) store<i16>(at, <i16>v);
      else store<i32>(at, v);
    }
  }
  setAt(head, H_BOX_CELL, 0);
  setAt(head, H_CELLS, cells);
  setAt(head, H_SCORE_TYPE, type);
  setAt(head, H_SCORE, <u32>data);
  setAt(head, H_SCORE_CELL, cell);
  setAt(head, H_SCORE_CHANNEL, channel);
  setAt(head, H_CLASSES, classes);
  floatAt(head, H_SCORE_SCALE, 1);
  floatAt(head, H_MAX_PROBABILITY, Infinity);
  if (type == TYPE_F16) {
    floatAt(head, H_THRESHOLD, 1.875);
    setAt(head, H_SCORE_RAW_THRESHOLD, 0x3c00 + 7 * 128);
  } else {
    floatAt(head, H_THRESHOLD, 8);
    if (type == TYPE_F32) floatAt(head, H_SCORE_RAW_THRESHOLD, 8);
    else setAt(head, H_SCORE_RAW_THRESHOLD, 8);
  }
  const cap = <usize>cells + 1;
  setAt(plan, P_HEADS, 1);
  setAt(plan, P_HEAD0, <u32>head);
  setAt(plan, P_CAPACITY, cells);
  setAt(plan, P_SCORES, <u32>heap.alloc(cap << 2));
  setAt(plan, P_CLASS_IDS, <u32>heap.alloc(cap << 2));
  setAt(plan, P_SOURCES, <u32>heap.alloc(cap << 2));
  setAt(plan, P_BOXES, <u32>heap.alloc(cap << 4));
  setAt(plan, P_SCRATCH, <u32>heap.alloc(SCAN_BYTES));
  setAt(plan, P_COLUMN, COLUMN_BYTES);
  setAt(plan, P_ROWS, GROUP_ROWS_BYTES);
  const n = scan(plan);
  let wrong = 0;
  let k = 0;
  const labels = <usize>load<u32>(plan + (P_CLASS_IDS << 2));
  const sources = <usize>load<u32>(plan + (P_SOURCES << 2));
  for (let i = 0; i < cells; i++) {
    let best = 0;
    for (let c = 1; c < classes; c++) if (raw[i * classes + c] > raw[i * classes + best]) best = c;
    if (raw[i * classes + best] < 8) continue;
    if (
      k >= n ||
      load<i32>(sources + ((<usize>k) << 2)) != i ||
      load<i32>(labels + ((<usize>k) << 2)) != best
    )
      wrong++;
    k++;
  }
  if (k != n) wrong++;
  if (load<i32>(plan + (P_NOT_FINITE << 2)) != 0) wrong++;
  if (load<i32>(plan + (P_CANDIDATES << 2)) != n) wrong++;
  heap.free(data);
  return wrong;
}

/** Tries every count of cells with every count of classes. */
function sweep(type: i32, bytes: i32, planes: bool): i32 {
  let wrong = 0;
  for (let a = 0; a < CELLS.length; a++) {
    for (let b = 0; b < COUNTS.length; b++) {
      if (CELLS[a] * COUNTS[b] > 60000) continue;
      wrong += check(type, bytes, CELLS[a], COUNTS[b], planes);
    }
  }
  return wrong;
}

describe("scan finds each cell with a class over the gate, and its first best class", () => {
  test("f32 planes", () => {
    expect(sweep(TYPE_F32, 4, true)).toBe(0);
  });
  test("f32 rows", () => {
    expect(sweep(TYPE_F32, 4, false)).toBe(0);
  });
  test("f16 planes", () => {
    expect(sweep(TYPE_F16, 2, true)).toBe(0);
  });
  test("f16 rows", () => {
    expect(sweep(TYPE_F16, 2, false)).toBe(0);
  });
  test("u8 planes", () => {
    expect(sweep(TYPE_U8, 1, true)).toBe(0);
  });
  test("u8 rows", () => {
    expect(sweep(TYPE_U8, 1, false)).toBe(0);
  });
  test("i8 planes", () => {
    expect(sweep(TYPE_I8, 1, true)).toBe(0);
  });
  test("i8 rows", () => {
    expect(sweep(TYPE_I8, 1, false)).toBe(0);
  });
  test("i16 planes", () => {
    expect(sweep(TYPE_I16, 2, true)).toBe(0);
  });
  test("i16 rows", () => {
    expect(sweep(TYPE_I16, 2, false)).toBe(0);
  });
  test("i32 planes", () => {
    expect(sweep(TYPE_I32, 4, true)).toBe(0);
  });
  test("i32 rows", () => {
    expect(sweep(TYPE_I32, 4, false)).toBe(0);
  });
});
