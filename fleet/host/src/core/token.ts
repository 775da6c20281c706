/** Reads the token of a request. */

/**
 * Returns the token of an Authorization header: a Bearer token, or a Basic password, for which browsers ask the user.
 */
export function tokenOf(authorization: string | undefined): string | undefined {
  const [, scheme, value] = /^(bearer|basic) +([\w.~+/=-]+)$/i.exec(authorization ?? "") ?? [];
  if (scheme === undefined || value === undefined) return undefined;
  if (scheme.toLowerCase() === "bearer") return value;
  const pair = Buffer.from(value, "base64").toString("utf8");
  return pair.includes(":") ? pair.slice(pair.indexOf(":") + 1) : undefined;
}
