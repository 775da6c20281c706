/** The function `cut`: makes a mask at the size of the prototypes. */
import { M_HEIGHT, M_LOGITS, M_LOGITS_ROW, M_OUT, M_THRESHOLD, M_WIDTH } from "../../src/core/masks-abi";
import { flt, int, ptr } from "../word";
import { greater4 } from "./resize4";

/** Writes a byte for each value of the window: 1 if the value is above the threshold, else 0. */
export function cut(job: usize): void {
  const width = int(job, M_WIDTH);
  const height = int(job, M_HEIGHT);
  const threshold = flt(job, M_THRESHOLD);
  let to = ptr(job, M_OUT);
  for (let y = 0; y < height; y++, to += width) {
    const row = ptr(job, M_LOGITS) + <usize>y * ptr(job, M_LOGITS_ROW);
    let x = ASC_FEATURE_SIMD ? greater4(row, threshold, to, width) : 0;
    for (; x < width; x++) store<u8>(to + x, <u8>(load<f32>(row + (x << 2)) > threshold));
  }
}
