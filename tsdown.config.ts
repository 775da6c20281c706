import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "tsdown";
import { quietLoader } from "./scripts/quiet-loader.mjs";

const src = (name: string): string => fileURLToPath(new URL(`./src/engine/${name}.ts`, import.meta.url));

/** Builds an entry with other files in the place of some: who imports them cannot tell. */
const swap = (files: Readonly<Record<string, string>>) => ({
  name: "swap",
  resolveId: {
    order: "pre" as const,
    handler(id: string, from: string | undefined) {
      const name = /^\.\/(.+)\.ts$/.exec(id)?.[1];
      if (name === undefined || from === undefined || !Object.hasOwn(files, name)) return null;
      // the file in the place of another may itself import that one
      return from === src(files[name]) ? null : src(files[name]);
    },
  },
});

/** The binaries stand beside the built entries, wherever the file that imports them stands in the sources. */
const besideEntries = {
  name: "beside-entries",
  resolveId(id: string) {
    const name = /([^/]+\.wasm)$/.exec(id)?.[1];
    return name === undefined ? null : { id: `./${name}`, external: true };
  },
};

// The loader is bundled, so that the package has no runtime dependency.
const common = {
  target: "es2022",
  platform: "neutral",
  // what is built reads like the sources, with their names and comments; maps would be two thirds of the package
  sourcemap: false,
  logLevel: "warn",
  fixedExtension: true,
  deps: {
    alwaysBundle: ["@assemblyscript/loader"],
    onlyBundle: ["@assemblyscript/loader"],
    neverBundle: [/^node:/, "@resvg/resvg-js", "xz-decompress"],
  },
  // bundlers turn the constants of a module into variables, which engines load anew in every loop
  inputOptions: { checks: { pluginTimings: false }, optimization: { inlineConst: { mode: "all" } } },
  plugins: [quietLoader()],
  outDir: "dist",
  clean: false,
  dts: false,
} as const;

// Syntax is compressed where bundles are made of it, beyond what their own minifiers do; names and comments stay.
const inBrowser = { ...common, minify: { compress: true, mangle: false, codegen: false } } as const;

const noKernel = {
  ...inBrowser,
  entry: { wasm: "src/entries/wasm.ts" },
  plugins: [quietLoader(), swap({ binary: "binary-none" })],
};
const noWasm = { ...inBrowser, plugins: [swap({ wasm: "wasm-none" })] };
const workerd = {
  ...inBrowser,
  plugins: [quietLoader(), besideEntries, swap({ binary: "binary-workerd" })],
};

const inNode = {
  ...common,
  platform: "node",
  plugins: [quietLoader(), swap({ binary: "binary-node" })],
} as const;

export default defineConfig([
  {
    ...inNode,
    entry: { "index.node": "src/entries/index.ts", node: "src/entries/node.ts", cli: "src/entries/cli.ts" },
    format: "esm",
    clean: true,
    hooks: {
      "build:done": () => {
        for (const kind of ["simd", "scalar"]) copyFileSync(`build/${kind}.wasm`, `dist/${kind}.wasm`);
        execFileSync(process.execPath, ["scripts/notice.mjs"]);
      },
    },
  },
  { ...inNode, entry: { "index.node": "src/entries/index.ts" }, format: "cjs" },
  { ...inBrowser, entry: { index: "src/entries/index.ts" }, format: "esm" },
  { ...inBrowser, entry: { index: "src/entries/index.ts" }, format: "cjs" },
  // alone, so that no entry shares a file with it
  { ...inBrowser, entry: { priors: "src/heads/priors.ts" }, format: "esm" },
  { ...inBrowser, entry: { priors: "src/heads/priors.ts" }, format: "cjs" },
  { ...noKernel, format: "esm" },
  { ...noKernel, format: "cjs" },
  { ...noWasm, entry: { ts: "src/entries/index.ts" }, format: "esm" },
  { ...noWasm, entry: { ts: "src/entries/index.ts" }, format: "cjs" },
  { ...workerd, entry: { workerd: "src/entries/index.ts" }, format: "esm" },
  { ...inNode, entry: { "plan.node": "src/entries/plan.ts" }, format: "esm" },
  { ...inNode, entry: { "plan.node": "src/entries/plan.ts" }, format: "cjs" },
  { ...inBrowser, entry: { plan: "src/entries/plan.ts" }, format: "esm" },
  { ...inBrowser, entry: { plan: "src/entries/plan.ts" }, format: "cjs" },
  { ...noWasm, entry: { "plan.ts": "src/entries/plan.ts" }, format: "esm" },
  { ...noWasm, entry: { "plan.ts": "src/entries/plan.ts" }, format: "cjs" },
  { ...workerd, entry: { "plan.workerd": "src/entries/plan.ts" }, format: "esm" },
  // Declarations of all entries in one go, so that a Decoder of one is a Decoder of the others; those for `require` are the same text.
  {
    ...common,
    entry: {
      index: "src/entries/index.ts",
      wasm: "src/entries/wasm.ts",
      plan: "src/entries/plan.ts",
      priors: "src/heads/priors.ts",
      node: "src/entries/node.ts",
    },
    format: "esm",
    dts: { emitDtsOnly: true },
    hooks: {
      "build:done": () => {
        for (const file of readdirSync("dist").filter((f) => f.endsWith(".d.mts") && !f.startsWith("node.")))
          writeFileSync(
            `dist/${file.replace(".d.mts", ".d.cts")}`,
            readFileSync(`dist/${file}`, "utf8").replace(/(from "\.\/[^"]+)\.mjs"/g, '$1.cjs"'),
          );
      },
    },
  },
]);
