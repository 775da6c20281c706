/** Judges a new password by the number of guesses that find it. The estimator is zxcvbn. */
import type { ZxcvbnFactory } from "@zxcvbn-ts/core";

/**
 * Number of characters that the estimator reads. The estimator's time grows steeply: 40 characters took at most 27 ms,
 * 200 took 2.1 s. The first 40 characters also show if a password repeats itself.
 */
const LOOKED_AT = 40;
/**
 * Lowest accepted score: 10^8 guesses or more. The rate limit of the sign-in allows far fewer guesses, and each guess
 * against scrypt is costly.
 */
const LEAST_SCORE = 3;
/** Words about this service that people use in passwords. */
const OWN_WORDS = ["boxwright", "hub", "decoder", "device", "detection"];

const REASONS: Readonly<Record<string, string>> = {
  topHundred: "it is one of the most used passwords",
  topTen: "it is one of the most used passwords",
  common: "it is a much used password",
  similarToCommon: "it is a much used password with a small change",
  userInputs: "it is made of your email, the team or this service",
  simpleRepeat: "it repeats itself",
  extendedRepeat: "it repeats itself",
  sequences: "it is a sequence",
  dates: "it is a date",
  recentYears: "it is a year",
  straightRow: "its keys lie side by side",
  keyPattern: "its keys lie side by side",
};

let estimator: Promise<ZxcvbnFactory> | undefined;

/** Loads the estimator at its first use. The estimator takes 25 MB, which a hub without new passwords does not need. */
async function loadEstimator(): Promise<ZxcvbnFactory> {
  const [{ ZxcvbnFactory }, common] = await Promise.all([
    import("@zxcvbn-ts/core"),
    import("@zxcvbn-ts/language-common"),
  ]);
  return new ZxcvbnFactory({ dictionary: common.dictionary, graphs: common.adjacencyGraphs });
}

/**
 * Returns why a password is easy to guess, or undefined. `words` are texts about the person, such as email and team.
 */
export async function weaknessOf(password: string, words: readonly string[]): Promise<string | undefined> {
  const factory = await (estimator ??= loadEstimator());
  const personal = words.flatMap((word) => [word, ...word.split(/[^\p{L}\p{N}]+/u)]).filter((word) => word.length > 2);
  const { score, feedback } = factory.check(password.slice(0, LOOKED_AT), [...OWN_WORDS, ...personal]);
  if (score >= LEAST_SCORE) return undefined;
  return REASONS[feedback.warning ?? ""] ?? "it is easy to guess";
}
