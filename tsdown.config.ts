import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "tsdown";

const engine = (name: string): string => fileURLToPath(new URL(`./src/engine/${name}.ts`, import.meta.url));

/** Puts one file of src/engine in the place of another: who imports it cannot tell. */
const swap = (from: string, to: string) => ({
  name: "swap",
  resolveId: {
    order: "pre" as const,
    handler(id: string, importer: string | undefined) {
      const isIt = id.endsWith(`/${from}.ts`);
      // The stand-in may itself import the file whose place it takes.
      return isIt && importer !== engine(to) ? engine(to) : null;
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

const common = {
  target: "es2022",
  platform: "neutral",
  // The built files read like the sources, with their names and comments. Maps would be two thirds of the package.
  sourcemap: false,
  logLevel: "warn",
  fixedExtension: true,
  // The loader is bundled for Node, so that the package has no runtime dependency.
  deps: {
    alwaysBundle: ["@assemblyscript/loader"],
    onlyBundle: ["@assemblyscript/loader"],
    neverBundle: [/^node:/, "@resvg/resvg-js", "jpeg-js", "onnxruntime-node", "pngjs", "xz-decompress"],
  },
  // Bundlers turn the constants of a module into variables, which engines load anew in every loop.
  inputOptions: { checks: { pluginTimings: false }, optimization: { inlineConst: { mode: "all" } } },
  outDir: "dist",
  clean: false,
  dts: false,
  plugins: [swap("instantiate", "instantiate-browser")],
} as const;

const node = {
  ...common,
  platform: "node",
  plugins: [
    swap("instantiate", "instantiate-node"),
    swap("binary", "binary-node"),
    swap("prepare-binary", "prepare-binary-node"),
    swap("masks-binary", "masks-binary-node"),
  ],
} as const;
const noBinary = {
  ...common,
  plugins: [
    ...common.plugins,
    besideEntries,
    swap("binary", "binary-none"),
    swap("prepare-binary", "prepare-binary-none"),
    swap("masks-binary", "masks-binary-none"),
  ],
};
const noWebAssembly = {
  ...common,
  plugins: [
    swap("wasm", "wasm-none"),
    swap("prepare-wasm", "prepare-wasm-none"),
    swap("masks-wasm", "masks-wasm-none"),
  ],
};

export default defineConfig([
  {
    ...node,
    entry: {
      "index.node": "src/entries/index.ts",
      "plan.node": "src/entries/plan.ts",
      "model.node": "src/entries/model.ts",
      "prepare.node": "src/entries/prepare.ts",
      "masks.node": "src/entries/masks.ts",
      "detect.node": "src/entries/detect.ts",
      "packet.node": "src/entries/packet.ts",
      "suppress.node": "src/entries/suppress.ts",
      "tiles.node": "src/entries/tiles.ts",
      node: "src/entries/node.ts",
      pool: "src/entries/pool.ts",
      "pool-worker": "src/entries/pool-worker.ts",
      cli: "src/entries/cli.ts",
    },
    format: "esm",
    clean: true,
    hooks: {
      "build:done": () => {
        for (const kind of ["simd", "scalar", "prepare.simd", "prepare.scalar", "masks.simd", "masks.scalar"])
          copyFileSync(`build/${kind}.wasm`, `dist/${kind}.wasm`);
        execFileSync(process.execPath, ["scripts/notice.mjs"]);
      },
    },
  },
  {
    ...node,
    entry: {
      "index.node": "src/entries/index.ts",
      "plan.node": "src/entries/plan.ts",
      "model.node": "src/entries/model.ts",
      "prepare.node": "src/entries/prepare.ts",
      "masks.node": "src/entries/masks.ts",
      "detect.node": "src/entries/detect.ts",
      "packet.node": "src/entries/packet.ts",
      "suppress.node": "src/entries/suppress.ts",
      "tiles.node": "src/entries/tiles.ts",
    },
    format: "cjs",
  },
  {
    ...common,
    entry: {
      index: "src/entries/index.ts",
      plan: "src/entries/plan.ts",
      priors: "src/entries/priors.ts",
      draw: "src/entries/draw.ts",
      labels: "src/entries/labels.ts",
      model: "src/entries/model.ts",
      prepare: "src/entries/prepare.ts",
      detect: "src/entries/detect.ts",
      packet: "src/entries/packet.ts",
      suppress: "src/entries/suppress.ts",
      tiles: "src/entries/tiles.ts",
      track: "src/entries/track.ts",
    },
    format: ["esm", "cjs"],
  },
  // What tasks share with the decoder would be chunks of their own, and every bundle of a decoder larger: gzip sees 32 kB.
  { ...common, entry: { pose: "src/entries/pose.ts" }, format: ["esm", "cjs"] },
  { ...common, entry: { masks: "src/entries/masks.ts" }, format: ["esm", "cjs"] },
  { ...common, entry: { oriented: "src/entries/oriented.ts" }, format: ["esm", "cjs"] },
  { ...noBinary, entry: { wasm: "src/entries/wasm.ts" }, format: ["esm", "cjs"] },
  {
    ...noBinary,
    entry: {
      workerd: "src/entries/workerd.ts",
      "plan.workerd": "src/entries/plan.workerd.ts",
      // Errors and `Detections` of an entry are those of the others: what is imported together is built together.
      "model.workerd": "src/entries/model.ts",
      "prepare.workerd": "src/entries/prepare.workerd.ts",
      "masks.workerd": "src/entries/masks.workerd.ts",
      "packet.workerd": "src/entries/packet.ts",
      "suppress.workerd": "src/entries/suppress.ts",
      "tiles.workerd": "src/entries/tiles.ts",
    },
    format: "esm",
  },
  {
    ...noWebAssembly,
    entry: {
      ts: "src/entries/index.ts",
      "plan.ts": "src/entries/plan.ts",
      "prepare.ts": "src/entries/prepare.ts",
      "masks.ts": "src/entries/masks.ts",
    },
    format: ["esm", "cjs"],
  },
  // The declarations of all entries in one go, so that a Decoder of one is a Decoder of the others.
  {
    ...common,
    entry: {
      index: "src/entries/index.ts",
      wasm: "src/entries/wasm.ts",
      plan: "src/entries/plan.ts",
      priors: "src/entries/priors.ts",
      draw: "src/entries/draw.ts",
      labels: "src/entries/labels.ts",
      model: "src/entries/model.ts",
      prepare: "src/entries/prepare.ts",
      masks: "src/entries/masks.ts",
      detect: "src/entries/detect.ts",
      packet: "src/entries/packet.ts",
      pool: "src/entries/pool.ts",
      pose: "src/entries/pose.ts",
      suppress: "src/entries/suppress.ts",
      tiles: "src/entries/tiles.ts",
      track: "src/entries/track.ts",
      oriented: "src/entries/oriented.ts",
      node: "src/entries/node.ts",
    },
    format: "esm",
    dts: { emitDtsOnly: true },
    hooks: {
      // Those for `require` are the same text. Node and pool have none.
      "build:done": () => {
        for (const file of readdirSync("dist").filter(
          (f) => f.endsWith(".d.mts") && !/^(node|pool)\./.test(f),
        ))
          writeFileSync(
            `dist/${file.replace(".d.mts", ".d.cts")}`,
            readFileSync(`dist/${file}`, "utf8").replace(/(from "\.\/[^"]+)\.mjs"/g, '$1.cjs"'),
          );
      },
    },
  },
]);
