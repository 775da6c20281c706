import { TYPE_F16, TYPE_F32, TYPE_I8, TYPE_U8 } from "../../src/core/abi";
import {
  MASK_JOB_WORDS,
  M_COEFFICIENTS,
  M_COLUMN,
  M_COLUMNS,
  M_COLUMNS_SIZE,
  M_COUNT,
  M_FIRST,
  M_FREE,
  M_HEIGHT,
  M_LABEL,
  M_END,
  M_LOGITS,
  M_LOGITS_ROW,
  M_MAP,
  M_MAP_ROW,
  M_OUT,
  M_OUT_WIDTH,
  M_PLANE,
  M_PROTOTYPES,
  M_RESIZED,
  M_ROW,
  M_ROWS,
  M_ROWS_SIZE,
  M_SCRATCH,
  M_SCRATCH_ROW,
  M_SIGMOID,
  M_THRESHOLD,
  M_TYPE,
  M_WIDTH,
  M_ZERO,
} from "../../src/core/masks-abi";
import { cut } from "../masks/cut";
import { paint } from "../masks/paint";
import { product } from "../masks/product";
import { resize } from "../masks/resize";

/** Lengths below, at and above whole vectors, up to three steps of sixteen values and one more. */
const LENGTHS: i32[] = [0, 1, 3, 4, 5, 8, 15, 16, 17, 33, 49];
const TYPES: i32[] = [TYPE_F32, TYPE_F16, TYPE_U8, TYPE_I8];
const ROWS = 2;
/** Bytes behind a row or a buffer that no function may write. */
const GUARD: usize = 64;
const MARK: u8 = 0xa5;

let job: usize = 0;
let state: u32 = 1;

function random(below: i32): i32 {
  state = state * 1664525 + 1013904223;
  return <i32>((state >> 8) % <u32>below);
}

/** Returns a fraction in -1..1 that fills all bits of an f32. */
const fraction = (): f32 => <f32>random(1 << 24) / <f32>(1 << 23) - 1;

function begin(): void {
  job = heap.alloc(MASK_JOB_WORDS << 2);
  memory.fill(job, 0, MASK_JOB_WORDS << 2);
}

function set(word: i32, v: usize): void {
  store<u32>(job + ((<usize>word) << 2), <u32>v);
}

function setFloat(word: i32, v: f32): void {
  store<f32>(job + ((<usize>word) << 2), v);
}

/** Returns 16-aligned memory, filled with marks that show later writes. */
function room(bytes: usize): usize {
  const at = (heap.alloc(bytes + GUARD + 16) + 15) & ~15;
  memory.fill(at, MARK, bytes + GUARD);
  return at;
}

/** Counts the overwritten bytes from `at` on. */
function spilt(at: usize, bytes: usize = GUARD): i32 {
  let wrong = 0;
  for (let i: usize = 0; i < bytes; i++) if (load<u8>(at + i) != MARK) wrong++;
  return wrong;
}

const f32At = (at: usize, index: i32): f32 => load<f32>(at + ((<usize>index) << 2));

/** Returns the bits of a half float that is a whole number in -2047..2047. */
function halfOf(x: i32): u16 {
  if (x == 0) return 0;
  const bits = reinterpret<u32>(<f32>x);
  return <u16>(((bits >> 16) & 0x8000) | ((((bits >> 23) & 255) - 112) << 10) | ((bits >> 13) & 1023));
}

const bytesOf = (type: i32): usize => (type == TYPE_F32 ? 4 : type == TYPE_F16 ? 2 : 1);

/** Writes a whole number as an element. */
function put(type: i32, at: usize, x: i32): void {
  if (type == TYPE_F32) store<f32>(at, <f32>x);
  else if (type == TYPE_F16) store<u16>(at, halfOf(x));
  else store<u8>(at, <u8>x);
}

/**
 * Counts wrong logits of a window of whole numbers, whose sums are exact in any order.
 * @param isPlanes true for NCHW, false for NHWC
 */
