/** A battery: test files in one bundle, made again for each mutant of TypeScript, run in a process of its own. */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { context } from "esbuild";

/** Milliseconds that a test may take besides four times of what it took without a mutant. */
const PATIENCE = 5000;
const LOADING = "loading";

const KERNELS = ["", "prepare.", "masks."].flatMap((prefix) =>
  ["simd", "scalar"].map((kind) => ({ file: `${prefix}${kind}.wasm`, prefix, kind })),
);

/** Hands the binaries of a folder to the engines. */
const setupOf = (folder) => `
import { readFileSync } from "node:fs";
import { provideMasksKernel } from "./src/engine/masks-wasm.ts";
import { providePrepareKernel } from "./src/engine/prepare-wasm.ts";
import { provideKernel } from "./src/engine/wasm.ts";
const provide = { "": provideKernel, "prepare.": providePrepareKernel, "masks.": provideMasksKernel };
for (const { file, prefix, kind } of ${JSON.stringify(KERNELS)})
  provide[prefix](kind, new WebAssembly.Module(readFileSync("${folder}/" + file)));
`;

/**
 * Makes a battery of test files in a folder of its own. With `tsAlone` there is no WebAssembly in it: the other engines
 * are no judges.
 */
export async function makeBattery(folder, tests, { tsAlone }) {
  mkdirSync(folder, { recursive: true });
  for (const { file } of KERNELS) writeFileSync(`${folder}/${file}`, readFileSync(`build/${file}`));
  const changed = new Map();
  const bundle = await context({
    stdin: {
      contents: [
        tsAlone ? "" : setupOf(folder),
        ...tests.map((t) => `import "./${t}";`),
        'import { run } from "vitest"; await run();',
      ].join("\n"),
      resolveDir: ".",
      loader: "ts",
    },
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    // package.json says that most files have no effect of their own, which is not true of tests.
    ignoreAnnotations: true,
    outfile: `${folder}/battery.mjs`,
    logLevel: "error",
    plugins: [sourcesPlugin(changed, tsAlone)],
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
    /** Runs the tests with a file's text replaced. Returns why a test failed, or null if none did. */
    async killOf(file, text) {
      changed.set(resolve(file), text);
      try {
        await bundle.rebuild();
      } catch {
        return "the bundler refuses it";
      } finally {
        changed.clear();
      }
      return reasonOf(await runTests(folder, known, false));
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

/** Loads sources with their mutant, and tests with the stand-in for vitest and their own address. */
export function sourcesPlugin(changed, tsAlone) {
  const stand = resolve("scripts/mutate/vitest.mjs");
  return {
    name: "sources",
    setup(build) {
      build.onResolve({ filter: /^vitest$/ }, ({ importer }) =>
        importer === stand ? { path: "vitest", external: true } : { path: stand },
      );
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const name = relative(".", path);
        let contents = changed.get(path) ?? readFileSync(path, "utf8");
        if (tsAlone && name === "test/support/engines.ts") contents = 'export const engines = ["ts"];';
        if (tsAlone && /^src\/engine\/(masks-|prepare-)?binary\.ts$/.test(name))
          contents = readFileSync(path.replace("binary.ts", "binary-none.ts"), "utf8");
        if (name.startsWith("test/"))
          contents = contents.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href));
        if (name.endsWith(".test.ts"))
          contents = `import { file as __file } from "vitest"; __file("${name}");${contents}`;
        return { contents, loader: "ts" };
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
    stdio: ["ignore", "ignore", "ignore", "pipe"],
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
