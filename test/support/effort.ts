/**
 * How many cases of one kind run. `npm test` tries each kind a few times; with BOXWRIGHT_TESTS=all, as in CI, the long
 * tail runs too.
 */
export const isThorough = process.env["BOXWRIGHT_TESTS"] === "all";

/** Returns the count of repeats: all of them, or a few. */
export const repeats = (all: number, few: number): number => (isThorough ? all : few);
