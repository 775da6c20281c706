/** Errors that are not bugs, and the messages for them. */

/** Error: the operator must change a command, a setting or the machine. The message says what to do. */
export class UserError extends Error {
  override readonly name: string = "UserError";
}

/** Error: a database is unusable now, since it is unreachable, locked, or on a full disk. A later try may succeed. */
export class UnavailableError extends Error {
  override readonly name: string = "UnavailableError";
}

/** Error: another service refuses the settings. Retrying does not help until an operator changes something. */
export class RefusedError extends UnavailableError {
  override readonly name = "RefusedError";
}

/** Returns the message of a thrown value, which need not be an Error. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Returns the code of an error of the system or a database, such as "ENOSPC"; "" if there is none. */
export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : "";
}

/** Error codes of certificates that no known authority signed. */
const UNTRUSTED =
  /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_(GET_ISSUER_CERT(_LOCALLY)?|VERIFY_LEAF_SIGNATURE))$/;

/** Error codes of certificates that are expired or not valid yet, by this machine's clock. */
const UNTIMELY = /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/;

/**
 * Returns why a connection failed: the messages of the error and of its cause, where `fetch` puts the reason. For an
 * untrusted or expired certificate, adds advice.
 */
export function connectionProblem(error: unknown): string {
  const { cause } = (error ?? {}) as { cause?: unknown };
  const text = cause === undefined ? messageOf(error) : `${messageOf(error)}: ${messageOf(cause)}`;
  const codes = [codeOf(error), codeOf(cause)];
  if (codes.some((code) => UNTRUSTED.test(code)))
    return `${text}. Name the file of its authority in the variable NODE_EXTRA_CA_CERTS`;
  if (codes.some((code) => UNTIMELY.test(code)))
    return `${text}. Set the clock of this machine, if it is wrong, or renew the certificate`;
  return text;
}
