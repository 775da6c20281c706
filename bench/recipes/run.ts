/**
 * Runs and times the recipes of docs/recipes.md: those for Node here, those for browsers in headless Chromium.
 * The network is one relu over the tensor of `v8@.25`, in the runtime's own format. No value is negative, so the
 * network outputs that tensor, and the boxes must be those of the specification. Runtimes that the project does not
 * depend on are fetched in the same way as for the runtime tests.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { openPage } from "../../test/runtimes/browser.mjs";
import { Missing, obtain } from "../../test/runtimes/install.mjs";
import { define, digestOf } from "../definition.ts";
import { optionsOf } from "../engines.ts";
import { chosen, positive, runScript } from "../options.ts";
import { Graph } from "../peers/onnx-graph.ts";
import { machineLine, madeBy, printerFor, writeReport } from "../report.ts";
import { layOut } from "../table.ts";
import { makeWorkload, WORKLOADS } from "../workloads.ts";
import { PLACES, recipeBlocks } from "./blocks.ts";
import { reluModel } from "./tflite.ts";
import { timeRecipe, type Opened, type Timed } from "./time.ts";

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL("../../", import.meta.url));
const workload = makeWorkload(WORKLOADS[0]);
const { data, dims } = workload.tensors.output0;
const image = data as Float32Array;

function onnxModel(): Uint8Array {
  const graph = new Graph();
  graph.output(graph.node("Relu", [graph.input("images", dims)]), "output0", "float32", dims);
  return graph.model();
}

/** Folder of an installed package. */
const folderOf = (name: string): string => dirname(require.resolve(name));

/** Instructions for running the recipe of a runtime in a page. */
interface Page {
  /** Package to fetch, by its name in the runtime tests. Bare names are also searched beside it. */
  readonly fetched?: string;
  /** Module with the steps of an application before it opens its model. Exports `setUp`. */
  readonly setUp: string;
  /** Files of the runtime that the page can fetch, by their path on the server. */
  readonly files: (modules: string) => Record<string, string>;
  readonly flags?: readonly string[];
  /** Another Chromium, by its name in the runtime tests. */
  readonly chromium?: string;
}

/** Returns all files of a folder with one of the endings, to be served under `prefix`. */
function served(folder: string, prefix: string, ...endings: string[]): Record<string, string> {
  const names = readdirSync(folder).filter((name) => endings.some((ending) => name.endsWith(ending)));
  return Object.fromEntries(names.map((name) => [`${prefix}${name}`, join(folder, name)]));
}

const PAGES: Readonly<Record<string, Page>> = {
  "ort-web": {
    setUp: `import * as ort from "onnxruntime-web";
export async function setUp({ fetched }) {
  ort.env.wasm.wasmPaths = "/ort/";
  ort.env.wasm.numThreads = 1;
  return fetched("/relu.onnx");
}`,
    files: () => served(folderOf("onnxruntime-web"), "/ort/", ".wasm", ".mjs"),
  },
  tfjs: {
    setUp: `import * as tf from "@tensorflow/tfjs-core";
import { setThreadsCount, setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
export async function setUp() {
  setWasmPaths("/tfjs/");
  setThreadsCount(1);
  return { predict: (x) => tf.relu(x) };
}`,
    files: () => served(folderOf("@tensorflow/tfjs-backend-wasm"), "/tfjs/", ".wasm"),
  },
  tflite: {
    fetched: "tflite",
    setUp: `import { setWasmPath } from "@tensorflow/tfjs-tflite/dist/tf-tflite.fesm.min.js";
export async function setUp({ fetched }) {
  setWasmPath("/");
  return (await fetched("/relu.tflite")).buffer;
}`,
    // An isolated page gets the threaded build, which looks for some of its files at the root of the site.
    files: (modules) => served(join(modules, "@tensorflow/tfjs-tflite/wasm"), "/", ".wasm", ".js"),
  },
  litert: {
    fetched: "litert",
    setUp: 'export const setUp = ({ fetched }) => fetched("/relu.tflite");',
    files: (modules) => served(join(modules, "@litertjs/core/wasm"), "/litert/", ".wasm", ".js"),
  },
  webnn: {
    setUp: `export async function setUp({ shape }) {
  const context = await navigator.ml.createContext({ deviceType: "cpu" });
  const builder = new MLGraphBuilder(context);
  const tensor = { dataType: "float32", shape };
  const graph = await builder.build({ output0: builder.relu(builder.input("images", tensor)) });
  const images = await context.createTensor({ ...tensor, writable: true });
  const output0 = await context.createTensor({ ...tensor, readable: true });
  return { context, graph, images, output0 };
}`,
    files: () => ({}),
    flags: ["--enable-features=WebMachineLearningNeuralNetwork"],
    chromium: "chromium-webnn",
  },
};

/** The built package as a bundler for pages resolves it. */
const built = join(root, "dist", "index.mjs");

async function inNode(name: string, code: string, frames: number): Promise<Timed> {
  // Put the file inside the project, so that bare names are resolved as in an application.
  const file = join(root, "bench", `.recipe-${name}-${process.pid}.mjs`);
  writeFileSync(file, code);
  try {
    const { open } = (await import(pathToFileURL(file).href)) as {
      open(model: unknown, config: object): Promise<Opened>;
    };
    const model = name === "tfjs" ? await tfjsModel() : onnxModel();
    if (name === "ort-web") (await import("onnxruntime-web")).env.wasm.numThreads = 1;
    return await timeRecipe(await open(model, optionsOf(workload)), image, dims, frames);
  } finally {
    rmSync(file);
  }
}

