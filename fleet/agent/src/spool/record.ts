/** A record of a segment file: a header of 24 bytes, then the bytes of one packet. All values are little-endian. */
import { crc32 } from "node:zlib";

/** "BXS1" in ASCII. */
const MAGIC = 0x31535842;

/**
 * Number of bytes of a header: magic u32, length u32, index u64, CRC-32 of the packet u32, CRC-32 of the header so far
 * u32.
 */
export const HEADER_BYTES = 24;

/** The fields of a header that readers need. */
export interface RecordHeader {
  /** Byte length of the packet. */
  readonly length: number;
  /** Index of the packet: the number of packets that were spooled before. */
  readonly index: number;
  readonly crc: number;
}

/** Returns the header of a packet. */
export function writeHeader(packet: Uint8Array, index: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(MAGIC, 0);
  header.writeUInt32LE(packet.length, 4);
  header.writeBigUInt64LE(BigInt(index), 8);
  header.writeUInt32LE(crc32(packet), 16);
  header.writeUInt32LE(crc32(header.subarray(0, 20)), 20);
  return header;
}

/** Returns the fields of a header, or null if the bytes are not a valid header. */
export function readHeader(bytes: Buffer): RecordHeader | null {
  if (bytes.length < HEADER_BYTES || bytes.readUInt32LE(0) !== MAGIC) return null;
  if (bytes.readUInt32LE(20) !== crc32(bytes.subarray(0, 20))) return null;
  return {
    length: bytes.readUInt32LE(4),
    index: Number(bytes.readBigUInt64LE(8)),
    crc: bytes.readUInt32LE(16),
  };
}

/** True if a packet has the length and checksum that its header states. */
export const isWhole = (packet: Uint8Array, { length, crc }: RecordHeader): boolean =>
  packet.length === length && crc32(packet) === crc;
