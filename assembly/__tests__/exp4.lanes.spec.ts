import { exp, sigmoid } from "../exp";
import { exp4, sigmoid4 } from "../exp4";

// No test runs without vectors: scripts/test-kernel.mjs counts this file only for the kernel with vectors.
if (ASC_FEATURE_SIMD) {
  describe("exp and its kin in four lanes", () => {
    test("are those of one lane, to the bit", () => {
      let wrong = 0;
      let seen = 0;
      for (let i = 0; i < 400000; i++) {
        // Inputs at odd multiples of ln 2 / 2: here the power of two that is split off changes.
        const x: f32 =
          i & 1
            ? <f32>(-160 + (300 * <f64>i) / 400000)
            : <f32>(<f64>((i >> 1) % 400) - 200.5) * <f32>0.6931472;
        const e = exp4(f32x4.splat(x));
        const s = sigmoid4(f32x4.splat(x));
        if (reinterpret<u32>(f32x4.extract_lane(e, 3)) != reinterpret<u32>(<f32>exp(<f64>x))) wrong++;
        if (reinterpret<u32>(f32x4.extract_lane(s, 1)) != reinterpret<u32>(<f32>sigmoid(<f64>x))) wrong++;
        seen++;
      }
      expect(wrong).toBe(0);
      expect(seen).toBe(400000);
    });
  });
}