function wrongLogits(type: i32, isPlanes: bool, width: i32, count: i32): i32 {
  begin();
  const size = bytesOf(type);
  const zero = type == TYPE_U8 || type == TYPE_I8 ? 3 : 0;
  const column = isPlanes ? size : size * <usize>count;
  // One more pixel in each row belongs to no window.
  const row = column * <usize>(width + 1);
  const plane = isPlanes ? row * ROWS : size;
  const from = room(size * <usize>(count * (width + 1) * ROWS));
  const coefficients = room((<usize>count) << 2);
  const logitsRow = ((<usize>width) << 2) + GUARD;
  const to = room(logitsRow * ROWS);
  const low = type == TYPE_U8 ? 0 : -100;
  for (let c = 0; c < count; c++) {
    store<f32>(coefficients + (c << 2), <f32>(random(21) - 10));
    for (let y = 0; y < ROWS; y++)
      for (let x = 0; x < width; x++)
        put(type, from + <usize>y * row + <usize>x * column + <usize>c * plane, low + random(201));
  }
  set(M_TYPE, type);
  set(M_PROTOTYPES, from);
  set(M_ROW, row);
  set(M_COLUMN, column);
  set(M_PLANE, plane);
  set(M_COUNT, count);
  set(M_COEFFICIENTS, coefficients);
  setFloat(M_ZERO, <f32>zero);
  set(M_WIDTH, width);
  set(M_HEIGHT, ROWS);
  set(M_LOGITS, to);
  set(M_LOGITS_ROW, logitsRow);
  product(job);
  let wrong = 0;
  for (let y = 0; y < ROWS; y++) {
    const line = to + <usize>y * logitsRow;
    for (let x = 0; x < width; x++) {
      let sum: f64 = 0;
      for (let c = 0; c < count; c++) {
        const at = from + <usize>y * row + <usize>x * column + <usize>c * plane;
        let value: f64 = type == TYPE_F32 ? <f64>load<f32>(at) : 0;
        if (type == TYPE_F16) {
          // Compare a half with the number that it was made of.
          for (let n = -100; n <= 100; n++) if (halfOf(n) == load<u16>(at)) value = n;
        } else if (type == TYPE_U8) value = load<u8>(at) - zero;
        else if (type == TYPE_I8) value = load<i8>(at) - zero;
        sum += <f64>f32At(coefficients, c) * value;
      }
      if (<f64>f32At(line, x) != sum) wrong++;
    }
    wrong += spilt(line + ((<usize>width) << 2));
  }
  return wrong;
}

/** Begins a product of one f32 row of one prototype with the coefficient 1. Returns the address of the logits. */
function copying(values: usize, width: i32): usize {
  begin();
  const one = room(4);
  store<f32>(one, 1);
  const to = room((<usize>width) << 2);
  set(M_TYPE, TYPE_F32);
  set(M_PROTOTYPES, values);
  set(M_COLUMN, 4);
  set(M_COUNT, 1);
  set(M_COEFFICIENTS, one);
  set(M_WIDTH, width);
  set(M_HEIGHT, 1);
  set(M_LOGITS, to);
  return to;
}

function fractions(count: i32, scale: f32): usize {
  const at = room((<usize>count) << 2);
  for (let i = 0; i < count; i++) store<f32>(at + (i << 2), fraction() * scale);
  return at;
}

