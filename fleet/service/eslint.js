/** ESLint rules for all parts. A part may add further rules. */
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

export const base = defineConfig(
  { ignores: ["dist", "out", "node_modules"] },
  {
    files: ["**/*.{ts,tsx}"],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      // Allow `!`, which noUncheckedIndexedAccess requires even if the code has checked the index.
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/restrict-template-expressions": [
        "error",
        { allowNumber: true, allowNullish: true, allowBoolean: true },
      ],
      "max-params": ["error", 8],
      "no-restricted-imports": [
        "error",
        { name: "fast-check", message: "Import { fc } from boxwright-service/testing/random: it gives the seed." },
      ],
      // Ignore long texts and SQL, which stay on one line. Prettier breaks other long lines.
      "max-len": [
        "error",
        { code: 120, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true },
      ],
    },
  },
  {
    files: ["src/**", "client/**", "scripts/**", "examples/**"],
    rules: { "max-lines-per-function": ["error", 80] },
  },
  {
    // Tests parse JSON without a known type. Test doubles implement asynchronous interfaces synchronously.
    files: ["test/**", "src/testing/**"],
    rules: {
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-call": "off",
      "@typescript-eslint/no-unsafe-return": "off",
      "@typescript-eslint/no-explicit-any": "off",
      "@typescript-eslint/require-await": "off",
      "@typescript-eslint/unbound-method": "off",
    },
  },
);
