/**
 * The three engines: WebAssembly with vector instructions, WebAssembly without them, and plain TypeScript. All engines
 * give the same bits.
 */
export type EngineName = "simd" | "scalar" | "ts";

/** Every engine name, from the fastest to the slowest. */
export const ENGINE_NAMES: readonly EngineName[] = ["simd", "scalar", "ts"];
