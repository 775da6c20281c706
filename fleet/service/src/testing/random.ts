/**
 * Gives all random tests the same seed. Every run tries the same cases, so a test fails because of a change, not by
 * chance. BOXWRIGHT_SEED=random draws new cases, as the weekly run does; BOXWRIGHT_SEED=N repeats the cases of seed N.
 * Tests import fast-check from here.
 */
// eslint-disable-next-line no-restricted-imports -- the one place
import fc from "fast-check";

const wanted = process.env.BOXWRIGHT_SEED ?? "1";
export const SEED = wanted === "random" ? Date.now() % 2 ** 31 : Number(wanted);
if (!Number.isInteger(SEED)) throw new Error(`got BOXWRIGHT_SEED=${wanted}, expected "random" or an integer`);
if (wanted === "random") console.log(`BOXWRIGHT_SEED=${SEED}`);
fc.configureGlobal({ seed: SEED });

/** Returns a function that draws the seed's pseudo-random sequence from its start: numbers from 0 to below 1. */
export function drawRandom(): () => number {
  let state = SEED;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export { fc };
