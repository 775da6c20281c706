import {
  ELEMENT_BYTE,
  ELEMENT_F32,
  ELEMENT_HALF,
  FORMAT_GRAY,
  FORMAT_I420,
  FORMAT_NV12,
  FORMAT_THREE,
  FORMAT_YUYV,
  JOB_WORDS,
  J_CHROMA_STRIDE,
  J_COLUMNS,
  J_DIVISOR_0,
  J_FIRST,
  J_FLIP,
  J_FORMAT,
  J_KIND,
  J_LAST,
  J_MULTIPLIES,
  J_OUT,
  J_OUT_PLANE,
  J_OUT_ROW,
  J_PIXELS,
  J_PIXEL_STRIDE,
  J_RESAMPLED,
  J_ROWS,
  J_SCRATCH,
  J_SHIFT_0,
  J_SOURCE,
  J_SOURCE_STRIDE,
  J_TYPE,
  J_U,
  J_V,
  J_VALUES,
  J_WIDTH,
  J_XTAB,
  J_YTAB,
  KIND_HALF,
  KIND_LINEAR,
  KIND_NEAREST,
} from "../../src/core/prepare-abi";
import { emit } from "../prepare/emit";
import { resample } from "../prepare/resample";
import { unpack } from "../prepare/unpack";

/** Widths below, at and above whole vectors. */
const WIDTHS: i32[] = [1, 3, 4, 5, 8, 16, 17, 33];
/** Bytes behind a row that no function may write. */
const GUARD: usize = 64;
const MARK: u8 = 0xa5;

let job: usize = 0;
let state: u32 = 1;

function random(below: i32): i32 {
  state = state * 1664525 + 1013904223;
  return <i32>((state >> 8) % <u32>below);
}

function set(word: i32, v: usize): void {
  store<u32>(job + ((<usize>word) << 2), <u32>v);
}

/** Returns 16-aligned memory, filled with marks that show later writes. */
function room(bytes: usize): usize {
  const at = (heap.alloc(bytes + GUARD + 16) + 15) & ~15;
  memory.fill(at, MARK, bytes + GUARD);
  return at;
}

function noise(bytes: usize): usize {
  const at = room(bytes);
  for (let i: usize = 0; i < bytes; i++) store<u8>(at + i, <u8>random(256));
  return at;
}

/** Counts the bytes behind a row that were written. */
function spilt(at: usize): i32 {
  let wrong = 0;
  for (let i: usize = 0; i < GUARD; i++) if (load<u8>(at + i) != MARK) wrong++;
  return wrong;
}

function begin(): void {
  job = heap.alloc(JOB_WORDS << 2);
  memory.fill(job, 0, JOB_WORDS << 2);
}

/** Unpacks one row, and returns its pixels. */
function unpacked(format: i32, width: i32, source: usize, u: usize, v: usize): usize {
  begin();
  const to = room((<usize>width) << 2);
  set(J_FORMAT, format);
  set(J_SOURCE, source);
  set(J_U, u);
  set(J_V, v);
  set(J_CHROMA_STRIDE, 64);
  set(J_COLUMNS, width);
  set(J_ROWS, 1);
  set(J_SOURCE_STRIDE, <usize>width * 3);
  set(J_PIXELS, to);
  set(J_PIXEL_STRIDE, (<usize>width) << 2);
  unpack(job);
  return to;
}

/** Returns a channel of BT.601 in video range, by its definition in doubles. */
function yuv(y: f64, u: f64, v: f64, channel: i32): f64 {
  const luma = 1.164383 * Math.max(0, y - 16);
  let value = luma + 1.596027 * (v - 128);
  if (channel == 1) value = luma - 0.391762 * (u - 128) - 0.812968 * (v - 128);
  if (channel == 2) value = luma + 2.017232 * (u - 128);
  return Math.min(255, Math.max(0, value));
}

/** Counts the channels of a row that differ by more than rounding. Luma and chroma depend on the position. */
function wrongYuv(to: usize, width: i32, format: i32, source: usize, u: usize, v: usize): i32 {
  let wrong = 0;
  for (let x = 0; x < width; x++) {
    const pair = <usize>(x >> 1);
    const y = load<u8>(format == FORMAT_YUYV ? source + ((<usize>x) << 1) : source + x);
    let cb = load<u8>(u + pair);
    let cr = load<u8>(v + pair);
    if (format == FORMAT_NV12) {
      cb = load<u8>(u + (pair << 1));
      cr = load<u8>(u + (pair << 1) + 1);
    }
    if (format == FORMAT_YUYV) {
      cb = load<u8>(source + (pair << 2) + 1);
      cr = load<u8>(source + (pair << 2) + 3);
    }
    for (let c = 0; c < 3; c++) {
      const got = <f64>load<u8>(to + ((<usize>x) << 2) + c);
      if (Math.abs(got - yuv(<f64>y, <f64>cb, <f64>cr, c)) > 1) wrong++;
    }
  }
  return wrong;
}

