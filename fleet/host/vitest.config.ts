import { alias, test } from "boxwright-service/vitest";
import { defineConfig } from "vitest/config";

export default defineConfig({ resolve: { alias }, test: { ...test, globalSetup: ["test/support/setup.ts"] } });
