/**
 * One entry for each place the package runs in: how it is started there, and which engine `auto` has to choose. Each gets the
 * packed tarball, installed by npm into `app`, and answers with what `runAll` returned.
 */
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { appendFile, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { openPage } from "./browser.mjs";
import { CHECKS } from "../conformance/beside.mjs";
import { Missing, obtain } from "./install.mjs";
import { codeSize, loadedBy } from "./loaded.mjs";
import { nextClient, nextServer } from "./next.mjs";

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const load = (file) => import(pathToFileURL(file).href);

/** Prints one line that the runner finds among others. */
const MARK = "BOXWRIGHT-RESULT ";

function parse(output) {
  const line = output.split("\n").find((l) => l.includes(MARK));
  if (line === undefined) throw new Error(`got no result in ${JSON.stringify(output.slice(-1500))}`);
  return JSON.parse(line.slice(line.indexOf(MARK) + MARK.length));
}

async function start(program, args, app, env = {}) {
  try {
    const { stdout } = await run(program, args, {
      cwd: app,
      env: { ...process.env, NODE_OPTIONS: "", ...env },
      timeout: 600_000,
      maxBuffer: 1 << 26,
    });
    return parse(stdout);
  } catch (e) {
    throw new Error(
      `${program.split("/").pop()} ${args.join(" ")}: ${e.message}\n${String(e.stderr ?? "").slice(-1500)}`,
    );
  }
}

/** Programs that the runtimes start, beside the installed package. */
export async function writePrograms(app) {
  const report = (main) => `console.log(${JSON.stringify(MARK)} + JSON.stringify(${main}));\n`;
  const both = 'import { bytesOf, runAll } from "./conformance.mjs";\nimport { cases } from "./cases.mjs";\n';
  const esm = (from) => `import * as boxwright from "${from}";\n${both}`;
  const beside = `import * as boxwright from "boxwright";\nimport { runBeside } from "./beside.mjs";\n`;
  // the promise of createDecoder has to come to the same engine as the synchronous way
  const asynchronous =
    "const late = await boxwright.createDecoder(cases[0].config);\nconst result = runAll(boxwright, cases);\n" +
    "if (late.engine !== result.engine) { result.failed++; result.failures.push(`createDecoder chose ${late.engine}`); }\n";
  const byPlan =
    "const late = await boxwright.loadPlan(bytesOf(cases[0].plan));\nconst result = runAll(boxwright, cases);\n" +
    "if (late.engine !== result.engine) { result.failed++; result.failures.push(`loadPlan chose ${late.engine}`); }\n";
  const provide =
    'for (const kind of ["simd", "scalar"]) {\n' +
    "  const bytes = readFileSync(fileURLToPath(import.meta.resolve(`boxwright/${kind}.wasm`)));\n" +
    '  boxwright.provideKernel(kind, kind === "simd" ? await WebAssembly.compile(bytes) : bytes);\n}\n';
  const files = {
    "esm.mjs": esm("boxwright") + asynchronous + report("result"),
    "ts.mjs": esm("boxwright/ts") + asynchronous + report("result"),
    "wasm.mjs":
      'import { readFileSync } from "node:fs";\nimport { fileURLToPath } from "node:url";\n' +
      esm("boxwright/wasm") +
      provide +
      asynchronous +
      report("result"),
    "plan.mjs": esm("boxwright/plan") + byPlan + report("result"),
    "cjs.cjs": `const boxwright = require("boxwright");\nPromise.all([import("./conformance.mjs"), import("./cases.mjs")]).then(([{ runAll }, { cases }]) => {\n  ${report("runAll(boxwright, cases)")}});\n`,
    "ts.cjs": `const boxwright = require("boxwright/ts");\nPromise.all([import("./conformance.mjs"), import("./cases.mjs")]).then(([{ runAll }, { cases }]) => {\n  ${report("runAll(boxwright, cases)")}});\n`,
    "thread.mjs":
      'import { Worker } from "node:worker_threads";\n' +
      'const worker = new Worker(new URL("./esm.mjs", import.meta.url), { stdout: true });\n' +
      'let text = "";\nworker.stdout.on("data", (d) => (text += d));\nworker.on("exit", () => process.stdout.write(text));\n',
    "fetch.mjs": `${esm("boxwright")}export default { async fetch() {\n  ${asynchronous}  return Response.json(result);\n} };\n`,
    "fetch-plan.mjs": `${esm("boxwright/plan")}export default { async fetch() {\n  ${byPlan}  return Response.json(result);\n} };\n`,
    "page.mjs":
      'import * as boxwright from "boxwright";\nimport { runAll } from "./conformance.mjs";\n' +
      'const cases = await (await fetch("/cases.json")).json();\n' +
      asynchronous +
      "globalThis.boxwrightResult = result;\n",
    // Parcel knows no top-level await.
    "page-plain.mjs":
      'import * as boxwright from "boxwright";\nimport { runAll } from "./conformance.mjs";\n' +
      'fetch("/cases.json").then(async (r) => (globalThis.boxwrightResult = runAll(boxwright, await r.json())));\n',
    "page-wasm.mjs":
      'import * as boxwright from "boxwright/wasm";\nimport { runAll } from "./conformance.mjs";\n' +
      'const cases = await (await fetch("/cases.json")).json();\n' +
      'for (const kind of ["simd", "scalar"]) boxwright.provideKernel(kind, await WebAssembly.compileStreaming(fetch(`/${kind}.wasm`)));\n' +
      asynchronous +
      "globalThis.boxwrightResult = result;\n",
    "page-plan.mjs":
      'import * as boxwright from "boxwright/plan";\nimport { bytesOf, runAll } from "./conformance.mjs";\n' +
      'const cases = await (await fetch("/cases.json")).json();\n' +
      byPlan +
      "globalThis.boxwrightResult = result;\n",
    "page-worker.mjs":
      'const worker = new Worker(new URL("./worker.mjs", import.meta.url), { type: "module" });\n' +
      "worker.onmessage = (e) => (globalThis.boxwrightResult = e.data);\nworker.onerror = (e) => (globalThis.boxwrightError = e.message);\n",
    "worker.mjs":
      'import * as boxwright from "boxwright";\nimport { runAll } from "./conformance.mjs";\n' +
      'const cases = await (await fetch("/cases.json")).json();\n' +
      asynchronous +
      "postMessage(result);\n",
    "beside-esm.mjs": `${beside}${report("runBeside(boxwright)")}`,
    "beside-cjs.cjs":
      'const boxwright = require("boxwright");\n' +
      `import("./beside.mjs").then(({ runBeside }) => {\n  ${report("runBeside(boxwright)")}});\n`,
    "embedded-beside.mjs": `${beside}globalThis.boxwrightResult = JSON.stringify(runBeside(boxwright));\n`,
    "small-beside.mjs":
      'import { createTracker, fuse, mergeTiles, nmsOriented, orientedIou, suppress, tiles } from "boxwright";\n' +
      "globalThis.boxwright = [createTracker, fuse, mergeTiles, nmsOriented, orientedIou, suppress, tiles];\n",
    // Metro and Jest know no top-level await.
    "plain.mjs": `${esm("boxwright")}globalThis.boxwrightResult = runAll(boxwright, cases);\n`,
    "embedded.mjs": `${esm("boxwright/ts")}globalThis.boxwrightResult = JSON.stringify(runAll(boxwright, cases));\n`,
    "embedded-plan.mjs": `${esm("boxwright/plan")}globalThis.boxwrightResult = JSON.stringify(runAll(boxwright, cases));\n`,
    "small-plan-ts.mjs":
      'import { loadPlanSync } from "boxwright/plan";\nglobalThis.loadPlanSync = loadPlanSync;\n',
    "small-plan.mjs": 'import { loadPlan } from "boxwright/plan";\nglobalThis.loadPlan = loadPlan;\n',
    "small-ts.mjs":
      'import { createDecoderSync } from "boxwright/ts";\nglobalThis.createDecoderSync = createDecoderSync;\n',
    "small-wasm.mjs":
      'import { createDecoder, provideKernel } from "boxwright/wasm";\nObject.assign(globalThis, { createDecoder, provideKernel });\n',
    // what a user writes: the size of a bundle is measured on it
    "small.mjs": 'import { createDecoder } from "boxwright";\nglobalThis.createDecoder = createDecoder;\n',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(app, name), text);
}

// ---- Node, Bun, Deno ----

/** A program that reads the installed package as it is. */
const script = (runtime, file, flags = [], env = {}) => ({
  async go(app) {
    const program = await obtain(runtime);
    const args =
      runtime === "deno" ? ["run", "--quiet", "--no-prompt", "--node-modules-dir=manual", ...flags] : flags;
    const result = await start(program, [...args, file], app, {
      DENO_NO_UPDATE_CHECK: "1",
      DENO_DIR: join(app, ".deno"),
      ...env,
    });
    return { result, loaded: loadedBy(join(app, file)) };
  },
});

/** Node for another processor, on an emulated one. */
const emulated = (runtime, machine, libraries) => ({
  async go(app) {
    const program = await obtain(runtime);
    const emulator = `/usr/bin/qemu-${machine}`;
    for (const path of [emulator, libraries])
      if (!existsSync(path))
        throw new Missing(`got no ${path}, expected what test/runtimes/debian.sh installs`);
    // the compiler's own threads are what an emulator is slowest at
    const result = await start(emulator, ["-L", libraries, program, "--single-threaded", "esm.mjs"], app);
    return { result, loaded: loadedBy(join(app, "esm.mjs")) };
  },
});

// ---- bundlers and browsers ----

const BUNDLERS = {
  async esbuild(app, entry, outdir) {
    const { build } = require(await obtain("esbuild"));
    await build({
      entryPoints: { main: join(app, entry) },
      outdir,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      minify: true,
      format: "esm",
      logLevel: "error",
    });
  },
  async rolldown(app, entry, outdir) {
    const { build } = await load(await obtain("rolldown"));
    await build({
      input: { main: join(app, entry) },
      platform: "browser",
      logLevel: "silent",
      output: {
        dir: outdir,
        minify: true,
        format: "esm",
        entryFileNames: "[name].mjs",
        chunkFileNames: "[name].mjs",
      },
    });
  },
  async webpack(app, entry, outdir) {
    const webpack = require(await obtain("webpack"));
    const stats = await promisify(webpack)({
      mode: "production",
      context: app,
      entry: { main: join(app, entry) },
      experiments: { outputModule: true },
      performance: false,
      output: {
        path: outdir,
        filename: "[name].mjs",
        chunkFilename: "[name].mjs",
        module: true,
        publicPath: "/",
      },
    });
    if (stats.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }));
  },
  // It knows no `imports` of package.json, and takes the file that `module` names.
  async parcel(app, entry, outdir) {
    const core = await obtain("parcel");
    const { Parcel } = require(core);
    const bundler = new Parcel({
      entries: join(app, entry),
      defaultConfig: require.resolve("@parcel/config-default", { paths: [core] }),
      shouldDisableCache: true,
      mode: "production",
      defaultTargetOptions: { sourceMaps: false },
      targets: {
        main: {
          distDir: outdir,
          distEntry: "main.mjs",
          outputFormat: "esmodule",
          context: "browser",
          engines: { browsers: ["last 2 Chrome versions"] },
        },
      },
    });
    await bundler.run();
  },
  async vite(app, entry, outdir) {
    const { build } = await load(join(dirname(await obtain("vite")), "..", "dist", "node", "index.js"));
    await build({
      root: app,
      configFile: false,
      logLevel: "error",
      publicDir: false,
      worker: { format: "es" },
      build: {
        outDir: outdir,
        target: "es2022",
        emptyOutDir: true,
        rollupOptions: {
          input: { main: join(app, entry) },
          output: { entryFileNames: "[name].mjs", assetFileNames: "[name][extname]" },
        },
      },
    });
  },
};

