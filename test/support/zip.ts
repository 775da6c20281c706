/** Zip archives, sound or not, written by hand. */
import { deflateRawSync } from "node:zlib";

/** Fields of an entry that contradict its data. */
export interface Lie {
  method?: number;
  size?: number;
  packed?: number;
  crc?: number;
  flags?: number;
  offset?: number;
}

/** Returns a zip archive. `lie` overrides fields of an entry. */
export function zip(
  entries: { name: string; data: Uint8Array; crc: number; lie?: Lie }[],
  end: { count?: number; start?: number; cut?: boolean } = {},
): Uint8Array {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, data, crc, lie = {} } of entries) {
    const method = lie.method ?? 8;
    const packed = method === 8 ? deflateRawSync(data) : Buffer.from(data);
    const local = Buffer.alloc(30 + name.length);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    local.write(name, 30);
    const entry = Buffer.alloc(46 + name.length);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(lie.flags ?? 0, 8);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(lie.crc ?? crc, 16);
    entry.writeUInt32LE(lie.packed ?? packed.length, 20);
    entry.writeUInt32LE(lie.size ?? data.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(lie.offset ?? at, 42);
    entry.write(name, 46);
    locals.push(local, packed);
    directory.push(entry);
    at += local.length + packed.length;
  }
  const list = Buffer.concat(directory);
  const tail = Buffer.alloc(22);
  tail.writeUInt32LE(0x06054b50, 0);
  tail.writeUInt16LE(end.count ?? entries.length, 8);
  tail.writeUInt16LE(end.count ?? entries.length, 10);
  tail.writeUInt32LE(list.length, 12);
  tail.writeUInt32LE(end.start ?? at, 16);
  return new Uint8Array(Buffer.concat([...locals, list, end.cut ? tail.subarray(0, 10) : tail]));
}
