/** A zip archive with one stored file, as Ultralytics appends its metadata to a .tflite. */
import { crc32 } from "node:zlib";

export function storedZip(name, data) {
  const sizes = Buffer.alloc(12);
  sizes.writeUInt32LE(crc32(data), 0);
  sizes.writeUInt32LE(data.length, 4);
  sizes.writeUInt32LE(data.length, 8);
  const record = (signature, length) => {
    const bytes = Buffer.alloc(length);
    bytes.writeUInt32LE(signature, 0);
    return bytes;
  };
  const local = record(0x04034b50, 30);
  sizes.copy(local, 14);
  local.writeUInt16LE(name.length, 26);
  const entry = record(0x02014b50, 46);
  sizes.copy(entry, 16);
  entry.writeUInt16LE(name.length, 28);
  const end = record(0x06054b50, 22);
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(entry.length + name.length, 12);
  end.writeUInt32LE(local.length + name.length + data.length, 16);
  return Buffer.concat([local, Buffer.from(name), data, entry, Buffer.from(name), end]);
}
