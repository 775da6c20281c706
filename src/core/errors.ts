/** The two errors of the package. Every message says what was found and what was expected. */

/** Name of an option of `createDecoder` or of typed options. */
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

/** An option that would resolve an error. `value` is the value to set, if the error can state one. */
export interface OptionHint {
  readonly option: OptionName | "quantisation";
  readonly value?: string;
}

/** A hint, or only the name of the option. */
export type Hint = OptionHint | OptionHint["option"];

/** One fault of a config: the path, and a sentence that says what was found and what was expected. */
export interface ConfigProblem {
  /** Path inside the JSON, for instance `NN_specific_metadata.anchors`; empty for the whole document. */
  readonly path: string;
  /** `got …, expected …`. */
  readonly message: string;
  /** The missing option that would resolve the problem. */
  readonly option?: OptionName;
}

/** Returns "where: sentence", or the sentence alone if `where` is empty. */
const placed = (where: string, sentence: string): string => (where && `${where}: `) + sentence;

/** Thrown for a config that cannot be used. Lists all problems, so that one edit can correct the file. */
export class ConfigError extends Error {
  /** Name that Node prints. A minifier may rename the class itself. */
  static override readonly name = "ConfigError";
  override readonly name = "ConfigError";
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(({ path, message }) => placed(path, message)).join("\n"));
    this.problems = problems;
  }

  /** The options that would resolve the error. */
  get options(): readonly OptionHint[] {
    return this.problems.flatMap(({ option }) => (option === undefined ? [] : { option }));
  }
}

/** Thrown for a tensor that does not fit the config, or that fits the config in more than one way. */
export class TensorError extends Error {
  static override readonly name = "TensorError";
  override readonly name = "TensorError";
  /** The options that would resolve the error. `quantisation` means the scale and zero point of a tensor. */
  readonly options: readonly OptionHint[];

  constructor(
    message: string,
    { options = [], cause }: { readonly options?: readonly OptionHint[]; readonly cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.options = options;
  }
}

/** Returns the sentence that all messages have: "got ..., expected ...". */
export const mismatch = (got: string, expected: string): string => `got ${got}, expected ${expected}`;

/** Returns a fault of a config. */
export const problemOf = (
  path: string,
  got: string,
  expected: string,
  option?: OptionName,
): ConfigProblem => ({ path, message: mismatch(got, expected), ...(option && { option }) });

/** Throws a ConfigError about one fault, for instance about an option. */
export function refuseConfig(path: string, got: string, expected: string, option?: OptionName): never {
  throw new ConfigError([problemOf(path, got, expected, option)]);
}

/** Errors thrown by `refuse`. Any other RangeError is a bug of the JavaScript engine or of this package. */
const refused = new WeakSet<Error>();

/** True if the package itself threw the error, with a message for people. */
export const isRefusal = (e: unknown): boolean =>
  e instanceof ConfigError || e instanceof TensorError || (e instanceof Error && refused.has(e));

/** Throws an error that says where the fault is, what was found and what was expected. Default class: TensorError. */
export function refuse(
  where: string,
  got: string,
  expected: string,
  Kind: new (message: string) => Error = TensorError,
): never {
  const error = new Kind(placed(where, mismatch(got, expected)));
  refused.add(error);
  throw error;
}

/** Throws a RangeError about an argument of the caller, in the sentence of `refuse`. */
export function refuseValue(where: string, got: string, expected: string): never {
  refuse(where, got, expected, RangeError);
}

/** Returns the hints in the form that errors have in `options`. */
export const asOptions = (hints: readonly Hint[]): OptionHint[] =>
  hints.map((hint) => (typeof hint === "string" ? { option: hint } : hint));

/** Throws a TensorError with the options that would resolve the error. */
export function refuseFor(hints: readonly Hint[], where: string, got: string, expected: string): never {
  throw new TensorError(placed(where, mismatch(got, expected)), { options: asOptions(hints) });
}
