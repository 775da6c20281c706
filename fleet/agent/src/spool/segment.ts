/** A segment: one file of the spool with consecutive records. Only the last segment grows. */
import { closeSync, fstatSync, openSync } from "node:fs";
import { join } from "node:path";
import { type Disk, readAt } from "./disk.ts";
import { HEADER_BYTES, type RecordHeader, isWhole, readHeader, writeHeader } from "./record.ts";

/** A packet that was read from the spool. */
export interface Spooled {
  readonly index: number;
  readonly bytes: Uint8Array;
}

/** A record that was read from a segment. */
export interface SpoolRecord {
  readonly index: number;
  /** Bytes of the packet; null if header or packet are damaged. */
  readonly bytes: Uint8Array | null;
  /** Byte position after the record. */
  readonly end: number;
}

/** Returns the file name of the segment whose first packet has this index. */
export const segmentName = (first: number): string => `${String(first).padStart(16, "0")}.seg`;

export class Segment {
  /** Index of the first packet. */
  readonly first: number;
  readonly path: string;
  /** Index after the last packet. */
  next: number;
  /** Number of bytes of all complete records. */
  bytes = 0;
  readonly #disk: Disk;
  readonly #file: number;

  private constructor(folder: string, first: number, file: number, disk: Disk) {
    this.first = first;
    this.next = first;
    this.path = join(folder, segmentName(first));
    this.#file = file;
    this.#disk = disk;
  }

  static create(folder: string, first: number, disk: Disk): Segment {
    return new Segment(folder, first, disk.create(join(folder, segmentName(first))), disk);
  }

  /**
   * Opens an existing file. Reads its headers up to the first invalid one.
   * @param isLast true for the last segment, whose last record may be half-written and is then cut off
   * @returns the segment, and the number of bytes after its last complete record
   */
  static open(folder: string, first: number, isLast: boolean, disk: Disk): { segment: Segment; rest: number } {
    const file = openSync(join(folder, segmentName(first)), "r+");
    const segment = new Segment(folder, first, file, disk);
    const size = fstatSync(file).size;
    for (;;) {
      const header = readHeader(readAt(file, segment.bytes, HEADER_BYTES));
      if (!header || header.index !== segment.next) break;
      const end = segment.bytes + HEADER_BYTES + header.length;
      if (end > size || (isLast && !segment.#holds(segment.bytes, header))) break;
      segment.bytes = end;
      segment.next++;
    }
    const rest = size - segment.bytes;
    if (isLast && rest > 0) disk.truncate(file, segment.bytes);
    return { segment, rest };
  }

  #holds(at: number, header: RecordHeader): boolean {
    return isWhole(readAt(this.#file, at + HEADER_BYTES, header.length), header);
  }

  /**
   * Appends a packet.
   * @throws the error of the disk; the segment is then unchanged
   */
  append(packet: Uint8Array): void {
    try {
      this.#disk.write(this.#file, writeHeader(packet, this.next), this.bytes);
      this.#disk.write(this.#file, packet, this.bytes + HEADER_BYTES);
    } catch (error) {
      // Remove a half-written record at once, to free its bytes.
      this.#disk.truncate(this.#file, this.bytes);
      throw error;
    }
    this.bytes += HEADER_BYTES + packet.length;
    this.next++;
  }

  /** Reads the record at a position. If its header is damaged, the record extends to the end of the file. */
  read(at: number): SpoolRecord {
    const header = readHeader(readAt(this.#file, at, HEADER_BYTES));
    if (!header) return { index: this.next - 1, bytes: null, end: this.bytes };
    const bytes = readAt(this.#file, at + HEADER_BYTES, header.length);
    const end = at + HEADER_BYTES + header.length;
    return { index: header.index, bytes: isWhole(bytes, header) ? bytes : null, end };
  }

  /** Returns the byte position of a packet. */
  positionOf(index: number): number {
    let at = 0;
    for (let i = this.first; i < index && at < this.bytes; i++) {
      const header = readHeader(readAt(this.#file, at, HEADER_BYTES));
      if (!header) return this.bytes;
      at += HEADER_BYTES + header.length;
    }
    return at;
  }

  sync(): void {
    this.#disk.sync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }

  remove(): void {
    this.close();
    this.#disk.remove(this.path);
  }
}