/** A bundle in headless Chromium. */
const page = (bundler, { entry = "page.mjs", csp, flags, files = [], small = "small.mjs" } = {}) => ({
  async go(app) {
    const outdir = join(app, "out", `${bundler}-${entry.replace(".mjs", "")}`);
    await mkdir(outdir, { recursive: true });
    await BUNDLERS[bundler](app, entry, outdir);
    const pack = join(app, "node_modules", "boxwright", "dist");
    const extra = {};
    for (const f of files) extra[`/${f}`] = join(pack, f);
    const result = await openPage({
      playwright: require(await obtain("playwright")),
      folder: outdir,
      app,
      csp,
      flags,
      extra,
    });
    const tiny = join(app, "out", `${bundler}-${small.replace(".mjs", "")}`);
    // Several rows have the same small bundle.
    if (!existsSync(tiny)) {
      await mkdir(tiny, { recursive: true });
      await BUNDLERS[bundler](app, small, tiny);
    }
    return { result, loaded: codeSize([join(tiny, "main.mjs"), ...files.map((f) => join(pack, f))]) };
  },
});

// ---- tools that bring modules into Node in their own way ----

/** Jest in the environment jsdom, which asks for the condition "browser" and has no Node but in the sandbox. */
const jest = () => ({
  async go(app) {
    const { build } = require(await obtain("esbuild"));
    const program = await obtain("jest");
    const folder = join(app, "out", "jest");
    await build({
      entryPoints: [join(app, "plain.mjs")],
      outfile: join(folder, "plain.test.js"),
      bundle: true,
      format: "cjs",
      external: ["boxwright"],
      // Node's import of the package would say `.default`.
      platform: "node",
      footer: {
        js: `test("answers", () => require("fs").writeFileSync(${JSON.stringify(join(folder, "result.txt"))}, ${JSON.stringify(MARK)} + JSON.stringify(globalThis.boxwrightResult)));`,
      },
      logLevel: "error",
    });
    const config = {
      rootDir: app,
      roots: [folder],
      testEnvironment: require.resolve("jest-environment-jsdom", { paths: [program] }),
      transform: {},
      cacheDirectory: join(folder, "cache"),
    };
    await run(process.execPath, [program, "--ci", "--runInBand", "--config", JSON.stringify(config)], {
      cwd: app,
      env: { ...process.env, NODE_OPTIONS: "" },
    });
    return {
      result: parse(await readFile(join(folder, "result.txt"), "utf8")),
      loaded: loadedBy(join(app, "cjs.cjs")),
    };
  },
});

