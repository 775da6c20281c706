/** Makes parts of topics and subjects from names that devices and people chose. */
import { createHash } from "node:crypto";

/** Returns a short hash of a text. The hash keeps names apart that become equal when characters are replaced. */
export const shortHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 12);

/**
 * Returns a name as one level of a broker's subject or topic. Adds a hash if forbidden characters were replaced, so
 * that different names stay different.
 */
export const levelOf = (name: string): string =>
  /^[\w-]{1,64}$/.test(name) ? name : `${name.replace(/[^\w-]+/g, "_").slice(0, 48)}-${shortHash(name)}`;
