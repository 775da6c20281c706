/** The kernels in pages, Deno and bundles: vector builds as text, each apart, to load when needed. */
export { decode } from "./text-decode.ts";
export { masks } from "./text-masks.ts";
export { prepare } from "./text-prepare.ts";
