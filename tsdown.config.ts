import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";
import { type UserConfig, defineConfig } from "tsdown";

/** The kernels' files. */
const WASM = ["", "masks.", "prepare."].flatMap((prefix) => [`${prefix}simd.wasm`, `${prefix}scalar.wasm`]);

/** What is read of a node of a syntax tree. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly declarations?: readonly { readonly init: Node | null }[];
  readonly declaration?: Node | null;
  readonly elements?: readonly (Node | null)[];
  readonly properties?: readonly (Node & { readonly value?: Node })[];
}

/** True if bundlers take the value of a constant for an effect: a call, `Math.PI / 2`, `{ ...other }`, `${other}`. */
const looksLikeEffect = (node: Node | null | undefined): boolean =>
  !!node &&
  (/^(Binary|Call|Conditional|Logical|Member|New|TaggedTemplate|Unary)Expression$|^(SpreadElement|TemplateLiteral)$/.test(
    node.type,
  ) ||
    !!node.elements?.some(looksLikeEffect) ||
    !!node.properties?.some((p) => looksLikeEffect(p) || looksLikeEffect(p.value)));

/**
 * Marks the constants of a module as free of effects, since they are, so that bundlers leave out what nobody uses. The
 * minifier drops the marks that the sources have.
 */
function droppable(code: string, body: readonly Node[]): string {
  let result = code;
  for (const { init } of body.flatMap((s) => (s.declaration ?? s).declarations ?? []).reverse())
    if (init && looksLikeEffect(init)) {
      const value = result.slice(init.start, init.end);
      const returned = init.type === "ObjectExpression" ? `(${value})` : value;
      result = `${result.slice(0, init.start)}/*@__PURE__*/(()=>${returned})()${result.slice(init.end)}`;
    }
  return result;
}

/**
 * Minifies: Node starts in half the time. By esbuild, since rolldown would have to do it after the marks are set.
 * @param lineLimit columns after which a line ends, where it can
 */
const minify = (lineLimit: number) => ({
  name: "minified",
  async renderChunk(
    this: { parse: (code: string) => unknown },
    code: string,
    { fileName }: { fileName: string },
  ) {
    if (/\.d\.[mc]?ts$/.test(fileName)) return null;
    const format = fileName.endsWith(".cjs") ? "cjs" : "esm";
    const result = await transform(code, {
      minify: true,
      lineLimit,
      target: "es2022",
      format,
      sourcemap: true,
    });
    if (format === "cjs") return { code: result.code, map: result.map };
    const { body } = this.parse(result.code) as unknown as { body: Node[] };
    return { code: droppable(result.code, body), map: result.map };
  },
});
/** Node prints the line of an error that nobody catches above its message: the line has to be a short one. */
const minified = minify(100);
/** Pages get long lines, which are packed better by 4 %. */
const minifiedForPages = minify(500);

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
  inputOptions: {
    checks: { pluginTimings: false },
    optimization: { inlineConst: { mode: "all" } },
    // What groups of chunks need that do not take all their modules' imports.
    preserveEntrySignatures: "allow-extension",
  },
} as const satisfies UserConfig;

