/**
 * The exports of the kernel that prepares pictures. `src/core/prepare-abi.ts` documents its memory.
 *
 * Only here: prepareAbiVersion. The TypeScript engine is built from the same constants.
 */
import { PREPARE_ABI_VERSION } from "../../src/core/prepare-abi";
import { emit } from "./emit";
import { resample } from "./resample";
import { unpack } from "./unpack";

export { emit, resample, unpack };

export function prepareAbiVersion(): i32 {
  return PREPARE_ABI_VERSION;
}

/** Makes the rows of the tensor. */
export function prepare(job: usize): void {
  unpack(job);
  resample(job);
  emit(job);
}
