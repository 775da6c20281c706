import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["src/kernel.ts", "src/globals.d.ts"],
      reporter: ["text", "json-summary"],
    },
  },
});
