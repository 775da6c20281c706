import type { EngineName } from "../../src/core/engine-name.ts";

// as keys, so that a new engine does not compile until it stands here
const all = { simd: true, scalar: true, ts: true } satisfies Record<EngineName, true>;

/** Every engine there is: whatever is said of one in a test is said of all. */
export const engines = Object.keys(all) as readonly EngineName[];
