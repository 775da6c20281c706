/**
 * Reads and writes files of the state folder. Writes are atomic: not even a power failure leaves a half-written file.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { codeOf } from "boxwright-service/errors";

/**
 * Makes a folder, and missing folders above it, for the user of this process alone. Flushes their names: otherwise, a
 * power failure could take away a folder with everything that was flushed into it.
 */
export function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  const end = dirname(resolve(first));
  for (let folder = resolve(path); folder !== end; folder = dirname(folder)) syncFolder(dirname(folder));
}

/** Replaces a file atomically, and flushes file and name to the disk. Only the user of this process can read it. */
export function replaceFile(path: string, content: string | Uint8Array): void {
  const next = `${path}.new`;
  writeFlushed(next, content);
  renameSync(next, path);
  syncFolder(dirname(path));
}

/** Writes a file, and flushes its content to the disk, but not its name. Only the user of this process can read it. */
export function writeFlushed(path: string, content: string | Uint8Array): void {
  const file = openSync(path, "w", 0o600);
  try {
    writeFileSync(file, content);
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
