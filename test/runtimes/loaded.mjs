/** How many bytes of the package a program brings into its runtime. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";

/** Returns the total size of these files in bytes: as they are, and gzipped one by one. */
export function codeSize(files) {
  const all = files.filter((f) => existsSync(f)).map((f) => readFileSync(f));
  return {
    bytes: all.reduce((sum, b) => sum + b.length, 0),
    gzipped: all.reduce((sum, b) => sum + gzipSync(b, { level: 9 }).length, 0),
  };
}

/** Returns the size of the package's files that a program loads: entry and chunks, unbundled and not minified. */
export function loadedBy(program) {
  const text = readFileSync(program, "utf8");
  const specifier = /["'](boxwright(?:\/\w+)?)["']/.exec(text)?.[1];
  // the program only starts another one
  if (specifier === undefined) return loadedBy(join(dirname(program), /["'](\.\/[\w.]+)["']/.exec(text)[1]));
  const root = join(dirname(program), "node_modules", "boxwright");
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const conditions = exports[specifier.replace("boxwright", ".")];
  const seen = new Set();
  const visit = (file) => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const [, next] of readFileSync(file, "utf8").matchAll(
      /(?:from|import|require\()\s*["'](\.\/[^"']+\.[mc]js)["']/g,
    ))
      visit(createRequire(file).resolve(next));
  };
  const { node, default: other } = conditions[program.endsWith(".cjs") ? "require" : "import"] ?? conditions;
  visit(join(root, node?.["module-sync"] ?? node ?? other));
  const size = [...seen];
  // the binaries are files of their own there
  if (specifier === "boxwright/wasm") size.push(join(root, "dist/simd.wasm"), join(root, "dist/scalar.wasm"));
  return codeSize(size);
}
