/**
 * Computes coefficients times prototypes. Twin of `assembly/masks/product.ts`, which says why there are four sums.
 * Only here: addPlane, addHalves. They go through one channel's row after the other, in the order of memory. The kernel
 * reads a cache line per vector, while single numbers would touch 32 lines for each pixel.
 */
import { TYPE_F16, TYPE_F32, TYPE_U8 } from "../../../core/abi.ts";
import * as M from "../../../core/masks-abi.ts";
import { halfToFloat, sigmoid } from "../../../core/number.ts";
import type { MaskMemory } from "./memory.ts";

const fround = Math.fround;

/** The four sums of each pixel of a row, in four consecutive arrays. */
let sums = new Float32Array(4 * 256);

/** Writes the logits of the window. */
export function product(m: MaskMemory, job: number): void {
  const { i32, f32 } = m;
  const at = job >> 2;
  const width = i32[at + M.M_WIDTH];
  if (sums.length < 4 * width) sums = new Float32Array(4 * width);
  for (let y = 0; y < i32[at + M.M_HEIGHT]; y++)
    dot(
      m,
      at,
      i32[at + M.M_PROTOTYPES] + y * i32[at + M.M_ROW],
      (i32[at + M.M_LOGITS] + y * i32[at + M.M_LOGITS_ROW]) >> 2,
      f32[at + M.M_ZERO],
    );
  if (i32[at + M.M_SIGMOID] === 1) activate(m, job);
}

/** Writes the logits of one row. */
function dot(m: MaskMemory, at: number, from: number, to: number, zero: number): void {
  const { i32, f32 } = m;
  const width = i32[at + M.M_WIDTH];
  const count = i32[at + M.M_COUNT];
  const type = i32[at + M.M_TYPE];
  const column = i32[at + M.M_COLUMN];
  const plane = i32[at + M.M_PLANE];
  const coefficients = i32[at + M.M_COEFFICIENTS] >> 2;
  sums.fill(0, 0, 4 * width);
  for (let c = 0, p = from; c < count; c++, p += plane) {
    const by = f32[coefficients + c];
    const sum = (c & 3) * width;
    if (type === TYPE_F32) addPlane(f32, p >> 2, column >> 2, by, 0, sum, width);
    else if (type === TYPE_F16) addHalves(m.u16, p >> 1, column >> 1, by, sum, width);
    else addPlane(type === TYPE_U8 ? m.u8 : m.i8, p, column, by, zero, sum, width);
  }
  for (let x = 0, a = 0, b = width, c = 2 * width, d = 3 * width; x < width; x++, a++, b++, c++, d++)
    f32[to + x] = fround(sums[a] + sums[b]) + fround(sums[c] + sums[d]);
}

/** Adds a channel times its coefficient to one of the four sums of each pixel. */
function addPlane(
  values: Float32Array | Uint8Array | Int8Array,
  from: number,
  column: number,
  by: number,
  zero: number,
  sum: number,
  width: number,
): void {
  for (let x = 0, p = from, s = sum; x < width; x++, p += column, s++)
    sums[s] = sums[s] + fround(by * fround(values[p] - zero));
}

function addHalves(
  values: Uint16Array,
  from: number,
  column: number,
  by: number,
  sum: number,
  width: number,
): void {
  for (let x = 0, p = from, s = sum; x < width; x++, p += column, s++)
    sums[s] = sums[s] + fround(by * halfToFloat(values[p]));
}

/** Replaces the logits of the window by probabilities. */
function activate({ i32, f32 }: MaskMemory, job: number): void {
  const at = job >> 2;
  for (let y = 0; y < i32[at + M.M_HEIGHT]; y++) {
    const row = (i32[at + M.M_LOGITS] + y * i32[at + M.M_LOGITS_ROW]) >> 2;
    for (let x = 0; x < i32[at + M.M_WIDTH]; x++) f32[row + x] = sigmoid(f32[row + x]);
  }
}