describe("product", () => {
  test("adds up planes, of every type, at every width and count of channels", () => {
    let wrong = 0;
    for (let t = 0; t < TYPES.length; t++)
      for (let w = 0; w < LENGTHS.length; w++)
        for (let c = 0; c < LENGTHS.length; c++) wrong += wrongLogits(TYPES[t], true, LENGTHS[w], LENGTHS[c]);
    expect(wrong).toBe(0);
  });

  test("adds up channels that are neighbours", () => {
    let wrong = 0;
    for (let t = 0; t < TYPES.length; t++)
      for (let w = 0; w < LENGTHS.length; w++)
        for (let c = 0; c < LENGTHS.length; c++)
          wrong += wrongLogits(TYPES[t], false, LENGTHS[w], LENGTHS[c]);
    expect(wrong).toBe(0);
  });

  test("adds four sums, one for each remainder of the channel by four, in f32", () => {
    let wrong = 0;
    for (let w = 0; w < LENGTHS.length; w++)
      for (let k = 0; k < LENGTHS.length; k++) {
        const width = LENGTHS[w];
        const count = LENGTHS[k];
        const values = fractions(width * count, 1000);
        const to = copying(values, width);
        const by = fractions(count, 1);
        set(M_COUNT, count);
        set(M_COEFFICIENTS, by);
        set(M_PLANE, (<usize>width) << 2);
        product(job);
        for (let x = 0; x < width; x++) {
          const sums: f32[] = [0, 0, 0, 0];
          for (let c = 0; c < count; c++) sums[c & 3] += f32At(by, c) * f32At(values, c * width + x);
          if (f32At(to, x) != sums[0] + sums[1] + (sums[2] + sums[3])) wrong++;
        }
      }
    expect(wrong).toBe(0);
  });

  test("gives probabilities if the job says so, and leaves NaN", () => {
    let wrong = 0;
    for (let w = 0; w < LENGTHS.length; w++) {
      const width = LENGTHS[w];
      const values = fractions(width, 20);
      if (width > 0) store<f32>(values, NaN);
      const to = copying(values, width);
      set(M_SIGMOID, 1);
      product(job);
      for (let x = 0; x < width; x++) {
        const got = f32At(to, x);
        if (x == 0 ? got == got : Math.abs(<f64>got - 1 / (1 + Math.exp(-f32At(values, x)))) > 1e-6) wrong++;
      }
      wrong += spilt(to + ((<usize>width) << 2));
    }
    expect(wrong).toBe(0);
  });
});

describe("cut", () => {
  test("sets the pixels above the threshold; one at it, -Infinity and NaN are not", () => {
    let wrong = 0;
    const odd: f32[] = [0.25, Infinity, -Infinity, NaN, <f32>0.25000003, 0];
    for (let w = 0; w < LENGTHS.length; w++) {
      const width = LENGTHS[w];
      begin();
      const row = ((<usize>width) << 2) + 16;
      const logits = room(row * ROWS);
      const to = room(<usize>(width * ROWS));
      for (let y = 0; y < ROWS; y++)
        for (let x = 0; x < width; x++)
          store<f32>(
            logits + <usize>y * row + (x << 2),
            random(3) == 0 ? odd[random(odd.length)] : fraction(),
          );
      set(M_WIDTH, width);
      set(M_HEIGHT, ROWS);
      set(M_LOGITS, logits);
      set(M_LOGITS_ROW, row);
      set(M_OUT, to);
      setFloat(M_THRESHOLD, 0.25);
      cut(job);
      for (let y = 0; y < ROWS; y++)
        for (let x = 0; x < width; x++)
          if (load<u8>(to + y * width + x) != <u8>(f32At(logits + <usize>y * row, x) > 0.25)) wrong++;
      wrong += spilt(to + width * ROWS);
    }
    expect(wrong).toBe(0);
  });
});

/**
 * Writes a table with a near cell, a far cell and their two weights for each pixel of a picture. Returns the bytes of a
 * column.
 */
function fillTable(at: usize, pixels: i32, cells: i32, isNearest: bool): usize {
  const side = ((<usize>pixels) << 2) + 16;
  for (let i = 0; i < pixels; i++) {
    const near = random(cells);
    const far = near + 1 < cells ? near + random(2) : near;
    const weight: f32 = isNearest ? 0 : <f32>random(1 << 24) / <f32>(1 << 24);
    store<i32>(at + (i << 2), near);
    store<i32>(at + side + (i << 2), far);
    store<f32>(at + 2 * side + (i << 2), 1 - weight);
    store<f32>(at + 3 * side + (i << 2), weight);
  }
  return side;
}

