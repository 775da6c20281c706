import { defineConfig } from "vitest/config";

/** Tests near the code, without the slow ones. Every mutant loads all of these files, so fewer files save hours. */
const NEAR = ["heads/*", "plan/*", "memory/*", "planfile/*", "core/families", "decode/*"];
const chosen = process.env["BOXWRIGHT_MUTATE_TESTS"]?.split(",") ?? NEAR;

export default defineConfig({
  test: {
    include: chosen.map((name) => `test/${name}.test.ts`),
    exclude: ["test/decode/nms.test.ts"],
    setupFiles: ["test/support/scalar-kernel.ts"],
    testTimeout: 20_000,
  },
});
