/**
 * The kernels in pages, in Deno and in bundles: the vector builds as text. Browsers have vectors. Each text is a file
 * of its own, so that a page fetches those of masks and pictures with their code.
 */
export { decode } from "./text-decode.ts";
export { masks } from "./text-masks.ts";
export { prepare } from "./text-prepare.ts";
