/**
 * Runs createDetector in headless Chromium, by the real package of each runtime. The network gives out its own picture,
 * so a picture states what has to be found. Run by `npm run test:runtimes`, after a build; words after it choose runtimes.
 * A runtime that cannot be had is reported; with CI set, that fails too. The adapters for Node are tested by vitest.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { openPage } from "./browser.mjs";
import { Missing, obtain } from "./install.mjs";

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL("../../", import.meta.url));
const folderOf = (name) => dirname(require.resolve(name));

/** All files of a folder with one of the endings, to be served under `prefix`. */
function served(folder, prefix, ...endings) {
  const names = readdirSync(folder).filter((name) => endings.some((ending) => name.endsWith(ending)));
  return Object.fromEntries(names.map((name) => [`${prefix}${name}`, join(folder, name)]));
}

/** TensorFlow Lite in a page. `source`: fields of what setUp returns. */
const onTflite = (file, source) => ({
  fetched: "tflite",
  setUp: `import * as module from "@tensorflow/tfjs-tflite/dist/tf-tflite.fesm.min.js";
import { tflite } from "boxwright";
export const layout = "NHWC";
export async function setUp({ fetched, config }) {
  module.setWasmPath("/");
  const runtime = tflite(module, { numThreads: 1 });
  const model = await fetched("/${file}.tflite");
  return { ${source} };
}`,
  // An isolated page gets the threaded build, which looks for some of its files at the root of the site.
  files: (modules) => served(join(modules, "@tensorflow/tfjs-tflite/wasm"), "/", ".wasm", ".js"),
});

/** The same for LiteRT.js. */
const onLiteRt = (file, source) => ({
  fetched: "litert",
  setUp: `import * as module from "@litertjs/core";
import { liteRt } from "boxwright";
export const layout = "NHWC";
export async function setUp({ config }) {
  await module.loadLiteRt("/litert/");
  const [model, runtime] = ["/${file}.tflite", liteRt(module)];
  return { ${source} };
}`,
  files: (modules) => served(join(modules, "@litertjs/core/wasm"), "/litert/", ".wasm", ".js"),
});

/**
 * Each runtime: what an application does before it makes its detector, and the files that the page can fetch. `fetched` is a
 * package that the project does not depend on, by its name in install.mjs.
 */
const RUNTIMES = {
  "onnxruntime-web": {
    setUp: `import * as ort from "onnxruntime-web";
import { onnxRuntime } from "boxwright";
export const layout = "NCHW";
export async function setUp() {
  ort.env.wasm.wasmPaths = "/ort/";
  ort.env.wasm.numThreads = 1;
  return { source: { model: "/network.onnx", runtime: onnxRuntime(ort) } };
}`,
    files: () => served(folderOf("onnxruntime-web"), "/ort/", ".wasm", ".mjs"),
  },
  "onnxruntime-web, in a worker": {
    // The file that starts the worker must be its own: a bundle would start the whole page again.
    setUp: `import { onnxRuntime } from "boxwright";
export const layout = "NCHW";
export async function setUp() {
  const ort = await import("/ort/ort.wasm.min.mjs".slice());
  ort.env.wasm.wasmPaths = "/ort/";
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.proxy = true;
  return { source: { model: "/network.onnx", runtime: onnxRuntime(ort) } };
}`,
    files: () => served(folderOf("onnxruntime-web"), "/ort/", ".wasm", ".mjs"),
  },
  tfjs: {
    setUp: `import * as tf from "@tensorflow/tfjs-core";
import { setThreadsCount, setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
import { tfjs } from "boxwright";
export const layout = "NHWC";
export async function setUp({ config }) {
  setWasmPaths("/tfjs/");
  setThreadsCount(1);
  const inputs = [{ name: "images", shape: [1, 24, 32, 3], dtype: "float32" }];
  const model = { inputs, predict: (x) => tf.reshape(x, [1, 384, 6]) };
  return { source: { model, runtime: tfjs(tf), config } };
}`,
    files: () => served(folderOf("@tensorflow/tfjs-backend-wasm"), "/tfjs/", ".wasm"),
  },
  tflite: onTflite("network", "source: { model, runtime, config }"),
  litert: onLiteRt("network", "source: { model, runtime, config }"),
  "tflite, int8": onTflite("int8", "source: { model, runtime }, options: config"),
  "litert, uint8": onLiteRt("uint8", "source: { model, runtime }, options: config"),
  webnn: {
    setUp: `import { webnn } from "boxwright";
export const layout = "NCHW";
export async function setUp({ config }) {
  const context = await navigator.ml.createContext({ deviceType: "cpu" });
  const builder = new MLGraphBuilder(context);
  const picture = { dataType: "float32", shape: [1, 3, 24, 32] };
  const rows = { dataType: "float32", shape: [1, 384, 6] };
  const graph = await builder.build({ output0: builder.reshape(builder.input("images", picture), rows.shape) });
  const images = await context.createTensor({ ...picture, writable: true });
  const output0 = await context.createTensor({ ...rows, readable: true });
  const model = { graph, inputs: { images }, outputs: { output0 } };
  return { source: { model, runtime: webnn(context), config } };
}`,
    files: () => ({}),
    flags: ["--enable-features=WebMachineLearningNeuralNetwork"],
    // Debian's build of Chromium has no backend for WebNN.
    chromium: "chromium-webnn",
  },
};

