import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "tsdown";
import { quietLoader } from "./scripts/quiet-loader.mjs";

const src = (name: string): string => fileURLToPath(new URL(`./src/${name}.ts`, import.meta.url));

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
    neverBundle: [/^node:/, /\.wasm$/, "@resvg/resvg-js", "xz-decompress"],
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
  entry: { wasm: "src/wasm-entry.ts" },
  plugins: [quietLoader(), swap({ source: "source-none" })],
};
const noWasm = { ...inBrowser, plugins: [swap({ wasm: "wasm-none" })] };
const workerd = {
  ...inBrowser,
  plugins: [quietLoader(), swap({ source: "source-workerd" })],
};

const inNode = {
  ...common,
  platform: "node",
  plugins: [quietLoader(), swap({ source: "source-node" })],
} as const;

export default defineConfig([
  {
    ...inNode,
    entry: { "index.node": "src/index.ts", node: "src/node.ts", cli: "src/cli.ts" },
    format: "esm",
    clean: true,
    hooks: {
      "build:done": () => {
        for (const kind of ["simd", "scalar"]) copyFileSync(`build/${kind}.wasm`, `dist/${kind}.wasm`);
        execFileSync(process.execPath, ["scripts/notice.mjs"]);
      },
    },
  },
  { ...inNode, entry: { "index.node": "src/index.ts" }, format: "cjs" },
  { ...inBrowser, entry: { index: "src/index.ts" }, format: "esm" },
  { ...inBrowser, entry: { index: "src/index.ts" }, format: "cjs" },
  // alone, so that no entry shares a file with it
  { ...inBrowser, entry: { priors: "src/priors.ts" }, format: "esm" },
  { ...inBrowser, entry: { priors: "src/priors.ts" }, format: "cjs" },
  { ...noKernel, format: "esm" },
  { ...noKernel, format: "cjs" },
  { ...noWasm, entry: { ts: "src/index.ts" }, format: "esm" },
  { ...noWasm, entry: { ts: "src/index.ts" }, format: "cjs" },
  { ...workerd, entry: { workerd: "src/index.ts" }, format: "esm" },
  { ...inNode, entry: { "plan.node": "src/plan-entry.ts" }, format: "esm" },
  { ...inNode, entry: { "plan.node": "src/plan-entry.ts" }, format: "cjs" },
  { ...inBrowser, entry: { plan: "src/plan-entry.ts" }, format: "esm" },
  { ...inBrowser, entry: { plan: "src/plan-entry.ts" }, format: "cjs" },
  { ...noWasm, entry: { "plan.ts": "src/plan-entry.ts" }, format: "esm" },
  { ...noWasm, entry: { "plan.ts": "src/plan-entry.ts" }, format: "cjs" },
  { ...workerd, entry: { "plan.workerd": "src/plan-entry.ts" }, format: "esm" },
  // Declarations of all entries in one go, so that a Decoder of one is a Decoder of the others; those for `require` are the same text.
  {
    ...common,
    entry: {
      index: "src/index.ts",
      wasm: "src/wasm-entry.ts",
      plan: "src/plan-entry.ts",
      priors: "src/priors.ts",
      node: "src/node.ts",
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
