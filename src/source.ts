/** Where the kernel's binaries come from: written into the package as text. Other entries are built with another file in this one's place. */
import { scalar, simd } from "./kernel.ts";
import type { WasmKind } from "./wasm.ts";

/** What a kernel can be made of; null where this entry holds none. */
export type KernelSource = Uint8Array<ArrayBuffer> | WebAssembly.Module | null;

export function kernelSource(kind: WasmKind): KernelSource {
  const hex = kind === "simd" ? simd : scalar;
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}
