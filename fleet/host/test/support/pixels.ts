/** Pictures of known pixels. */
import { deflateSync } from "node:zlib";
import { crc32 } from "./crc.ts";

/** Returns a grey PNG of a size. */
export const greyPng = (width: number, height: number, grey = 128): Uint8Array =>
  png(width, height, 0, Buffer.alloc(width * height, grey));

/** Returns a PNG of pixels of three bytes: red, green, blue. */
export const colourPng = (width: number, height: number, pixels: Uint8Array): Uint8Array =>
  png(width, height, 2, pixels);

/** @param colour colour type of the format: 0 is grey, 2 is RGB */
function png(width: number, height: number, colour: 0 | 2, pixels: Uint8Array): Uint8Array {
  const row = pixels.length / height;
  const lines = Buffer.alloc((row + 1) * height);
  for (let y = 0; y < height; y++) lines.set(pixels.subarray(y * row, (y + 1) * row), y * (row + 1) + 1);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, colour, 0, 0, 0], 8);
  const parts = [
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(lines)),
    chunk("IEND", Buffer.alloc(0)),
  ];
  return new Uint8Array(Buffer.concat(parts));
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