/** Leaves `#kernels` and `#photos` to package.json. */
const mapped = {
  name: "mapped",
  resolveId: (id: string) => (/^#(kernels|photos)$/.test(id) ? { id, external: true } : null),
};

const source = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Resolves what the sources behind `#kernels` import of the kernels. */
const withData = {
  name: "kernel-data",
  resolveId: (id: string) => {
    if (id === "kernel-data") return source("build/kernels.mjs");
    if (id.startsWith("kernel-data/")) return `\0${id}`;
    return id.endsWith(".wasm") ? { id, external: true } : null;
  },
  // Each text in a module of its own.
  load(id: string): string | null {
    const [, name] = /^\0kernel-data\/(\w+)$/.exec(id) ?? [];
    if (name === undefined) return null;
    const texts = readFileSync("build/kernels.mjs", "utf8");
    return new RegExp(`export const ${name}Text =\\s*"[^"]*";`).exec(texts)?.[0] ?? null;
  },
};

/** Puts the kernels into a file that stands by itself: as text, or none. */
const inlined = (how: "text" | "none") => ({
  name: "inlined",
  resolveId: (id: string) =>
    id === "#kernels"
      ? source(`src/kernels/${how}.ts`)
      : id === "#photos"
        ? source("src/detect/no-photos.ts")
        : null,
});

/** Imports what other builds fetch later: a file that stands by itself would wrap it, and nobody could drop it. */
const atOnce = {
  name: "at-once",
  transform(code: string): { code: string; map: null } | null {
    let imports = "";
    const changed = code.replace(
      /\(await import\("(\.[^"]+)"\)\)\.(\w+)/g,
      (_, from: string, name: string) => {
        imports += `import { ${name} as later_${name} } from "${from}";`;
        return `later_${name}`;
      },
    );
    return imports === "" ? null : { code: imports + changed, map: null };
  },
};

/** Leaves the text to another file, which is read only if no file of a kernel is at hand. */
const textOfOtherFile = (file: "kernels.cjs" | "kernels.mjs") => ({
  name: "text-of-other-file",
  resolveId: (id: string) =>
    id === "./text.ts" ? "\0kernels" : id === `./${file}` ? { id, external: true } : null,
  load: (id: string) =>
    id === "\0kernels"
      ? [
          ...(file === "kernels.mjs"
            ? [
                'import { createRequire } from "node:module";',
                // In two parts: the loader of this file would put its own address there.
                `const require = createRequire(${"import.meta"}.url);`,
              ]
            : []),
          ...["decode", "masks", "prepare"].map(
            (name) => `export const ${name} = (kind) => require("./${file}").${name}(kind);`,
          ),
        ].join("\n")
      : null,
});

const ENTRIES = { index: "src/entries/index.ts", core: "src/entries/core.ts", plan: "src/entries/plan.ts" };
/** Files that Node reads when a task is first used. */
const TASKS = Object.fromEntries(
  ["masks", "oriented", "peaks", "pose", "prepare", "suppression", "text"].map((task) => [
    task,
    `src/tasks/${task}/task.ts`,
  ]),
);
/** Files that Node reads for some configs and engines alone. */
const FETCHED_LATER = { fetched: "src/decode/fetched.ts" };
/** Entries that leave the rest of the package for later. */
const LATER_ENTRIES = {
  "index.node": "src/entries/index.node.ts",
  "core.node": "src/entries/core.node.ts",
};
const NODE_ENTRIES = {
  node: "src/entries/node.ts",
  pool: "src/entries/pool.ts",
  "pool-worker": "src/entries/pool-worker.ts",
  cli: "src/entries/cli.ts",
};

/** Reads the files of a CommonJS build by `require`, which bundlers follow. */
const requiredLater = {
  name: "required-later",
  resolveId: (id: string) => (/^\.\/(\w+)\.cjs$/.test(id) ? { id, external: true } : null),
  load: (id: string) => {
    const files = ["index", "fetched", ...Object.keys(TASKS)].map(
      (name) => `${name}: () => require("./${name}.cjs")`,
    );
    return id === source("src/whole/read-later.ts")
      ? `const files = { ${files.join(", ")} }; export const readLater = (file) => files[file]();`
      : null;
  },
};

/** What a bundler says of a module: the modules that it imports. */
interface Graph {
  getModuleInfo: (id: string) => { readonly importedIds: readonly string[] } | null;
}

/** The modules that an entry reaches. */
const reached = new Map<string, Set<string>>();
function reaches(entry: string, id: string, graph: Graph): boolean {
  const known = reached.get(entry) ?? new Set<string>();
  if (!reached.has(entry)) {
    reached.set(entry, known);
    const visit = (from: string): void => {
      if (known.has(from)) return;
      known.add(from);
      graph.getModuleInfo(from)?.importedIds.forEach(visit);
    };
    visit(source(entry));
  }
  return known.has(id);
}

/** A chunk of modules. A module goes to the first chunk that wants it, with everything that it imports. */
const chunk = (name: string, wants: (reachedBy: (source: string) => boolean) => boolean) => ({
  name: (id: string, graph: Graph) => (wants((entry) => reaches(entry, id, graph)) ? name : null),
});

/**
 * Chunks that entries share, so that a class of one is the class of the others: what a plan file needs, what every
 * decoder adds, what several tasks add and what one does, and all else of `boxwright`. By itself the bundler makes more,
 * and each file costs Node half a millisecond.
 */
const DECODER = LATER_ENTRIES["core.node"];
const TS_ENGINE = "src/engine/ts/index.ts";
/** Files that are only of the engine in TypeScript, which a page fetches where WebAssembly is refused. */
const isTsEngine = (id: string, graph: Graph): boolean =>
  id.includes("/src/engine/ts/") &&
  reaches(TS_ENGINE, id, graph) &&
  !["value", "detect", "masks/index", "prepare/index"].some((name) =>
    reaches(`src/engine/ts/${name}.ts`, id, graph),
  );

/** Files that a page fetches for some configs: the readers of config files, and those of finished rows. */
const FETCHED = { "config-files": "src/config/file-formats.ts", "finished-rows": "src/decode/finished.ts" };

const codeSplitting = {
  // Each group takes all that its modules need by itself, apart from the engine in TypeScript.
  includeDependenciesRecursively: false,
  groups: [
    { name: (id: string, graph: Graph) => (isTsEngine(id, graph) ? "engine-ts" : null) },
    // The engine in TypeScript shares files with the decoder.
    chunk("decoding", (reachedBy) => reachedBy(ENTRIES.plan) && (reachedBy(DECODER) || reachedBy(TS_ENGINE))),
    // Without what only Node reads: a page has no "node:module".
    chunk(
      "networks",
      (reachedBy) =>
        (reachedBy(ENTRIES.index) || reachedBy(ENTRIES.core)) &&
        (Object.values(LATER_ENTRIES).some(reachedBy) ||
          (reachedBy(FETCHED["config-files"]) && reachedBy(TASKS.prepare))),
    ),
    ...Object.entries(FETCHED).map(([name, file]) => chunk(name, (reachedBy) => reachedBy(file))),
    chunk("sync", (reachedBy) => reachedBy("src/decode/create-sync.ts") || reachedBy("src/config/config.ts")),
    chunk(
      "tasks",
      (reachedBy) => Object.values(TASKS).filter(reachedBy).length > 1 || reachedBy("src/planfile/fields.ts"),
    ),
    // A plan file knows parts of some tasks.
    ...Object.entries(TASKS).flatMap(([task, file]) => [
      chunk(`plan-${task}`, (reachedBy) => reachedBy(file) && reachedBy(ENTRIES.plan)),
      chunk(`task-${task}`, (reachedBy) => reachedBy(file)),
    ]),
    // Bundlers fetch whole files: no page gets every task with `createDecoder`.
    chunk("create", (reachedBy) => reachedBy("src/whole/create.ts")),
    chunk("create-sync", (reachedBy) => reachedBy("src/whole/create-sync.ts")),
    chunk("shared", (reachedBy) => reachedBy(ENTRIES.index) && reachedBy(ENTRIES.plan)),
    chunk("detect", (reachedBy) => reachedBy("src/detect/detector.ts")),
    chunk("beside", (reachedBy) => reachedBy(ENTRIES.index)),
  ],
};

/**
 * Lets `import` and `require` have the same declarations: those of `require`, which a module may read, too. Node and
 * pool have none for `require`.
 */
function shareTypes(): void {
  for (const file of readdirSync("dist").filter((f) => f.endsWith(".d.mts"))) {
    const name = file.replace(".d.mts", "");
    const text = readFileSync(`dist/${file}`, "utf8").replace(/(from "\.\/[^"]+)\.mjs"/g, '$1.cjs"');
    const isForModules = name === "node" || name === "pool";
    writeFileSync(`dist/${name}.d.${isForModules ? "m" : "c"}ts`, text);
    if (name in ENTRIES) writeFileSync(`dist/${file}`, `export * from "./${name}.cjs";\n`);
    else if (!isForModules) rmSync(`dist/${file}`);
  }
  // For resolvers that ignore `exports`, and name the file.
  for (const kind of ["m", "c"]) writeFileSync(`dist/bare.d.${kind}ts`, 'export * from "./index.cjs";\n');
}

export default defineConfig([
  {
    ...common,
    entry: { ...ENTRIES, ...TASKS, ...FETCHED_LATER, ...LATER_ENTRIES, ...NODE_ENTRIES },
    format: "esm",
    clean: true,
    // The maps stay out of the tarball, which they would double. A trace of a report is mapped by a build of its tag.
    sourcemap: "hidden",
    plugins: [mapped, minified],
    outputOptions: { codeSplitting },
    hooks: {
      "build:done": () => {
        for (const file of WASM) copyFileSync(`build/${file}`, `dist/${file}`);
        execFileSync(process.execPath, ["scripts/notice.mjs"]);
      },
    },
  },
  {
    ...common,
    entry: { ...ENTRIES, ...TASKS, ...FETCHED_LATER, ...LATER_ENTRIES },
    format: "cjs",
    sourcemap: "hidden",
    plugins: [mapped, requiredLater, minified],
    outputOptions: { codeSplitting },
  },
  {
    ...common,
    entry: {
      kernels: "src/kernels/text.ts",
      "kernel-decode": "src/kernels/text-decode.ts",
      "kernel-masks": "src/kernels/text-masks.ts",
      "kernel-prepare": "src/kernels/text-prepare.ts",
    },
    format: "esm",
    plugins: [withData, minified],
  },
  {
    ...common,
    entry: { kernels: "src/kernels/text.ts" },
    format: "cjs",
    plugins: [withData, minified],
    outputOptions: { codeSplitting: false },
  },
  {
    ...common,
    entry: { photos: "src/detect/no-photos.ts" },
    format: "esm",
  },
  {
    ...common,
    platform: "node",
    entry: { "photos.node": "src/node/photos.ts" },
    format: "esm",
  },
  {
    ...common,
    platform: "node",
    entry: { "kernels.node": "src/kernels/node.ts" },
    format: "esm",
    plugins: [withData, minified],
  },
  // For Node that requires modules, and by `require`: one more file takes time only where it is needed.
  {
    ...common,
    platform: "node",
    entry: { "kernels.later": "src/kernels/node.ts" },
    format: "esm",
    plugins: [textOfOtherFile("kernels.mjs"), withData, minified],
  },
  {
    ...common,
    platform: "node",
    entry: { "kernels.node": "src/kernels/node.ts" },
    format: "cjs",
    plugins: [textOfOtherFile("kernels.cjs"), withData, minified],
  },
  {
    ...common,
    entry: { "kernels.workerd": "src/kernels/workerd.ts" },
    format: "esm",
    plugins: [withData, minified],
  },
  // For pages without a bundler, and for Parcel, which do not read `imports` of package.json.
  {
    ...common,
    entry: { page: "src/entries/index.ts" },
    format: "esm",
    plugins: [atOnce, inlined("text"), withData, minifiedForPages],
    outputOptions: { codeSplitting: false },
  },
  // Without a binary: engines without WebAssembly, and those who hand one over.
  {
    ...common,
    entry: { bare: "src/entries/index.ts" },
    format: ["esm", "cjs"],
    plugins: [atOnce, inlined("none"), minified],
    outputOptions: { codeSplitting: false },
  },
  // What `boxwright compile --out detector.mjs` puts a plan into.
  ...["simd", "ts"].map((engine) => ({
    ...common,
    entry: { [`compiled.${engine}`]: `src/compiled/${engine}.ts` },
    format: "esm" as const,
    plugins: [withData, minifiedForPages],
    outputOptions: { codeSplitting: false },
  })),
  // The declarations of all entries in one go, so that a Decoder of one is a Decoder of the others.
  {
    ...common,
    entry: { ...ENTRIES, node: NODE_ENTRIES.node, pool: NODE_ENTRIES.pool },
    format: "esm",
    dts: { emitDtsOnly: true },
    plugins: [mapped],
    hooks: { "build:done": shareTypes },
  },
]);
