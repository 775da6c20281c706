/** Makes ids: the device's own id, ULIDs for starts of the agent, and hashes for frames, messages and file names. */
import { createHash, randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { codeOf } from "boxwright-service/errors";
import { makeFolder, syncFolder, writeFlushed } from "./files.ts";

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

/**
 * Returns the SHA-256 of texts or bytes in hexadecimal digits. Hash every text from outside before using it as a file
 * name.
 */
export function sha256(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

/** Returns the message id by which a broker recognises a packet that is sent twice. */
export const messageId = (source: string, id: string): string => sha256(`${source}\n${id}`);

/** Returns the name of this device: host name and device id, since several machines may have the same host name. */
export const deviceName = (folder: string): string => `/devices/${hostname()}-${ownId(folder)}`;

/** Returns the id of this device. The first call makes the id and writes it to the file `device` of the folder. */
export function ownId(folder: string): string {
  const path = join(folder, "device");
  const read = (): string => readFileSync(path, "utf8").trim();
  try {
    const id = read();
    if (/^[\da-f]{12}$/.test(id)) return id;
    rmSync(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
  makeFolder(folder);
  // Create the file as a hard link: linking is atomic, and fails if another agent was faster. Both agents then use the
  // same id.
  const own = `${path}.${process.pid}`;
  writeFlushed(own, `${randomBytes(6).toString("hex")}\n`);
  try {
    linkSync(own, path);
    // Without its name, the next start would make another device.
    syncFolder(folder);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    rmSync(own, { force: true });
  }
  return read();
}
