/** Photos written by hand, and what a drawing shows. */
import { deflateSync, inflateSync } from "node:zlib";
import type { Drawn } from "../../src/picture/drawn.ts";
import { imageInfo } from "../../src/picture/image-info.ts";
import { readFixture } from "./files.ts";

/** Returns a photo of test/fixtures. */
export const photo = (name: string): Uint8Array<ArrayBuffer> => readFixture(`photos/${name}`);

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length);
  out.set(body, 4);
  let crc = -1;
  for (const byte of body) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8);
  out.writeUInt32BE(~crc >>> 0, body.length + 4);
  return out;
}

/** Returns a PNG with the chunk eXIf behind its header: the TIFF of EXIF, without what goes before it in a JPEG. */
export const turnedPng = (plain: Uint8Array, orientation: number, little = true): Uint8Array =>
  new Uint8Array(
    Buffer.concat([
      plain.subarray(0, 33),
      chunk("eXIf", exif(orientation, little).subarray(10)),
      plain.subarray(33),
    ]),
  );

/** A PNG of one colour, by the letter of the format. */
export function png(
  width: number,
  height: number,
  [r, g, b]: readonly number[] = [128, 128, 128],
): Uint8Array {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2], 8);
  const row = Buffer.concat([
    Buffer.from([0]),
    ...Array.from({ length: width }, () => Buffer.from([r, g, b])),
  ]);
  const rows = Buffer.concat(Array.from({ length: height }, () => row));
  const parts = [
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", new Uint8Array(0)),
  ];
  return new Uint8Array(Buffer.concat(parts));
}

/** Pixels of a PNG as resvg writes it: 8-bit RGBA, no interlacing. */
export function pixels(bytes: Uint8Array): {
  width: number;
  height: number;
  at(x: number, y: number): number[];
} {
  const file = Buffer.from(bytes);
  const { width, height } = imageInfo(bytes);
  const parts: Buffer[] = [];
  for (let at = 8; at < file.length; at += file.readUInt32BE(at) + 12)
    if (file.toString("latin1", at + 4, at + 8) === "IDAT")
      parts.push(file.subarray(at + 8, at + 8 + file.readUInt32BE(at)));
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * 4;
  const out = Buffer.alloc(stride * height);
  const paeth = (a: number, b: number, c: number) => {
    const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
  };
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)];
    for (let i = 0; i < stride; i++) {
      const a = i >= 4 ? out[y * stride + i - 4] : 0;
      const b = y > 0 ? out[(y - 1) * stride + i] : 0;
      const c = i >= 4 && y > 0 ? out[(y - 1) * stride + i - 4] : 0;
      const add = [0, a, b, (a + b) >> 1, paeth(a, b, c)][filter];
      out[y * stride + i] = raw[y * (stride + 1) + 1 + i] + add;
    }
  }
  return { width, height, at: (x, y) => [...out.subarray(y * stride + x * 4, y * stride + x * 4 + 4)] };
}

export const rgb = (colour: string) => [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));

export const box = (
  x_min: number,
  y_min: number,
  x_max: number,
  y_max: number,
  more: Partial<Drawn> = {},
): Drawn => ({
  class_id: 0,
  label: "cat",
  confidence: 0.5,
  x_min,
  y_min,
  x_max,
  y_max,
  ...more,
});

const attribute = (element: string, name: string) =>
  Number(new RegExp(` ${name}="([^"]*)"`).exec(element)?.[1]);
export const rects = (svg: string) =>
  (svg.match(/<rect [^>]*>/g) ?? []).map((r) => ({
    filled: !r.includes('fill="none"'),
    x: attribute(r, "x"),
    y: attribute(r, "y"),
    right: attribute(r, "x") + attribute(r, "width"),
    bottom: attribute(r, "y") + attribute(r, "height"),
  }));

/** Start of a JPEG up to its frame header; `segments` stand before it. */
export function jpeg(width: number, height: number, ...segments: Uint8Array[]): Uint8Array {
  const sof = Buffer.from([
    0xff,
    0xc0,
    0,
    17,
    8,
    height >> 8,
    height & 255,
    width >> 8,
    width & 255,
    3,
    1,
    0x11,
    0,
    2,
    0x11,
    0,
    3,
    0x11,
    0,
  ]);
  return new Uint8Array(
    Buffer.concat([Buffer.from([0xff, 0xd8]), ...segments, sof, Buffer.from([0xff, 0xd9])]),
  );
}
export function exif(orientation: number, little = true): Uint8Array {
  const tiff = Buffer.alloc(26);
  tiff.write(little ? "II" : "MM");
  const u16 = (v: number, at: number) => (little ? tiff.writeUInt16LE(v, at) : tiff.writeUInt16BE(v, at));
  const u32 = (v: number, at: number) => (little ? tiff.writeUInt32LE(v, at) : tiff.writeUInt32BE(v, at));
  u16(42, 2);
  u32(8, 4);
  u16(1, 8);
  u16(0x0112, 10);
  u16(3, 12);
  u32(1, 14);
  u16(orientation, 18);
  const body = Buffer.concat([Buffer.from("Exif\0\0", "latin1"), tiff]);
  return Buffer.concat([Buffer.from([0xff, 0xe1, 0, body.length + 2]), body]);
}
