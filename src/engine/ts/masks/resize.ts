/** Resizes logits bilinearly: the columns once per row of logits, then the rows. Twin of `assembly/masks/resize.ts`. */
import * as M from "../../../core/masks-abi.ts";
import type { MaskMemory } from "./memory.ts";

const fround = Math.fround;

/** Makes rows of a mask. Scratch holds the last two rows of logits after the resize of their columns. */
export function resize(m: MaskMemory, job: number): void {
  const { i32, f32 } = m;
  const at = job >> 2;
  const width = i32[at + M.M_OUT_WIDTH];
  const even = i32[at + M.M_SCRATCH] >> 2;
  const odd = even + (i32[at + M.M_SCRATCH_ROW] >> 2);
  const side = i32[at + M.M_ROWS_SIZE] >> 2;
  let heldEven = -1;
  let heldOdd = -1;
  let to = i32[at + M.M_OUT];
  for (let y = i32[at + M.M_FIRST]; y < i32[at + M.M_END]; y++, to += width) {
    const table = (i32[at + M.M_ROWS] >> 2) + y;
    // Use the first row of scratch for even rows and the second for odd rows, so that neighbours never share one.
    for (let k = 0; k < 2; k++) {
      const row = i32[table + k * side];
      if ((row & 1) === 0 && row !== heldEven) columns(m, at, (heldEven = row), even);
      if ((row & 1) === 1 && row !== heldOdd) columns(m, at, (heldOdd = row), odd);
    }
    const upper = i32[table] & 1 ? odd : even;
    const lower = i32[table + side] & 1 ? odd : even;
    const weights = table + 2 * side;
    mix(m, upper, lower, f32[weights], f32[weights + side], f32[at + M.M_THRESHOLD], to, width);
  }
}

function columns({ i32, f32 }: MaskMemory, at: number, row: number, to: number): void {
  const from = (i32[at + M.M_RESIZED] + row * i32[at + M.M_LOGITS_ROW]) >> 2;
  const size = i32[at + M.M_COLUMNS_SIZE] >> 2;
  const width = i32[at + M.M_OUT_WIDTH];
  for (let x = 0, t = i32[at + M.M_COLUMNS] >> 2; x < width; x++, t++)
    f32[to + x] =
      fround(f32[from + i32[t]] * f32[t + 2 * size]) + fround(f32[from + i32[t + size]] * f32[t + 3 * size]);
}

/** Blends two rows and compares the result with the threshold. */
function mix(
  { f32, u8 }: MaskMemory,
  upper: number,
  lower: number,
  a: number,
  b: number,
  threshold: number,
  to: number,
  width: number,
): void {
  for (let x = 0; x < width; x++)
    u8[to + x] = fround(fround(f32[upper + x] * a) + fround(f32[lower + x] * b)) > threshold ? 1 : 0;
}