/** Returns the path of a package, which is fetched if necessary. If this fails, counts it as missing, not failed. */
const fetchedPackage = (name: string): Promise<string> =>
  obtain(name).catch((error: Error) => {
    throw new Missing(error.message.split("\n", 1)[0]);
  });

async function tfjsModel(): Promise<unknown> {
  const { setThreadsCount, setWasmPaths } = await import("@tensorflow/tfjs-backend-wasm");
  const tf = await import("@tensorflow/tfjs-core");
  setWasmPaths(`${folderOf("@tensorflow/tfjs-backend-wasm")}/`);
  setThreadsCount(1);
  return { predict: (x: unknown) => tf.relu(x as Parameters<typeof tf.relu>[0]) };
}

async function inBrowser(name: string, code: string, frames: number): Promise<Timed & { browser: string }> {
  const { fetched, setUp, files, flags = [], chromium } = PAGES[name];
  const playwright = require(await fetchedPackage("playwright")) as unknown;
  const program = fetched === undefined ? "" : await fetchedPackage(fetched);
  const modules = program.replace(/(.*\/node_modules)\/.*/, "$1");
  const browser = process.env.CHROMIUM;
  const folder = mkdtempSync(join(tmpdir(), "boxwright-recipe-"));
  try {
    if (chromium !== undefined) {
      const { default: package_ } = (await import(pathToFileURL(await fetchedPackage(chromium)).href)) as {
        default: { executablePath(): Promise<string> };
      };
      process.env.CHROMIUM = await package_.executablePath();
    }
    writeFileSync(join(folder, "recipe.mjs"), code);
    writeFileSync(join(folder, "set-up.mjs"), setUp);
    const { build } = await import("esbuild");
    await build({
      entryPoints: [fileURLToPath(new URL("./page.mjs", import.meta.url))],
      outfile: join(folder, "main.mjs"),
      bundle: true,
      format: "esm",
      platform: "browser",
      nodePaths: [join(root, "node_modules"), ...(modules === "" ? [] : [modules])],
      alias: {
        boxwright: built,
        recipe: join(folder, "recipe.mjs"),
        "set-up": join(folder, "set-up.mjs"),
      },
      logLevel: "error",
    });
    writeFileSync(join(folder, "tensor.bin"), new Uint8Array(image.buffer));
    writeFileSync(join(folder, "relu.onnx"), onnxModel());
    writeFileSync(join(folder, "relu.tflite"), reluModel(dims));
    writeFileSync(
      join(folder, "task.json"),
      JSON.stringify({ shape: dims, frames, config: optionsOf(workload) }),
    );
    return await openPage<Timed>({
      playwright,
      folder,
      app: folder,
      flags: [...flags],
      extra: files(modules),
      // Isolated pages have a clock of 5 microseconds instead of 100.
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

const truth = define(workload);

interface RecipeRow extends Partial<Timed> {
  readonly name: string;
  readonly runtime: string;
  readonly status: "ok" | "missing" | "failed";
  readonly reason?: string;
  readonly digest?: string;
}

async function rowOf(name: string, place: string, code: string, frames: number): Promise<RecipeRow> {
  try {
    const timed: Timed & { browser?: string } =
      place === "Node" ? await inNode(name, code, frames) : await inBrowser(name, code, frames);
    const runtime = timed.browser === undefined ? place : `Chromium ${timed.browser.split(".", 1)[0]}`;
    const { run, decode, copy, resident, count } = timed;
    const figures = { run, decode, copy, resident, count };
    return { name, runtime, status: "ok", ...figures, digest: digestOf(timed, truth) };
  } catch (error) {
    const { code: why, message } = error as NodeJS.ErrnoException;
    const isMissing =
      error instanceof Missing || why === "ERR_MODULE_NOT_FOUND" || why === "MODULE_NOT_FOUND";
    const reason = message.split("\n", 1)[0];
    return { name, runtime: place, status: isMissing ? "missing" : "failed", reason };
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: "string" }, frames: { type: "string" }, out: { type: "string" } },
  });
  const places = chosen("--only", values.only, PLACES, ([name]) => name);
  const frames = positive("--frames", values.frames, 200);
  const print = printerFor(values.out);
  const made = madeBy("bench:recipes");
  print(`${machineLine(made)}; median of ${frames} frames, microseconds`);
  const blocks = recipeBlocks();
  const expected = digestOf(truth, truth);
  const rows: RecipeRow[] = [];
  for (const [name, place] of places) {
    const code = blocks.get(name);
    if (code === undefined) throw new Error(`docs/recipes.md has no block of code under "## ${name}".`);
    rows.push(await rowOf(name, place, code, frames));
  }
  const lines = rows.map(({ name, runtime, status, reason, digest, ...timed }) => [
    name,
    runtime,
    ...[timed.run, timed.decode, timed.copy, timed.resident].map((time) => time?.toFixed(0) ?? ""),
    status !== "ok" ? `${status}: ${reason}` : digest === expected ? "as defined" : `MISMATCH: ${digest}`,
  ]);
  const head = ["recipe", "runs in", "network", "hand over and decode", "copy", "decode", "answer"];
  for (const line of layOut(head, lines, 2)) print(line);
  writeReport(values.out, { ...made, frames, expected, rows });
  if (rows.some(({ status, digest }) => status === "failed" || (status === "ok" && digest !== expected)))
    process.exitCode = 1;
}

await runScript(main);
// Exit at once: threads of a runtime may still wait for work.
process.exit();
