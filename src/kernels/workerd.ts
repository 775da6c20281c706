/** A kernel in workerd and its like: such runtimes compile nothing, they import the compiled module of a .wasm file. */
import scalar from "kernel-scalar.wasm";
import simd from "kernel-simd.wasm";
import type { WasmKind } from "./kernel.ts";

/** Returns the compiled module of a build. */
export const binaryOf = (kind: WasmKind): object => (kind === "simd" ? simd : scalar);