/** The bundler of React Native. Its bundle is run in Node: Hermes has rows of its own. */
const metro = () => ({
  async go(app) {
    const program = await obtain("metro");
    const Metro = require(program);
    const modules = join(dirname(program), "..", "..");
    const bundle = async (entry) => {
      const config = await Metro.loadConfig(
        { cwd: app, resetCache: true },
        {
          projectRoot: app,
          // Its own runtime lies beside it.
          watchFolders: [modules],
          resolver: {
            nodeModulesPaths: [modules],
            sourceExts: ["mjs", "js", "cjs", "json"],
            useWatchman: false,
          },
          transformer: {
            getTransformOptions: () =>
              Promise.resolve({ transform: { experimentalImportSupport: true, inlineRequires: false } }),
          },
          reporter: { update() {} },
        },
      );
      const out = join(app, "out", `metro-${entry.replace(".mjs", ".js")}`);
      await Metro.runBuild(config, {
        entry: join(app, entry),
        out,
        dev: false,
        minify: true,
        platform: "android",
      });
      return out;
    };
    const file = await bundle("plain.mjs");
    await appendFile(
      file,
      `\nconsole.log(${JSON.stringify(MARK)} + JSON.stringify(globalThis.boxwrightResult));\n`,
    );
    return {
      result: await start(await obtain("node20"), [file], app),
      loaded: codeSize([await bundle("small.mjs")]),
    };
  },
});

