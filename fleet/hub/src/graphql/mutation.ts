/** Common parts of mutation results: `status` and `failedMessage`. */
import { UserError } from "../core/errors.ts";

/** Runs a change. An error that the caller can correct becomes a result with status FAILED. Other errors are thrown. */
export async function attempt(change: () => Promise<object>): Promise<object> {
  try {
    return { status: "SUCCESS", failedMessage: null, ...(await change()) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { status: "FAILED", failedMessage: error.message };
  }
}

/** Returns an argument, with undefined in place of null. */
export const given = <T>(value: T | null | undefined): T | undefined => value ?? undefined;

/** True if a text has a NUL character. No row holds such a text, and PostgreSQL refuses a query with NUL. */
export const isNoText = (...texts: readonly (string | null | undefined)[]): boolean =>
  texts.some((text) => text?.includes("\0") === true);
