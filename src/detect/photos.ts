/** Decodes the file of a photo: by the browser in a page, by optional packages in Node. */
import { refuse } from "../core/errors.ts";
import { PIXELS, bytesOfImage, encodedKind, isBlob, photoFormat } from "../picture/encoded.ts";
import type { ImageInput } from "../decode/prepare.ts";

/** The members of an `ImageBitmap` that are used here. */
interface Bitmap {
  readonly width: number;
  readonly height: number;
  close(): void;
}

/** The globals of a page or worker that are used here. Each may be missing. */
interface Decoding {
  readonly createImageBitmap?: (photo: Blob) => Promise<Bitmap>;
}

/** Returns the bytes or the Blob if the image is the file of a photo, else null. */
export function photoOf(image: object): Uint8Array | Blob | null {
  if (isBlob(image)) return image;
  const bytes = bytesOfImage(image);
  return bytes !== null && photoFormat(bytes) !== null ? bytes : null;
}

/** Decodes a photo upright. In a page, `draw` reads the pixels. Throws a TensorError if the file cannot be decoded. */
export async function decodePhoto(
  photo: Uint8Array | Blob,
  draw: (bitmap: Bitmap) => ImageInput,
): Promise<ImageInput> {
  let expected = "a whole photo that this browser shows";
  try {
    // Import on demand, so that programs without photos start faster.
    const { decodePhoto: byPackages } = await import("#photos");
    if (byPackages) expected = "a whole JPEG or PNG and the package that reads it";
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
      `${expected}, or ${PIXELS}`,
    );
  }
  return refuse("image", `${encodedKind(photo)}, which nothing here decodes`, PIXELS);
}
