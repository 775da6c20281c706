/**
 * Builds the kernels and the package, unless dist/ was built from the same sources. Tests, the demo, the benchmark and
 * CI all call this script; the first call builds.
 */
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";

const INPUTS = [
  "assembly",
  "src",
  "asconfig.json",
  "asconfig.prepare.json",
  "asconfig.masks.json",
  "package.json",
  "package-lock.json",
  "scripts/build.mjs",
  "scripts/build-kernel.mjs",
  "scripts/notice.mjs",
  "tsconfig.json",
  "tsdown.config.ts",
];
/** Files that the build writes. */
const GENERATED = ["build/kernels.mjs"];
const BINARIES = ["", "prepare.", "masks."].flatMap((name) => [
  `build/${name}simd.wasm`,
  `build/${name}scalar.wasm`,
]);
const STAMP = "build/stamp.json";

function filesOf(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath ?? entry.path}/${entry.name}`)
    .sort();
}

function digest(files) {
  const hash = createHash("sha256");
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(file)).update("\0");
  return hash.digest("hex");
}

const outputs = () => digest([...filesOf("dist"), ...BINARIES, ...GENERATED]);

function isUpToDate(inputs) {
  if (![STAMP, "dist", ...BINARIES, ...GENERATED].every((f) => existsSync(f))) return false;
  const stamp = JSON.parse(readFileSync(STAMP, "utf8"));
  return stamp.inputs === inputs && stamp.outputs === outputs();
}

const inputs = digest(INPUTS.flatMap(filesOf));
if (isUpToDate(inputs)) console.log("dist/ is up to date");
else {
  rmSync(STAMP, { force: true });
  const run = (...command) => execFileSync(process.execPath, command, { stdio: "inherit" });
  run("scripts/build-kernel.mjs");
  run("node_modules/tsdown/dist/run.mjs");
  writeFileSync(STAMP, `${JSON.stringify({ inputs, outputs: outputs() }, null, 2)}\n`);
}
