/**
 * `boxwright/wasm`: the whole of `boxwright` without a binary. Hand over `boxwright/simd.wasm` with `provideKernel`.
 */
export * from "./index.ts";
