/** The function `paint`: writes one mask into a label map, an i16 for each pixel of a picture. */
import {
  M_FIRST,
  M_FREE,
  M_LABEL,
  M_END,
  M_MAP,
  M_MAP_ROW,
  M_OUT,
  M_OUT_WIDTH,
} from "../../src/core/masks-abi";
import { int, ptr } from "../word";
import { paint4 } from "./paint4";

/** Writes a label where the mask is set. If M_FREE is 1, only into pixels without a label (-1). */
export function paint(job: usize): void {
  const width = int(job, M_OUT_WIDTH);
  const label = int(job, M_LABEL);
  const isFree = int(job, M_FREE) == 1;
  const last = int(job, M_END);
  let from = ptr(job, M_OUT);
  let to = ptr(job, M_MAP);
  for (let y = int(job, M_FIRST); y < last; y++, from += width, to += ptr(job, M_MAP_ROW)) {
    let x = ASC_FEATURE_SIMD ? paint4(from, label, isFree, to, width) : 0;
    for (; x < width; x++) {
      const at = to + (x << 1);
      if (load<u8>(from + x) == 1 && (!isFree || load<i16>(at) == -1)) store<i16>(at, <i16>label);
    }
  }
}
