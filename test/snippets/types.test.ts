/**
 * Code blocks of every page compile as TypeScript, as far as JavaScript can: without types of parameters. Examples of
 * docstrings are whole programs, and compile under `strict`.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { allExamples } from "../support/examples.ts";
import { type TempFolder, tempFolder } from "../support/files.ts";
import { allSnippets } from "./blocks.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Names that the page leaves to the reader, and packages that are no part of the project. */
const OF_THE_READER = /error TS(?:2304|2307|2552|2580|2591|7016|18004):/;

/** What the types cannot know. */
const EXCEPT = [
  // The backend of the package has the method. Its types are those of all backends.
  /docs\/recipes\.md\n[^]*TS2339: Property 'typedArrayFromHeap' does not exist/,
];

const pages = tempFolder();
const docstrings = tempFolder();

/** Compiles each of these codes as a module. Returns the errors, each with the place of its code in the list. */
function errorsOf(
  folder: TempFolder,
  codes: readonly string[],
  options: object,
): { at: number; error: string }[] {
  codes.forEach((code, i) => writeFileSync(folder.path(`block${i}.ts`), `${code}\nexport {};\n`));
  const compilerOptions = {
    target: "es2022",
    lib: ["es2022", "dom", "dom.iterable"],
    module: "esnext",
    moduleResolution: "bundler",
    strict: true,
    ...options,
    noEmit: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
    // The types as built: `npm test` builds first.
    paths: {
      boxwright: [`${root}dist/index.d.mts`],
      "boxwright/ts": [`${root}dist/bare.d.mts`],
      "boxwright/wasm": [`${root}dist/bare.d.mts`],
      "boxwright/*": [`${root}dist/*.d.mts`],
      "*": [`${root}node_modules/*`],
    },
  };
  writeFileSync(folder.path("tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  const tsc = join(root, "node_modules/typescript-7/bin/tsc");
  const words = [tsc, "-p", folder.path(""), "--pretty", "false"];
  const { status, stdout } = spawnSync(process.execPath, words, { cwd: folder.path(""), encoding: "utf8" });
  // The compiler ends with 0 if all fits, with 1 or 2 if it found errors.
  expect([0, 1, 2]).toContain(status);
  return stdout.split("\n").flatMap((error) => {
    const at = /^\S*block(\d+)\.ts/.exec(error)?.[1];
    return error.includes("error TS") ? [{ at: Number(at), error }] : [];
  });
}

test("every block fits the types", () => {
  const snippets = allSnippets();
  // A page has a global of that name, which is another thing.
  const frames = "declare const frames: AsyncIterable<ImageData>;";
  const codes = snippets.map(({ code }) => `${code}\n${frames}`);
  // document.querySelector may find nothing: pages check for that, short blocks do not.
  const all = errorsOf(pages, codes, { noImplicitAny: false, strictNullChecks: false });
  expect(all.some(({ error }) => OF_THE_READER.test(error))).toBe(true);
  const named = all
    .filter(({ error }) => !OF_THE_READER.test(error))
    .map(({ at, error }) => `${snippets[at].page}\n${snippets[at].code}\n${error}`);
  expect(named.filter((error) => !EXCEPT.some((known) => known.test(error)))).toEqual([]);
});

test("every example of a docstring is strict TypeScript", () => {
  const examples = allExamples();
  expect(examples.length).toBeGreaterThan(50);
  const wrong = "const size: string = 1;";
  const codes = [...examples.map(({ code }) => code), wrong];
  const errors = errorsOf(docstrings, codes, { exactOptionalPropertyTypes: true });
  const named = errors.map(({ at, error }) => ({ name: examples[at]?.name ?? "wrong", error }));
  expect(named.filter(({ name }) => name !== "wrong")).toEqual([]);
  // The compiler did run.
  expect(named).toHaveLength(1);
});
