/**
 * How many cases of one kind run. `npm test` tries each kind a few times; with BOXWRIGHT_TESTS=all, the long tail runs
 * too. With BOXWRIGHT_TESTS=rest, as in CI, it runs without the files that need not run twice
 * (test/fresh/whole-files.mjs).
 */
const wanted = process.env["BOXWRIGHT_TESTS"];
export const isRest = wanted === "rest";
export const isThorough = wanted === "all" || isRest;

/** Returns the count of repeats: all of them, or a few. */
export const repeats = (all: number, few: number): number => (isThorough ? all : few);
