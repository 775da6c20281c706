/** Every code block of every page compiles as TypeScript, as far as JavaScript can: without types of parameters. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { tempFolder } from "../support/files.ts";
import { allSnippets } from "./blocks.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = tempFolder();

/** Names that the page leaves to the reader, and packages that are no part of the project. */
const OF_THE_READER = /error TS(?:2304|2307|2552|2580|2591|7016|18004):/;

/** What the types cannot know. */
const EXCEPT = [
  // The backend of the package has the method. Its types are those of all backends.
  /docs\/recipes\.md\n[^]*TS2339: Property 'typedArrayFromHeap' does not exist/,
  // An archive states the shape of its input, and so the size; the rule of a file may lack it.
  /docs\/networks\.md\n[^]*mapOptions[^]*TS2345: Argument of type 'Partial<PrepareRule>'/,
];

test("every block fits the types", () => {
  const snippets = allSnippets();
  // A page has a global of that name, which is another thing.
  const frames = "declare const frames: AsyncIterable<ImageData>;";
  snippets.forEach(({ code }, i) =>
    writeFileSync(folder.path(`block${i}.ts`), `${code}\n${frames}\nexport {};\n`),
  );
  const compilerOptions = {
    target: "es2022",
    lib: ["es2022", "dom", "dom.iterable"],
    module: "esnext",
    moduleResolution: "bundler",
    strict: true,
    noImplicitAny: false,
    // document.querySelector may find nothing: pages check for that, short blocks do not.
    strictNullChecks: false,
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
  const { stdout } = spawnSync(process.execPath, words, { cwd: folder.path(""), encoding: "utf8" });
  expect(stdout).toMatch(OF_THE_READER);
  const errors = stdout.split("\n").filter((line) => line.includes("error TS") && !OF_THE_READER.test(line));
  const named = errors.map((line) =>
    line.replace(/^\S*block(\d+)\.ts/, (_, i: string) => `${snippets[+i].page}\n${snippets[+i].code}\n`),
  );
  expect(named.filter((error) => !EXCEPT.some((known) => known.test(error)))).toEqual([]);
});
