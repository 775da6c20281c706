/** The three engines: WebAssembly with vector instructions, without them, and TypeScript. All give the same bits. */
export type EngineName = "simd" | "scalar" | "ts";

/** Every engine name, from the fastest to the slowest. */
export const ENGINE_NAMES: readonly EngineName[] = ["simd", "scalar", "ts"];
