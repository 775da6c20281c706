import { defineConfig } from "vitest/config";
import { alias, projects, test } from "./vitest.js";

export default defineConfig({
  resolve: { alias },
  test: { ...test, globalSetup: ["test/support/setup.ts"], projects: projects({ alias }, import.meta.dirname) },
});
