/**
 * Instantiates a kernel without AssemblyScript's loader, which is a fortieth of a page's bundle. A kernel imports its
 * memory and nothing else, so there is nothing for the loader to do.
 */
export const instantiate = (module: WebAssembly.Module, memory: WebAssembly.Memory): unknown =>
  new WebAssembly.Instance(module, { env: { memory } }).exports;
