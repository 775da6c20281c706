/** Decodes photos to pixels, and encodes preview JPEGs. */
import type { ImageInput } from "boxwright";
import sharp, { type Sharp } from "sharp";

/** Largest number of pixels of a photo, since a small file can decode to more than fits into memory. */
const MOST_PIXELS = 100e6;
/**
 * Largest number of pixels of a photo that is read at full size. Larger photos are reduced while reading. Reading a
 * photo of 99 million pixels takes 370 to 830 MB at full size, and 190 MB (JPEG, PNG) to 470 MB (progressive JPEG) if
 * reduced (measured).
 */
const MOST_FULL_PIXELS = 25e6;

/**
 * Reads a JPEG, PNG or WebP. Rotates the photo upright according to its EXIF data. Reduces a photo above
 * MOST_FULL_PIXELS to half of its width and height.
 * @throws Error if the bytes have another format, or the photo has too many pixels
 */
export async function readPicture(bytes: Uint8Array): Promise<ImageInput> {
  if (bytes.length === 0) throw new Error("got an empty file, expected JPEG, PNG or WebP");
  // Refuse other formats that the library reads: an SVG, for example, can refer to files and addresses.
  if (!isPhoto(bytes)) throw new Error("got bytes that are none of them, expected JPEG, PNG or WebP");
  const picture = sharp(bytes, { limitInputPixels: MOST_PIXELS });
  const { width, height, orientation = 1 } = await picture.metadata();
  if (width * height > MOST_PIXELS)
    throw new Error(`got ${width} x ${height} pixels, expected at most ${MOST_PIXELS / 1e6} million`);
  picture.rotate();
  const factor = width * height > MOST_FULL_PIXELS ? 2 : 1;
  if (factor > 1) {
    // Swap width and height for orientations from 5 up, which turn the photo by 90 degrees.
    const [across, down] = orientation >= 5 ? [height, width] : [width, height];
    picture.resize({ width: Math.ceil(across / factor), height: Math.ceil(down / factor), fit: "fill" });
  }
  const { data, info } = await rgb(picture).toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height, format: "rgb" };
}

/** True if the bytes begin like a JPEG, PNG or WebP file. */
function isPhoto(bytes: Uint8Array): boolean {
  const first = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  return /^\xff\xd8\xff|^\x89PNG\r\n|^RIFF[^]{4}WEBP/.test(first);
}

const rgb = (picture: Sharp): Sharp => picture.flatten({ background: "#727272" }).toColourspace("srgb").raw();

/** Encodes a picture as a JPEG that is at most `width` pixels wide. */
export async function writeJpeg(image: ImageInput, width: number, quality: number): Promise<Uint8Array> {
  const { data } = image;
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return sharp(bytes, { raw: { width: image.width, height: image.height, channels: 3 } })
    .resize({ width, withoutEnlargement: true })
    .jpeg({ quality })
    .toBuffer();
}
