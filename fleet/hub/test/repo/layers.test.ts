/** src/ as its plan has it: folders are layers, and no file reaches itself through its imports. Types count. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";

const src = fileURLToPath(new URL("../../src", import.meta.url));

/** A folder imports itself and the folders before it. A file of src/ itself stands for its own layer. */
const LAYERS = [
  "core",
  "database",
  "nouns",
  "limits",
  "auth",
  "http",
  "graphql",
  "pages",
  "backup",
  "app.ts",
  "server.ts",
  "cli",
];

function filesOf(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return files.filter((file) => /\.tsx?$/.test(file)).sort();
}

/** Returns the files of src/ that each file imports, by TypeScript's own reader. */
function importsOf(folder: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const file of filesOf(folder)) {
    const { importedFiles } = ts.preProcessFile(readFileSync(join(folder, file), "utf8"), true, true);
    const own = importedFiles.map(({ fileName }) => fileName).filter((name) => name.startsWith("."));
    found.set(
      file,
      own.map((name) => relative(folder, join(folder, dirname(file), name))),
    );
  }
  return found;
}

const layerOf = (file: string): number => LAYERS.indexOf(file.split("/")[0]!);

/** Returns the files on a circle, in its order, or an empty list. */
function findCircle(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return [];
    path.push(file);
    for (const next of imports.get(file) ?? []) {
      const circle = visit(next);
      if (circle.length > 0) return circle;
    }
    path.pop();
    done.add(file);
    return [];
  };
  return [...imports.keys()].map(visit).find((circle) => circle.length > 0) ?? [];
}

describe("src/", () => {
  const imports = importsOf(src);

  it("is read: every import is found, those of types too", () => {
    // Counted in another way, so that a reader that finds nothing fails here.
    const text = [...imports.keys()].map((file) => readFileSync(join(src, file), "utf8")).join("\n");
    const written = [...text.matchAll(/from "\.{1,2}\//g)].length + [...text.matchAll(/^import "\.{1,2}\//gm)].length;
    expect(written).toBeGreaterThan(100);
    expect([...imports.values()].flat()).toHaveLength(written);
    expect(imports.get("nouns/link.ts")).toContain("nouns/role.ts");
    for (const file of [...imports.values()].flat()) expect([file, existsSync(join(src, file))]).toEqual([file, true]);
  });

  it("has no folder that the list of layers does not know", () => {
    expect([...imports.keys()].filter((file) => layerOf(file) < 0)).toEqual([]);
    expect(new Set([...imports.keys()].map(layerOf)).size).toBe(LAYERS.length);
  });

  it("imports only its own folder and those before it", () => {
    const wrong = [...imports].flatMap(([file, targets]) =>
      targets.filter((target) => layerOf(target) > layerOf(file)).map((target) => `${file} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it("has no circle", () => {
    expect(findCircle(imports)).toEqual([]);
    const circle = new Map([...imports, ["core/ids.ts", ["nouns/user.ts"]]]);
    expect(findCircle(circle)).toContain("core/ids.ts");
  });
});

describe("test/", () => {
  it("has a folder for each folder of src/, and helpers only in support/", () => {
    const tests = fileURLToPath(new URL("..", import.meta.url));
    const known = new Set([
      ...LAYERS.map((layer) => layer.replace(/\.ts$/, "")),
      "client",
      "deploy",
      "repo",
      "support",
    ]);
    for (const file of filesOf(tests)) {
      const [folder] = file.split("/") as [string];
      expect([file, known.has(folder)]).toEqual([file, true]);
      expect([file, /\.test\.ts$/.test(file)]).toEqual([file, folder !== "support"]);
    }
  });
});