// ---- the edge, and engines without WebAssembly ----

const workerd = (entry, small) => ({
  async go(app) {
    const program = await obtain("workerd");
    const { build } = require(await obtain("esbuild"));
    const outdir = join(app, "out", `workerd-${entry}`);
    const bundle = (name, minify) =>
      build({
        entryPoints: { [name.replace(".mjs", "")]: join(app, name) },
        outdir,
        outExtension: { ".js": ".mjs" },
        conditions: ["workerd"],
        bundle: true,
        minify,
        format: "esm",
        loader: { ".wasm": "copy" },
        assetNames: "[name]",
        logLevel: "error",
      });
    await bundle(small, true);
    const smallFiles = await readdir(outdir);
    await bundle(entry, false);
    const binaries = (await readdir(outdir)).filter((f) => f.endsWith(".wasm"));
    await writeFile(
      join(outdir, "config.capnp"),
      `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ (name = "main", worker = (
    modules = [
      (name = "${entry}", esModule = embed "${entry}"),
${binaries.map((f) => `      (name = "${f}", wasm = embed "${f}"),`).join("\n")}
    ],
    compatibilityDate = "2025-01-01",
  )) ],
  sockets = [ (name = "http", address = "127.0.0.1:0", http = (), service = "main") ],
);
`,
    );
    const child = spawn(program, ["serve", "config.capnp", "--control-fd=3"], {
      cwd: outdir,
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    });
    let errors = "";
    child.stderr.on("data", (d) => (errors += d));
    try {
      const port = await new Promise((resolve, reject) => {
        let text = "";
        child.on("exit", (code) => reject(new Error(`workerd: exit ${code}\n${errors}`)));
        child.stdio[3].on("data", (d) => {
          text += d;
          const found = /"port"\s*:\s*(\d+)/.exec(text);
          if (found) resolve(found[1]);
        });
      });
      const response = await fetch(`http://127.0.0.1:${port}/`);
      if (!response.ok) throw new Error(`workerd: got status ${response.status}\n${errors}`);
      return { result: await response.json(), loaded: codeSize(smallFiles.map((f) => join(outdir, f))) };
    } finally {
      child.kill();
    }
  },
});

