/** Recognises encoded photos (JPEG, PNG, ...), whose bytes are not pixels. */

/** First bytes of photo formats, as characters. A `?` is any byte. */
const SIGNATURES: readonly (readonly [kind: string, ...starts: readonly string[]])[] = [
  ["PNG", "\x89PNG"],
  ["JPEG", "\xff\xd8\xff"],
  ["GIF", "GIF8"],
  ["WebP", "RIFF????WEBP"],
  ["BMP", "BM"],
  ["TIFF", "II*\0", "MM\0*"],
  ["AVIF", "????ftypavi"],
  ["HEIC", "????ftyphe", "????ftypmif1", "????ftypmsf1"],
  ["JPEG XL", "\xff\x0a", "\0\0\0\x0cJXL "],
];

/** Returns the bytes of an image that is an array view or a buffer, else null. */
export function bytesOfImage(image: object): Uint8Array | null {
  if (ArrayBuffer.isView(image)) return new Uint8Array(image.buffer, image.byteOffset, image.byteLength);
  return image instanceof ArrayBuffer ? new Uint8Array(image) : null;
}

/** Returns the format of a photo's file by its first bytes, null if no format matches. */
export const photoFormat = (bytes: Uint8Array): string | null =>
  SIGNATURES.find(([, ...starts]) => starts.some((start) => beginsWith(bytes, start)))?.[0] ?? null;

const beginsWith = (bytes: Uint8Array, start: string): boolean =>
  Array.from(start).every((letter, i) => letter === "?" || letter.charCodeAt(0) === bytes[i]);

/** Returns a format's name with its article. */
export const withArticle = (format: string): string => `${format === "AVIF" ? "an" : "a"} ${format}`;

/** True for a `Blob`, such as the file of an `<input>`. */
export const isBlob = (image: object): image is Blob => typeof Blob === "function" && image instanceof Blob;

/** Returns the format of an encoded image, or a description of bytes without a size. Returns null for pixels. */
export function encodedKind(image: object): string | null {
  const bytes = bytesOfImage(image);
  if (bytes === null) return isBlob(image) ? `a Blob of type "${image.type}"` : null;
  if (bytes.length === 0) return "an empty file";
  const format = photoFormat(bytes);
  return format === null
    ? `${bytes.length} bytes without a width and a height`
    : `the bytes of ${withArticle(format)} file`;
}

/** Advice for an error about a photo's file. */
export const PIXELS =
  "pixels, { data, width, height }. Decode the file first: createImageBitmap(new Blob([bytes])) in a page, " +
  "readImage(bytes) of boxwright/node in Node, or sharp(bytes).rotate().removeAlpha().raw().toBuffer(" +
  "{ resolveWithObject: true }), whose result is passed as { data, ...info }";

/** Advice for callers of `prepare`, who may not know the detector. */
export const PIXELS_OR_DETECTOR = `${PIXELS}. A detector's detect() takes the file itself`;
