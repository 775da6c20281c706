import tseslint from "typescript-eslint";

export default tseslint.config(
  {
    // AssemblyScript is TypeScript in spelling only: its own compiler checks it
    ignores: [
      "dist/",
      "build/",
      "out/",
      "coverage/",
      "node_modules/",
      "assembly/",
      "fleet/",
      "src/engine/*kernel.ts",
      "embedded/",
      "site/dist/",
      "site/.pages/",
      "site/.vitepress/.temp/",
      "site/.cache/",
    ],
  },
  ...tseslint.configs.strict,
  {
    files: ["**/*.ts"],
    rules: {
      // an index that the loop has bounded is there; the compiler cannot see it
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/consistent-type-imports": "error",
      "no-console": ["error", { allow: ["log", "error", "warn"] }],
      eqeqeq: ["error", "always"],
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", destructuredArrayIgnorePattern: "^_" },
      ],
      "@typescript-eslint/no-dynamic-delete": "off",
    },
  },
  {
    // Rules that need types: a promise that nobody awaits fails without a word.
    files: ["src/**/*.ts"],
    ignores: ["src/engine/*kernel.ts"],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/await-thenable": "error",
    },
  },
  {
    files: ["src/**/*.ts", "spec/**/*.ts", "bench/**/*.ts", "scripts/**/*.mjs"],
    // The engine in TypeScript is a twin of the kernels, which hand numbers over as parameters.
    ignores: ["src/engine/ts/**", "src/engine/*kernel.ts"],
    rules: {
      "max-lines-per-function": ["error", { max: 80 }],
      "max-params": ["error", 8],
    },
  },
  {
    files: ["src/**/*.ts", "spec/**/*.ts", "bench/**/*.ts", "test/**/*.ts", "scripts/**/*.mjs"],
    ignores: ["src/engine/*kernel.ts"],
    rules: {
      // A string that a person reads is not broken into pieces.
      "max-len": [
        "error",
        {
          code: 120,
          ignoreStrings: true,
          ignoreTemplateLiterals: true,
          ignoreRegExpLiterals: true,
          ignoreUrls: true,
        },
      ],
    },
  },
  {
    // The library also runs in the engine Hermes 0.12, whose arrays and strings have no `at`.
    files: ["src/**/*.ts"],
    ignores: ["src/node/**", "src/pool/**"],
    rules: {
      "no-restricted-syntax": [
        "error",
        {
          selector:
            "CallExpression[callee.property.name='at'][arguments.0.type=/^(Literal|UnaryExpression)$/]",
          message: "Hermes 0.12 has no `at`: use an index, or slice(-1)[0] for the last element.",
        },
      ],
    },
  },
  {
    files: ["src/globals.d.ts"],
    rules: { "@typescript-eslint/no-extraneous-class": "off" },
  },
  {
    // compiled by two compilers; the other one has no ===  for numbers in the same sense
    files: ["src/core/exp.ts"],
    rules: { eqeqeq: "off" },
  },
);
