/** Exports the two functions that make a decoder. Each function has its own file, so that a page loads only one. */
export { createDecoder } from "./create.ts";
export { createDecoderSync } from "./create-sync.ts";
