/** Masks at the size of the prototypes. Twin of `assembly/masks/cut.ts`. */
import * as M from "../../../core/masks-abi.ts";
import type { MaskMemory } from "./memory.ts";

/** Compares the logits of the window with the threshold. */
export function cut({ i32, f32, u8 }: MaskMemory, job: number): void {
  const at = job >> 2;
  const width = i32[at + M.M_WIDTH];
  const threshold = f32[at + M.M_THRESHOLD];
  for (let y = 0, to = i32[at + M.M_OUT]; y < i32[at + M.M_HEIGHT]; y++, to += width) {
    const row = (i32[at + M.M_LOGITS] + y * i32[at + M.M_LOGITS_ROW]) >> 2;
    for (let x = 0; x < width; x++) u8[to + x] = f32[row + x] > threshold ? 1 : 0;
  }
}
