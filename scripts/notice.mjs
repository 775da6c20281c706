/** Writes dist/NOTICE.txt: whose code the package carries besides its own, and under which licence. */
import { readFileSync, writeFileSync } from "node:fs";

const read = (file) => readFileSync(new URL(`../node_modules/${file}`, import.meta.url), "utf8").trim();
const loader = JSON.parse(read("@assemblyscript/loader/package.json"));
const compiler = JSON.parse(read("assemblyscript/package.json"));
// the loader is part of AssemblyScript and published without a copy of the licence: the compiler's package has it
const text = (name) => read(`assemblyscript/${name}`);

for (const p of [loader, compiler])
  if (p.license !== "Apache-2.0")
    throw new Error(`${p.name} ${p.version}: got licence ${p.license}, expected Apache-2.0`);

writeFileSync(
  "dist/NOTICE.txt",
  `boxwright is under the MIT licence: see LICENSE. It carries code of others:

@assemblyscript/loader ${loader.version}, Apache-2.0, unchanged, in the files where a comment says so.

AssemblyScript ${compiler.version}, Apache-2.0, compiled simd.wasm and scalar.wasm, with parts of its standard library in them.

---- AssemblyScript, NOTICE ----

${text("NOTICE")}

---- AssemblyScript, LICENSE ----

${text("LICENSE")}
`,
);
