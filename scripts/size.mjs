/**
 * Reports the size of an import, minified and gzipped, for each entry of the package, and the files that a page fetches
 * first if its bundler splits code. Run it after a build. Fails, and names the causes, if a size exceeds the record in
 * scripts/size.json by more than 3 % (`--update` records the current sizes), if the badge in docs/ states another size,
 * or if a small import pulls in too much. Missed goals are only reported.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { build as buildWithVite } from "vite";

const SLACK = 1.03;
/** Goals in gzipped bytes. A missed goal is only reported; growth beyond the recorded sizes fails. */
const GOALS = {
  "first load of createDecoder": 105_000,
  "first load of boxwright/core": 75_000,
  "first load of boxwright/core, checks, explain": 88_000,
  "first load of boxwright/plan": 34_000,
  "compiled module of YOLOv8": 25_000,
};
/** The files that a page fetches before it decodes boxes. */
const FIRST_LOADS = {
  "first load of createDecoder": ["index", "createDecoder"],
  "first load of boxwright/core": ["core", "createDecoder"],
  "first load of boxwright/core, checks, explain": ["core", "createDecoder, checks, explain"],
  "first load of boxwright/plan": ["plan", "loadPlan"],
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

/** Returns the files that a page fetches first, in a program built by vite, with gzipped bytes. */
async function firstLoad([entry, names], folder) {
  const file = join(folder, "page.js");
  writeFileSync(
    file,
    `import { ${names} } from ${JSON.stringify(join(process.cwd(), `dist/${entry}.mjs`))}; globalThis.boxwright = [${names}];`,
  );
  const rollupOptions = { input: file };
  const options = { root: folder, configFile: false, logLevel: "error" };
  const { output } = await buildWithVite({
    ...options,
    build: { write: false, modulePreload: false, rollupOptions },
  });
  const chunks = new Set();
  const visit = (chunk) => {
    if (chunks.has(chunk)) return;
    chunks.add(chunk);
    for (const name of chunk.imports) visit(output.find((o) => o.fileName === name));
  };
  visit(output.find((o) => o.isEntry));
  const parts = {};
  let minified = 0;
  let total = 0;
  for (const { code, modules } of chunks) {
    minified += code.length;
    total += gzipped(code);
    for (const [id, module] of Object.entries(modules))
      parts[id.replace(/.*\/dist\//, "").replace(/-[\w-]{8}\./, ".")] = gzipped(module.code ?? "");
  }
  return { size: { minified, gzipped: total }, parts };
}

const gzipped = (bytes) => gzipSync(bytes, { level: 9 }).length;
const measure = (bytes) => ({ minified: bytes.length, gzipped: gzipped(bytes) });

const bundles = {};
for (const [name, contents] of Object.entries(imports)) bundles[name] = await bundle(contents);
for (const kind of ["simd", "scalar", "prepare.simd", "prepare.scalar", "masks.simd", "masks.scalar"])
  bundles[`boxwright/${kind}.wasm`] = readFileSync(`dist/${kind}.wasm`);
const folder = mkdtempSync(join(tmpdir(), "boxwright-size-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const yolov8 = "--family yolov8 --labels coco80 --input-size 640x640 --outputs output0:1x84x8400:f32";
const detector = join(folder, "detector.mjs");
execFileSync(process.execPath, ["dist/cli.mjs", "compile", ...yolov8.split(" "), "-o", detector], {
  stdio: "pipe",
});
bundles["compiled module of YOLOv8"] = readFileSync(detector);
const sizes = Object.fromEntries(Object.entries(bundles).map(([name, bytes]) => [name, measure(bytes)]));
/** Gzipped bytes of the files of each first load, by name. */
const partsOf = {};
for (const [name, imported] of Object.entries(FIRST_LOADS)) {
  const { size, parts } = await firstLoad(imported, folder);
  sizes[name] = size;
  partsOf[name] = parts;
}

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
    `${JSON.stringify({ ...Object.fromEntries(Object.entries(sizes).map(([n, s]) => [n, s.gzipped])), parts: partsOf }, null, 2)}\n`,
  );
  writeFileSync(BADGE.file, badgeOf(BADGE.label, `${Math.round(sizes[BADGE.of].gzipped / 1000)} kB gzipped`));
}
const { parts: recordedParts, ...recorded } = JSON.parse(readFileSync("scripts/size.json", "utf8"));

/** Returns the files of a first load that grew, largest growth first. */
const grown = (name) =>
  Object.entries(partsOf[name] ?? {})
    .map(([file, bytes]) => [file, bytes - (recordedParts?.[name]?.[file] ?? 0)])
    .filter(([, more]) => more > 100)
    .sort(([, a], [, b]) => b - a)
    .map(([file, more]) => `, ${file} +${more}`)
    .join("");

const problems = [];
for (const [name, { minified, gzipped }] of Object.entries(sizes)) {
  const before = recorded[name];
  console.log(
    `${name.padEnd(42)} ${String(minified).padStart(7)} minified ${String(gzipped).padStart(6)} gzipped, recorded ${before}`,
  );
  if (before === undefined) problems.push(`${name}: no size is recorded; run node scripts/size.mjs --update`);
  else if (gzipped > before * SLACK)
    problems.push(`${name}: got ${gzipped} bytes, expected at most ${before} and 3 %${grown(name)}`);
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
expectThat("toPixels alone to cost under 3.1 kB", minified("boxwright: toPixels") < 3100);
expectThat(
  "nms without the decoder to cost under half of the decoder",
  minified("boxwright: nms") < minified("boxwright/core: createDecoder") / 2,
);
expectThat("nms of boxwright/ts to cost under 32 kB", minified("boxwright/ts: nms") < 32_000);
expectThat(
  "no binary in boxwright/ts",
  !text("boxwright/ts: createDecoder").includes(simdText.slice(0, 200)),
);
expectThat("the vector kernel in boxwright", text("boxwright: everything").includes(simdText));
// Check that the bundler keeps this mask a literal: as a variable, it costs the engine `ts` a third of its speed.
expectThat(
  "the largest index to stand as a number where it is used",
  /&1073741823/.test(text("boxwright: everything")) && !/[^&]=1073741823/.test(text("boxwright: everything")),
);

for (const p of problems) console.error(p);
process.exit(problems.length === 0 ? 0 : 1);
