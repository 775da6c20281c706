/** `boxwright/wasm`: the whole of `boxwright` without a binary in it, for those who fetch `boxwright/simd.wasm` themselves. */
export * from "./index.ts";
export { type WasmKind, provideKernel } from "../engine/wasm.ts";
