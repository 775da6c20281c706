/** Reads forms, and checks which page sent them. */
import { UserError, type UserStatus } from "../core/errors.ts";
import { BodyError, type BodyErrorKind, readText } from "boxwright-service/http/body";
import type { Exchange } from "boxwright-service/http/exchange";

/**
 * Largest number of bytes in a form. The largest form has two passwords of 200 characters and an email of 254, which
 * take 6 KB at 9 percent-encoded bytes per character. Parsing a form of 64 KiB took 10 ms.
 */
export const MAX_FORM = 8 * 1024;

/** Largest number of bytes in the form of a version: a config of 128 KiB, percent-encoded. */
export const MAX_APPLICATION_FORM = 512 * 1024;

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;|$)/i;

export interface Form {
  /** Returns the value of a field, which is empty if the field was not sent. */
  (name: string): string;
  /** Returns all values of a field that may be sent several times. */
  all(name: string): string[];
}

const formOf = (fields: URLSearchParams): Form =>
  Object.assign((name: string) => fields.get(name) ?? "", { all: (name: string) => fields.getAll(name) });

export const emptyForm: Form = formOf(new URLSearchParams());

/** True if a page of the hub sent the form. Browsers send the origin with each POST. */
export function isOwnForm(exchange: Exchange, baseUrl: string): boolean {
  const site = exchange.header("sec-fetch-site");
  return exchange.header("origin") === baseUrl && (site === undefined || site === "same-origin");
}

export function isForm(exchange: Exchange): boolean {
  return FORM_TYPE.test(exchange.header("content-type") ?? "");
}

const PROBLEMS: Readonly<Partial<Record<BodyErrorKind, readonly [UserStatus, string, string]>>> = {
  "too large": [413, "got a form over its limit, expected less", "What you entered is too long. Shorten it."],
  encoded: [
    415,
    "got a compressed form, expected one without Content-Encoding",
    "The browser sent the form in a way that the hub does not read.",
  ],
  "not text": [
    400,
    "got a form that is not UTF-8, expected UTF-8",
    "The browser sent the form in a way that the hub does not read.",
  ],
};

/** Reads a form. Call this as late as possible, so that a sender without permission causes no parsing. */
export async function readForm(exchange: Exchange, max = MAX_FORM): Promise<Form> {
  try {
    return formOf(new URLSearchParams(await readText(exchange, { most: max })));
  } catch (error) {
    const problem = error instanceof BodyError ? PROBLEMS[error.kind] : undefined;
    if (problem === undefined) throw error;
    const [status, message, shown] = problem;
    throw new UserError(message, status, shown);
  }
}
