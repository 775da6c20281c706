/**
 * Every refusal of the hub in one table: code -> status and sentence. A sentence says what was expected; where what was
 * got may be repeated (never a credential), the caller appends it.
 */
export const refusals = {
  browser_request: [
    403,
    "got a request sent by a web page (it carries Origin or Sec-Fetch-Site), expected one from a server: an API key never belongs in a browser",
  ],
  method_not_allowed: [405, "wrong method"],
  invalid_request: [400, "expected one `Authorization: Bearer <API_KEY>`"],
  no_credentials: [401, "got no credentials, expected `Authorization: Bearer <API_KEY>`"],
  invalid_token: [401, "got a key that is unknown or revoked, expected a valid API key"],
  body_too_large: [413, "got a body over the limit, expected at most 65536 bytes"],
  unsupported_encoding: [415, "got a compressed body, expected no Content-Encoding"],
  unsupported_type: [415, "expected Content-Type: application/json (charset utf-8)"],
  invalid_encoding: [400, "got bytes that are not UTF-8, expected JSON in UTF-8"],
  invalid_body: [400, "got a body that is no GraphQL request"],
  not_acceptable: [406, "got an Accept header that allows no answer of the hub, expected application/json or application/graphql-response+json"],
  too_many_requests: [429, "got more requests than the limit allows, expected a pause as long as Retry-After says"],
  unavailable: [503, "the database cannot be reached at the moment; expected to pass, see Retry-After"],
  internal: [500, "internal error"],
  not_found: [404, "got a path that the hub does not serve"],
} as const satisfies Record<string, readonly [number, string]>;

export type RefusalCode = keyof typeof refusals;

/** The body that goes with the status, in the form of GraphQL's errors. */
export function refusalBody(code: RefusalCode, detail = ""): string {
  return JSON.stringify({ errors: [{ message: refusals[code][1] + detail, extensions: { code } }] });
}

/** What the operator or a member asked for cannot be done; the message may be shown to them as it is. */
export class UserError extends Error {
  override readonly name = "UserError";
  /** The HTTP status for a page that meets it. */
  readonly status: 400 | 403 | 404 | 409 | 429 | 503;

  constructor(message: string, status: 400 | 403 | 404 | 409 | 429 | 503 = 400) {
    super(message);
    this.status = status;
  }
}

/** The database could not be reached or did not answer: nothing is wrong with the request, and it may be repeated. */
export class UnavailableError extends Error {
  override readonly name = "UnavailableError";
}
