/**
 * Runs and times the recipes of docs/recipes.md: those for Node here, those for browsers in headless Chromium.
 *
 *   npm run bench:recipes -- [--only ort-node,webnn] [--frames 200] [--append] [--publish] [--out DIR]
 *
 * The network is one relu in the runtime's own format over the tensor of `v8@.25`, none of whose values is
 * negative, so what comes out is that tensor and the boxes have to be the definition's. Runtimes that are not
 * dependencies of the project are fetched as those of the runtime tests are. What cannot be had is reported as
 * missing; a wrong answer exits 1.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { openPage } from "../test/runtimes/browser.mjs";
import { Missing, obtain } from "../test/runtimes/install.mjs";
import { define, digest } from "./definition.ts";
import { optionsOf } from "./engines.ts";
import { publish } from "./publish.ts";
import { PLACES, recipeBlocks } from "./recipe/blocks.ts";
import { reluModel } from "./recipe/tflite.ts";
import { timeRecipe, type Opened, type Timed } from "./recipe/time.ts";
import { load, machineOf, reportFolder, save, type Made } from "./results.ts";
import { loadWorkload } from "./workloads.ts";
import { oneNode } from "../test/support/onnx.ts";

export interface RecipeRow extends Partial<Pick<Timed, "run" | "decode" | "copy" | "resident" | "count">> {
  readonly name: string;
  readonly runtime: string;
  readonly status: "ok" | "missing" | "failed";
  readonly reason?: string;
  readonly digest?: string;
  readonly expected?: string;
}

export interface RecipeReport extends Made {
  readonly frames: number;
  readonly rows: readonly RecipeRow[];
}

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL("../", import.meta.url));
const workload = loadWorkload("v8@.25");
const { data, dims } = workload.tensors.output0;
const image = data as Float32Array;
const value = { type: "float32", dims } as const;
const onnx = oneNode("Relu", [{ ...value, name: "images" }], { ...value, name: "output0" });

/** Folder of an installed package. */
const folderOf = (name: string): string => dirname(require.resolve(name));

/** What an application does before it opens its model, and which files of the runtime the page can fetch. */
interface Page {
  /** Packages that are fetched, by their name in the runtime tests; their folder of modules is searched too. */
  readonly fetched?: string;
  /** A module that exports `setUp`. */
  readonly setUp: string;
  readonly files: (modules: string) => Record<string, string>;
  readonly flags?: readonly string[];
  /** A Chromium of its own, by its name in the runtime tests. */
  readonly chromium?: string;
}

/** All files of a folder with one of the endings, served under `prefix`. */
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
    // Its threaded build, which an isolated page gets, looks for some of its files at the root of the site.
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

/** The built package, as a bundler for pages resolves it; Node's own entry reads files. */
const built = join(root, "dist", "index.mjs");

async function inNode(name: string, code: string, frames: number): Promise<Timed> {
  // Beside the project's sources, so that bare names are found as in an application.
  const file = join(root, "bench", `.recipe-${name}-${process.pid}.mjs`);
  writeFileSync(file, code);
  try {
    const { open } = (await import(pathToFileURL(file).href)) as {
      open(model: unknown, config: object): Promise<Opened>;
    };
    const model = name === "tfjs" ? await tfjsModel() : onnx;
    if (name === "ort-web") (await import("onnxruntime-web")).env.wasm.numThreads = 1;
    return await timeRecipe(await open(model, optionsOf(workload)), image, dims, frames);
  } finally {
    rmSync(file);
  }
}

/** What cannot be fetched is missing, whatever the reason; only what is there can fail. */
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
      entryPoints: [fileURLToPath(new URL("./recipe/page.mjs", import.meta.url))],
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
    writeFileSync(join(folder, "relu.onnx"), onnx);
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

async function rowOf(
  name: string,
  place: "Node" | "Chromium",
  code: string,
  frames: number,
): Promise<RecipeRow> {
  let runtime: string = place;
  try {
    const timed = place === "Node" ? await inNode(name, code, frames) : await inBrowser(name, code, frames);
    if ("browser" in timed) runtime = `Chromium ${(timed as { browser: string }).browser.split(".", 1)[0]}`;
    const { run, decode, copy, resident, count } = timed;
    const answer = { digest: digest(timed, truth), expected: digest(truth, truth) };
    return { name, runtime, status: "ok", run, decode, copy, resident, count, ...answer };
  } catch (error) {
    const { code: why, message } = error as NodeJS.ErrnoException;
    const missing = error instanceof Missing || why === "ERR_MODULE_NOT_FOUND" || why === "MODULE_NOT_FOUND";
    return { name, runtime, status: missing ? "missing" : "failed", reason: message.split("\n", 1)[0] };
  }
}

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    frames: { type: "string", default: "200" },
    append: { type: "boolean", default: false },
    publish: { type: "boolean", default: false },
    out: { type: "string", default: reportFolder },
  },
});
const frames = Number(values.frames);
const wanted = values.only?.split(",");
const unknown = wanted?.filter((name) => PLACES.every(([known]) => known !== name)) ?? [];
if (unknown.length > 0)
  throw new Error(
    `--only ${unknown.join(",")}: known are ${[...new Set(PLACES.map(([name]) => name))].join(", ")}`,
  );
const blocks = recipeBlocks();
const rows: RecipeRow[] = [];
for (const [name, place] of PLACES) {
  if (wanted !== undefined && !wanted.includes(name)) continue;
  const code = blocks.get(name);
  if (code === undefined) throw new Error(`docs/recipes.md: got no block under "## ${name}"`);
  const row = await rowOf(name, place, code, frames);
  rows.push(row);
  const us = (x: number | undefined): string => `${(x ?? NaN).toFixed(0)} us`;
  const answer =
    row.digest === row.expected ? "digest equal" : `MISMATCH ${row.digest}, expected ${row.expected}`;
  console.log(
    `${name.padEnd(9)} ${row.runtime.padEnd(13)} ` +
      (row.status === "ok"
        ? `run ${us(row.run)}, decode ${us(row.decode)}; a copy ${us(row.copy)}, decode in the slot ${us(row.resident)}; ${row.count} boxes, ${answer}`
        : `${row.status}: ${row.reason}`),
  );
}
const before = values.append ? (load<RecipeReport>(values.out, "recipes")?.rows ?? []) : [];
const place = ({ name, runtime }: RecipeRow): number =>
  PLACES.findIndex(([known, where]) => known === name && runtime.startsWith(where));
const report: RecipeReport = {
  ...machineOf("bench:recipes"),
  frames,
  rows: [...before.filter((old) => rows.every((row) => place(row) !== place(old))), ...rows].sort(
    (a, b) => place(a) - place(b),
  ),
};
save(values.out, "recipes", report);
if (values.publish) publish(values.out);
if (rows.some((row) => row.status === "failed" || row.digest !== row.expected)) process.exitCode = 1;
// A runtime's threads may wait for work that does not come.
process.exit();
