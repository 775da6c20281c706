/**
 * Roles in a team. Viewers see everything and change nothing. Members may change most things. Only administrators make
 * API keys, invite and remove members, and rename the team.
 */
import { UserError } from "../core/errors.ts";

export type Role = "admin" | "member" | "viewer";

/** Roles, from the one with the most rights to the one with the fewest. */
export const ROLES: readonly Role[] = ["admin", "member", "viewer"];

/** Names of roles for people. */
export const roleNames: Readonly<Record<Role, string>> = {
  admin: "Administrator",
  member: "Member",
  viewer: "Viewer",
};

/** True if the first role has fewer rights than the second. */
export const isLess = (role: Role, other: Role): boolean => ROLES.indexOf(role) > ROLES.indexOf(other);

export function parseRole(text: string): Role {
  const role = ROLES.find((known) => known === text);
  if (role !== undefined) return role;
  throw new UserError(
    `role: got ${JSON.stringify(text)}, expected ${ROLES.join(", ")}`,
    400,
    "Choose a role: viewer, member or administrator.",
  );
}
