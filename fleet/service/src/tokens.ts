/** Compares tokens in constant time. */
import { createHash, timingSafeEqual } from "node:crypto";

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Returns a check of one token. Hashes are compared, so neither content nor length shows in the time. */
export function tokenCheck(token: string): (given: string) => boolean {
  const expected = digest(token);
  return (given) => timingSafeEqual(digest(given), expected);
}

export const sameText = (a: string, b: string): boolean => tokenCheck(a)(b);
