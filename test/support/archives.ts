/** Writes small zips and tars. */
import { deflateRawSync } from "node:zlib";
import { crc32 } from "../../src/core/crc32.ts";

export interface ZipFile {
  readonly name: string;
  readonly text: string;
  /** Default: deflated, as Python's zipfile does for Ultralytics. */
  readonly stored?: boolean;
}

/**
 * Returns `before` with a zip behind it. Addresses in the zip count from its own start, or with `isAppended` from
 * that of `before`, as Python's zipfile writes them.
 */
export function withZip(
  before: Uint8Array,
  files: readonly ZipFile[],
  isAppended = true,
): Uint8Array<ArrayBuffer> {
  const shift = isAppended ? before.length : 0;
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, text, stored = false } of files) {
    const data = Buffer.from(text);
    const packed = stored ? data : deflateRawSync(data);
    // Version 20, no flags, method, time, date, checksum, sizes, length of the name, no extra field.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(stored ? 0 : 8, 4);
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(shift + at, 10);
    directory.push(
      Buffer.concat([Buffer.from("PK\x01\x02\x14\x00", "latin1"), common, rest, Buffer.from(name)]),
    );
    parts.push(local);
    at += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(shift + at, 16);
  return Uint8Array.from(Buffer.concat([before, ...parts, list, end]));
}

export interface TarFile {
  readonly name: string;
  readonly data: string | Uint8Array;
  /** Default "0", a file. */
  readonly kind?: string;
}

/** Returns an ustar archive. */
export function tar(files: readonly TarFile[]): Uint8Array<ArrayBuffer> {
  const parts = files.flatMap(({ name, data, kind = "0" }) => {
    const body = Buffer.from(data);
    const header = Buffer.alloc(512);
    header.write(name.slice(0, 100), 0);
    header.write(body.length.toString(8).padStart(11, "0"), 124);
    header.write(" ".repeat(8), 148);
    header.write(kind, 156);
    header.write("ustar\x0000", 257);
    const sum = header.reduce((a, b) => a + b, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return [header, body, Buffer.alloc((512 - (body.length % 512)) % 512)];
  });
  return Uint8Array.from(Buffer.concat([...parts, Buffer.alloc(1024)]));
}
