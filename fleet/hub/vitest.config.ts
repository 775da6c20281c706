import { fileURLToPath } from "node:url";
import { alias, projects, test } from "boxwright-service/vitest";
import { defineConfig } from "vitest/config";

const resolve = {
  // Use the copy of graphql that Node imports. graphql 16 ships two, and each does not recognise the other's errors.
  alias: [...alias, { find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve("graphql")) }],
};

export default defineConfig({
  resolve,
  test: { ...test, globalSetup: ["test/support/setup.ts"], projects: projects(resolve, import.meta.dirname) },
});
