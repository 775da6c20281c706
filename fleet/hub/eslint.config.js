import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig(
  { ignores: ["dist", "client/dist", "out", "node_modules", "test/support/introspection.d.ts"] },
  {
    files: ["**/*.{ts,tsx}"],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
  },
  {
    files: ["**/*.{ts,tsx}"],
    rules: {
      // `!` stands where a bound was just checked; noUncheckedIndexedAccess asks for it there.
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/restrict-template-expressions": [
        "error",
        { allowNumber: true, allowNullish: true, allowBoolean: true },
      ],
      "@typescript-eslint/no-confusing-void-expression": "off",
      "@typescript-eslint/prefer-nullish-coalescing": "off",
      "@typescript-eslint/no-unnecessary-type-parameters": "off",
      // Environment names are not ours to spell with dots.
      "@typescript-eslint/dot-notation": "off",
      "@typescript-eslint/unbound-method": "off",
      "max-params": ["error", 8],
      // Prettier breaks code. Long texts and SQL stay in one piece.
      "max-len": [
        "error",
        { code: 120, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true },
      ],
    },
  },
  { files: ["src/**", "client/**", "scripts/**", "examples/**"], rules: { "max-lines-per-function": ["error", 80] } },
  {
    // Answers in tests are JSON of no promised shape.
    files: ["test/**"],
    rules: {
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-call": "off",
      "@typescript-eslint/no-unsafe-return": "off",
      "@typescript-eslint/no-explicit-any": "off",
      "@typescript-eslint/explicit-function-return-type": "off",
    },
  },
);
