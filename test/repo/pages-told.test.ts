/** Help and messages name only pages that a reader of the package has. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Returns the pages that strings of the sources name, each with its file. Comments are for developers. */
function pagesTold(folder: string): [file: string, page: string][] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => /\.tsx?$/.test(file))
    .flatMap((file) => {
      const code = readFileSync(join(root, folder, file), "utf8").replace(
        /^\s*(\/\*\*.*|\*.*|\/\/.*)$/gm,
        "",
      );
      return [...code.matchAll(/[\w./-]*\w\.md\b/g)].map(([page]): [string, string] => [file, page]);
    });
}

test.each([
  ["", "src"],
  ["fleet/agent", "src"],
  ["fleet/host", "src"],
  ["fleet/hub", "src"],
])("strings of %s name pages of the package", (part, sources) => {
  const { files } = JSON.parse(readFileSync(join(root, part, "package.json"), "utf8")) as { files: string[] };
  const isPacked = (page: string): boolean =>
    files.some((name) => page === name || page.startsWith(`${name}/`));
  const told = pagesTold(join(part, sources));
  // Nothing found would mean that nothing was looked for.
  if (part === "") expect(told.length).toBeGreaterThan(0);
  expect(told.filter(([, page]) => !isPacked(page) || !existsSync(join(root, part, page)))).toEqual([]);
});
