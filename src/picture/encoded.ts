/** Recognises the files of photos: their bytes are no pixels. */

/** First bytes of the formats of photos. */
const SIGNATURES: readonly (readonly [kind: string, start: readonly number[]])[] = [
  ["PNG", [0x89, 0x50, 0x4e, 0x47]],
  ["JPEG", [0xff, 0xd8, 0xff]],
  ["GIF", [0x47, 0x49, 0x46, 0x38]],
  ["WebP", [0x52, 0x49, 0x46, 0x46]],
  ["BMP", [0x42, 0x4d]],
];

/** Returns what an image is if its pixels are still encoded, or if it is bytes without a size. Else null. */
export function encodedKind(image: object): string | null {
  const isView = ArrayBuffer.isView(image);
  if (isView || image instanceof ArrayBuffer) {
    const bytes = isView
      ? new Uint8Array(image.buffer, image.byteOffset, image.byteLength)
      : new Uint8Array(image);
    const kind = SIGNATURES.find(([, start]) => start.every((byte, i) => bytes[i] === byte))?.[0];
    return kind === undefined
      ? `${bytes.length} bytes without a width and a height`
      : `the bytes of a ${kind} file`;
  }
  return typeof Blob === "function" && image instanceof Blob ? `a Blob of type "${image.type}"` : null;
}

/** What to pass in place of a file. */
export const PIXELS =
  "pixels, { data, width, height }: decode the file first, with createImageBitmap(new Blob([bytes])) in a page, " +
  "sharp or pngjs in Node";
