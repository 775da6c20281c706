/** Decodes the file of a photo: by the browser in a page, by optional packages in Node. */
import { refuse } from "../core/errors.ts";
import { PIXELS, bytesOfImage, encodedKind, isBlob, photoFormat } from "../picture/encoded.ts";
import type { ImageInput } from "../decode/prepare.ts";

/** What a browser makes of a photo. */
interface Bitmap {
  readonly width: number;
  readonly height: number;
  close(): void;
}

/** Globals of a page or a worker, as far as they are used. */
interface Decoding {
  readonly createImageBitmap?: (photo: Blob) => Promise<Bitmap>;
}

/** Returns an image that is the file of a photo, null if it is none. */
export function photoOf(image: object): Uint8Array | Blob | null {
  if (isBlob(image)) return image;
  const bytes = bytesOfImage(image);
  return bytes !== null && photoFormat(bytes) !== null ? bytes : null;
}

/**
 * Returns the pixels of a photo that stands upright, by its EXIF orientation.
 * @param draw reads the pixels of a bitmap
 * @throws TensorError if nothing here decodes it, or the file is damaged
 */
export async function decodePhoto(
  photo: Uint8Array | Blob,
  draw: (bitmap: Bitmap) => ImageInput,
): Promise<ImageInput> {
  try {
    // Imported when it is needed: the start of a program that decodes no photo is not slower.
    const { decodePhoto: byPackages } = await import("#photos");
    if (byPackages)
      return await byPackages(isBlob(photo) ? new Uint8Array(await photo.arrayBuffer()) : photo);
    const { createImageBitmap } = globalThis as Decoding;
    if (createImageBitmap) {
      const bitmap = await createImageBitmap(
        isBlob(photo) ? photo : new Blob([photo as Uint8Array<ArrayBuffer>]),
      );
      try {
        return draw(bitmap);
      } finally {
        bitmap.close();
      }
    }
  } catch (error) {
    return refuse(
      "image",
      `${encodedKind(photo)} (${(error as Error).message})`,
      `a whole photo, or ${PIXELS}`,
    );
  }
  return refuse("image", `${encodedKind(photo)}, which nothing here decodes`, PIXELS);
}
