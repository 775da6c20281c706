import type { EngineName } from "../src/engine.ts";

/** Every engine there is: whatever is said of one in a test is said of all. */
export const engines = ["simd", "scalar", "ts"] as const satisfies readonly EngineName[];
