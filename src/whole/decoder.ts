/** The two functions that make a decoder of every part. Each is a file of its own: a page fetches what one needs. */
export { createDecoder } from "./create.ts";
export { createDecoderSync } from "./create-sync.ts";
