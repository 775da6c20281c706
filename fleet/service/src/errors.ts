/** Errors that are no fault of the program, and what they say. */

/** The operator has to change a command, a setting or the machine. The message says what to do. */
export class UserError extends Error {
  override readonly name: string = "UserError";
}

/** A database cannot be used now: away, locked, or its disk is full. What was asked may be asked again. */
export class UnavailableError extends Error {
  override readonly name: string = "UnavailableError";
}

/** Somebody refuses the settings of this service. Asking again does not help before an operator has changed them. */
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

/** Codes of certificates that no known authority has signed. */
const UNTRUSTED =
  /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_(GET_ISSUER_CERT(_LOCALLY)?|VERIFY_LEAF_SIGNATURE))$/;

/** Codes of certificates that are not valid now, by the clock of this machine. */
const UNTIMELY = /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/;

/**
 * Returns why a connection failed: the message of the error and of its cause, since `fetch` puts the reason there. Says
 * what to do about a certificate that this machine does not trust, or that is not valid by its clock.
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
