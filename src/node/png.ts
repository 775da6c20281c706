/** Encodes PNG files: of grey values, and of the pixels of an image for a detector. */
import { deflateSync } from "node:zlib";
import { crc32 } from "../core/crc32.ts";
import type { ImageInput } from "../decode/prepare.ts";
import { DrawError } from "../picture/drawn.ts";
import { checkImage } from "../picture/prepare/rule.ts";

/** Largest grey value with 8 bits. Larger values need 16 bits. */
const MOST_GREY = 255;

/** Returns a PNG of grey pixels, with 8 bits if all values fit, else 16. */
export function greyPng(width: number, height: number, values: ArrayLike<number>): Uint8Array {
  let most = 0;
  for (let i = 0; i < values.length; i++) most = Math.max(most, values[i]);
  const bytes = most > MOST_GREY ? 2 : 1;
  const lines = Buffer.alloc(width * bytes * height);
  for (let i = 0; i < width * height; i++) lines.writeUIntBE(values[i], i * bytes, bytes);
  return pngOf(width, height, { bits: 8 * bytes, colourType: 0 }, lines);
}

/** Colour type of a PNG and bytes per pixel, by pixel format. */
const COLOURS = {
  gray: { colourType: 0, bytes: 1 },
  rgb: { colourType: 2, bytes: 3 },
  bgr: { colourType: 2, bytes: 3 },
  rgba: { colourType: 6, bytes: 4 },
  bgra: { colourType: 6, bytes: 4 },
} as const;

/** Returns a PNG of an image. Throws a RangeError for wrong pixels, and a DrawError for camera formats in planes. */
export function pixelsPng(image: ImageInput): Uint8Array {
  const { data, width, height, format, stride } = checkImage(image);
  if (!Object.hasOwn(COLOURS, format))
    throw new DrawError(
      `photo: got pixels of format "${format}", expected "rgba", "bgra", "rgb", "bgr" or "gray"`,
    );
  const { colourType, bytes } = COLOURS[format as keyof typeof COLOURS];
  const row = width * bytes;
  const lines = new Uint8Array(row * height);
  for (let y = 0; y < height; y++) lines.set(data.subarray(y * stride, y * stride + row), y * row);
  if (format.startsWith("bgr"))
    for (let i = 0; i < lines.length; i += bytes) [lines[i], lines[i + 2]] = [lines[i + 2], lines[i]];
  return pngOf(width, height, { bits: 8, colourType }, lines);
}

function pngOf(
  width: number,
  height: number,
  { bits, colourType }: { readonly bits: number; readonly colourType: number },
  pixels: Uint8Array,
): Uint8Array {
  const row = pixels.length / height;
  // Each line begins with the number of its PNG filter: 0 stands for no filter.
  const lines = new Uint8Array((row + 1) * height);
  for (let y = 0; y < height; y++) lines.set(pixels.subarray(y * row, (y + 1) * row), y * (row + 1) + 1);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([bits, colourType], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(lines)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(name: string, content: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(name, "latin1"), content]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(content.length, 0);
  whole.set(body, 4);
  whole.writeUInt32BE(crc32(body) >>> 0, body.length + 4);
  return whole;
}
