/** The two errors of the package. Every message says what was found and what was expected. */

/** Names an option of `createDecoder` or of typed options. */
export type OptionName =
  | "family"
  | "classes"
  | "labels"
  | "inputSize"
  | "anchors"
  | "anchorMasks"
  | "strides"
  | "scaleXY"
  | "scores"
  | "reading"
  | "boxFormat"
  | "coordinates"
  | "background"
  | "priors"
  | "priorFormat"
  | "prepare"
  | "variances"
  | "scales"
  | "roles"
  | "rules"
  | "confidenceThreshold"
  | "iouThreshold"
  | "keep"
  | "maxDetections"
  | "suppression"
  | "outputs"
  | "task"
  | "keypoints"
  | "keypointNames"
  | "edges"
  | "keypointScores"
  | "keypointCoordinates"
  | "keypointRefinement"
  | "keypointScale"
  | "maskCoefficients"
  | "orientedSuppression"
  | "angleRange"
  | "angleForm"
  | "cellGroups"
  | "textRule"
  | "maskThreshold"
  | "unclipRatio";

/** An option that would settle an error. Has the value to give if the error knows it. */
export interface OptionHint {
  readonly option: OptionName | "quantisation";
  readonly value?: string;
}

/** One thing wrong with a config: where it stands, and a sentence that says what was found and what was expected. */
export interface ConfigProblem {
  /** Path inside the JSON, for instance `NN_specific_metadata.anchors`; empty for the whole document. */
  readonly path: string;
  /** `got …, expected …`. */
  readonly message: string;
  /** An option that is missing. */
  readonly option?: OptionName;
}

/** The config cannot be used. Carries every problem at once, so that one edit mends the file. */
export class ConfigError extends Error {
  /** Name of the class in what Node prints. Minifiers rename the class itself. */
  static override readonly name = "ConfigError";
  override readonly name = "ConfigError";
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("\n"));
    this.problems = problems;
  }

  /** The options that would settle the error. */
  get options(): readonly OptionHint[] {
    return this.problems.flatMap(({ option }) => (option === undefined ? [] : { option }));
  }
}

/** A tensor does not fit the config, or could be read in more than one way. */
export class TensorError extends Error {
  static override readonly name = "TensorError";
  override readonly name = "TensorError";
  /** The options that would settle the error. `quantisation` is the scale and zero point of a tensor. */
  readonly options: readonly OptionHint[];

  constructor(
    message: string,
    { options = [], cause }: { readonly options?: readonly OptionHint[]; readonly cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.options = options;
  }
}

/** Returns the sentence that messages are made of: "got ..., expected ...". */
export const mismatch = (got: string, expected: string): string => `got ${got}, expected ${expected}`;

/** Errors that `refuse` threw. Other RangeErrors are bugs of the JavaScript engine or of this package. */
const refused = new WeakSet<Error>();

/** True if the error is a refusal of the package, made for people to read. */
export const isRefusal = (e: unknown): boolean =>
  e instanceof ConfigError || e instanceof TensorError || (e instanceof Error && refused.has(e));

/**
 * Throws an error that says where, what was found and what was expected; a TensorError unless another kind is named.
 */
export function refuse(
  where: string,
  got: string,
  expected: string,
  Kind: new (message: string) => Error = TensorError,
): never {
  const error = new Kind((where && `${where}: `) + mismatch(got, expected));
  refused.add(error);
  throw error;
}

/** Throws a TensorError that names the options which would settle it. */
export function refuseFor(
  options: readonly OptionHint[],
  where: string,
  got: string,
  expected: string,
): never {
  throw new TensorError((where && `${where}: `) + mismatch(got, expected), { options });
}
