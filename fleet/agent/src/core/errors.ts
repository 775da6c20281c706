/** The error of invalid settings. */

/** One problem of the settings. */
export interface Problem {
  /** Path of the field in the settings file, such as "sinks[0].url". */
  readonly path: string;
  readonly message: string;
}

/** Error about invalid settings. Lists all problems. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ path, message }) => `${path}: ${message}`).join("\n"));
    this.problems = problems;
  }
}

/**
 * Returns a text without the user and password of addresses. A password may contain "@" and "/". An address that was
 * resolved as a path has one slash.
 */
export function withoutSecrets(text: string): string {
  return text.replace(/(\w+:\/{1,2})\S*@/g, "$1***@");
}
