/** Finds built files, which threads and processes run. */

/**
 * Returns the address of a built file beside a module. Also works for code that runs from src/, as in tests, since a
 * thread or process cannot run TypeScript.
 * @param module `import.meta.url` of the module
 */
export const builtFile = (module: string, name: string): URL =>
  new URL(name, module.replace(/^(.*\/)(?:src|dist)\//, "$1dist/"));
