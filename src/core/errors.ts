/**
 * The two errors of the package. Every message says what was got and what was expected.
 */

/** One thing wrong with a config: where it stands, and a sentence with got and expected. */
export interface ConfigProblem {
  /** Path inside the JSON, for instance `NN_specific_metadata.anchors`; empty for the whole document. */
  readonly path: string;
  /** `got …, expected …`. */
  readonly message: string;
}

/** The config cannot be used. Carries every problem at once, so that a file is mended in one go. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map((p) => (p.path === "" ? p.message : `${p.path}: ${p.message}`)).join("\n"));
    this.problems = problems;
  }
}

/** A tensor does not fit the config, or could be read in more than one way. */
export class TensorError extends Error {
  override readonly name = "TensorError";
}

/** What every message says. */
export const mismatch = (got: string, expected: string): string => `got ${got}, expected ${expected}`;

/** Refuses something, tensors unless another kind of error is named: where, what was got, and what was expected. */
export function refuse(
  where: string,
  got: string,
  expected: string,
  Kind: new (message: string) => Error = TensorError,
): never {
  throw new Kind((where && `${where}: `) + mismatch(got, expected));
}
