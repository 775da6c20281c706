/** What a page fetches, when a bundler splits its code or leaves it in one file. Runs on dist/. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build as buildWithEsbuild } from "esbuild";
import { build } from "vite";
import { afterAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "boxwright-splitting-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program of a page that decodes one network. */
const program = (config: string): string => `
  import { createDecoder } from ${JSON.stringify(join(root, "dist/index.mjs"))};
  export const run = async () => (await createDecoder(${config})).config.task?.name ?? "detect";`;
const BOXES = '{ family: "yolov8", classes: 1, inputSize: [64, 64] }';
const POSE = '{ family: "yolov8", task: "pose", classes: 1, inputSize: [64, 64], keypoints: [17, 3] }';

interface Chunk {
  readonly type: string;
  readonly fileName: string;
  readonly code: string;
  readonly isEntry: boolean;
  readonly imports: readonly string[];
  readonly modules: Readonly<Record<string, { readonly renderedLength: number }>>;
}

/** Builds a program with vite. Returns its chunks, and those that a page fetches at first. */
async function chunksOf(config: string): Promise<{ all: Chunk[]; first: Chunk[] }> {
  const entry = join(folder, "page.js");
  writeFileSync(entry, program(config));
  const built = (await build({
    root: folder,
    configFile: false,
    logLevel: "error",
    build: {
      write: false,
      modulePreload: false,
      rollupOptions: { input: entry, preserveEntrySignatures: "strict" },
    },
  })) as unknown as { output: Chunk[] };
  const all = built.output.filter((o) => o.type === "chunk");
  const first = new Set<Chunk>();
  const visit = (chunk: Chunk): void => {
    if (first.has(chunk)) return;
    first.add(chunk);
    for (const name of chunk.imports) visit(all.find((c) => c.fileName === name) as Chunk);
  };
  visit(all.find((c) => c.isEntry) as Chunk);
  return { all, first: [...first] };
}

const filesIn = (chunks: readonly Chunk[]): string[] =>
  chunks.flatMap(({ modules }) =>
    Object.entries(modules)
      .filter(([, { renderedLength }]) => renderedLength > 0)
      .map(([id]) => id.replace(/.*\/dist\//, "").replace(/-[\w-]{8}\./, ".")),
  );

/** Returns the files of dist/ that a file of dist/ loads before it runs. */
const loadedFirst = (file: string): string[] =>
  [
    ...readFileSync(join(root, "dist", file), "utf8").matchAll(
      /(?:\bfrom ?|\bimport ?|(?<!=>)\brequire\()"\.\/([\w.-]+\.[cm]js)"/g,
    ),
  ].map(([, name]) => name);

/** Returns a path from the file back to itself; null if there is none. */
function circleOf(file: string, path: readonly string[] = [], seen = new Set<string>()): string | null {
  if (path[0] === file) return [...path, file].join(" -> ");
  if (seen.has(file)) return null;
  seen.add(file);
  for (const next of loadedFirst(file)) {
    const circle = circleOf(next, [...path, file], seen);
    if (circle !== null) return circle;
  }
  return null;
}

// Metro and other bundlers copy the exports of a file. In a circle they would copy from a file that has not run yet.
test.each(["mjs", "cjs"])("no file of dist/ loads itself in a circle: %s", (kind) => {
  const files = readdirSync(join(root, "dist")).filter((file) => file.endsWith(kind));
  expect(files.flatMap(loadedFirst).length).toBeGreaterThan(30);
  expect(files.map((file) => circleOf(file)).filter((circle) => circle !== null)).toEqual([]);
});

test("a page fetches what reads files and finished rows when a config needs it", async () => {
  const { all, first } = await chunksOf(BOXES);
  for (const file of ["config-files.mjs", "finished-rows.mjs", "engine-ts.mjs"]) {
    expect(filesIn(all)).toContain(file);
    expect(filesIn(first)).not.toContain(file);
  }
});

test("a page fetches no task with createDecoder, and each task by itself", async () => {
  const { all, first } = await chunksOf(BOXES);
  const fetched = filesIn(first);
  expect(fetched).toContain("kernel-decode.mjs");
  const later = /^(task-(?!prepare)|plan-|tasks|kernel-masks|sync|create-sync|beside|detect)/;
  expect(fetched.filter((file) => later.test(file))).toEqual([]);
  for (const task of ["pose", "masks", "oriented", "peaks", "text", "suppression"]) {
    const chunk = all.find((c) => filesIn([c]).includes(`task-${task}.mjs`));
    expect(chunk && !first.includes(chunk), task).toBe(true);
  }
  const bytes = (chunks: readonly Chunk[]): number =>
    chunks.reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0);
  expect(bytes(first)).toBeLessThan(0.75 * bytes(all));
});

test.each([
  ["detect", BOXES],
  ["pose", POSE],
])("split or in one file, the program decodes: %s", async (task, config) => {
  for (const splitting of [true, false]) {
    const outdir = join(folder, `${task}-${splitting}`);
    await buildWithEsbuild({
      stdin: { contents: program(config), resolveDir: root },
      bundle: true,
      splitting,
      format: "esm",
      outdir,
      outExtension: { ".js": ".mjs" },
      external: ["*.wasm"],
      logLevel: "error",
    });
    const url = pathToFileURL(join(outdir, "stdin.mjs")).href;
    const { run } = (await import(/* @vite-ignore */ url)) as { run: () => Promise<string> };
    expect(await run()).toBe(task);
  }
});
