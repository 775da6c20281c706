import { base } from "boxwright-service/eslint";
import { defineConfig } from "eslint/config";

export default defineConfig(
  base,
  { ignores: ["client/dist", "test/support/introspection.d.ts"] },
  {
    files: ["**/*.{ts,tsx}"],
    rules: { "@typescript-eslint/unbound-method": "off" },
  },
);
