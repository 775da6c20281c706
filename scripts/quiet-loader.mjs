/**
 * A rolldown plugin: takes from @assemblyscript/loader what its top level does on import. It puts a polyfill on Object, and makes
 * a TextDecoder of "utf-16le", which some engines lack and which only reads long strings, of which the kernel has none:
 * the loader's own way for engines that refuse takes over. It also leaves out two parts that no export of the kernel can reach,
 * two thirds of its bytes. The rest stays as published.
 * A new version of the loader that no longer has these lines stops the build.
 */
const changes = [
  ['const utf16 = new TextDecoder("utf-16le", { fatal: true });', "const utf16 = null;", 1],
  [
    /Object\.hasOwn = Object\.hasOwn \|\| function\(obj, prop\) \{\s+return Object\.prototype\.hasOwnProperty\.call\(obj, prop\);\s+\};/g,
    "const hasOwn = (obj, prop) => Object.prototype.hasOwnProperty.call(obj, prop);",
    1,
  ],
  ["Object.hasOwn(", "hasOwn(", 3],
  ["const THIS = Symbol();", "const THIS = /* @__PURE__ */ Symbol();", 1],
  // makers and readers of strings and arrays: they need the managed runtime, which the kernel is built without
  [/ +const __new = [^]+?(?= +extendedExports\.memory = )/g, "", 1],
  // what exported classes become: the kernel exports functions only
  ["if (hash >= 0) {", "if (false) {", 1],
];

export function quietLoader() {
  return {
    name: "quiet-loader",
    transform(code, id) {
      if (!/@assemblyscript[\\/]loader[\\/]index\.js$/.test(id)) return null;
      let out = code;
      for (const [from, to, times] of changes) {
        const parts = out.split(from);
        if (parts.length - 1 !== times)
          throw new Error(
            `@assemblyscript/loader: got ${parts.length - 1} of ${String(from)}, expected ${times}: look at it anew`,
          );
        out = parts.join(to);
      }
      // kept by bundlers, so that the notice goes where the code goes
      return {
        code: `/*! @assemblyscript/loader (Apache-2.0), changed: see NOTICE.txt of boxwright */\n${out}`,
        map: null,
      };
    },
  };
}
