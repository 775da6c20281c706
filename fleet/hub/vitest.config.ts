import { fileURLToPath } from "node:url";
import { alias, test } from "boxwright-service/vitest";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: {
    // graphql 16 ships itself twice, and two copies do not know each other's errors: the one that Node itself takes.
    alias: [...alias, { find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve("graphql")) }],
  },
  test: { ...test, globalSetup: ["test/support/setup.ts"] },
});
