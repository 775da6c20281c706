/**
 * Decodes a photo's file for `detect`, with optional packages of Node. package.json maps `#photos` to the build of this
 * file.
 */
import { type Pixels, readImage } from "./images.ts";

/** Returns the pixels of a PNG or JPEG, upright. */
export const decodePhoto = (bytes: Uint8Array): Promise<Pixels> => readImage(bytes);
