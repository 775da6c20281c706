/** CRC-32 with the polynomial of gzip, zip and PNG. `node:zlib` has one only since Node 20.15, and pages have none. */
export function crc32(bytes: Uint8Array): number {
  // Build the table for each call, so that importing a bundle does not pay for it. Files above 1 kB outweigh its cost.
  const table = new Uint32Array(256).map((_, n) => {
    for (let k = 0; k < 8; k++) n = (n >>> 1) ^ (n & 1 ? 0xedb88320 : 0);
    return n;
  });
  let c = ~0;
  for (let i = 0; i < bytes.length; i++) c = (c >>> 8) ^ table[(c ^ bytes[i]) & 255];
  return ~c >>> 0;
}
