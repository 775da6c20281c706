/**
 * A number on disk that survives crashes: the position of a sink in the spool, or the progress in a video. The file has
 * two slots that are written alternately, so that a crash damages at most one. Overwriting a slot needs no free space,
 * so acknowledgements work on a full disk.
 */
import { closeSync } from "node:fs";
import { crc32 } from "node:zlib";
import { type Disk, readAt } from "./disk.ts";

/** Number of bytes of a slot: index u64, number of writes u64, CRC-32 u32, and padding. */
const PLACE_BYTES = 32;

export class Cursor {
  /** Index of the first unacknowledged packet, or of the first video frame that is not spooled. */
  index = 0;
  #writes = 0;
  readonly #file: number;
  readonly #disk: Disk;

  constructor(path: string, disk: Disk) {
    this.#disk = disk;
    this.#file = disk.create(path);
    const bytes = readAt(this.#file, 0, 2 * PLACE_BYTES);
    for (const at of [0, PLACE_BYTES]) {
      const place = bytes.subarray(at, at + PLACE_BYTES);
      if (place.length < PLACE_BYTES || crc32(place.subarray(0, 16)) !== place.readUInt32LE(16)) continue;
      const writes = Number(place.readBigUInt64LE(8));
      if (writes <= this.#writes) continue;
      this.#writes = writes;
      this.index = Number(place.readBigUInt64LE(0));
    }
    // Write both slots now, so that the file has its final size before the disk can be full.
    if (bytes.length < 2 * PLACE_BYTES) disk.write(this.#file, new Uint8Array(2 * PLACE_BYTES), 0);
  }

  /** Moves the cursor. */
  move(index: number): void {
    this.index = index;
    this.#writes++;
    const place = Buffer.alloc(PLACE_BYTES);
    place.writeBigUInt64LE(BigInt(index), 0);
    place.writeBigUInt64LE(BigInt(this.#writes), 8);
    place.writeUInt32LE(crc32(place.subarray(0, 16)), 16);
    try {
      this.#disk.write(this.#file, place, (this.#writes % 2) * PLACE_BYTES);
    } catch {
      // Ignore the error: with an outdated cursor, packets are merely sent again after a restart.
    }
  }

  sync(): void {
    this.#disk.sync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }
}
