/**
 * How far a sink has come, on disk. Two places take turns, so that one is whole whenever the process or the machine
 * ends. Both are written in place: a full disk does not stop acknowledgements.
 */
import { closeSync } from "node:fs";
import { crc32 } from "node:zlib";
import { type Disk, readAt } from "./disk.ts";

/** index u64, count of writes u64, CRC-32 u32, and room. */
const PLACE_BYTES = 32;

export class Cursor {
  /** Index of the first packet that is not acknowledged. */
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
    // Take the room for both places now, while there is some.
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
      // A cursor that lags costs packets that are sent twice after a restart. A process that ends costs more.
    }
  }

  sync(): void {
    this.#disk.sync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }
}
