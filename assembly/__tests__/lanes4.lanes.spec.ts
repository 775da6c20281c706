import { passing16, splatThreshold } from "../lanes4";
import { f16, key, lowest, size } from "../value";

/** Returns how many cells `passing16` judges differently than a comparison of keys. Bits and distances are random. */
function wrong<T, K>(): i32 {
  const at = heap.alloc(16 * 24 * 4);
  let seed: u32 = 7;
  let count = 0;
  for (let round = 0; round < 4000; round++) {
    const step = <usize>(1 + (round % 24)) * size<T>();
    for (let i: usize = 0; i < 16 * 24 * 4; i++) {
      seed = seed * 1664525 + 1013904223;
      store<u8>(at + i, <u8>(seed >> 24));
    }
    // Take the value of one of the cells as the threshold, so that equality is tried too.
    const threshold = key<T, K>(at + <usize>(round & 15) * step);
    // A threshold is never NaN.
    if (threshold != threshold || threshold == lowest<K>()) continue;
    const mask = passing16<T>(at, step, splatThreshold<T, K>(threshold));
    for (let i = 0; i < 16; i++) {
      const k = key<T, K>(at + <usize>i * step);
      // A NaN of f16 may pass here; `admit` drops it.
      if (isReference<T>() && k == lowest<K>()) continue;
      const one = k >= threshold;
      if (((mask >> i) & 1) != <i32>one) count++;
    }
    if (mask >>> 16 != 0) count++;
  }
  heap.free(at);
  return count;
}

// No test runs without vectors: scripts/test-kernel.mjs counts this file only for the kernel with vectors.
if (ASC_FEATURE_SIMD) {
  describe("sixteen cells some way apart", () => {
    test("f32", () => {
      expect(wrong<f32, f32>()).toBe(0);
    });
    test("f16", () => {
      expect(wrong<f16, i32>()).toBe(0);
    });
    test("i8", () => {
      expect(wrong<i8, i32>()).toBe(0);
    });
    test("u8", () => {
      expect(wrong<u8, i32>()).toBe(0);
    });
  });
}
