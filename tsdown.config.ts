import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";
import { type UserConfig, defineConfig } from "tsdown";

/** The kernels by the name that package.json maps, each with the beginning of its files. */
const KERNELS = { kernel: "", "masks-kernel": "masks.", "prepare-kernel": "prepare." };

/** What is read of a node of a syntax tree. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly declarations?: readonly { readonly init: Node | null }[];
  readonly elements?: readonly (Node | null)[];
  readonly properties?: readonly (Node & { readonly value?: Node })[];
}

/** True if esbuild takes a constant for an effect, as `Math.PI / 2`, `{ ...other }` and `new Float64Array(2)`. */
const looksLikeEffect = (node: Node | null | undefined): boolean =>
  !!node &&
  (/^(Binary|Member|New)Expression$|^SpreadElement$/.test(node.type) ||
    !!node.elements?.some(looksLikeEffect) ||
    !!node.properties?.some((p) => looksLikeEffect(p) || looksLikeEffect(p.value)));

/**
 * Marks the constants of a module as free of effects, since they are. Without the mark, esbuild puts 10 kB of constants
 * that nobody uses beside every import.
 */
function droppable(code: string, body: readonly Node[]): string {
  let result = code;
  for (const { init } of body.flatMap((s) => s.declarations ?? []).reverse())
    if (init && looksLikeEffect(init)) {
      const value = result.slice(init.start, init.end);
      const returned = init.type === "ObjectExpression" ? `(${value})` : value;
      result = `${result.slice(0, init.start)}/* @__PURE__ */ (() => ${returned})()${result.slice(init.end)}`;
    }
  return result;
}

/**
 * Minifies: Node starts in half the time. By esbuild, since rolldown drops the annotations by which bundlers tell what
 * they can leave out.
 */
const minified = {
  name: "minified",
  async renderChunk(
    this: { parse: (code: string) => unknown },
    code: string,
    { fileName }: { fileName: string },
  ) {
    if (/\.d\.[mc]?ts$/.test(fileName)) return null;
    const format = fileName.endsWith(".cjs") ? "cjs" : "esm";
    const result = await transform(code, {
      minifyIdentifiers: true,
      minifySyntax: true,
      // Without blanks esbuild drops the annotations too. Nobody reads them in CommonJS, or in the file for pages.
      minifyWhitespace: format === "cjs" || fileName === "page.mjs",
      target: "es2022",
      format,
      sourcemap: true,
    });
    if (format === "cjs") return { code: result.code, map: result.map };
    const { body } = this.parse(result.code) as unknown as { body: Node[] };
    return { code: droppable(result.code, body), map: result.map };
  },
};

const common = {
  target: "es2022",
  platform: "neutral",
  logLevel: "warn",
  fixedExtension: true,
  outDir: "dist",
  clean: false,
  dts: false,
  plugins: [minified],
  // Its own pass drops annotations too.
  minify: false,
  deps: {
    neverBundle: [/^node:/, "@resvg/resvg-js", "jpeg-js", "onnxruntime-node", "pngjs", "xz-decompress"],
  },
  // Bundlers turn the constants of a module into variables, which engines load anew in every loop.
  inputOptions: { checks: { pluginTimings: false }, optimization: { inlineConst: { mode: "all" } } },
} as const satisfies UserConfig;

/** Leaves `#kernel` and the other two to package.json. */
const mapped = {
  name: "mapped-kernels",
  resolveId: (id: string) => (id.startsWith("#") ? { id, external: true } : null),
};

const source = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Resolves what the sources of a kernel import of its data. */
const dataOf = (kernel: keyof typeof KERNELS) => ({
  name: "kernel-data",
  resolveId(id: string) {
    if (id === "kernel-data") return source(`build/${kernel}.mjs`);
    const kind = /^kernel-(simd|scalar)\.wasm$/.exec(id)?.[1];
    return kind ? { id: `./${KERNELS[kernel]}${kind}.wasm`, external: true } : null;
  },
});

/** Puts kernels into a file that stands by itself: the vector build as text, or none. */
const inlined = (how: "text" | "none") => ({
  name: "inlined-kernels",
  resolveId: (id: string) => (id.startsWith("#") ? `\0${id}` : null),
  load: (id: string) =>
    !id.startsWith("\0#")
      ? null
      : how === "none"
        ? `export { binaryOf } from ${JSON.stringify(source("src/kernels/none.ts"))};`
        : `import { simdText } from ${JSON.stringify(source(`build/${id.slice(2)}.mjs`))};
           import { fromAscii } from ${JSON.stringify(source("src/kernels/ascii.ts"))};
           export const binaryOf = (kind) => (kind === "simd" ? fromAscii(simdText) : null);`,
});

const ENTRIES = { index: "src/entries/index.ts", core: "src/entries/core.ts", plan: "src/entries/plan.ts" };
const NODE_ENTRIES = {
  node: "src/entries/node.ts",
  pool: "src/entries/pool.ts",
  "pool-worker": "src/entries/pool-worker.ts",
  cli: "src/entries/cli.ts",
};

export default defineConfig([
  {
    ...common,
    entry: { ...ENTRIES, ...NODE_ENTRIES },
    format: "esm",
    clean: true,
    // The maps stay out of the tarball, which they would double. A trace of a report is mapped by a build of its tag.
    sourcemap: "hidden",
    plugins: [mapped, minified],
    hooks: {
      "build:done": () => {
        for (const prefix of Object.values(KERNELS))
          for (const kind of ["simd", "scalar"])
            copyFileSync(`build/${prefix}${kind}.wasm`, `dist/${prefix}${kind}.wasm`);
        execFileSync(process.execPath, ["scripts/notice.mjs"]);
      },
    },
  },
  {
    ...common,
    entry: ENTRIES,
    format: "cjs",
    sourcemap: "hidden",
    plugins: [mapped, minified],
  },
  ...(Object.keys(KERNELS) as (keyof typeof KERNELS)[]).flatMap((kernel) => [
    {
      ...common,
      entry: { [kernel]: "src/kernels/text.ts" },
      format: ["esm" as const, "cjs" as const],
      plugins: [dataOf(kernel), minified],
    },
    {
      ...common,
      platform: "node" as const,
      entry: { [`${kernel}.node`]: "src/kernels/node.ts" },
      format: ["esm" as const, "cjs" as const],
      plugins: [dataOf(kernel), minified],
    },
    {
      ...common,
      entry: { [`${kernel}.workerd`]: "src/kernels/workerd.ts" },
      format: "esm" as const,
      plugins: [dataOf(kernel), minified],
    },
  ]),
  // For pages without a bundler, and for Parcel, which do not read `imports` of package.json.
  { ...common, entry: { page: "src/entries/index.ts" }, format: "esm", plugins: [inlined("text"), minified] },
  // Without a binary: engines without WebAssembly, and those who hand one over.
  {
    ...common,
    entry: { bare: "src/entries/index.ts" },
    format: ["esm", "cjs"],
    plugins: [inlined("none"), minified],
  },
  // The declarations of all entries in one go, so that a Decoder of one is a Decoder of the others.
  {
    ...common,
    entry: { ...ENTRIES, node: NODE_ENTRIES.node, pool: NODE_ENTRIES.pool },
    format: "esm",
    dts: { emitDtsOnly: true },
    plugins: [mapped],
    hooks: {
      // Those for `require` are the same text. Node and pool have none.
      "build:done": () => {
        // For resolvers that ignore `exports`, and name the file.
        writeFileSync("dist/bare.d.mts", 'export * from "./index.mjs";\n');
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
