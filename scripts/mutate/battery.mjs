/** A battery: test files in few bundles, made again for each mutant of TypeScript, run in a process of its own. */
import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { context } from "esbuild";

/** Milliseconds that a test may take on top of four times its time without a mutant. */
const PATIENCE = 5000;
const LOADING = "loading";

const KERNELS = ["", "prepare.", "masks."].flatMap((prefix) =>
  ["simd", "scalar"].map((kind) => ({ file: `${prefix}${kind}.wasm`, prefix, kind })),
);

/** Returns the source of a module that provides the binaries of a folder to the engines. */
const setupOf = (folder) => `
import { readFileSync } from "node:fs";
import { provideKernel } from "./src/kernels/kernel.ts";
globalThis.__kernels ??= ${JSON.stringify(KERNELS)}.map(({ file, prefix, kind }) =>
  ({ kind, module: new WebAssembly.Module(readFileSync("${folder}/" + file)) }));
for (const { kind, module } of globalThis.__kernels) provideKernel(kind, module);
`;

/** Test files that register tasks or take them away. Each is a bundle of its own, with modules of its own. */
const REGISTERS =
  /entries\/(pose|masks|oriented|suppress)\.ts|provideTask|provideSuppressor|leaveReader|node\/cli/;

/** Returns the bundles that hold these test files: name and source. */
function bundlesOf(folder, tests, tsAlone) {
  const alone = tests.filter((t) => REGISTERS.test(readFileSync(t, "utf8")));
  const shared = tests.filter((t) => !alone.includes(t));
  const groups = [shared, ...alone.map((t) => [t])].filter((g) => g.length > 0);
  const names = groups.map((_, i) => `part-${i}`);
  const parts = groups.map((group, i) => [
    names[i],
    [
      tsAlone ? "" : setupOf(folder),
      ...group.map((t) => `import "./${t}";`),
      'import { run } from "vitest"; await run();',
    ].join("\n"),
  ]);
  const main = `${names.map((name) => `await import("./${name}.mjs");`).join("")} (await import("vitest")).end();`;
  return new Map([...parts, ["battery", main]]);
}

/**
 * Makes a battery of test files in a folder of its own. It has the tests of `engines` alone. With `tsAlone` it holds
 * no WebAssembly: another engine must not kill a mutant of the engine in TypeScript.
 */
export async function makeBattery(folder, tests, { tsAlone, engines }) {
  mkdirSync(folder, { recursive: true });
  // One stand-in for vitest in all bundles.
  copyFileSync("scripts/mutate/vitest.mjs", `${folder}/vitest.mjs`);
  const sources = bundlesOf(folder, tests, tsAlone);
  for (const { file } of KERNELS) writeFileSync(`${folder}/${file}`, readFileSync(`build/${file}`));
  const changed = new Map();
  const bundle = await context({
    entryPoints: [...sources.keys()].map((name) => ({ in: `bundle:${name}`, out: name })),
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    // package.json says that most files have no effect of their own, which is not true of tests.
    ignoreAnnotations: true,
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    logLevel: "error",
    plugins: [bundlesPlugin(sources), sourcesPlugin(changed, tsAlone, engines)],
  });
  await bundle.rebuild();
  let known = { skip: [], times: new Map() };
  const baseline = await runTests(folder, known, true);
  if (!baseline.ended || baseline.times.size <= baseline.failed.length)
    throw new Error(
      `battery: got an end after "${baseline.last}", expected tests that pass without a mutant`,
    );
  known = { skip: baseline.failed.map(([name]) => name), times: baseline.times };
  return {
    ...baseline,
    /** Runs the tests with a file's text replaced, without those of the files `skipped`. Returns why a test failed, or
     * null if none did. */
    async killOf(file, text, skipped = []) {
      changed.set(resolve(file), text);
      await bundle.rebuild().finally(() => changed.clear());
      const left = [...known.times.keys()].filter((name) => skipped.includes(name.split(" > ")[0]));
      return reasonOf(await runTests(folder, { ...known, skip: [...known.skip, ...left] }, false));
    },
    /** Runs the tests with a kernel replaced. */
    async killOfKernel(name, binary) {
      writeFileSync(`${folder}/${name}`, binary);
      const reason = reasonOf(await runTests(folder, known, false));
      writeFileSync(`${folder}/${name}`, readFileSync(`build/${name}`));
      return reason;
    },
    end: () => bundle.dispose(),
  };
}

