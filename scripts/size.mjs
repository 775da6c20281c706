/**
 * Reports what an import costs, minified and gzipped, for each entry of the package. Run it after a build. It fails if
 * a size is more than 5 % above the one recorded in scripts/size.json (`--update` records today's), if the badge in
 * docs/ says another size, or if an import of little brings much.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const SLACK = 1.05;
/** Bytes, gzipped. A missed goal is reported. Growth fails, by the recorded sizes. */
const GOALS = {
  "boxwright: createDecoder": 130_000,
  "boxwright/core: createDecoder": 74_000,
  "boxwright/plan: loadPlan": 40_000,
};

const everything = (entry) =>
  `import * as boxwright from "./dist/${entry}.mjs"; globalThis.boxwright = boxwright;`;
const some = (entry, names) =>
  `import { ${names} } from "./dist/${entry}.mjs"; globalThis.boxwright = [${names}];`;
const imports = {
  "boxwright: everything": everything("index"),
  "boxwright: createDecoder": some("index", "createDecoder"),
  "boxwright: createDecoder, readModel": some("index", "createDecoder, readModel"),
  "boxwright: createDetector, onnxRuntime": some("index", "createDetector, onnxRuntime"),
  "boxwright: prepareImage": some("index", "prepareImage"),
  "boxwright: readModel": some("index", "readModel"),
  "boxwright: nms": some("index", "nms"),
  "boxwright: nmsOriented": some("index", "nmsOriented"),
  "boxwright: suppress, fuse": some("index", "suppress, fuse"),
  "boxwright: toPixels": some("index", "toPixels"),
  "boxwright: drawCanvas": some("index", "drawCanvas"),
  "boxwright: COCO80": some("index", "COCO80"),
  "boxwright: createTracker": some("index", "createTracker"),
  "boxwright: tiles, mergeTiles": some("index", "tiles, mergeTiles"),
  "boxwright: fromPacket, toPacket": some("index", "fromPacket, toPacket"),
  "boxwright/core: createDecoder": some("core", "createDecoder"),
  "boxwright/core: createDecoder, pose": some("core", "createDecoder, pose"),
  "boxwright/core: createDecoder, masks": some("core", "createDecoder, masks"),
  "boxwright/core: createDecoder, oriented": some("core", "createDecoder, oriented"),
  "boxwright/core: createDecoder, suppression": some("core", "createDecoder, suppression"),
  "boxwright/core: createDecoder, prepare": some("core", "createDecoder, prepare"),
  "boxwright/plan: loadPlan": some("plan", "loadPlan"),
  "boxwright/plan: everything": everything("plan"),
  "boxwright/ts: createDecoder": some("bare", "createDecoder"),
  "boxwright/ts: nms": some("bare", "nms"),
  "one file for pages": everything("page"),
};

async function bundle(contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: "." },
    bundle: true,
    minify: true,
    format: "esm",
    external: ["*.wasm"],
    write: false,
    logLevel: "warning",
  });
  return outputFiles[0].contents;
}

const measure = (bytes) => ({ minified: bytes.length, gzipped: gzipSync(bytes, { level: 9 }).length });

const bundles = {};
for (const [name, contents] of Object.entries(imports)) bundles[name] = await bundle(contents);
for (const kind of ["simd", "scalar", "prepare.simd", "prepare.scalar", "masks.simd", "masks.scalar"])
  bundles[`boxwright/${kind}.wasm`] = readFileSync(`dist/${kind}.wasm`);
const sizes = Object.fromEntries(Object.entries(bundles).map(([name, bytes]) => [name, measure(bytes)]));

/** The badge of the README. */
const BADGE = { file: "docs/size.svg", of: "boxwright/core: createDecoder", label: "boxwright/core" };

/** Returns the badge: a label and a value beside each other. */
function badgeOf(label, value) {
  const [left, right] = [label, value].map((text) => 7 * text.length + 12);
  const text = (x, words) => `<text x="${x}" y="14" text-anchor="middle">${words}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${label}: ${value}">
  <rect width="${left}" height="20" fill="#3a3e44"/>
  <rect x="${left}" width="${right}" height="20" fill="#0b5cad"/>
  <g fill="#fff" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11">
    ${text(left / 2, label)}
    ${text(left + right / 2, value)}
  </g>
</svg>
`;
}

if (process.argv.includes("--update")) {
  writeFileSync(
    "scripts/size.json",
    `${JSON.stringify(Object.fromEntries(Object.entries(sizes).map(([n, s]) => [n, s.gzipped])), null, 2)}\n`,
  );
  writeFileSync(BADGE.file, badgeOf(BADGE.label, `${Math.round(sizes[BADGE.of].gzipped / 1000)} kB gzipped`));
}
const recorded = JSON.parse(readFileSync("scripts/size.json", "utf8"));

const problems = [];
for (const [name, { minified, gzipped }] of Object.entries(sizes)) {
  const before = recorded[name];
  console.log(
    `${name.padEnd(42)} ${String(minified).padStart(7)} minified ${String(gzipped).padStart(6)} gzipped, recorded ${before}`,
  );
  if (before === undefined) problems.push(`${name}: no size is recorded; run node scripts/size.mjs --update`);
  else if (gzipped > before * SLACK)
    problems.push(`${name}: got ${gzipped} bytes, expected at most ${before} and 5 %`);
}
const shown = 1000 * Number(/aria-label="[^"]*: (\d+) kB/.exec(readFileSync(BADGE.file, "utf8"))?.[1]);
if (!(Math.abs(shown / sizes[BADGE.of].gzipped - 1) < SLACK - 1))
  problems.push(`${BADGE.file} says ${shown} bytes, got ${sizes[BADGE.of].gzipped}; run it with --update`);
for (const name of Object.keys(recorded))
  if (!(name in sizes)) problems.push(`${name}: a size is recorded, but there is no such import`);
for (const [name, goal] of Object.entries(GOALS)) {
  const { gzipped } = sizes[name];
  if (gzipped > goal) console.log(`${name}: ${gzipped - goal} bytes above the goal of ${goal}`);
}

const expectThat = (what, holds) => holds || problems.push(`tree-shaking: expected ${what}`);
const minified = (name) => sizes[name].minified;
const text = (name) => new TextDecoder().decode(bundles[name]);
const [, simdText] = /decodeText =\s*"([^"]{1000,})"/.exec(readFileSync("build/kernels.mjs", "utf8"));
expectThat("toPixels alone to cost under 3 kB", minified("boxwright: toPixels") < 3000);
expectThat(
  "nms without the decoder to cost under half of the decoder",
  minified("boxwright: nms") < minified("boxwright/core: createDecoder") / 2,
);
expectThat("nms of boxwright/ts to cost under 30 kB", minified("boxwright/ts: nms") < 30_000);
expectThat(
  "no binary in boxwright/ts",
  !text("boxwright/ts: createDecoder").includes(simdText.slice(0, 200)),
);
expectThat("the vector kernel in boxwright", text("boxwright: everything").includes(simdText));
// As a variable, which a bundler would make of it, the mask costs the engine `ts` a third of its speed.
expectThat(
  "the largest index to stand as a number where it is used",
  /&1073741823/.test(text("boxwright: everything")) && !/[^&]=1073741823/.test(text("boxwright: everything")),
);

for (const p of problems) console.error(p);
process.exit(problems.length === 0 ? 0 : 1);
