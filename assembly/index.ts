/** The kernel's verbs; `src/core/abi.ts` documents the image they work on. */
import { ABI_VERSION } from "../src/core/abi";
import { nms } from "./nms";
import { scan } from "./scan";
import { sort } from "./sort";

export { nms, scan, sort };

export function abiVersion(): i32 {
  return ABI_VERSION;
}

/** scan, sort, nms in a row; returns the number of detections. */
export function decode(plan: usize): i32 {
  scan(plan);
  sort(plan);
  return nms(plan);
}
