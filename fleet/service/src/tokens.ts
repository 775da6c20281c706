/** Compares tokens in constant time. */
import { createHash, timingSafeEqual } from "node:crypto";

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/**
 * Returns a function that checks a text against one token. The function compares hashes, so that its duration reveals
 * neither content nor length.
 */
export function tokenCheck(token: string): (given: string) => boolean {
  const expected = digest(token);
  return (given) => timingSafeEqual(digest(given), expected);
}

export const sameText = (a: string, b: string): boolean => tokenCheck(a)(b);
