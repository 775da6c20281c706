/** A kernel in pages, in Deno and in bundles: the vector build as text. */
import { simdText } from "kernel-data";
import { fromAscii } from "./ascii.ts";
import type { WasmKind } from "./kernel.ts";

/** Returns the binary of a build, null for that without vectors: browsers have them. */
export const binaryOf = (kind: WasmKind): Uint8Array<ArrayBuffer> | null =>
  kind === "simd" ? fromAscii(simdText) : null;
