/**
 * Mutation tests: npm run mutate -- --mutate "src/plan/*.ts". Each mutant runs the tests near the code that reach it.
 * Survivors stand on the screen and in build/mutation.json. A survivor is a missing test, or code that changes nothing.
 */
export default {
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner"],
  vitest: { configFile: "scripts/stryker.vitest.config.ts", related: false },
  mutate: ["src/heads/*.ts", "src/plan/*.ts", "src/memory/*.ts", "src/decode/*.ts"],
  // Texts of messages are not what these tests are for.
  mutator: { excludedMutations: ["StringLiteral"] },
  // A static mutant runs all tests. Tables at the top of a file are tested by what they do.
  ignoreStatic: true,
  ignorePatterns: [
    "fleet",
    "site",
    "dist",
    "docs",
    "bench/results",
    "out",
    "coverage",
    "embedded/build",
    "build/fuzz",
  ],
  reporters: ["clear-text", "progress-append-only", "json"],
  clearTextReporter: { allowColor: false, logTests: false, allowEmojis: false },
  jsonReporter: { fileName: "build/mutation.json" },
  tempDirName: "build/stryker",
  concurrency: Number(process.env["STRYKER_CONCURRENCY"] ?? 1),
  timeoutMS: 20_000,
};
