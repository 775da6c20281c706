/** The README and the pages of docs/: their links, words and tables. test/snippets runs their code. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseConfig } from "../../src/config/config.ts";
import { withAbsoluteLinks } from "../../scripts/npm-readme.mjs";
import { type Rules, RULE_SETS } from "../../src/core/rules.ts";

describe("the README on npm", () => {
  const root = new URL("../../", import.meta.url);
  const read = (path: string): string => readFileSync(new URL(path, root), "utf8");
  const readme = read("README.md");

  test("shows a result on its first screen, and has at most 1,200 words", () => {
    const first = readme.split("\n").slice(0, 12).join("\n");
    expect(first).toMatch(/!\[[^\]]+\]\(docs\/result\.jpg\)/);
    expect(readme.split(/\s+/).length).toBeLessThanOrEqual(1200);
  });

  const pages = ["docs", "examples"].flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, root), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".md"))
      .map((file) => `${folder}/${file.replaceAll("\\", "/")}`),
  );
  const linksOf = (text: string): string[] => [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link);

  test.each(["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "AGENTS.md", ...pages])(
    "every link of %s leads to a file",
    (page) => {
      const links = linksOf(read(page));
      if (page === "README.md") expect(links.length).toBeGreaterThan(20);
      const missing = links.filter((link) => {
        const [path, anchor] = link.split("#");
        if (/^https?:/.test(link)) return false;
        const file = new URL(path === "" ? page : path, new URL(page, root));
        if (!existsSync(path === "" ? new URL(page, root) : file)) return true;
        if (anchor === undefined) return false;
        const headings = readFileSync(path === "" ? new URL(page, root) : file, "utf8").matchAll(
          /^#+ (.*)$/gm,
        );
        return ![...headings].some(([, text]) => anchorOf(text) === anchor);
      });
      expect(missing).toEqual([]);
    },
  );

  test("pages for those who work on boxwright have a shelf of their own, which CONTRIBUTING names", () => {
    const shelf = pages.filter((page) => page.startsWith("docs/work/"));
    expect(shelf.length).toBeGreaterThan(2);
    const named = linksOf(read("CONTRIBUTING.md"));
    expect(shelf.filter((page) => !named.includes(page))).toEqual([]);
  });

  test("names every import of the package", () => {
    const { exports } = JSON.parse(read("package.json")) as { exports: Record<string, unknown> };
    const table = readme.split("\n").filter((line) => line.startsWith("| `boxwright/"));
    const named = table.flatMap((line) =>
      [...line.split("|")[1].matchAll(/`boxwright\/(\w+)`/g)].map(([, name]) => name),
    );
    const folders = Object.keys(exports).filter((key) => /^\.\/\w+$/.test(key));
    expect(named.sort()).toEqual(folders.map((key) => key.slice(2)).sort());
  });

  test("is published with absolute links, at the tag", () => {
    const text = withAbsoluteLinks(readme, "https://example.org/a/b", "v1.2.3");
    const links = linksOf(text);
    expect(links).toHaveLength(linksOf(readme).length);
    expect(text).toContain("](https://example.org/a/b/raw/v1.2.3/docs/result.jpg)");
    expect(text).toContain("[docs/detect.md](https://example.org/a/b/blob/v1.2.3/docs/detect.md)");
    expect(links.filter((link) => !link.startsWith("https://"))).toEqual([]);
    expect(text).not.toMatch(/<(img|a)\b|^\[[^\]]+\]: /m);
    const kept = "[a](#b) [c](https://d) [e](mailto:f@g)";
    expect(withAbsoluteLinks(kept, "https://example.org/a/b", "v1")).toBe(kept);
    // A page below the root, beside another page of its package.
    const beside = (path: string): boolean => path === "fleet/hub/docs/keys.md";
    expect(
      withAbsoluteLinks(
        "[a](docs/keys.md#b) [c](../../docs/fleet.md)",
        "https://x",
        "v1",
        "fleet/hub/R.md",
        beside,
      ),
    ).toBe("[a](docs/keys.md#b) [c](https://x/blob/v1/docs/fleet.md)");
  });

  test.each(["README.md", "CHANGELOG.md", "package.json", ...pages])(
    "%s claims to be alone nowhere",
    (page) => {
      // Others decode YOLO in JavaScript too: docs/comparison.md.
      const text = read(page).replace(/\s+/g, " ");
      const claims = /\b(nobody|no one|no other \w+|the (only|first) (package|library|decoder))\b[^.]*/gi;
      const found = [...text.matchAll(claims)].map(([claim]) => claim);
      expect(found.filter((claim) => /yolo|javascript|decodes?\b|npm/i.test(claim))).toEqual([]);
    },
  );
});

/** Returns the anchor that GitHub and npm give a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}

test("the table of rules says what each set is", () => {
  const readme = readFileSync(new URL("../../docs/rules.md", import.meta.url), "utf8");
  const section = readme.slice(readme.indexOf("\n## Rules\n")).split(/\n## /)[1];
  const [head, , ...lines] = section
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const sets = head.slice(1).map((cell) => cell.replaceAll("`", ""));
  expect(sets).toEqual(Object.keys(RULE_SETS));
  const field = (line: string[]): string | undefined => /^`(\w+)`/.exec(line[0])?.[1];
  const table = Object.fromEntries(lines.map((line) => [field(line) ?? line[0], line.slice(1)]));
  // as the table writes a value
  const written = (name: string, value: unknown): string =>
    name === "clamp" && value === "before"
      ? "before, empty boxes dropped"
      : name === "clamp" && value === "centre"
        ? "centre and size"
        : name === "maxCandidates" && value === 0
          ? "-"
          : typeof value === "boolean"
            ? value
              ? "yes"
              : "no"
            : String(value);
  const fields = Object.keys(RULE_SETS.ultralytics) as (keyof Rules)[];
  expect(table).toEqual({
    // held by what parseConfig makes of the two
    "default for": sets.map((set) =>
      set === parseConfig({ family: "yolov8" }).ruleSet
        ? "typed options"
        : set === parseConfig({ NN_config: {} }).ruleSet
          ? "config files"
          : "",
    ),
    ...Object.fromEntries(
      fields.map((f) => [f, Object.values(RULE_SETS).map((rules: Rules) => written(f, rules[f]))]),
    ),
  });
});