describe("unpack", () => {
  test("makes pixels of three bytes and of one, and writes nothing behind the row", () => {
    let wrong = 0;
    for (let k = 0; k < WIDTHS.length; k++) {
      const width = WIDTHS[k];
      const source = noise(<usize>width * 3);
      const three = unpacked(FORMAT_THREE, width, source, 0, 0);
      const gray = unpacked(FORMAT_GRAY, width, source, 0, 0);
      for (let x = 0; x < width; x++)
        for (let c = 0; c < 3; c++) {
          if (load<u8>(three + (x << 2) + c) != load<u8>(source + x * 3 + c)) wrong++;
          if (load<u8>(gray + (x << 2) + c) != load<u8>(source + x)) wrong++;
        }
      wrong += spilt(three + (width << 2)) + spilt(gray + (width << 2));
    }
    expect(wrong).toBe(0);
  });

  test("follows BT.601 in NV12, I420 and YUYV", () => {
    let wrong = 0;
    for (let k = 0; k < WIDTHS.length; k++) {
      const width = WIDTHS[k];
      const source = noise(<usize>width * 2 + 8);
      const u = noise(80);
      const v = noise(80);
      for (let format = FORMAT_YUYV; format <= FORMAT_I420; format++) {
        const to = unpacked(format, width, source, u, v);
        wrong += wrongYuv(to, width, format, source, u, v) + spilt(to + (width << 2));
      }
    }
    expect(wrong).toBe(0);
  });
});

/** Begins a job that resamples `rows` rows of noise, `columns` wide, into one row. Returns the noise. */
function resampling(kind: i32, columns: i32, rows: i32, width: i32): usize {
  begin();
  // Add a pixel behind the last one: linear resampling reads each pixel together with the next.
  const from = noise((<usize>((columns + 1) * rows)) << 2);
  set(J_KIND, kind);
  set(J_PIXELS, from);
  set(J_PIXEL_STRIDE, (<usize>(columns + 1)) << 2);
  set(J_WIDTH, width);
  set(J_LAST, 1);
  set(J_XTAB, room((<usize>width) << 3));
  set(J_YTAB, room(12));
  set(J_SCRATCH, room((<usize>width) << 4));
  set(J_RESAMPLED, room((<usize>width) << 2));
  memory.fill(load<u32>(job + (J_YTAB << 2)), 0, 12);
  return from;
}

const word = (index: i32): usize => <usize>load<u32>(job + (index << 2));

describe("resample", () => {
  test("takes the nearest pixel of each column", () => {
    let wrong = 0;
    for (let k = 0; k < WIDTHS.length; k++) {
      const width = WIDTHS[k];
      const from = resampling(KIND_NEAREST, width * 2, 1, width);
      for (let x = 0; x < width; x++) store<i32>(word(J_XTAB) + (x << 2), (width * 2 - 1 - x) << 2);
      resample(job);
      for (let x = 0; x < width; x++)
        if (load<u32>(word(J_RESAMPLED) + (x << 2)) != load<u32>(from + ((width * 2 - 1 - x) << 2))) wrong++;
      wrong += spilt(word(J_RESAMPLED) + (width << 2));
    }
    expect(wrong).toBe(0);
  });

  test("halves: the mean of two by two, halves up", () => {
    let wrong = 0;
    for (let k = 0; k < WIDTHS.length; k++) {
      const width = WIDTHS[k];
      const from = resampling(KIND_HALF, width * 2, 2, width);
      const stride = word(J_PIXEL_STRIDE);
      for (let x = 0; x < width; x++) store<i32>(word(J_XTAB) + (x << 2), x << 3);
      resample(job);
      for (let x = 0; x < width; x++)
        for (let c = 0; c < 3; c++) {
          const p = from + (x << 3) + c;
          const sum: i32 =
            <i32>load<u8>(p) + load<u8>(p + 4) + load<u8>(p + stride) + load<u8>(p + stride + 4);
          if (<i32>load<u8>(word(J_RESAMPLED) + (x << 2) + c) != (sum + 2) >> 2) wrong++;
        }
      wrong += spilt(word(J_RESAMPLED) + (width << 2));
    }
    expect(wrong).toBe(0);
  });

  test("blends linearly: within one of the weighted mean, and exact at whole pixels", () => {
    let wrong = 0;
    for (let k = 0; k < WIDTHS.length; k++) {
      const width = WIDTHS[k];
      const from = resampling(KIND_LINEAR, width, 2, width);
      const stride = word(J_PIXEL_STRIDE);
      const lower = random(2049);
      store<i32>(word(J_YTAB) + 4, 1);
      store<u16>(word(J_YTAB) + 8, <u16>(2048 - lower));
      store<u16>(word(J_YTAB) + 10, <u16>lower);
      for (let x = 0; x < width; x++) {
        const right = x & 1 ? 0 : random(2049);
        store<i32>(word(J_XTAB) + (x << 3), x << 2);
        store<u16>(word(J_XTAB) + (x << 3) + 4, <u16>(2048 - right));
        store<u16>(word(J_XTAB) + (x << 3) + 6, <u16>right);
      }
      resample(job);
      for (let x = 0; x < width; x++)
        for (let c = 0; c < 3; c++) {
          const p = from + (x << 2) + c;
          const right = <f64>load<u16>(word(J_XTAB) + (x << 3) + 6) / 2048;
          const up = <f64>load<u8>(p) * (1 - right) + <f64>load<u8>(p + 4) * right;
          const down = <f64>load<u8>(p + stride) * (1 - right) + <f64>load<u8>(p + stride + 4) * right;
          const want = up + ((down - up) * <f64>lower) / 2048;
          if (Math.abs(<f64>load<u8>(word(J_RESAMPLED) + (x << 2) + c) - want) > 1) wrong++;
        }
      wrong += spilt(word(J_RESAMPLED) + (width << 2));
    }
    expect(wrong).toBe(0);
  });
});

