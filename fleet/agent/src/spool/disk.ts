/** File operations of the spool. Tests replace these with a full or broken disk. */
import { constants, fdatasyncSync, ftruncateSync, openSync, readSync, rmSync, writeSync } from "node:fs";

export interface Disk {
  /** Opens a file for reading and writing. Creates the file if it is missing. */
  create(path: string): number;
  /** Writes all bytes at a position. */
  write(file: number, bytes: Uint8Array, position: number): void;
  truncate(file: number, length: number): void;
  /** Flushes written bytes to the disk (fsync). */
  sync(file: number): void;
  remove(path: string): void;
}

export const realDisk: Disk = {
  create: (path) => openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600),
  write(file, bytes, position) {
    let written = 0;
    while (written < bytes.length)
      written += writeSync(file, bytes, written, bytes.length - written, position + written);
  },
  truncate: (file, length) => ftruncateSync(file, length),
  sync: (file) => fdatasyncSync(file),
  // Ignore a file that another program has deleted.
  remove: (path) => rmSync(path, { force: true }),
};

/** Returns `length` bytes at a position, or fewer if the file ends earlier. */
export function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length);
  let count = 0;
  while (count < length) {
    const more = readSync(file, bytes, count, length - count, position + count);
    if (more === 0) break;
    count += more;
  }
  return bytes.subarray(0, count);
}
