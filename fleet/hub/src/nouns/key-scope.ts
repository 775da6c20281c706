/**
 * Scopes of API keys. A full key has the rights of an administrator. Any other key has scopes. Each scope allows one
 * area of the API, except `read`, which allows reading all areas but the API keys. Fields outside all areas need a full
 * key.
 */
import { UserError } from "../core/errors.ts";

export const SCOPES = ["read", "devices", "applications", "snaps"] as const;
export type Scope = (typeof SCOPES)[number];

/** Area of the API. Most areas have a scope. Only full keys change `alerts`, and only full keys see `keys`. */
export type Area = Exclude<Scope, "read"> | "alerts" | "keys";

/** Scopes of a key; null for a full key. */
export type Scopes = readonly Scope[] | null;

/** Descriptions of the scopes for people. */
export const scopeTexts: Readonly<Record<Scope, string>> = {
  read: "Read everything but API keys",
  devices: "Read and change devices, groups and adopt keys",
  applications: "Read and change applications, model files and roll-outs",
  snaps: "Read, request and delete snaps",
};

const FULL = "full";

export function mayRead(scopes: Scopes, area: Area): boolean {
  return mayChange(scopes, area) || (area !== "keys" && scopes!.includes("read"));
}

export function mayChange(scopes: Scopes, area: Area): boolean {
  return scopes === null || scopes.some((scope) => scope === area);
}

/** Returns scopes as the database stores them. */
export const storedScopes = (scopes: Scopes): string => scopes?.join(" ") ?? FULL;

/** Parses scopes as the database stores them. Ignores unknown scopes, which a newer hub wrote. */
export const parseScopes = (text: string): Scopes =>
  text === FULL ? null : SCOPES.filter((scope) => text.split(" ").includes(scope));

/** Checks the scopes that a person chose, and sorts them. */
export function readScopes(given: readonly string[]): Scope[] {
  const unknown = given.find((scope) => !SCOPES.some((known) => known === scope));
  if (unknown !== undefined)
    throw new UserError(
      `scopes: got ${JSON.stringify(unknown.slice(0, 40))}, expected some of ${SCOPES.join(", ")}`,
      400,
      "Choose scopes of the list.",
    );
  if (given.length === 0)
    throw new UserError(
      `scopes: got none, expected some of ${SCOPES.join(", ")}`,
      400,
      "Choose at least one thing that the key may do.",
    );
  return SCOPES.filter((scope) => given.includes(scope));
}
