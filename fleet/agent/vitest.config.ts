import { alias, projects, test } from "boxwright-service/vitest";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias },
  test: { ...test, globalSetup: ["test/support/build.ts"], projects: projects({ alias }, import.meta.dirname) },
});