/** The path of a package, fetched if need be. Counts as missing, not failed, if it cannot be had. */
const fetchedPackage = (name) =>
  obtain(name).catch((error) => {
    throw new Missing(error.message.split("\n", 1)[0]);
  });

async function bundle(source, outfile, folder, modules) {
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    format: "esm",
    platform: "browser",
    nodePaths: [join(root, "node_modules"), ...(modules === "" ? [] : [modules])],
    alias: {
      boxwright: join(root, "dist/index.mjs"),
      "echo-network": join(root, "test/support/echo-network.ts"),
      "set-up": join(folder, "set-up.mjs"),
    },
    logLevel: "error",
  });
}

async function inBrowser({ fetched, setUp, files, flags = [], chromium }) {
  const playwright = require(await fetchedPackage("playwright"));
  const program = fetched === undefined ? "" : await fetchedPackage(fetched);
  const modules = program.replace(/(.*\/node_modules)\/.*/, "$1");
  const browser = process.env.CHROMIUM;
  const folder = mkdtempSync(join(tmpdir(), "boxwright-detect-"));
  try {
    if (chromium !== undefined) {
      const { default: own } = await import(pathToFileURL(await fetchedPackage(chromium)).href);
      process.env.CHROMIUM = await own.executablePath();
    }
    writeFileSync(join(folder, "set-up.mjs"), setUp);
    await bundle(
      fileURLToPath(new URL("./detect-page.mjs", import.meta.url)),
      join(folder, "main.mjs"),
      folder,
      modules,
    );
    // The files are made by the same source that says what has to be found.
    await build({
      entryPoints: [join(root, "test/support/echo-network.ts")],
      outfile: join(folder, "echo.mjs"),
      bundle: true,
      format: "esm",
      platform: "node",
    });
    const { echoOnnx, echoTflite } = await import(pathToFileURL(join(folder, "echo.mjs")).href);
    writeFileSync(join(folder, "network.onnx"), echoOnnx());
    writeFileSync(join(folder, "network.tflite"), echoTflite());
    writeFileSync(join(folder, "int8.tflite"), echoTflite("i8"));
    // The converter of TensorFlow names inputs and outputs in a signature, and LiteRT.js goes by these names.
    writeFileSync(join(folder, "uint8.tflite"), echoTflite("u8", ["args_0", "output_0"]));
    return await openPage({
      playwright,
      folder,
      app: folder,
      flags,
      extra: files(modules),
      headers: {
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-embedder-policy": "require-corp",
      },
    });
  } finally {
    if (browser === undefined) delete process.env.CHROMIUM;
    else process.env.CHROMIUM = browser;
    rmSync(folder, { recursive: true });
  }
}

const words = process.argv.slice(2);
let passed = 0;
let failed = 0;
let missing = 0;
for (const [name, runtime] of Object.entries(RUNTIMES)) {
  if (words.length > 0 && !words.some((word) => name.startsWith(word))) continue;
  try {
    const result = await inBrowser(runtime);
    passed += result.passed;
    failed += result.failed;
    console.log(
      `${name}, Chromium ${result.browser}: ${result.passed} of ${result.passed + result.failed} checks`,
    );
    for (const failure of result.failures) console.error(`  ${failure}`);
  } catch (error) {
    if (error instanceof Missing) missing++;
    else failed++;
    console.error(`${name}: ${error instanceof Missing ? "MISSING" : "NO"}: ${error.message}`);
  }
}
if (missing > 0 && process.env.CI) failed += missing;
console.log(`${passed} passed, ${failed} failed${missing > 0 ? `, ${missing} skipped` : ""}`);
process.exit(failed === 0 ? 0 : 1);