/** Counts the wrong pixels of rows 2 to 7 of a mask that is resized from 5 rows of 7 logits. */
function wrongPixels(width: i32, isNearest: bool): i32 {
  begin();
  const cells = 7;
  const logits = fractions(5 * cells, 1);
  const columns = room(4 * (((<usize>width) << 2) + 16));
  const rows = room(4 * (7 * 4 + 16));
  const columnSide = fillTable(columns, width, cells, isNearest);
  const rowSide = fillTable(rows, 7, 5, isNearest);
  const to = room(<usize>(width * 5));
  const scratchRow = (((<usize>width) << 2) + 28) & ~15;
  const scratch = room(2 * scratchRow);
  set(M_OUT_WIDTH, width);
  set(M_FIRST, 2);
  set(M_END, 7);
  set(M_OUT, to);
  set(M_RESIZED, logits);
  set(M_LOGITS_ROW, cells << 2);
  set(M_COLUMNS, columns);
  set(M_COLUMNS_SIZE, columnSide);
  set(M_ROWS, rows);
  set(M_ROWS_SIZE, rowSide);
  set(M_SCRATCH, scratch);
  set(M_SCRATCH_ROW, scratchRow);
  setFloat(M_THRESHOLD, 0.1);
  resize(job);
  let wrong = 0;
  for (let y = 2; y < 7; y++)
    for (let x = 0; x < width; x++) {
      const mixed: f32[] = [0, 0];
      for (let k = 0; k < 2; k++) {
        const line = logits + <usize>load<i32>(rows + k * rowSide + (y << 2)) * (cells << 2);
        mixed[k] =
          f32At(line, load<i32>(columns + (x << 2))) * f32At(columns + 2 * columnSide, x) +
          f32At(line, load<i32>(columns + columnSide + (x << 2))) * f32At(columns + 3 * columnSide, x);
      }
      const value = mixed[0] * f32At(rows + 2 * rowSide, y) + mixed[1] * f32At(rows + 3 * rowSide, y);
      if (load<u8>(to + (y - 2) * width + x) != <u8>(value > 0.1)) wrong++;
    }
  return wrong + spilt(to + width * 5) + spilt(scratch + 2 * scratchRow);
}

describe("resize", () => {
  test("mixes two columns and two rows of logits", () => {
    let wrong = 0;
    for (let w = 0; w < LENGTHS.length; w++)
      for (let round = 0; round < 8; round++) wrong += wrongPixels(LENGTHS[w], false);
    expect(wrong).toBe(0);
  });

  test("takes the nearest logit with weights of 1 and 0", () => {
    let wrong = 0;
    for (let w = 0; w < LENGTHS.length; w++)
      for (let round = 0; round < 8; round++) wrong += wrongPixels(LENGTHS[w], true);
    expect(wrong).toBe(0);
  });
});

/** Counts the wrong labels after a mask is painted into rows 1 to 3 of a map. */
function wrongLabels(width: i32, isFree: bool): i32 {
  begin();
  const label: i16 = 300;
  const mask = room(<usize>(width * ROWS));
  const mapRow = ((<usize>width) << 1) + GUARD;
  const map = room(mapRow * ROWS);
  const before = room(mapRow * ROWS);
  for (let y = 0; y < ROWS; y++)
    for (let x = 0; x < width; x++) {
      store<u8>(mask + y * width + x, <u8>random(2));
      store<i16>(map + <usize>y * mapRow + (x << 1), <i16>(random(2) == 0 ? -1 : random(9)));
    }
  memory.copy(before, map, mapRow * ROWS);
  set(M_OUT_WIDTH, width);
  set(M_OUT, mask);
  set(M_FIRST, 1);
  set(M_END, 1 + ROWS);
  set(M_LABEL, label);
  set(M_FREE, isFree ? 1 : 0);
  set(M_MAP, map);
  set(M_MAP_ROW, mapRow);
  paint(job);
  let wrong = 0;
  for (let y = 0; y < ROWS; y++) {
    const line = <usize>y * mapRow;
    for (let x = 0; x < width; x++) {
      const old = load<i16>(before + line + (x << 1));
      const isPainted = load<u8>(mask + y * width + x) == 1 && (!isFree || old == -1);
      if (load<i16>(map + line + (x << 1)) != (isPainted ? label : old)) wrong++;
    }
    wrong += spilt(map + line + ((<usize>width) << 1));
  }
  return wrong;
}

describe("paint", () => {
  test("writes the label over all others", () => {
    let wrong = 0;
    for (let w = 0; w < LENGTHS.length; w++)
      for (let round = 0; round < 4; round++) wrong += wrongLabels(LENGTHS[w], false);
    expect(wrong).toBe(0);
  });

  test("writes the label where no other one stands", () => {
    let wrong = 0;
    for (let w = 0; w < LENGTHS.length; w++)
      for (let round = 0; round < 4; round++) wrong += wrongLabels(LENGTHS[w], true);
    expect(wrong).toBe(0);
  });
});
