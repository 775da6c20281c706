/** Makes identifiers, and secrets other than API keys. */
import { createHash, createHmac, randomBytes } from "node:crypto";

let lastTime = 0;
let lastCount = 0;

/**
 * Makes a UUID of version 7. Ids sort by age. A counter in the 12 bits after the milliseconds orders the ids of one
 * process, so that devices of an imported file keep their order.
 */
export function newId(now: number = Date.now()): string {
  if (now > lastTime) {
    lastTime = now;
    lastCount = 0;
  } else if (++lastCount > 0xfff) {
    lastTime++;
    lastCount = 0;
  }
  const bytes = randomBytes(16);
  bytes.writeUIntBE(lastTime, 0, 6);
  bytes.writeUInt16BE(0x7000 | lastCount, 6);
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Makes 32 random bytes for a session cookie or a one-time link. Only `sha256(token)` is stored. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Makes a signature (HMAC) over `purpose`, which only a holder of `secret` can make. */
export function seal(secret: string, purpose: string): string {
  return createHmac("sha256", secret).update(purpose).digest("base64url");
}
