/**
 * Times a decode of YOLOv8 [1,84,8400] at 0.25 in engines without WebAssembly, beside V8 with the same program:
 * `node bench/other-engines.mjs`, after `npm run build`. The program is bundled, and goes through Babel for Hermes.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { obtain } from "../test/runtimes/install.mjs";

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL("..", import.meta.url));
/** Make the tensor in the engine, so that the program does not contain its 2.8 MB. */
const PROGRAM = `
import { createDecoderSync } from "${root}dist/bare.mjs";
import { makeV8 } from "${root}bench/tensors.ts";

const decoder = createDecoderSync({ family: "yolov8", classes: 80, inputSize: [640, 640] });
const outputs = Object.fromEntries(
  Object.entries(makeV8(1)).map(([name, { dims, data }]) => [name, { dims, data }]),
);
const times = [];
let found = 0;
for (let i = 0; i < 15; i++) {
  const start = Date.now();
  // Decode several times: some engines' clocks count whole milliseconds.
  for (let k = 0; k < COUNT; k++) found = decoder.decode(outputs).length;
  times.push((Date.now() - start) / COUNT);
}
globalThis.measured = found + " found, " + times.sort((a, b) => a - b)[7].toFixed(2) + " ms";
`;

const folder = mkdtempSync(join(tmpdir(), "boxwright-engines-"));

/** Bundles the program with `count` decodes in a round. Returns its text. */
async function bundle(count) {
  const { outputFiles } = await build({
    stdin: { contents: PROGRAM.replaceAll("COUNT", count), resolveDir: root, loader: "ts" },
    bundle: true,
    write: false,
    format: "iife",
    target: "es2020",
    logLevel: "error",
  });
  return outputFiles[0].text;
}

/** Writes a program that prints its measurement at the end. */
function writeProgram(name, text, print) {
  const file = join(folder, name);
  writeFileSync(file, `${text}\n${print}(globalThis.measured);\n`);
  return file;
}

const run = (program, ...words) =>
  execFileSync(program, words, { encoding: "utf8", maxBuffer: 1 << 26 }).trim();

async function inHermes() {
  const babel = require(await obtain("babel"));
  const presets = [["env", { targets: "ie 11", modules: false }]];
  const { code } = babel.transform(await bundle(2), { sourceType: "script", compact: true, presets });
  return run(await obtain("hermes"), "-O", "-w", writeProgram("hermes.js", code, "print"));
}

async function inQuickJs() {
  const { getQuickJS } = require(await obtain("quickjs"));
  const vm = (await getQuickJS()).newContext();
  vm.unwrapResult(vm.evalCode(await bundle(2))).dispose();
  const handle = vm.unwrapResult(vm.evalCode("globalThis.measured"));
  const text = vm.getString(handle);
  handle.dispose();
  vm.dispose();
  return text;
}

try {
  const file = writeProgram("v8.js", await bundle(20), "console.log");
  console.log(`V8, Node ${process.versions.node}: ${run(process.execPath, file)}`);
  console.log(`V8 without a compiler (--jitless): ${run(process.execPath, "--jitless", file)}`);
  console.log(`Hermes: ${await inHermes()}`);
  console.log(`QuickJS, itself in WebAssembly: ${await inQuickJs()}`);
} finally {
  rmSync(folder, { recursive: true });
}
