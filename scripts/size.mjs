/**
 * What an import costs, minified and gzipped, for each entry of the package: checked against scripts/size.json, so that no
 * change makes it larger unseen (`node scripts/size.mjs --update` writes today's sizes into it). Run it after a build.
 *
 * It also checks that what is not used is not there: an import of little leaves little.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** The goal for the whole API with both binaries inside. */
const GOAL = 30 * 1024;
/** Another compressor or minifier of the same version may differ by a few bytes. */
const SLACK = 32;

const whole = (entry) =>
  `import * as boxwright from "./dist/${entry}.mjs"; globalThis.boxwright = boxwright;`;
const some = (entry, names) =>
  `import { ${names} } from "./dist/${entry}.mjs"; globalThis.boxwright = [${names}];`;
const all = {
  "boxwright: everything": whole("index"),
  "boxwright: createDecoder": some("index", "createDecoder"),
  "boxwright: nms": some("index", "nms"),
  "boxwright: toPixels": some("index", "toPixels"),
  "boxwright/ts: everything": whole("ts"),
  "boxwright/ts: createDecoder": some("ts", "createDecoder"),
  "boxwright/ts: nms": some("ts", "nms"),
  "boxwright/wasm: everything": whole("wasm"),
  "boxwright/wasm: createDecoder": some("wasm", "createDecoder, provideKernel"),
  "boxwright/plan: everything": whole("plan"),
  "boxwright/plan/ts: everything": whole("plan.ts"),
  "boxwright/priors: everything": whole("priors"),
  "boxwright, condition workerd: everything": whole("workerd"),
};

async function bundle(contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: "." },
    bundle: true,
    minify: true,
    format: "esm",
    external: ["*.wasm"],
    write: false,
    // what esbuild would warn about is what the package promises not to hold
    logLevel: "warning",
  });
  return outputFiles[0].contents;
}

const gzip = (bytes) => gzipSync(bytes, { level: 9 }).length;
const sizes = {};
for (const [name, contents] of Object.entries(all)) {
  const bytes = await bundle(contents);
  sizes[name] = { minified: bytes.length, gzipped: gzip(bytes) };
}
for (const kind of ["simd", "scalar"]) {
  const bytes = readFileSync(`dist/${kind}.wasm`);
  sizes[`boxwright/${kind}.wasm`] = { minified: bytes.length, gzipped: gzip(bytes) };
}

if (process.argv.includes("--update"))
  writeFileSync(
    "scripts/size.json",
    `${JSON.stringify(Object.fromEntries(Object.entries(sizes).map(([n, s]) => [n, s.gzipped])), null, 2)}\n`,
  );
const limits = JSON.parse(readFileSync("scripts/size.json", "utf8"));

const problems = [];
for (const [name, { minified, gzipped }] of Object.entries(sizes)) {
  const limit = limits[name];
  console.log(
    `${name.padEnd(44)} ${String(minified).padStart(7)} minified ${String(gzipped).padStart(6)} gzipped, limit ${limit}`,
  );
  if (limit === undefined) problems.push(`${name}: got no limit in scripts/size.json, expected one`);
  else if (gzipped > limit + SLACK) problems.push(`${name}: got ${gzipped} bytes, expected at most ${limit}`);
  else if (gzipped < limit * 0.98)
    console.log(`  smaller than its limit: run node scripts/size.mjs --update`);
}
for (const name of Object.keys(limits))
  if (!(name in sizes)) problems.push(`${name}: got a limit and no such size`);

const is = (what, holds) => holds || problems.push(`tree-shaking: expected ${what}`);
const at = (name) => sizes[name].minified;
// families and conventions are tables spread into one another, which esbuild does not take out
is("toPixels alone to cost under 2.5 kB", at("boxwright: toPixels") < 2500);
is(
  "nms without the decoder to cost under two thirds of the whole",
  at("boxwright: nms") < (2 / 3) * at("boxwright: everything"),
);
is("nms of boxwright/ts to cost under 30 kB", at("boxwright/ts: nms") < 30_000);
const packed = /"(.{1000,})"/.exec(readFileSync("src/engine/kernel.ts", "utf8"))[1];
const noWasm = new TextDecoder().decode(await bundle(all["boxwright/ts: everything"]));
is("no WebAssembly in boxwright/ts", !noWasm.includes("WebAssembly.") && !noWasm.includes(packed));
const noBinary = new TextDecoder().decode(await bundle(all["boxwright/wasm: everything"]));
is("no binary in boxwright/wasm", !noBinary.includes(packed));
const inside = new TextDecoder().decode(await bundle(all["boxwright: everything"]));
is("the packed binaries to stand in boxwright as they are", inside.includes(packed));
// as a variable, which a bundler would make of it, it costs the engine `ts` a third of its speed
is(
  "the largest index to stand as a number where it is used",
  /&1073741823/.test(inside) && !/[^&]=1073741823/.test(inside),
);

is(
  `boxwright/plan, with all engines, to stay below ${GOAL} gzipped`,
  sizes["boxwright/plan: everything"].gzipped < GOAL,
);

const total = sizes["boxwright: everything"].gzipped;
console.log(
  `whole API: ${total} gzipped; the goal is ${GOAL}, ${total <= GOAL ? "reached" : `${total - GOAL} bytes to go`}`,
);
for (const p of problems) console.error(p);
process.exit(problems.length === 0 ? 0 : 1);
