/**
 * Gives random cases of fast-check one seed. Every run tries the same cases, so that a change decides what passes and
 * luck does not. BOXWRIGHT_SEED=random draws new cases, as the weekly run does; BOXWRIGHT_SEED=N repeats those of N.
 */
import fc from "fast-check";

const wanted = process.env["BOXWRIGHT_SEED"] ?? "1";
if (wanted !== "random") {
  const seed = Number(wanted);
  if (!Number.isInteger(seed))
    throw new Error(`got BOXWRIGHT_SEED=${wanted}, expected "random" or an integer`);
  fc.configureGlobal({ seed });
}
