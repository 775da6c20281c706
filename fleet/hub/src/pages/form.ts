/** Forms: where they may come from, and their fields. */
import { UserError, type UserStatus } from "../core/errors.ts";
import { BodyError, type BodyErrorKind, readText } from "boxwright-service/http/body";
import type { Exchange } from "boxwright-service/http/exchange";

/**
 * Bytes of a form. The largest one has two passwords of 200 characters and an email of 254. At 9 bytes a character,
 * percent-encoded, these are 6 KB. A form of 64 KiB took 10 ms to parse.
 */
export const MAX_FORM = 8 * 1024;

/** Bytes of the form of a version: a config of 128 KiB, percent-encoded. */
export const MAX_APPLICATION_FORM = 512 * 1024;

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;|$)/i;

export interface Form {
  /** Returns a field; a field that was not sent is empty. */
  (name: string): string;
  /** Returns every value of a field that may be sent several times. */
  all(name: string): string[];
}

const formOf = (fields: URLSearchParams): Form =>
  Object.assign((name: string) => fields.get(name) ?? "", { all: (name: string) => fields.getAll(name) });

export const emptyForm: Form = formOf(new URLSearchParams());

/** True if the hub's own page sent the form. Browsers name the origin of each POST. */
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

/** Reads a form. Call it as late as possible: a caller who may not send the form shall cause no parsing. */
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
