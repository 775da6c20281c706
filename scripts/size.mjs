/**
 * Reports what an import costs, minified and gzipped, for each entry of the package. Run it after a build. It fails if
 * a size is more than 5 % above the one recorded in scripts/size.json (`--update` records today's), if a goal is
 * missed, or if an import of little brings much.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const SLACK = 1.05;
/** Bytes, gzipped. Missed by up to 5 % they are reported, and fail only above that. */
const GOALS = {
  "boxwright: createDecoder": 64_000,
  "boxwright/plan: everything": 38_000,
  "boxwright/packet: everything": 4_000,
};

const everything = (entry) =>
  `import * as boxwright from "./dist/${entry}.mjs"; globalThis.boxwright = boxwright;`;
const some = (entry, names) =>
  `import { ${names} } from "./dist/${entry}.mjs"; globalThis.boxwright = [${names}];`;
const imports = {
  "boxwright: everything": everything("index"),
  "boxwright: createDecoder": some("index", "createDecoder"),
  "boxwright: nms": some("index", "nms"),
  "boxwright: toPixels": some("index", "toPixels"),
  "boxwright/ts: everything": everything("ts"),
  "boxwright/ts: createDecoder": some("ts", "createDecoder"),
  "boxwright/ts: nms": some("ts", "nms"),
  "boxwright/wasm: everything": everything("wasm"),
  "boxwright/wasm: createDecoder": some("wasm", "createDecoder, provideKernel"),
  "boxwright/plan: everything": everything("plan"),
  "boxwright/plan/ts: everything": everything("plan.ts"),
  "boxwright/priors: everything": everything("priors"),
  "boxwright/detect: createDetector, onnxRuntime": some("detect", "createDetector, onnxRuntime"),
  "boxwright/draw: drawCanvas": some("draw", "drawCanvas"),
  "boxwright/draw: everything": everything("draw"),
  "boxwright/labels: everything": everything("labels"),
  "boxwright/labels: COCO80": some("labels", "COCO80"),
  "boxwright/model: everything": everything("model"),
  "boxwright/packet: everything": some(
    "packet",
    "Packet, PacketError, fromPacket, packetHeaders, toCoco, toPacket, toRoboflow, toSupervision",
  ),
  "boxwright/pose: everything": everything("pose"),
  "boxwright and boxwright/pose: createDecoder": `${some("index", "createDecoder")} import "./dist/pose.mjs";`,
  "boxwright/oriented: everything": everything("oriented"),
  "boxwright and boxwright/oriented: createDecoder": `${some("index", "createDecoder")} import "./dist/oriented.mjs";`,
  "boxwright/suppress: everything": everything("suppress"),
  "boxwright/suppress: nms": some("suppress", "nms"),
  "boxwright/suppress: nmsOriented": some("suppress", "nmsOriented"),
  "boxwright/tiles: everything": everything("tiles"),
  "boxwright/track: everything": everything("track"),
  "boxwright and boxwright/model: createDecoder, readModel": `${some("index", "createDecoder")} ${some("model", "readModel")}`,
  "boxwright/prepare: everything": everything("prepare"),
  "boxwright/prepare/ts: everything": everything("prepare.ts"),
  "boxwright and boxwright/prepare: createDecoder, prepareImage": `${some("index", "createDecoder")} ${some("prepare", "prepareImage")}`,
  "boxwright/masks: everything": everything("masks"),
  "boxwright/masks/ts: everything": everything("masks.ts"),
  "boxwright and boxwright/masks: createDecoder, masks": `${some("index", "createDecoder")} import "./dist/masks.mjs";`,
  "boxwright, condition workerd: everything": everything("workerd"),
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

if (process.argv.includes("--update"))
  writeFileSync(
    "scripts/size.json",
    `${JSON.stringify(Object.fromEntries(Object.entries(sizes).map(([n, s]) => [n, s.gzipped])), null, 2)}\n`,
  );
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
for (const name of Object.keys(recorded))
  if (!(name in sizes)) problems.push(`${name}: a size is recorded, but there is no such import`);
// A goal has the same slack. What is above it is said.
for (const [name, goal] of Object.entries(GOALS)) {
  const { gzipped } = sizes[name];
  if (gzipped > goal) console.log(`${name}: ${gzipped - goal} bytes above the goal of ${goal}`);
  if (gzipped > goal * SLACK) problems.push(`${name}: got ${gzipped} bytes, the goal is ${goal} and 5 %`);
}

const expectThat = (what, holds) => holds || problems.push(`tree-shaking: expected ${what}`);
const minified = (name) => sizes[name].minified;
const text = (name) => new TextDecoder().decode(bundles[name]);
const [, simdText] = /simdText =\s*"([^"]{1000,})"/.exec(readFileSync("src/engine/kernel.ts", "utf8"));
expectThat("toPixels alone to cost under 3 kB", minified("boxwright: toPixels") < 3000);
expectThat(
  "nms without the decoder to cost under two thirds of everything",
  minified("boxwright: nms") < (2 / 3) * minified("boxwright: everything"),
);
expectThat("nms of boxwright/ts to cost under 30 kB", minified("boxwright/ts: nms") < 30_000);
expectThat(
  "no WebAssembly in boxwright/ts",
  !text("boxwright/ts: everything").includes("WebAssembly.Module"),
);
for (const name of ["boxwright/ts: everything", "boxwright/wasm: everything"])
  expectThat(`no binary in ${name}`, !text(name).includes(simdText.slice(0, 200)));
expectThat("the vector kernel in boxwright", text("boxwright: everything").includes(simdText));
// As a variable, which a bundler would make of it, the mask costs the engine `ts` a third of its speed.
expectThat(
  "the largest index to stand as a number where it is used",
  /&1073741823/.test(text("boxwright: everything")) && !/[^&]=1073741823/.test(text("boxwright: everything")),
);

for (const p of problems) console.error(p);
process.exit(problems.length === 0 ? 0 : 1);
