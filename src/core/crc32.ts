/** Returns the CRC-32 of gzip, zip and PNG. Browsers and Node before 20.15 have no such function. */
export function crc32(bytes: Uint8Array): number {
  // Build the table in each call, so that importing a bundle costs nothing. For files above 1 kB, building the table
  // takes less time than the checksum.
  const table = new Uint32Array(256).map((_, n) => {
    for (let k = 0; k < 8; k++) n = (n >>> 1) ^ (n & 1 ? 0xedb88320 : 0);
    return n;
  });
  let c = ~0;
  for (let i = 0; i < bytes.length; i++) c = (c >>> 8) ^ table[(c ^ bytes[i]) & 255];
  return ~c >>> 0;
}
