/**
 * Reads the type and size of a picture from its first bytes. The hub decodes no picture; browsers do. Refuses a small
 * file that states a huge size (a picture bomb), and files of other types: an SVG may hold a script.
 */
import { imageInfo } from "boxwright/node";
import { messageOf } from "boxwright-service/errors";
import type { PICTURE_TYPES } from "boxwright-service/schema/protocol";

export type PictureType = (typeof PICTURE_TYPES)[number];

export interface PictureInfo {
  readonly type: PictureType;
  readonly width: number;
  readonly height: number;
}

/**
 * Number of bytes at the start of a file in which type and size are found: in a JPEG, the size may come after 64 KiB of
 * EXIF data and a colour profile.
 */
export const HEAD_BYTES = 256 * 1024;
/** Largest number of pixels in a picture. A picture of a 50-megapixel camera fits. */
export const MAX_PIXELS = 64 * 2 ** 20;

/** Returns type and size, or a sentence that says what is wrong with the file. */
export function pictureInfo(head: Buffer): PictureInfo | string {
  const info = isWebp(head) ? readWebp(head) : readOther(head);
  if (typeof info === "string") return info;
  const { width, height } = info;
  if (width >= 1 && height >= 1 && width * height <= MAX_PIXELS) return info;
  return `got a picture of ${width} x ${height} pixels, expected 1 to ${MAX_PIXELS} in all`;
}

function readOther(head: Buffer): PictureInfo | string {
  try {
    const { mime: type, width, height } = imageInfo(head, "picture");
    return { type, width, height };
  } catch (error) {
    return `${messageOf(error)}, or a WebP`;
  }
}

const isWebp = (head: Buffer): boolean =>
  head.length >= 30 && head.toString("latin1", 0, 4) === "RIFF" && head.toString("latin1", 8, 12) === "WEBP";

function readWebp(head: Buffer): PictureInfo | string {
  const chunk = head.toString("latin1", 12, 16);
  const type = "image/webp";
  if (chunk === "VP8X") return { type, width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 };
  if (chunk === "VP8 ") return { type, width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
  if (chunk !== "VP8L") return "picture: got a WebP without its size at the beginning, expected one that states it";
  const bits = head.readUInt32LE(21);
  return { type, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}
