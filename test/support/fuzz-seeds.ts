/** Seeds of the tests that `scripts/fuzz.sh` runs for long. */

export const SECONDS = Number(process.env["BOXWRIGHT_FUZZ_SECONDS"] ?? 0);
export const SEED = Number(process.env["BOXWRIGHT_FUZZ_SEED"] ?? 1);

/** Calls `one` with seed after seed, at least `count` times and for a share of the seconds. Returns how often. */
export function forSeeds(share: number, count: number, one: (seed: number) => void): number {
  const end = Date.now() + SECONDS * share * 1000;
  // Cases of neighbouring seeds of two runs are not the same.
  const first = (SEED * 1_000_003) % 2 ** 31;
  let done = 0;
  while (done < count || Date.now() < end) one(first + done++);
  return done;
}

/**
 * True if shares of the cases prove something: the seeds are those of every run, or there are many. A busy machine gets
 * through a few random cases in some seconds, and a few can all be of one kind.
 */
export const proveShares = (done: number): boolean => SECONDS === 0 || done >= 200;
