/** The release script: versions, changelog and tag agree, or nothing is published. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { withRepository } from "../../scripts/npm-manifest.mjs";
import { billOf, withPackage } from "../../scripts/bill.mjs";
import { problemsOf } from "../../scripts/publish.mjs";
import {
  disagreements,
  LOCKFILES,
  MANIFESTS,
  next,
  notes,
  release,
  statedVersions,
  withVersion,
} from "../../scripts/release.mjs";
import { isThorough } from "../support/effort.ts";

const CHANGELOG = "# Changelog\n\n## Unreleased\n\n- New.\n- More.\n\n## 1.2.3 (2026-01-02)\n\n- Old.\n";

/** True if there is a section for what is new, and it or the section of the current version says something. */
function hasNews(changelog: string, version: string): boolean {
  const unreleased = notes(changelog, "Unreleased");
  return unreleased !== null && (unreleased !== "" || Boolean(notes(changelog, version)));
}

test("versions go up", () => {
  expect(["patch", "minor", "major"].map((s) => next("1.2.3", s))).toEqual(["1.2.4", "1.3.0", "2.0.0"]);
  expect(next("1.0.0", "first")).toBe("1.0.0");
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

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), "utf8");

test("every package, range and lockfile states one version, and the changelog speaks of it", () => {
  const stated = [...MANIFESTS, ...LOCKFILES].flatMap((file) =>
    statedVersions(file, JSON.parse(read(file)) as object),
  );
  const [[, version]] = stated;
  expect(stated.length).toBeGreaterThan(20);
  expect(stated.filter(([, other]) => other !== version)).toEqual([]);
  const unreleased = notes(read("CHANGELOG.md"), version) === null;
  if (unreleased)
    expect(notes(read("CHANGELOG.md"), "Unreleased")).toContain(`describes ${version}, the first release`);
});

test("a tag has to agree with every manifest and lockfile, and with the changelog", () => {
  const files = {
    "package.json": '{ "name": "boxwright", "version": "1.2.3" }',
    "fleet/hub/package.json":
      '{ "name": "boxwright-hub", "version": "1.2.3", "dependencies": { "boxwright": "^1.2.3", "hono": "^4.0.0" } }',
    "fleet/package-lock.json":
      '{ "name": "boxwright-fleet", "packages": { "..": { "name": "boxwright", "version": "1.2.3" } } }',
  };
  expect(disagreements("v1.2.3", CHANGELOG, files)).toEqual([]);
  expect(disagreements("1.2.3", CHANGELOG, files)).toHaveLength(4);
  for (const [file, text] of Object.entries(files)) {
    const changed = { ...files, [file]: text.replace(/1\.2\.3(?!.*1\.2\.3)/, "1.2.2") };
    expect(disagreements("v1.2.3", CHANGELOG, changed)).toEqual([
      expect.stringMatching(new RegExp(`^${file}.*: got version 1.2.2, expected that of the tag v1.2.3$`)),
    ]);
  }
  const next = Object.fromEntries(
    Object.entries(files).map(([file, text]) => [file, withVersion(text, "1.3.0")]),
  );
  expect(JSON.parse(next["fleet/hub/package.json"])).toMatchObject({
    dependencies: { boxwright: "^1.3.0", hono: "^4.0.0" },
  });
  expect(disagreements("v1.3.0", CHANGELOG, next)).toEqual([
    "CHANGELOG.md: got nothing under 1.3.0, expected what is new in it",
  ]);
});

/** Copies what `npm ci --dry-run` reads, and the release script. */
function copyManifests(): string {
  const folder = mkdtempSync(join(tmpdir(), "boxwright-release-"));
  const others = [
    "fleet/package.json",
    "site/package.json",
    "site/package-lock.json",
    "CHANGELOG.md",
    ".npmrc",
  ];
  for (const file of [...MANIFESTS, ...LOCKFILES, ...others, "scripts/release.mjs"]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file));
  }
  return folder;
}

/** True if `npm ci` would take the lockfile of a folder. Without a network: what is missing fails. */
const isInstallable = (folder: string): boolean =>
  spawnSync("npm", ["ci", "--dry-run", "--offline", "--silent", "--no-audit"], {
    cwd: folder,
    shell: process.platform === "win32",
  }).status === 0;

