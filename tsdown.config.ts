import { defineConfig } from "tsdown";

// The loader is bundled, so that the package has no runtime dependency.
const common = {
  target: "es2022",
  sourcemap: true,
  fixedExtension: true,
  deps: { alwaysBundle: ["@assemblyscript/loader"], onlyBundle: ["@assemblyscript/loader"], neverBundle: [/^node:/, "@resvg/resvg-js", "xz-decompress"] },
  outDir: "dist",
} as const;

export default defineConfig([
  {
    ...common,
    entry: { index: "src/index.ts", node: "src/node.ts", cli: "src/cli.ts" },
    format: "esm",
    platform: "neutral",
    dts: { entry: ["src/index.ts", "src/node.ts"] },
    clean: true,
  },
  { ...common, entry: { index: "src/index.ts" }, format: "cjs", platform: "neutral", dts: true, clean: false },
]);