/**
 * Emits two rows, as planes or interleaved, each with padding at its right. Counts wrong elements and overwritten
 * padding.
 */
function wrongElements(width: i32, log: i32, isTogether: bool): i32 {
  begin();
  const rows = 2;
  const step = isTogether ? 3 : 1;
  const pad = 5;
  const rowBytes = ((width + pad) * step) << log;
  const from = noise((<usize>(width * rows)) << 2);
  const values = room(<usize>(768 << log));
  for (let i = 0; i < 768; i++) {
    if (log == ELEMENT_F32) store<f32>(values + (i << 2), <f32>(i & 255) / <f32>255);
    else if (log == ELEMENT_HALF) store<u16>(values + (i << 1), <u16>(i * 77));
    else store<u8>(values + i, <u8>(i ^ 0x80));
  }
  const out = room(<usize>(rowBytes * rows * 3));
  set(J_TYPE, log);
  set(J_WIDTH, width);
  set(J_LAST, rows);
  set(J_RESAMPLED, from);
  set(J_VALUES, values);
  set(J_OUT, out);
  set(J_OUT_ROW, rowBytes);
  set(J_OUT_PLANE, isTogether ? 0 : rowBytes * rows);
  set(J_FLIP, 0x80);
  // Blue first: the tensor has a pixel's channels in reverse order.
  for (let c = 0; c < 3; c++) {
    set(J_SHIFT_0 + c, (2 - c) << 3);
    store<f32>(job + ((J_DIVISOR_0 + c) << 2), 255);
  }
  set(J_MULTIPLIES, 0);
  emit(job);
  let wrong = 0;
  for (let row = 0; row < rows; row++)
    for (let c = 0; c < 3; c++)
      for (let x = 0; x < width + pad; x++) {
        const at = isTogether
          ? out + row * rowBytes + ((x * 3 + c) << log)
          : out + (c * rows + row) * rowBytes + (x << log);
        for (let b = 0; b < 1 << log; b++) {
          let want = MARK;
          if (x < width) {
            const byte = <i32>load<u8>(from + ((row * width + x) << 2) + (2 - c));
            want = load<u8>(values + (((c << 8) + byte) << log) + b);
          }
          if (load<u8>(at + b) != want) wrong++;
        }
      }
  return wrong;
}

describe("emit", () => {
  test("writes planes of every element, and leaves the padding of a letterbox alone", () => {
    let wrong = 0;
    for (let k = 0; k < WIDTHS.length; k++)
      for (let log = ELEMENT_BYTE; log <= ELEMENT_F32; log++) wrong += wrongElements(WIDTHS[k], log, false);
    expect(wrong).toBe(0);
  });

  test("writes the channels of a pixel together", () => {
    let wrong = 0;
    for (let k = 0; k < WIDTHS.length; k++)
      for (let log = ELEMENT_BYTE; log <= ELEMENT_F32; log++) wrong += wrongElements(WIDTHS[k], log, true);
    expect(wrong).toBe(0);
  });
});
