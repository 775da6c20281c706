/**
 * A rolldown plugin: takes from @assemblyscript/loader what its top level does on import (a polyfill on Object, and a TextDecoder of
 * "utf-16le", which some engines lack), and what no kernel of ours can reach: strings, arrays, classes, and the imports of the
 * standard library. That is nine tenths of its bytes; the rest stays as published. The binaries are asked whether they still
 * import nothing but memory and export nothing but plain functions.
 * A new version of the loader that no longer has these lines, or a kernel that needs more, stops the build.
 */
import { readFileSync } from "node:fs";

const changes = [
  // how strings are read, for which the decoder and the polyfill are there
  [/const THIS = Symbol\(\);\n[^]+?(?=\/\*\* Prepares the base module)/g, "", 1],
  // abort, trace, seed, Math and Date, none of which the kernel imports
  [/ +function getString\([^]+?(?= +return extendedExports;\n\}\n\n\/\*\* Prepares the final)/g, "", 1],
  // makers and readers of strings and arrays: they need the managed runtime, which the kernel is built without
  [/ +const memory = exports\.memory;\n[^]+?(?= +\/\/ Demangle exports)/g, "", 1],
  // classes, namespaces, accessors and optional arguments: the kernel exports functions only, each with all its arguments
  [/ +const setArgumentsLength = [^]+?(?= +for \(let internalName)/g, "", 1],
  [
    /( +const elem = exports\[internalName\];\n)[^]+?(?= +\}\n +return extendedExports;\n\}\n\nexport default)/g,
    "$1    extendedExports[internalName] = elem;\n",
    1,
  ],
];

/** What the cuts above rely on. */
function checkKernel(kind) {
  const module = new WebAssembly.Module(readFileSync(`build/${kind}.wasm`));
  const imports = WebAssembly.Module.imports(module).map((i) => `${i.module}.${i.name}`);
  const others = WebAssembly.Module.exports(module).filter(
    (e) => e.kind !== "function" || !/^[a-z]+$/i.test(e.name),
  );
  if (imports.join() !== "env.memory" || others.length > 0)
    throw new Error(
      `build/${kind}.wasm: got imports ${imports.join(", ")} and exports ${others.map((e) => e.name).join(", ")} besides functions, expected env.memory and none: look at scripts/quiet-loader.mjs anew`,
    );
}

export function quietLoader() {
  return {
    name: "quiet-loader",
    transform(code, id) {
      if (!/@assemblyscript[\\/]loader[\\/]index\.js$/.test(id)) return null;
      for (const kind of ["simd", "scalar"]) checkKernel(kind);
      let out = code;
      for (const [from, to, times] of changes) {
        const found = out.match(from)?.length ?? 0;
        if (found !== times)
          throw new Error(
            `@assemblyscript/loader: got ${found} of ${String(from)}, expected ${times}: look at it anew`,
          );
        out = out.replace(from, to);
      }
      // kept by bundlers as long as the statement behind it is, so that the notice goes where the code goes
      const kept = "export function instantiateSync(";
      if (out.split(kept).length !== 2)
        throw new Error(`@assemblyscript/loader: got no "${kept}", expected one to put the notice before`);
      const notice = "/*! @assemblyscript/loader (Apache-2.0), changed: see NOTICE.txt of boxwright */";
      return { code: out.replace(kept, `${notice}\n${kept}`), map: null };
    },
  };
}
