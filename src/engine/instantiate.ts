/**
 * Instantiates a kernel by AssemblyScript's loader. For browsers the build takes `instantiate-browser.ts`, for Node
 * `instantiate-node.ts`.
 */
import { instantiateSync } from "@assemblyscript/loader";

/** Returns the exports of a kernel. The loader's own copies of them make an array of arguments at each call. */
export const instantiate = (module: WebAssembly.Module, memory: WebAssembly.Memory): unknown =>
  instantiateSync(module, { env: { memory } }).instance.exports;
