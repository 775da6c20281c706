/** Returns messages and codes of errors, and defines the error of invalid settings. */

/** Returns the message of a thrown value, which need not be an Error. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Returns the code of an error of the operating system, such as "ENOSPC"; "" if there is none. */
export const codeOf = (error: unknown): string => (error as { code?: string } | null)?.code ?? "";

/** Codes of certificates that no known authority has signed. */
const UNTRUSTED =
  /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_(GET_ISSUER_CERT(_LOCALLY)?|VERIFY_LEAF_SIGNATURE))$/;

/**
 * Returns why a connection failed: the message of the error and of its cause, since `fetch` puts the reason there. Says
 * what to do about a certificate that this machine does not trust.
 */
export function connectionProblem(error: unknown): string {
  const { cause } = (error ?? {}) as { cause?: unknown };
  const text = cause === undefined ? messageOf(error) : `${messageOf(error)}: ${messageOf(cause)}`;
  const isUntrusted = [error, cause].some((one) => UNTRUSTED.test(codeOf(one)));
  return isUntrusted ? `${text}. Name the file of its authority in the variable NODE_EXTRA_CA_CERTS` : text;
}

/** One problem of the settings. */
export interface Problem {
  /** Path of the field in the settings file, such as "sinks[0].url". */
  readonly path: string;
  readonly message: string;
}

/** The error of invalid settings. Holds every problem that was found. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ path, message }) => `${path}: ${message}`).join("\n"));
    this.problems = problems;
  }
}

/** Returns an address without user and password, for logs. */
export function withoutSecrets(text: string): string {
  return text.replace(/(\w+:\/\/)[^@/\s]*@/g, "$1***@");
}
