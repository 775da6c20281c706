import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/temp-folder.ts"],
    setupFiles: ["test/support/scalar-kernel.ts"],
    // no test is about time: the usual five seconds are short on a small machine that is busy elsewhere
    testTimeout: 60_000,
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["src/engine/*kernel.ts", "src/globals.d.ts"],
      reporter: ["text", "json-summary"],
      thresholds: { lines: 95 },
    },
  },
});
