/**
 * Reads and writes files of the state folder. Writes are atomic: not even a power failure leaves a half-written file.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "boxwright-service/errors";

/** Replaces a file atomically, and flushes file and name to the disk. Only the user of this process can read it. */
export function replaceFile(path: string, text: string): void {
  const next = `${path}.new`;
  writeFlushed(next, text);
  renameSync(next, path);
  syncFolder(dirname(path));
}

/** Writes a file, and flushes its content to the disk, but not its name. Only the user of this process can read it. */
export function writeFlushed(path: string, text: string): void {
  const file = openSync(path, "w", 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Flushes the file names of a folder to the disk. Otherwise, a power failure could undo a renaming. */
export function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Returns the content of a file, or null if there is none. */
export function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}
