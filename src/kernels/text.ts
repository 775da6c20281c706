/**
 * The kernels in pages, in Deno and in bundles: the vector builds as text, since all browsers have vector instructions.
 * Each text is a separate file, so that a page loads those for masks and pictures only when needed.
 */
export { decode } from "./text-decode.ts";
export { masks } from "./text-masks.ts";
export { prepare } from "./text-prepare.ts";
