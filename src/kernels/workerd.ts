/** The kernels in workerd and similar runtimes. These cannot compile, but import a .wasm file as a compiled module. */
import decodeScalar from "./scalar.wasm";
import decodeSimd from "./simd.wasm";
import masksScalar from "./masks.scalar.wasm";
import masksSimd from "./masks.simd.wasm";
import prepareScalar from "./prepare.scalar.wasm";
import prepareSimd from "./prepare.simd.wasm";
import type { WasmKind } from "./kernel.ts";

export const decode = (kind: WasmKind): object => (kind === "simd" ? decodeSimd : decodeScalar);
export const masks = (kind: WasmKind): object => (kind === "simd" ? masksSimd : masksScalar);
export const prepare = (kind: WasmKind): object => (kind === "simd" ? prepareSimd : prepareScalar);
