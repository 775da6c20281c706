import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: {
    // graphql 16 ships itself twice, and two copies do not know each other's errors: the one that Node itself takes.
    alias: [{ find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve("graphql")) }],
  },
  test: {
    include: ["test/**/*.test.{ts,tsx}"],
    globalSetup: ["test/support/setup.ts"],
    // Two cores, and several of the files start processes of their own.
    maxWorkers: 2,
    // No test is about how fast the machine is, which may be busy elsewhere.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