/** One plain script: with the cases in it, or small, as a user would bundle it. For engines that have only the language. */
async function plainScript(app, entry) {
  const { build } = require(await obtain("esbuild"));
  const outfile = join(app, "out", entry.replace(".mjs", ".js"));
  const minify = entry.startsWith("small");
  await build({
    entryPoints: [join(app, entry)],
    outfile,
    bundle: true,
    minify,
    format: "iife",
    target: "es2022",
    logLevel: "error",
  });
  return outfile;
}

const quickjs = (entry, small) => ({
  async go(app) {
    const { getQuickJS } = require(await obtain("quickjs"));
    const QuickJS = await getQuickJS();
    const vm = QuickJS.newContext();
    try {
      const code = await readFile(await plainScript(app, entry), "utf8");
      vm.unwrapResult(
        vm.evalCode('if (typeof WebAssembly !== "undefined") throw new Error("WebAssembly is there")'),
      ).dispose();
      vm.unwrapResult(vm.evalCode(code, "embedded.js")).dispose();
      const handle = vm.unwrapResult(vm.evalCode("globalThis.boxwrightResult"));
      const text = vm.getString(handle);
      handle.dispose();
      return { result: JSON.parse(text), loaded: codeSize([await plainScript(app, small)]) };
    } finally {
      vm.dispose();
    }
  },
});

const hermes = (entry, small) => ({
  async go(app) {
    const program = await obtain("hermes");
    const babel = require(await obtain("babel"));
    // this Hermes has no classes: they go through Babel, as React Native has it done
    const lower = async (name) => {
      const code = await readFile(await plainScript(app, name), "utf8");
      const presets = [["env", { targets: "ie 11", modules: false }]];
      const file = join(app, "out", `hermes-${name.replace(".mjs", ".js")}`);
      await writeFile(
        file,
        babel.transform(code, { sourceType: "script", compact: true, comments: false, presets }).code,
      );
      return file;
    };
    const file = await lower(entry);
    await appendFile(
      file,
      `\nif (typeof WebAssembly !== "undefined") throw new Error("WebAssembly is there");\nprint(${JSON.stringify(MARK)} + globalThis.boxwrightResult);\n`,
    );
    return {
      result: await start(program, ["-w", file], app),
      loaded: codeSize([await lower(small)]),
    };
  },
});

