/** Reads tar headers: ustar, and the headers of GNU ("L") and pax ("x") for long names. */

/** Bytes of a header. File contents are padded to a multiple of this size. */
export const BLOCK = 512;

/** A file in a tar, as its header describes it. */
export interface TarHeader {
  readonly name: string;
  /** Bytes of the contents. */
  readonly size: number;
  /** Type letter of the header: "0" is a file, "L" and "x" contain the name of the next file. */
  readonly kind: string;
}

export function tarText(bytes: Uint8Array, at: number, length: number): string {
  const field = bytes.subarray(at, at + length);
  const end = field.indexOf(0);
  return new TextDecoder().decode(end < 0 ? field : field.subarray(0, end));
}

/** True if the checksum of the header is right: the sum of its bytes, with blanks in the checksum field. */
export function hasChecksum(header: Uint8Array): boolean {
  let sum = 8 * 32;
  for (let i = 0; i < BLOCK; i++) if (i < 148 || i >= 156) sum += header[i];
  return parseInt(tarText(header, 148, 8).trim(), 8) === sum;
}

/** Reads a header whose checksum has been checked. `refuse` throws an error about what was found and expected. */
export function readTarHeader(
  header: Uint8Array,
  refuse: (got: string, expected: string) => never,
): TarHeader {
  const digits = tarText(header, 124, 12).trim();
  // Refuse sizes in base 256, marked by the highest bit. GNU tar writes sizes from 8 GiB up in this form.
  if (header[124] & 0x80 || !/^[0-7]+$/.test(digits))
    refuse(`tar size ${JSON.stringify(digits)}`, "octal digits below 8 GiB");
  const prefix = tarText(header, 257, 5) === "ustar" ? tarText(header, 345, 155) : "";
  return {
    name: (prefix === "" ? "" : `${prefix}/`) + tarText(header, 0, 100),
    size: parseInt(digits, 8),
    kind: String.fromCharCode(header[156]),
  };
}

/** Returns the last path in the records `length key=value` of a pax header, or null. Skips records by `length`. */
export function paxPath(body: Uint8Array): string | null {
  let path: string | null = null;
  for (let at = 0; at < body.length;) {
    const length = parseInt(tarText(body, at, 20), 10);
    if (!(length > 0)) break;
    const record = new TextDecoder().decode(body.subarray(at, at + length));
    path = /^\d+ path=([^]*)\n$/.exec(record)?.[1] ?? path;
    at += length;
  }
  return path;
}
