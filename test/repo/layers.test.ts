/**
 * The folders of src/ are layers. A file imports only from its own folder or from folders before it, types included,
 * and no file imports itself by way of others.
 */
import { readFileSync, readdirSync } from "node:fs";
import { posix } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const root = new URL("../../src/", import.meta.url);

const LAYERS = [
  "core",
  "config",
  "shapes",
  "heads",
  "plan",
  "memory",
  "kernels",
  "engine",
  "decode",
  "checks",
  "tasks/suppression",
  "tasks/oriented",
  "tasks/text",
  "track",
  "tasks/pose",
  "tasks/peaks",
  "tiles",
  "picture",
  "tasks/masks",
  "tasks/prepare",
  "whole",
  "compiled",
  "planfile",
  "packet",
  "pool",
  "detect",
  "node",
  "entries",
];

const filesIn = (folder: URL): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((f) => f.replaceAll("\\", "/"))
    .filter((f) => f.endsWith(".ts") && f !== "globals.d.ts");

const files = filesIn(root);

/** Returns the files of src/ that `text`, the source of `file`, imports or re-exports from, types included. */
function importsOf(file: string, text: string): string[] {
  return ts
    .preProcessFile(text, true, true)
    .importedFiles.map(({ fileName }) => fileName)
    .filter((name) => name.startsWith(".") && name.endsWith(".ts"))
    .map((name) => posix.join(posix.dirname(file), name));
}

const importsIn = (folder: URL): Map<string, string[]> =>
  new Map(filesIn(folder).map((f) => [f, importsOf(f, readFileSync(new URL(f, folder), "utf8"))]));

const imports = importsIn(root);
const layerOf = (file: string): number => LAYERS.findIndex((layer) => file.startsWith(`${layer}/`));

/** Returns every import that goes from a layer to a later one. */
const forward = (all: ReadonlyMap<string, readonly string[]>): string[] =>
  [...all].flatMap(([file, others]) =>
    others.filter((other) => layerOf(other) > layerOf(file)).map((other) => `${file} imports ${other}`),
  );

/** Returns the files that import themselves by way of others, as paths. */
function circles(all: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const at = path.indexOf(file);
    if (at >= 0) found.push([...path.slice(at), file].join(" -> "));
    if (at >= 0 || done.has(file)) return;
    for (const other of all.get(file) ?? []) visit(other, [...path, file]);
    done.add(file);
  };
  for (const file of all.keys()) visit(file, []);
  return found;
}

test("the import reader sees values, types, re-exports and imports over several lines", () => {
  const text = `
    import { a } from "./a.ts";
    import type { B } from "../core/b.ts";
    export { c } from "./c.ts";
    export type { D } from "./d.ts";
    import {
      e,
      type F,
    } from "./e.ts";
    const g = import("./g.ts");
    type H = import("./h.ts").H;`;
  expect(importsOf("plan/x.ts", text).sort()).toEqual(
    ["core/b.ts", ...["a", "c", "d", "e", "g", "h"].map((name) => `plan/${name}.ts`)].sort(),
  );
  const all = [...imports.values()].flat();
  expect(all.length).toBeGreaterThan(files.length);
});

test("every file stands in the folder of a layer", () => {
  expect(files.filter((f) => !f.includes("/") || layerOf(f) < 0)).toEqual([]);
});

test("no file imports from a later layer", () => {
  expect(forward(new Map([["core/a.ts", ["plan/b.ts"]]]))).toHaveLength(1);
  expect(forward(imports)).toEqual([]);
});

test("no file imports itself by way of others", () => {
  const round = new Map([
    ["core/a.ts", ["core/b.ts"]],
    ["core/b.ts", ["core/a.ts"]],
  ]);
  expect(circles(round)).toHaveLength(1);
  expect(circles(imports)).toEqual([]);
});

test.each([
  ["bench", "row.ts", "measure.ts"],
  ["scripts", "point-families.ts", "family-preparation.ts"],
  ["site/src", "work.ts", "worker/jobs.ts"],
])("no file of %s/ imports itself by way of others", (folder, file, imported) => {
  const all = importsIn(new URL(`../../${folder}/`, import.meta.url));
  expect(all.get(file)).toContain(imported);
  expect(circles(all)).toEqual([]);
});

test("spec/ imports only types of src/, and nothing of the engines or of what feeds them", () => {
  const spec = new URL("../../spec/", import.meta.url);
  const all = [...importsIn(spec).values()].flat().filter((name) => name.startsWith("../"));
  expect(all).toContain("../src/plan/plan.ts");
  expect(all.filter((name) => !/^\.\.\/src\/(core|heads|plan)\//.test(name))).toEqual([]);
  for (const file of filesIn(spec))
    expect(readFileSync(new URL(file, spec), "utf8"), file).not.toMatch(/import (?!type )[^;]*"\.\.\/src/);
});
