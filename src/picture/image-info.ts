/** Reads size and orientation of a PNG or JPEG, and removes EXIF. */
import { showJson } from "../core/json.ts";
import { isBytes } from "../core/tensor.ts";
import { DrawError } from "./drawn.ts";
import { photoFormat, withArticle } from "./encoded.ts";

/** Format, size and orientation of a photo. */
export interface ImageInfo {
  readonly mime: "image/png" | "image/jpeg";
  /** Width of the upright photo in pixels. */
  readonly width: number;
  /** Height of the upright photo in pixels. */
  readonly height: number;
  /** EXIF orientation, 1 (upright) to 8. */
  readonly orientation: number;
}

/** Largest side of a JPEG in pixels. */
const LARGEST_SIDE = 65535;

/**
 * Returns format and size of a PNG or JPEG, read from its header. A camera may store a photo turned. Width and height
 * are those of the upright photo.
 * @param where name of the file in error messages
 * @throws DrawError if the bytes are neither a PNG nor a JPEG
 * @example
 * import { readFileSync } from "node:fs";
 * import { imageInfo } from "boxwright/node";
 *
 * const { mime, width, height } = imageInfo(readFileSync("test/fixtures/photos/chelsea.png"));
 * console.log(mime, width, height); // image/png 451 300
 */
export function imageInfo(bytes: Uint8Array, where = "photo"): ImageInfo {
  if (!isBytes(bytes))
    throw new DrawError(
      `${where}: got ${showJson(bytes)}, expected the bytes of a PNG or JPEG, a Uint8Array`,
    );
  const info = readHeader(bytes, where);
  const { width, height } = info;
  if (width < 1 || height < 1 || width > LARGEST_SIDE || height > LARGEST_SIDE)
    throw new DrawError(
      `${where}: got a size of ${width} x ${height}, expected 1 to ${LARGEST_SIDE} pixels a side`,
    );
  return info;
}

function readHeader(bytes: Uint8Array, where: string): ImageInfo {
  const view = viewOf(bytes);
  if (bytes.length >= 24 && view.getUint32(0) === 0x89504e47 && view.getUint32(4) === 0x0d0a1a0a)
    return pngInfo(view);
  if (bytes.length >= 4 && view.getUint16(0) === 0xffd8) return jpegInfo(view, where);
  const start = Array.from(bytes.subarray(0, 8), (b) => b.toString(16).padStart(2, "0")).join(" ");
  const format = photoFormat(bytes);
  if (format === "PNG" || format === "JPEG")
    throw new DrawError(
      `${where}: got the first ${bytes.length} bytes of a ${format}, expected a whole file: is the file cut short?`,
    );
  const name = format === null ? "" : `, as ${withArticle(format)} does`;
  const got = start === "" ? "an empty file" : `a file that begins with ${start}${name}`;
  throw new DrawError(`${where}: got ${got}, expected a PNG or JPEG`);
}

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Returns size and orientation of a PNG. The chunk eXIf holds the same EXIF as in a JPEG. */
function pngInfo(view: DataView): ImageInfo {
  let orientation = 1;
  for (const { isExif, at, length } of pngChunks(view))
    if (isExif) orientation = tiffOrientation(view, at + 8, at + 8 + length) ?? orientation;
  return uprightInfo("image/png", view.getUint32(16), view.getUint32(20), orientation);
}

/** Yields the chunks of a PNG: a length, a name, the data and a checksum. */
function* pngChunks(view: DataView): Generator<{ isExif: boolean; at: number; length: number }> {
  for (let at = 8; at + 12 <= view.byteLength;) {
    const length = view.getUint32(at);
    if (at + 12 + length > view.byteLength) return;
    yield { isExif: view.getUint32(at + 4) === 0x65584966, at, length };
    at += 12 + length;
  }
}

const uprightInfo = (
  mime: ImageInfo["mime"],
  width: number,
  height: number,
  orientation: number,
): ImageInfo =>
  orientation >= 5
    ? { mime, width: height, height: width, orientation }
    : { mime, width, height, orientation };

/** Marker of the segments that hold EXIF, among other things. */
const APP1 = 0xe1;

