/** Roles in a team. Members see and edit devices. Administrators also make keys, invite, remove and rename. */
import { UserError } from "../core/errors.ts";

export type Role = "admin" | "member";

export function parseRole(text: string): Role {
  if (text !== "admin" && text !== "member")
    throw new UserError(
      `role: got ${JSON.stringify(text)}, expected admin or member`,
      400,
      "Choose a role: member or administrator.",
    );
  return text;
}