/** Gives the bundles' entry points their source. */
function bundlesPlugin(sources) {
  return {
    name: "bundles",
    setup(build) {
      build.onResolve({ filter: /^bundle:/ }, ({ path }) => ({ path: path.slice(7), namespace: "bundle" }));
      build.onResolve({ filter: /^\.\/part-/ }, ({ path }) => ({ path, external: true }));
      build.onLoad({ filter: /./, namespace: "bundle" }, ({ path }) => ({
        contents: sources.get(path),
        resolveDir: ".",
        loader: "ts",
      }));
    },
  };
}

/**
 * Loads sources with their mutant, and tests with the stand-in for vitest, which lies beside the bundle, and their own
 * address.
 */
export function sourcesPlugin(changed, tsAlone, engines = null) {
  return {
    name: "sources",
    setup(build) {
      build.onResolve({ filter: /^vitest$/ }, () => ({ path: "./vitest.mjs", external: true }));
      build.onLoad({ filter: /\.(ts|mjs)$/ }, ({ path }) => {
        const name = relative(".", path);
        let contents = changed.get(path) ?? readFileSync(path, "utf8");
        if (engines && name === "test/support/engines.ts")
          contents = `export const engines = ${JSON.stringify(engines)};`;
        if (tsAlone && /^src\/engine\/(masks-|prepare-)?binary\.ts$/.test(name))
          contents = readFileSync(path.replace("binary.ts", "binary-none.ts"), "utf8");
        if (name.startsWith("test/"))
          contents = contents.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href));
        if (name.endsWith(".test.ts"))
          contents = `import { file as __file } from "vitest"; __file("${name}");${contents}`;
        return { contents, loader: name.endsWith(".mjs") ? "js" : "ts" };
      });
    },
  };
}

const reasonOf = ({ failed, ended, hung, last }) => {
  if (failed.length > 0) return failed[0].join(": ");
  if (hung) return `${last}: hangs`;
  return ended ? null : `${last}: the process ends`;
};

/** Runs the bundle. A test that takes much longer than it did without a mutant hangs. */
function runTests(folder, { skip, times }, all) {
  writeFileSync(`${folder}/skip.json`, JSON.stringify(skip));
  const child = spawn(process.execPath, ["--enable-source-maps=false", `${folder}/battery.mjs`], {
    stdio: ["ignore", "ignore", process.env.BATTERY_DEBUG ? "inherit" : "ignore", "pipe"],
    env: {
      ...process.env,
      BATTERY_SKIP: `${folder}/skip.json`,
      BATTERY_ALL: all ? "1" : "",
      BOXWRIGHT_FUZZ_SHRINK: "0",
    },
  });
  const run = { failed: [], times: new Map(), ended: false, hung: false, last: LOADING };
  let since = Date.now();
  let timer;
  const wait = (ms) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      run.hung = true;
      child.kill("SIGKILL");
    }, ms);
  };
  const note = () => {
    run.times.set(run.last, Date.now() - since);
    since = Date.now();
  };
  wait(all ? 300_000 : PATIENCE + 4 * times.get(LOADING));
  let rest = "";
  child.stdio[3].setEncoding("utf8").on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const [what, name, message] of lines.map((line) => JSON.parse(line))) {
      if (what === "failed") run.failed.push([name, message]);
      if (what === "failed") continue;
      note();
      run.ended = what === "end";
      run.last = run.ended ? run.last : name;
      wait(all ? 300_000 : PATIENCE + 4 * (times.get(name) ?? 1000));
    }
  });
  return new Promise((done) =>
    child.on("close", () => {
      clearTimeout(timer);
      done(run);
    }),
  );
}
