/** The release script: versions, changelog and tag agree, or nothing is published. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { withRepository } from "../../scripts/npm-manifest.mjs";
import { disagreements, next, notes, release } from "../../scripts/release.mjs";

const CHANGELOG = "# Changelog\n\n## Unreleased\n\n- New.\n- More.\n\n## 1.2.3 (2026-01-02)\n\n- Old.\n";

/** True if there is a section for what is new, and it or the section of the current version says something. */
function hasNews(changelog: string, version: string): boolean {
  const unreleased = notes(changelog, "Unreleased");
  return unreleased !== null && (unreleased !== "" || Boolean(notes(changelog, version)));
}

test("versions go up", () => {
  expect(["patch", "minor", "major"].map((s) => next("1.2.3", s))).toEqual(["1.2.4", "1.3.0", "2.0.0"]);
  expect(() => next("1.2", "patch")).toThrow(/got version 1\.2/);
  expect(() => next("1.2.3", "huge")).toThrow(/step huge/);
});

describe("the changelog", () => {
  test("moves what is new under the version, and keeps the rest", () => {
    const after = release(CHANGELOG, "1.3.0", "2026-02-03");
    expect(notes(after, "1.3.0")).toBe("- New.\n- More.");
    expect(notes(after, "Unreleased")).toBe("");
    expect(notes(after, "1.2.3")).toBe("- Old.");
    expect(notes(after, "9.9.9")).toBeNull();
    // 1.2.3 is not the beginning of another version
    expect(notes("## 1.2.30 (2026-01-02)\n\n- No.\n", "1.2.3")).toBeNull();
  });
  test("refuses a release of nothing, and one twice", () => {
    expect(() => release(release(CHANGELOG, "1.3.0", "2026-02-03"), "1.3.1", "2026-02-04")).toThrow(
      /got nothing under "Unreleased"/,
    );
    expect(() => release(CHANGELOG, "1.2.3", "2026-02-03")).toThrow(/got a section 1\.2\.3 already/);
  });
  test("the project's own has something to release, or has just been released", () => {
    const own = readFileSync(new URL("../../CHANGELOG.md", import.meta.url), "utf8");
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
      version: string;
    };
    // An empty section is right only just after a release: then the version's own section says something.
    expect(hasNews(own, version)).toBe(true);
    expect(hasNews("# Changelog\n\n## Unreleased\n\n## 1.0.0\n\n- Old.\n", "1.0.1")).toBe(false);
    expect(hasNews("# Changelog\n\n## 1.0.0\n\n- Old.\n", "1.0.0")).toBe(false);
    expect(hasNews("# Changelog\n\n## Unreleased\n\n## 1.0.0\n\n- Old.\n", "1.0.0")).toBe(true);
  });
});

test("a tag has to agree with the manifest, the lockfile and the changelog", () => {
  const files = { changelog: CHANGELOG, version: "1.2.3", locked: "1.2.3" };
  expect(disagreements("v1.2.3", files)).toEqual([]);
  expect(disagreements("v1.2.4", files)).toEqual(["tag: got v1.2.4, expected v1.2.3 as in package.json"]);
  expect(disagreements("v1.2.3", { ...files, locked: "1.2.2" })).toHaveLength(1);
  expect(disagreements("v1.3.0", { ...files, version: "1.3.0", locked: "1.3.0" })).toEqual([
    "CHANGELOG.md: got nothing under 1.3.0, expected what is new in it",
  ]);
});

test("the release fills in where the project is, with a Node that npm trusts", () => {
  const { repository, homepage, bugs, name } = withRepository(
    { name: "boxwright" },
    "https://example.org/owner/name",
  ) as ReturnType<typeof withRepository> & { readonly name: string };
  expect([name, repository, homepage, bugs]).toEqual([
    "boxwright",
    { type: "git", url: "git+https://example.org/owner/name.git" },
    "https://example.org/owner/name#readme",
    { url: "https://example.org/owner/name/issues" },
  ]);
  const workflow = readFileSync(new URL("../../.github/workflows/release.yml", import.meta.url), "utf8");
  const filled = workflow.indexOf('node scripts/npm-manifest.mjs "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY"');
  expect(filled).toBeGreaterThan(0);
  expect(filled).toBeLessThan(workflow.indexOf("npm publish"));
  expect(Number(/node-version: (\d+)/.exec(workflow)?.[1])).toBeGreaterThanOrEqual(24);
});
