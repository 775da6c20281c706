/** Who asks: from the Authorization header alone. Pure; whether a token is a key of ours is asked later. */
export type Credentials = { readonly kind: "none" } | { readonly kind: "malformed" } | { readonly kind: "bearer"; readonly token: string };

/** RFC 6750: the scheme in any case, then one token of these characters. */
const BEARER = /^bearer +([0-9A-Za-z._~+/-]+=*)$/i;

/**
 * `values` holds every Authorization header that was sent: Node's `headers` keeps the first and drops the rest without
 * a word, and a proxy in front may have judged another one.
 */
export function readCredentials(values: readonly string[] | undefined): Credentials {
  if (values === undefined || values.length === 0) return { kind: "none" };
  const token = values.length === 1 ? BEARER.exec(values[0]!)?.[1] : undefined;
  return token === undefined ? { kind: "malformed" } : { kind: "bearer", token };
}
