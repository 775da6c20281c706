/** The kernels in pages, Deno and bundles: vector builds as text, in separate files that are loaded on demand. */
export { decode } from "./text-decode.ts";
export { masks } from "./text-masks.ts";
export { prepare } from "./text-prepare.ts";