test.each(isThorough ? ["first", "patch", "minor", "major"] : ["minor"])(
  "after a release of step %s, npm ci takes every lockfile",
  (step) => {
    const folder = copyManifests();
    try {
      const before = JSON.parse(read("package.json")) as { version: string };
      execFileSync(process.execPath, ["scripts/release.mjs", step], { cwd: folder });
      const version = next(before.version, step);
      const check = ["scripts/release.mjs", "--check", `v${version}`];
      expect(execFileSync(process.execPath, check, { cwd: folder, encoding: "utf8" })).toContain(
        "One import",
      );
      for (const place of ["", "fleet", "site"])
        expect([place, isInstallable(join(folder, place))]).toEqual([place, true]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  120_000,
);

test.skipIf(!isThorough)("npm ci refuses a fleet whose versions stayed behind", () => {
  const folder = copyManifests();
  try {
    const fleet = MANIFESTS.concat(LOCKFILES).filter((file) => file.startsWith("fleet/"));
    execFileSync(process.execPath, ["scripts/release.mjs", "major"], { cwd: folder });
    for (const file of fleet) cpSync(join(root, file), join(folder, file));
    expect(isInstallable(join(folder, "fleet"))).toBe(false);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a packed package has its licence, its command, its place, and no dead link", () => {
  const place = {
    ...{ folder: "fleet/hub", repository: "https://example.org/o/n", tag: "v1.0.0" },
    isTracked: (path: string) => path === "docs/fleet.md",
  };
  const manifest = withRepository(
    {
      name: "boxwright-hub",
      version: "1.0.0",
      bin: { "boxwright-hub": "./dist/main.js" },
      bundleDependencies: ["s"],
    },
    place.repository,
    place.folder,
  );
  const readme = "[a](https://example.org/o/n/blob/v1.0.0/docs/fleet.md#b) [c](docs/keys.md) [d](#e)";
  const whole: Record<string, string> = {
    "package.json": JSON.stringify(manifest),
    "README.md": readme,
    ...{ LICENSE: "", "dist/main.js": "", "docs/keys.md": "", "node_modules/s/package.json": "{}" },
  };
  const problems = (files: Record<string, string>): string[] =>
    problemsOf(new Map(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)])), place);
  expect(problems(whole)).toEqual([]);
  for (const name of ["LICENSE", "dist/main.js", "docs/keys.md", "node_modules/s/package.json"]) {
    const rest = Object.entries(whole).filter(([other]) => other !== name);
    expect(problems(Object.fromEntries(rest))).toHaveLength(1);
  }
  const wrong = { ...manifest, private: true, version: "0.1.0", repository: undefined };
  expect(problems({ ...whole, "package.json": JSON.stringify(wrong) })).toHaveLength(3);
  expect(problems({ ...whole, "README.md": readme.replaceAll("docs/fleet.md", "docs/none.md") })).toEqual([
    "README.md: https://example.org/o/n/blob/v1.0.0/docs/none.md#b leads nowhere",
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
  const workflow = read(".github/workflows/release.yml");
  const check = workflow.indexOf("node scripts/release.mjs --check");
  expect(check).toBeGreaterThan(0);
  expect(
    workflow.indexOf('node scripts/publish.mjs "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY"'),
  ).toBeGreaterThan(check);
  expect(Number(/node-version: (\d+)/.exec(workflow)?.[1])).toBeGreaterThanOrEqual(24);
});

test("the bill of a package names what it needs at run time, each with its hash, and nothing else", () => {
  const lock = JSON.parse(read("fleet/package-lock.json")) as Parameters<typeof billOf>[0];
  const { metadata, components } = billOf(lock, "hub");
  const { dependencies } = JSON.parse(read("fleet/hub/package.json")) as { dependencies: object };
  const names = components.map(({ name }) => name);
  expect(metadata.component.purl).toMatch(/^pkg:npm\/boxwright-hub@\d/);
  // pg-types belongs to a development package too: npm's own bill leaves it out.
  expect(names).toEqual(expect.arrayContaining([...Object.keys(dependencies), "pg-types", "sonic-boom"]));
  expect(names.filter((name) => /vitest|eslint|typescript|@types/.test(name))).toEqual([]);
  const unhashed = components.filter(({ hashes }) => hashes === undefined).map(({ name }) => name);
  expect(unhashed.sort()).toEqual(["boxwright", "boxwright-service"]);
  // The root package has no dependency.
  expect(billOf(JSON.parse(read("package-lock.json")) as typeof lock, "").components).toEqual([]);
});

test("the bill of the demo names its network's runtime and boxwright, from the root's lockfile", () => {
  const lock = JSON.parse(read("package-lock.json")) as Parameters<typeof billOf>[0];
  const manifest = JSON.parse(read("demo/package.json")) as { dependencies: object };
  const { metadata, components } = billOf(withPackage(lock, "demo", manifest), "demo");
  expect(metadata.component.purl).toMatch(/^pkg:npm\/boxwright-demo@\d/);
  const names = components.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([...Object.keys(manifest.dependencies), "onnxruntime-common"]),
  );
  expect(components.filter(({ hashes }) => hashes === undefined).map(({ name }) => name)).toEqual([
    "boxwright",
  ]);
});
