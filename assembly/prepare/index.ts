/**
 * The exports of the kernel that prepares pictures. `src/core/prepare-abi.ts` documents its memory.
 *
 * Only here: prepareAbiVersion. The TypeScript engine is built from the same constants.
 */
import { PREPARE_ABI_VERSION } from "../../src/core/prepare-abi";
import { emit } from "./emit";
import { halvePlanes4 } from "./half4";
import { resample } from "./resample";
import { unpack } from "./unpack";

export { emit, resample, unpack };

export function prepareAbiVersion(): i32 {
  return PREPARE_ABI_VERSION;
}

/** Makes the rows of the tensor. */
export function prepare(job: usize): void {
  if (ASC_FEATURE_SIMD && halvePlanes4(job)) return;
  unpack(job);
  resample(job);
  emit(job);
}
