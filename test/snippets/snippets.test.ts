/**
 * Every code block of every page runs: here, in Chromium (page.test.ts), or in a file that ELSEWHERE names. A block
 * finds the variables that its page leaves to the reader, and gives what its page says.
 */
import { createRequire } from "node:module";
import * as ort from "onnxruntime-node";
import { expect, test } from "vitest";
import * as core from "../../src/entries/core.ts";
import * as boxwright from "../../src/entries/index.ts";
import * as node from "../../src/entries/node.ts";
import * as plan from "../../src/entries/plan.ts";
import { tempFolder } from "../support/files.ts";
import { type Snippet, allSnippets, runSnippet } from "./blocks.ts";
import { dogs, echo, fileSystem, files, readPage } from "./given.ts";
import { HUB_ROWS } from "./rows-hub.ts";
import { PAGE_ROWS } from "./rows-page.ts";
import { OUTPUT_ROWS } from "./rows-outputs.ts";
import { PHOTO_ROWS } from "./rows-photos.ts";
import type { Row } from "./row.ts";

/** Pages whose blocks another test reads and runs, and that test. */
const ELSEWHERE: readonly (readonly [page: RegExp, has: string, by: string])[] = [
  [/^docs\/families\//, "", "test/repo/families.test.ts"],
  [/^docs\/recipes\.md$/, "", "test/repo/recipes.test.ts"],
  [/^fleet\/host\/docs\/reading\.md$/, "createHostClient", "fleet/host/test/client/client.test.ts"],
  [/^docs\/crops\.md$/, "...palm, points: hand", "test/detect/chain.test.ts"],
];

const folder = tempFolder();
const snippets = allSnippets();
const rows: readonly Row[] = [...PHOTO_ROWS, ...OUTPUT_ROWS, ...HUB_ROWS];

const MODULES: Readonly<Record<string, unknown>> = {
  boxwright,
  "boxwright/core": core,
  "boxwright/node": node,
  "boxwright/plan": plan,
  // Built files: `npm test` builds first.
  "boxwright/ts": createRequire(import.meta.url)("../../dist/bare.cjs"),
  "boxwright/dist/bare.cjs": createRequire(import.meta.url)("../../dist/bare.cjs"),
  "onnxruntime-node": ort,
  "node:fs": fileSystem,
  "node:fs/promises": fileSystem,
};

const isOf =
  ({ page, has }: { readonly page: string; readonly has: string }) =>
  (snippet: Snippet): boolean =>
    snippet.page === page && snippet.code.includes(has);

test("every block is run by exactly one test", () => {
  const runs = snippets.map((snippet) => {
    const here = [...rows, ...PAGE_ROWS]
      .filter((row) => isOf(row)(snippet))
      .map((row) => `${row.page}: ${row.has}`);
    const there = ELSEWHERE.filter(([page, has]) => page.test(snippet.page) && snippet.code.includes(has));
    return { ...snippet, by: [...here, ...there.map(([, , by]) => by)] };
  });
  expect(runs.filter(({ by }) => by.length !== 1)).toEqual([]);
  // A row without a block is a leftover.
  const leftover = [...rows, ...PAGE_ROWS].filter((row) => !snippets.some(isOf(row)));
  expect(leftover).toEqual([]);
  for (const [page, , by] of ELSEWHERE) {
    expect(readPage(by)).toContain(/docs\\\/(\w+)/.exec(page.source)?.[1]);
  }
});

test.each(rows.map((row) => [`${row.page}: ${row.has}`, row] as const))("%s", async (_, row) => {
  Object.assign(files, { "yolo11n.onnx": echo(), "street.png": dogs(), "street.jpg": dogs() });
  const snippet = snippets.find(isOf(row));
  const given = (await row.given?.((name) => folder.path(name))) ?? {};
  const printed: unknown[][] = [];
  const console = {
    log: (...words: unknown[]) => void printed.push(words),
    warn: () => undefined,
    error: () => undefined,
  };
  const made = await runSnippet(snippet?.code ?? "", { console, ...given }, { ...MODULES, ...row.modules });
  await row.check(made, printed, given);
});

test("the first block goes from a photo to boxes and a picture in six lines", () => {
  const [first] = snippets.filter(({ page }) => page === "README.md");
  const own = first.code.split("\n").filter((line) => line !== "" && !line.startsWith("import "));
  expect(own.length).toBeLessThanOrEqual(6);
});
