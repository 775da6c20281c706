/**
 * The exports of the kernel. `src/core/abi.ts` documents the memory that these functions work on.
 *
 * Only here: abiVersion. The TypeScript engine is built from the same constants.
 */
import { ABI_VERSION } from "../src/core/abi";
import { compare, within } from "./checks";
import { nms } from "./nms";
import { scan } from "./scan";
import { sort } from "./sort";

export { compare, nms, scan, sort, within };

export function abiVersion(): i32 {
  return ABI_VERSION;
}

/** Runs scan, sort and nms. Returns the number of detections. */
export function decode(plan: usize): i32 {
  scan(plan);
  sort(plan);
  return nms(plan);
}
