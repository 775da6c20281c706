/**
 * Table of all refusals for programs: code, status, sentence. The sentence says what was expected. The caller appends
 * what was received, unless it may be a credential.
 */
import type { BodyError, BodyErrorKind } from "boxwright-service/http/body";
import type { Metrics } from "../core/metrics.ts";
import { type AnswerHeaders, type Exchange, JSON_TYPE } from "boxwright-service/http/exchange";

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
  not_acceptable: [
    406,
    "got an Accept header that allows no answer of the hub, expected application/json or application/graphql-response+json",
  ],
  too_many_requests: [429, "got more requests than the limit allows, expected a pause as long as Retry-After says"],
  too_slow: [408, "got a body that is too slow"],
  too_many_bodies: [429, "got more bodies at once than there is room for, expected fewer or quicker ones"],
  unavailable: [
    503,
    "the database or the store of files cannot be used at the moment; expected to pass, see Retry-After",
  ],
  internal: [500, "internal error"],
  device_credential: [403, "got a key for /device/*, expected an API key of a team: a device never asks here"],
  invalid_credential: [401, "got a credential that is unknown or revoked, expected the one of an enrolled device"],
  invalid_adopt_key: [401, "got an adopt key that is unknown, expected one of a team"],
  adopt_key_spent: [403, "got an adopt key that enrols no device any more; make another one on the page of adopt keys"],
  not_returning: [
    403,
    "this device may not come back now: somebody has to let the devices of its team come back, after a restore",
  ],
  device_conflict: [409, "the device cannot be enrolled"],
  invalid_device_body: [400, "got a body that does not fit"],
  too_large: [413, "got more than a limit allows"],
  model_missing: [503, "a version names this model file, and the hub does not have it; somebody has to send it again"],
  wrong_hash: [422, "got bytes of another hash than their name, expected those of the hash; send them again"],
  unsupported_media: [415, "got a file that is no picture of the stated type, expected a JPEG, PNG or WebP"],
  snap_conflict: [409, "got another snap under the id of an earlier one, expected the same or a new id"],
  out_of_step: [409, "got bytes for another place of the file than its end"],
  invalid_upload: [400, "got an upload that does not fit"],
  missing_scope: [403, "got a key without a scope for this"],
  foreign_script: [403, "got a request that no page of this session sent, expected one of the hub's own pages"],
  viewer: [403, "got a change by a viewer, expected a member or an administrator of the team"],
  not_found: [404, "got a path that the hub does not serve"],
} as const satisfies Record<string, readonly [number, string]>;

export type RefusalCode = keyof typeof refusals;

/** Returns the body of a refusal in the form of a GraphQL error. */
export function refusalBody(code: RefusalCode, detail = "", more: object = {}): string {
  return JSON.stringify({ errors: [{ message: refusals[code][1] + detail, extensions: { code, ...more } }] });
}

/** Answers with a refusal. `more` holds fields for programs, beside the code. */
export function refuse(
  exchange: Exchange,
  code: RefusalCode,
  detail = "",
  headers: AnswerHeaders = {},
  more: object = {},
): void {
  exchange.send(refusals[code][0], JSON_TYPE, refusalBody(code, detail, more), headers);
}

/** Refusal code for each reason why a body was not read. */
const OF_BODIES = {
  encoded: "unsupported_encoding",
  "too large": "body_too_large",
  "not text": "invalid_encoding",
  slow: "too_slow",
  share: "too_many_bodies",
  full: "too_many_bodies",
} as const satisfies Record<Exclude<BodyErrorKind, "cut off">, RefusalCode>;

/** Refuses a request whose body was not read. Sends nothing if the sender closed the connection. */
export function refuseBody(exchange: Exchange, { kind, message }: BodyError): void {
  if (kind !== "cut off") refuse(exchange, OF_BODIES[kind], kind === "slow" ? `: ${message}` : "");
}

export function refuseMethod(exchange: Exchange, allow: string): void {
  const detail = `: got ${exchange.method}, expected ${allow.replaceAll(",", " or")}`;
  refuse(exchange, "method_not_allowed", detail, { allow });
}

/**
 * Explains why few requests used up the limit: a list of 5,000 devices and 5 fields costs 26 requests, which nobody
 * would guess.
 */
const WHY_KEY =
  "; a long answer counts as several requests, one more for every 1000 of its values: ask for pages with `first`, or for fewer fields";

/** Answers with a refusal for too many requests. `limit` names the reached limit in the metrics. */
export function refuseLimited(
  exchange: Exchange,
  metrics: Metrics,
  limit: "key" | "address" | "device",
  seconds: number,
): void {
  metrics.limited.inc({ limit });
  refuse(exchange, "too_many_requests", limit === "key" ? WHY_KEY : "", { "retry-after": String(seconds) });
}
