/** Writes dist/NOTICE.txt: the third-party code in the package, with its licences. */
import { readFileSync, writeFileSync } from "node:fs";

const read = (file) => readFileSync(new URL(`../node_modules/${file}`, import.meta.url), "utf8").trim();
const compiler = JSON.parse(read("assemblyscript/package.json"));
const text = (name) => read(`assemblyscript/${name}`);

if (compiler.license !== "Apache-2.0")
  throw new Error(
    `${compiler.name} ${compiler.version}: got licence ${compiler.license}, expected Apache-2.0`,
  );

writeFileSync(
  "dist/NOTICE.txt",
  `boxwright is under the MIT licence: see LICENSE. It carries code of others:

AssemblyScript ${compiler.version}, Apache-2.0, compiled simd.wasm and scalar.wasm, with parts of its standard library in them.

---- AssemblyScript, NOTICE ----

${text("NOTICE")}

---- AssemblyScript, LICENSE ----

${text("LICENSE")}
`,
);
