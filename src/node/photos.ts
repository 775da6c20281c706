/** Decodes the file of a photo for `detect` in Node, by optional packages. package.json maps `#photos` to this file. */
import { type Pixels, readImage } from "./images.ts";

/** Returns the pixels of a PNG or JPEG, upright. */
export const decodePhoto = (bytes: Uint8Array): Promise<Pixels> => readImage(bytes);