/** True for the markers C0..CF, except C4 (Huffman tables), C8 (reserved) and CC (arithmetic coding). */
const isFrameHeader = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** Walks the segments of a JPEG up to the frame header, which holds the size. */
function jpegInfo(view: DataView, where: string): ImageInfo {
  let orientation = 1;
  for (const { marker, at, length } of jpegSegments(view)) {
    if (marker === APP1) orientation = exifOrientation(view, at + 4, length - 2) ?? orientation;
    if (!isFrameHeader(marker) || length < 7) continue;
    return uprightInfo("image/jpeg", view.getUint16(at + 7), view.getUint16(at + 5), orientation);
  }
  throw new DrawError(
    `${where}: got a JPEG without a frame header, expected a whole file: is the file cut short?`,
  );
}

/** Yields the segments before the picture data. A segment is FF, a marker, and a length that counts itself. */
function* jpegSegments(view: DataView): Generator<{ marker: number; at: number; length: number }> {
  for (let at = 2; at + 4 <= view.byteLength;) {
    if (view.getUint8(at) !== 0xff) return;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      // Skip a fill byte.
      at++;
      continue;
    }
    const isEndOfHeaders = marker === 0xda || marker === 0xd9;
    if (isEndOfHeaders) return;
    const length = view.getUint16(at + 2);
    if (length < 2 || at + 2 + length > view.byteLength) return;
    yield { marker, at, length };
    at += 2 + length;
  }
}

/** Returns the orientation in "Exif\0\0" + TIFF data, or null. */
const exifOrientation = (view: DataView, at: number, length: number): number | null =>
  length < 14 || view.getUint32(at) !== 0x45786966 || view.getUint16(at + 4) !== 0
    ? null
    : tiffOrientation(view, at + 6, at + length);

/** Returns tag 0x0112 of the first directory of a TIFF, or null. */
function tiffOrientation(view: DataView, tiff: number, end: number): number | null {
  if (end - tiff < 8) return null;
  const isLittle = view.getUint16(tiff) === 0x4949;
  const directory = tiff + view.getUint32(tiff + 4, isLittle);
  if (directory + 2 > end) return null;
  const count = view.getUint16(directory, isLittle);
  for (let i = 0, entry = directory + 2; i < count && entry + 12 <= end; i++, entry += 12) {
    if (view.getUint16(entry, isLittle) !== 0x0112) continue;
    const value = view.getUint16(entry + 8, isLittle);
    return value >= 1 && value <= 8 ? value : null;
  }
  return null;
}

/**
 * Returns a photo without EXIF: a JPEG without APP1 segments, a PNG without eXIf. Browsers turn a photo by its EXIF,
 * while rasterisers do not. Without EXIF, all show the stored picture, and the SVG turns it. Place and camera are
 * removed as well.
 */
export function withoutExif(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(bytes.length);
  let length = 0;
  let from = 0;
  const keep = (to: number): void => {
    out.set(bytes.subarray(from, to), length);
    length += to - from;
  };
  const drop = (at: number, size: number): void => {
    keep(at);
    from = at + size;
  };
  const view = viewOf(bytes);
  if (bytes[0] === 0xff) {
    for (const { marker, at, length: size } of jpegSegments(view)) if (marker === APP1) drop(at, size + 2);
  } else for (const { isExif, at, length: size } of pngChunks(view)) if (isExif) drop(at, size + 12);
  keep(bytes.length);
  return out.subarray(0, length);
}

/** Matrices of SVG that turn a photo of stored size w x h upright, by EXIF orientation. */
const UPRIGHT: Record<number, (w: number, h: number) => string> = {
  2: (w) => `matrix(-1 0 0 1 ${w} 0)`,
  3: (w, h) => `matrix(-1 0 0 -1 ${w} ${h})`,
  4: (_, h) => `matrix(1 0 0 -1 0 ${h})`,
  5: () => `matrix(0 1 1 0 0 0)`,
  6: (_, h) => `matrix(0 1 -1 0 ${h} 0)`,
  7: (w, h) => `matrix(0 -1 -1 0 ${h} ${w})`,
  8: (w) => `matrix(0 -1 1 0 0 ${w})`,
};

/** Returns the stored size of a photo, and the SVG matrix that turns the photo upright; null if it is upright. */
export function storedAs({ width, height, orientation }: ImageInfo): {
  width: number;
  height: number;
  matrix: string | null;
} {
  const [w, h] = orientation >= 5 ? [height, width] : [width, height];
  return { width: w, height: h, matrix: UPRIGHT[orientation]?.(w, h) ?? null };
}
