import { defineConfig } from "vitest/config";

/** The tests that mutants run: those near the code, without the slow ones. */
export default defineConfig({
  test: {
    include: [
      "test/heads/*.test.ts",
      "test/plan/*.test.ts",
      "test/memory/*.test.ts",
      "test/planfile/*.test.ts",
      "test/core/families.test.ts",
      "test/decode/*.test.ts",
    ],
    exclude: ["test/decode/nms.test.ts"],
    setupFiles: ["test/support/scalar-kernel.ts"],
    testTimeout: 20_000,
  },
});
