/** The calls by which the spool changes files. Tests put a disk that is full in their place. */
import {
  closeSync,
  constants,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  unlinkSync,
  writeSync,
} from "node:fs";

export interface Disk {
  /** Opens a file to read and write, and creates it. */
  create(path: string): number;
  /** Writes all bytes at a position. */
  write(file: number, bytes: Uint8Array, position: number): void;
  truncate(file: number, length: number): void;
  /** Forces what was written to the disk. */
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
  remove: (path) => unlinkSync(path),
};

/** Returns up to `length` bytes at a position: fewer at the end of the file. */
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

/** Forces a folder's list of files to the disk. */
export function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
