/**
 * Stands in for `instantiate.ts` in Node's files. AssemblyScript's loader makes a TextDecoder while it is loaded, and
 * jest-environment-jsdom has none: load the loader at the first kernel, and only where it can be loaded.
 */
import type * as Loader from "@assemblyscript/loader";
import { instantiate as instantiateAlone } from "./instantiate-browser.ts";

/** Returns the exports of a kernel. A kernel hands over no text, so without the loader nothing is missing. */
export function instantiate(module: WebAssembly.Module, memory: WebAssembly.Memory): unknown {
  if (typeof globalThis.TextDecoder === "undefined") return instantiateAlone(module, memory);
  // The build turns this call into a function of the same file. An import would run with the file itself.
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const loader = require("@assemblyscript/loader") as typeof Loader;
  return loader.instantiateSync(module, { env: { memory } }).instance.exports;
}
