import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { findWholeFiles } from "./test/fresh/whole-files.mjs";
import { isRest, isThorough } from "./test/support/effort.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // The benchmark is no part of the package: its own tests run where it runs.
    exclude: [...(isThorough ? [] : ["test/repo/bench-*.test.ts"]), ...(isRest ? findWholeFiles() : [])],
    // By default vitest leaves one core free: half of a machine that has two.
    maxWorkers: availableParallelism(),
    globalSetup: ["test/support/temp-folder.ts"],
    // Notes that a test does not ask for stay out of its output.
    env: { NODE_ENV: "production" },
    setupFiles: [
      "test/support/scalar-kernel.ts",
      "test/support/typed-arrays.ts",
      "test/support/seed.ts",
      ...(process.env.BOXWRIGHT_PLANS ? ["test/support/plan-recorder.ts"] : []),
    ],
    // A file is 0.4 s of a new process and of reading src/ anew: half of all the time. No test changes a module for others.
    isolate: false,
    // No test is about time: the usual five seconds, or one for a poll, are short on a machine that is busy elsewhere.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["src/globals.d.ts"],
      reporter: ["text", "json-summary"],
      thresholds: { lines: 95 },
    },
  },
});
