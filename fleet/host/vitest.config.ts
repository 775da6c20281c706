import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // onnxruntime-node would leave an empty log in the temporary folder for each process.
    env: { ORT_DISABLE_TELEMETRY: "1" },
    globalSetup: ["test/support/setup.ts"],
    // Two cores, and several files start processes of their own.
    maxWorkers: 2,
    // No test is about how fast the machine is, which may be busy elsewhere.
    testTimeout: 240_000,
    hookTimeout: 120_000,
  },
});
