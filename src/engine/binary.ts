/** Where the kernel's binaries come from: packed into the package as text. Other entries are built with another file in this one's place. */
import { ends, packed } from "./kernel.ts";
import { unpack } from "./unpack.ts";
import type { WasmKind } from "./wasm.ts";

/** A compiled module holds no state, so all decoders share it. */
export const modules = new Map<WasmKind, WebAssembly.Module>();

// as far as it was needed: it is asked for once to validate and once to compile
let unpacked = new Uint8Array(0);

/** The binary of a kernel that is not among the modules yet; throws where this entry holds none. */
export function kernelSource(kind: WasmKind): Uint8Array<ArrayBuffer> {
  if (unpacked.length < ends[kind]) unpacked = unpack(packed, ends[kind]);
  return unpacked.subarray(kind === "simd" ? 0 : ends.simd, ends[kind]);
}
