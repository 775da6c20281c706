/** The codec of safetensors and the drawing run in every JavaScript runtime. */
import { readFileSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";

const src = new URL("../../../src/", import.meta.url);

/** Returns every module that a source file imports, directly or by way of others. */
function importsOf(file: URL, seen = new Set<string>()): Set<string> {
  const text = readFileSync(file, "utf8");
  for (const { fileName } of ts.preProcessFile(text, true, true).importedFiles) {
    const isLocal = fileName.startsWith(".");
    const name = isLocal ? new URL(fileName, file).href : fileName;
    if (seen.has(name)) continue;
    seen.add(name);
    if (isLocal) importsOf(new URL(name), seen);
  }
  return seen;
}

const packagesOf = (file: string): string[] =>
  [...importsOf(new URL(file, src))].filter((name) => !name.startsWith("file:"));

test("the import reader finds modules of Node by way of other files", () => {
  expect(packagesOf("node/raster.ts")).toEqual(
    expect.arrayContaining(["node:fs/promises", "@resvg/resvg-js"]),
  );
  expect(packagesOf("node/cli/draw.ts")).toContain("@resvg/resvg-js");
});

test.each(["node/files/safetensors.ts", "picture/svg.ts"])("%s imports nothing of Node", (file) => {
  expect(importsOf(new URL(file, src)).size).toBeGreaterThan(2);
  expect(packagesOf(file)).toEqual([]);
  const sources = [new URL(file, src).href, ...importsOf(new URL(file, src))];
  for (const source of sources)
    expect(readFileSync(new URL(source), "utf8")).not.toMatch(/\bBuffer\.\w|\bprocess\.\w|new TextEncoder/);
});