const NO_SIMD = "--no-enable-sse4-1";
const STRICT = "default-src 'none'; script-src 'self'; connect-src 'self'; worker-src 'self'";
const WITH_WASM = STRICT.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'");

/** `how`: what was done to the runtime; `engine`: what `auto` has to choose there. */
export const TARGETS = [
  ...["node20", "node22", "node24", "node26"].flatMap((node) => [
    { runtime: node, how: "ESM", engine: "simd", ...script(node, "esm.mjs") },
    { runtime: node, how: "CommonJS", engine: "simd", ...script(node, "cjs.cjs") },
  ]),
  { runtime: "node20", how: "worker thread", engine: "simd", ...script("node20", "thread.mjs") },
  { runtime: "node20", how: "boxwright/plan, ESM", engine: "simd", ...script("node20", "plan.mjs") },
  {
    runtime: "node20",
    how: "boxwright/wasm, kernel handed over",
    engine: "simd",
    ...script("node20", "wasm.mjs"),
  },
  { runtime: "node20", how: "boxwright/ts, ESM", engine: "ts", ...script("node20", "ts.mjs") },
  { runtime: "node20", how: "boxwright/ts, CommonJS", engine: "ts", ...script("node20", "ts.cjs") },
  ...["node20", "bun", "deno"].map((runtime) => ({
    runtime,
    how: "suppression, tiles, tracking, ESM",
    engine: "ts",
    checks: CHECKS,
    ...script(runtime, "beside-esm.mjs"),
  })),
  {
    runtime: "node20",
    how: "suppression, tiles, tracking, CommonJS",
    engine: "ts",
    checks: CHECKS,
    ...script("node20", "beside-cjs.cjs"),
  },
  {
    runtime: "node20",
    how: "without vector instructions (V8 denied SSE4.1)",
    engine: "scalar",
    ...script("node20", "esm.mjs", [NO_SIMD]),
  },
  {
    runtime: "node24",
    how: "without vector instructions (V8 denied SSE4.1)",
    engine: "scalar",
    ...script("node24", "esm.mjs", [NO_SIMD]),
  },
  {
    runtime: "node20",
    how: "without WebAssembly (--no-expose-wasm)",
    engine: "ts",
    ...script("node20", "esm.mjs", ["--no-expose-wasm"]),
  },
  { runtime: "node20", how: "--jitless", engine: "ts", ...script("node20", "esm.mjs", ["--jitless"]) },
  { runtime: "node24", how: "--jitless", engine: "ts", ...script("node24", "esm.mjs", ["--jitless"]) },
  { runtime: "bun", how: "ESM", engine: "simd", ...script("bun", "esm.mjs") },
  { runtime: "bun", how: "CommonJS", engine: "simd", ...script("bun", "cjs.cjs") },
  {
    runtime: "bun",
    how: "without vector instructions",
    engine: "scalar",
    ...script("bun", "esm.mjs", [], { BUN_JSC_useWasmSIMD: "0" }),
  },
  {
    runtime: "bun",
    how: "without WebAssembly",
    engine: "ts",
    ...script("bun", "esm.mjs", [], { BUN_JSC_useWasm: "0" }),
  },
  // no --allow at all: neither files nor network nor environment
  { runtime: "deno", how: "no permissions", engine: "simd", ...script("deno", "esm.mjs") },
  {
    runtime: "deno",
    // Deno carries the vector kernel alone: it may not read files.
    how: "without vector instructions",
    engine: "ts",
    ...script("deno", "esm.mjs", [`--v8-flags=${NO_SIMD}`]),
  },
  {
    runtime: "workerd",
    how: "esbuild, condition workerd",
    engine: "simd",
    ...workerd("fetch.mjs", "small.mjs"),
  },
  {
    runtime: "workerd",
    how: "boxwright/plan, esbuild, condition workerd",
    engine: "simd",
    ...workerd("fetch-plan.mjs", "small-plan.mjs"),
  },
  { runtime: "jest", how: "environment jsdom, CommonJS", engine: "simd", ...jest() },
  { runtime: "metro", how: "the bundle of React Native, in Node", engine: "simd", ...metro() },
  { runtime: "next", how: "route of the server", engine: "simd", ...nextServer() },
  { runtime: "next", how: "client component, in Chromium", engine: "simd", ...nextClient() },
  ...["vite", "webpack", "esbuild", "rolldown"].map((bundler) => ({
    runtime: "Chromium",
    how: bundler,
    engine: "simd",
    ...page(bundler),
  })),
  { runtime: "Chromium", how: "Parcel", engine: "simd", ...page("parcel", { entry: "page-plain.mjs" }) },
  {
    runtime: "Chromium",
    how: "esbuild, strict Content-Security-Policy",
    engine: "ts",
    ...page("esbuild", { csp: STRICT }),
  },
  {
    runtime: "Chromium",
    how: "esbuild, with 'wasm-unsafe-eval'",
    engine: "simd",
    ...page("esbuild", { csp: WITH_WASM }),
  },
  {
    runtime: "Chromium",
    // A page carries the vector kernel alone, unless it is handed the other one.
    how: "esbuild, without vector instructions",
    engine: "ts",
    ...page("esbuild", { flags: [`--js-flags=${NO_SIMD}`] }),
  },
  {
    runtime: "Chromium",
    how: "esbuild, boxwright/wasm with the files fetched",
    engine: "simd",
    ...page("esbuild", {
      entry: "page-wasm.mjs",
      files: ["simd.wasm", "scalar.wasm"],
      small: "small-wasm.mjs",
    }),
  },
  {
    runtime: "Chromium",
    how: "esbuild, boxwright/plan",
    engine: "simd",
    ...page("esbuild", { entry: "page-plan.mjs", small: "small-plan.mjs" }),
  },
  {
    runtime: "Chromium",
    how: "vite, web worker",
    engine: "simd",
    ...page("vite", { entry: "page-worker.mjs" }),
  },
  {
    runtime: "Chromium",
    how: "webpack, web worker",
    engine: "simd",
    ...page("webpack", { entry: "page-worker.mjs" }),
  },
  {
    runtime: "quickjs",
    how: "boxwright/ts, esbuild",
    engine: "ts",
    ...quickjs("embedded.mjs", "small-ts.mjs"),
  },
  {
    runtime: "quickjs",
    how: "boxwright/plan, esbuild",
    engine: "ts",
    ...quickjs("embedded-plan.mjs", "small-plan-ts.mjs"),
  },
  {
    runtime: "quickjs",
    how: "suppression, tiles, tracking, esbuild",
    engine: "ts",
    checks: CHECKS,
    ...quickjs("embedded-beside.mjs", "small-beside.mjs"),
  },
  {
    runtime: "hermes",
    how: "boxwright/ts, esbuild and Babel",
    engine: "ts",
    ...hermes("embedded.mjs", "small-ts.mjs"),
  },
  {
    runtime: "hermes",
    how: "boxwright/plan, esbuild and Babel",
    engine: "ts",
    ...hermes("embedded-plan.mjs", "small-plan-ts.mjs"),
  },
  {
    runtime: "hermes",
    how: "suppression, tiles, tracking, esbuild and Babel",
    engine: "ts",
    checks: CHECKS,
    ...hermes("embedded-beside.mjs", "small-beside.mjs"),
  },
  {
    runtime: "node20-arm64",
    how: "emulated",
    engine: "simd",
    ...emulated("node20-arm64", "aarch64", "/usr/aarch64-linux-gnu"),
  },
  {
    runtime: "node20-armv7l",
    how: "emulated",
    engine: "simd",
    ...emulated("node20-armv7l", "arm", "/usr/arm-linux-gnueabihf"),
  },
];
