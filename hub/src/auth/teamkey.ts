/** Who asks: from the Authorization header alone. Pure; whether a token is a key of ours is asked later. */
export type Credentials =
  | { readonly kind: "none" }
  /** `why` repeats nothing of what was sent: it may be a key in the wrong place. */
  | { readonly kind: "malformed"; readonly why: string }
  | { readonly kind: "bearer"; readonly token: string };

/** RFC 6750: the scheme in any case, then one token of these characters. */
const BEARER = /^bearer +([0-9A-Za-z._~+/-]+=*)$/i;

/**
 * `values` holds every Authorization header that was sent: Node's `headers` keeps the first and drops the rest without
 * a word, and a proxy in front may have judged another one.
 */
export function readCredentials(values: readonly string[] | undefined): Credentials {
  if (values === undefined || values.length === 0) return { kind: "none" };
  const malformed = (why: string): Credentials => ({ kind: "malformed", why });
  const [value = ""] = values;
  if (values.length > 1) return malformed(`${values.length} Authorization headers`);
  const token = BEARER.exec(value)?.[1];
  if (token !== undefined) return { kind: "bearer", token };
  // What an unset variable leaves of the documented line.
  if (/^(bearer)?\s*$/i.test(value)) return malformed("an Authorization header without a token (is the variable set that holds the key?)");
  if (/^bearer\s/i.test(value)) return malformed("an Authorization header whose token has characters that no key has");
  return malformed("an Authorization header of another scheme than Bearer");
}
