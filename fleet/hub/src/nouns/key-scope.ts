/**
 * Scopes of API keys. A full key may do what an administrator may. A key with scopes opens an area of the API for each
 * of them, and `read` lets it read all areas but the API keys. What belongs to no area needs a full key.
 */
import { UserError } from "../core/errors.ts";

export const SCOPES = ["read", "devices", "applications", "snaps"] as const;
export type Scope = (typeof SCOPES)[number];

/** Part of the API: that of a scope, alerts (changed by full keys alone), or API keys (seen by full keys alone). */
export type Area = Exclude<Scope, "read"> | "alerts" | "keys";

/** Null for a full key. */
export type Scopes = readonly Scope[] | null;

/** What each scope opens, for people. */
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

/** Returns the text that the database holds. */
export const storedScopes = (scopes: Scopes): string => scopes?.join(" ") ?? FULL;

/** Reads the text that the database holds. A scope of a newer hub opens nothing here. */
export const parseScopes = (text: string): Scopes =>
  text === FULL ? null : SCOPES.filter((scope) => text.split(" ").includes(scope));

/** Checks scopes that a person chose, and brings them into one order. */
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
