/** docs/families: the pages are those of the rows, and each example prints what its last line says. */
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, expect, test, vi } from "vitest";
import { FAMILIES } from "../../src/core/families.ts";
import { pages } from "../../scripts/families.ts";

const folder = new URL("../../docs/families/", import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, folder), "utf8");

test("the pages are up to date (npm run families)", () => {
  const written = new Map(readdirSync(folder).map((name) => [name, read(name)]));
  expect([...written.keys()].sort()).toEqual([...pages().keys()].sort());
  for (const [name, text] of pages()) expect(written.get(name), name).toBe(text);
});

const files: URL[] = [];
afterAll(() => files.forEach((file) => rmSync(file, { force: true })));

test.each(FAMILIES)("the example of %s prints what it says", async (family) => {
  const [, block] = /```js\n([\s\S]*?)```/.exec(read(`${family}.md`)) ?? [];
  const [, promised] = /^\/\/ (.*)\n$/m.exec(block.slice(block.lastIndexOf("// "))) ?? [];
  const file = new URL(`./.family-${family}.tmp.ts`, import.meta.url);
  files.push(file);
  writeFileSync(file, `// @ts-nocheck\n${block.replace('"boxwright"', '"../../src/entries/index.ts"')}`);
  const printed: string[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((...words) => void printed.push(words.join(" ")));
  try {
    await import(file.href);
  } finally {
    log.mockRestore();
  }
  expect(printed).toEqual([promised]);
});
