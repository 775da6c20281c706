/** Paints label maps: one label per pixel of a whole picture. Twin of `assembly/masks/paint.ts`. */
import * as M from "../../../core/masks-abi.ts";
import type { MaskMemory } from "./memory.ts";

/** Writes the label of a detection where its mask is set: everywhere, or only on pixels without a label. */
export function paint({ i32, i16, u8 }: MaskMemory, job: number): void {
  const at = job >> 2;
  const width = i32[at + M.M_OUT_WIDTH];
  const label = i32[at + M.M_LABEL];
  const isFree = i32[at + M.M_FREE] === 1;
  let from = i32[at + M.M_OUT];
  let to = i32[at + M.M_MAP] >> 1;
  for (let y = i32[at + M.M_FIRST]; y < i32[at + M.M_END]; y++) {
    for (let x = 0; x < width; x++)
      if (u8[from + x] === 1 && (!isFree || i16[to + x] === -1)) i16[to + x] = label;
    from += width;
    to += i32[at + M.M_MAP_ROW] >> 1;
  }
}
