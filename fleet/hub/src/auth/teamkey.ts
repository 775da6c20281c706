/** Checks the Authorization header of a program: is the token a team's API key, and is the key valid? */
import { hashKey, readKey, sameHash } from "../core/key.ts";
import type { Queries } from "boxwright-service/database";
import { holds, lookUpKey, type KeyRow } from "../nouns/apikey.ts";

export type Credentials =
  | { readonly kind: "none" }
  /** `why` repeats nothing from the header, which may hold a key in the wrong place. */
  | { readonly kind: "malformed"; readonly why: string }
  | { readonly kind: "bearer"; readonly token: string };

/** RFC 6750: the scheme in upper or lower case, then one token of these characters. */
const BEARER = /^bearer +([0-9A-Za-z._~+/-]+=*)$/i;

/**
 * Reads all Authorization headers of a request. Refuses two headers: a proxy may have checked the one that the hub
 * ignores.
 */
export function readCredentials(values: readonly string[]): Credentials {
  const [value] = values;
  if (value === undefined) return { kind: "none" };
  const malformed = (why: string): Credentials => ({ kind: "malformed", why });
  if (values.length > 1) return malformed(`${values.length} Authorization headers`);
  const token = BEARER.exec(value)?.[1];
  if (token !== undefined) return { kind: "bearer", token };
  // The command in the docs sends no token if the shell variable for the key is unset.
  if (/^(bearer)?\s*$/i.test(value))
    return malformed("an Authorization header without a token (is the variable set that holds the key?)");
  if (/^bearer\s/i.test(value)) return malformed("an Authorization header whose token has characters that no key has");
  return malformed("an Authorization header of another scheme than Bearer");
}

export type Judged =
  /** `no_key`: the prefix or checksum of the token is wrong, and the database was not queried. */
  | { readonly result: "no_key" | "unknown" | "revoked" | "expired" }
  | { readonly result: "ok"; readonly id: string; readonly row: KeyRow };

/**
 * Looks the key up in the database every time, so that a revoked or expired key is refused from the next request on.
 */
export async function judgeKey(db: Queries, token: string, now: number): Promise<Judged> {
  const id = readKey(token);
  if (id === undefined) return { result: "no_key" };
  const row = await lookUpKey(db, id);
  // Always compare, so that the answer to an unknown id takes as long as the answer to a wrong secret.
  const same = sameHash(hashKey(token), row?.hash ?? "0".repeat(64));
  if (row === undefined || !same) return { result: "unknown" };
  if (holds(row, now)) return { result: "ok", id, row };
  return { result: row.revoked_at === null ? "expired" : "revoked" };
}
