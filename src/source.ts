/** Where the kernel's binaries come from: packed into the package as text. Other entries are built with another file in this one's place. */
import { ends, packed } from "./kernel.ts";
import { unpack } from "./unpack.ts";
import type { WasmKind } from "./wasm.ts";

/** What a kernel can be made of; null where this entry holds none. */
export type KernelSource = Uint8Array<ArrayBuffer> | WebAssembly.Module | null;

// as far as it was needed: it is asked for once to validate and once to compile
let unpacked = new Uint8Array(0);

export function kernelSource(kind: WasmKind): KernelSource {
  if (unpacked.length < ends[kind]) unpacked = unpack(packed, ends[kind]);
  return unpacked.subarray(kind === "simd" ? 0 : ends.simd, ends[kind]);
}
