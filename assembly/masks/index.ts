/**
 * The exports of the kernel that makes masks. `src/core/masks-abi.ts` documents its memory.
 *
 * Only here: masksAbiVersion. The TypeScript engine is built from the same constants.
 */
import { MASKS_ABI_VERSION } from "../../src/core/masks-abi";
import { cut } from "./cut";
import { paint } from "./paint";
import { product } from "./product";
import { resize } from "./resize";

export { cut, paint, product, resize };

export function masksAbiVersion(): i32 {
  return MASKS_ABI_VERSION;
}
