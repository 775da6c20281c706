/** Makes ids: ULIDs for starts of the agent, hashes for frames, messages and file names. */
import { createHash, randomBytes } from "node:crypto";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/**
 * Returns a ULID: 10 characters of time, 16 random ones. Later ULIDs sort after earlier ones.
 * @param now milliseconds since 1970
 */
export function ulid(now: number = Date.now()): string {
  let text = "";
  for (let rest = now, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) text = ALPHABET[rest % 32]! + text;
  for (const byte of randomBytes(16)) text += ALPHABET[byte % 32]!;
  return text;
}

/** Returns the SHA-256 of texts or bytes in hexadecimal digits. Hash every text from outside before it names a file. */
export function sha256(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

/** Returns the message id by which a broker recognises a packet that is sent twice. */
export const messageId = (source: string, id: string): string => sha256(`${source}\n${id}`);
