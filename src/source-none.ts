/** In place of source.ts in `boxwright/wasm`: the caller brings the binaries. */
import type { KernelSource } from "./source.ts";

export function kernelSource(): KernelSource {
  return null;
}
