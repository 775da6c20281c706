/**
 * Tests of the import rule for src/ of every part: a folder imports only from itself and from earlier folders. The rule
 * includes types.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";

export function filesOf(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return files.filter((file) => /\.tsx?$/.test(file)).sort();
}

/** Returns, for each file of a folder, the files of the same folder that it imports. */
function importsOf(folder: string): Map<string, string[]> {
  const read = (file: string): string[] =>
    ts
      .preProcessFile(readFileSync(join(folder, file), "utf8"), true, true)
      .importedFiles.map(({ fileName }) => fileName)
      .filter((name) => name.startsWith("."))
      .map((name) => relative(folder, join(folder, dirname(file), name)));
  return new Map(filesOf(folder).map((file) => [file, read(file)]));
}

/** Returns the files of an import cycle in order, or an empty list. */
export function findCircle(imports: ReadonlyMap<string, readonly string[]>): string[] {
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

/**
 * Defines the tests of src/.
 * @param layers folders, and files of src/ itself, in order
 * @param shared file names that may occur in several folders, since they mean the same thing there
 */
export function testLayers(src: string, layers: readonly string[], shared: readonly string[] = []): void {
  const imports = importsOf(src);
  const layerOf = (file: string): number => layers.indexOf(file.split("/")[0]!);

  describe("src/", () => {
    it("is read: every import is found, those of types too", () => {
      // Count the imports in another way too, so that a resolver that finds nothing fails here.
      const text = [...imports.keys()].map((file) => readFileSync(join(src, file), "utf8")).join("\n");
      const written = text.match(/(from |^import |\bimport\()"\.{1,2}\//gm)?.length ?? 0;
      expect(written).toBeGreaterThan(50);
      expect([...imports.values()].flat()).toHaveLength(written);
      expect([...imports.values()].flat().filter((file) => !existsSync(join(src, file)))).toEqual([]);
    });

    it("has no folder that the list of layers does not know", () => {
      expect([...imports.keys()].filter((file) => layerOf(file) < 0)).toEqual([]);
      expect(new Set([...imports.keys()].map(layerOf)).size).toBe(layers.length);
    });

    it("imports only its own folder and those before it", () => {
      const wrong = [...imports].flatMap(([file, targets]) =>
        targets.filter((target) => layerOf(target) > layerOf(file)).map((target) => `${file} imports ${target}`),
      );
      expect(wrong).toEqual([]);
    });

    it("has no circle", () => {
      expect(findCircle(imports)).toEqual([]);
      const [file, targets] = [...imports].find(([, found]) => found.length > 0)!;
      expect(findCircle(new Map([...imports, [targets[0]!, [file]]]))).toContain(file);
    });

    it("has no two files of one name in different meanings", () => {
      const stems = [...imports.keys()].map((file) => basename(file).replace(/\.tsx?$/, ""));
      expect([...new Set(stems.filter((stem, i) => stems.indexOf(stem) < i))].sort()).toEqual([...shared].sort());
    });
  });
}
