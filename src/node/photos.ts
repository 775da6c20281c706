/** Decodes a photo's file for `detect` by optional packages of Node. package.json maps `#photos` to this. */
import { type Pixels, readImage } from "./images.ts";

/** Returns the pixels of a PNG or JPEG, upright. */
export const decodePhoto = (bytes: Uint8Array): Promise<Pixels> => readImage(bytes);
