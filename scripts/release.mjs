/**
 * `node scripts/release.mjs patch|minor|major`: turns "Unreleased" in CHANGELOG.md into the next version, and sets it
 * in package.json and package-lock.json. `node scripts/release.mjs --check vX.Y.Z`: whether the three agree with a tag;
 * prints the notes.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

/** The version after this one. */
export function next(version, step) {
  const parts = /^(\d+)\.(\d+)\.(\d+)$/.exec(version)?.slice(1).map(Number);
  const at = ["major", "minor", "patch"].indexOf(step);
  if (parts === undefined || at < 0)
    throw new Error(`got version ${version} and step ${step}, expected x.y.z and patch, minor or major`);
  return parts.map((n, i) => (i < at ? n : i === at ? n + 1 : 0)).join(".");
}

/** What a section of the changelog says; null where there is no such section. */
export function notes(changelog, title) {
  const lines = changelog.split("\n");
  const start = lines.findIndex((l) => l === `## ${title}` || l.startsWith(`## ${title} (`));
  if (start < 0) return null;
  const end = lines.findIndex((l, i) => i > start && l.startsWith("## "));
  return lines
    .slice(start + 1, end < 0 ? undefined : end)
    .join("\n")
    .trim();
}

/** The changelog with its "Unreleased" section under the version's name, and an empty one above it. */
export function release(changelog, version, date) {
  if (!notes(changelog, "Unreleased"))
    throw new Error('CHANGELOG.md: got nothing under "Unreleased", expected what is new');
  if (notes(changelog, version) !== null) throw new Error(`CHANGELOG.md: got a section ${version} already`);
  return changelog.replace("## Unreleased\n", `## Unreleased\n\n## ${version} (${date})\n`);
}

/** What does not agree with the tag. */
export function disagreements(tag, { changelog, version, locked }) {
  const problems = [];
  if (tag !== `v${version}`) problems.push(`tag: got ${tag}, expected v${version} as in package.json`);
  if (locked !== version) problems.push(`package-lock.json: got version ${locked}, expected ${version}`);
  if (!notes(changelog, version))
    problems.push(`CHANGELOG.md: got nothing under ${version}, expected what is new in it`);
  return problems;
}

function main([step, tag]) {
  const read = (file) => readFileSync(file, "utf8");
  const manifest = JSON.parse(read("package.json"));
  const lock = JSON.parse(read("package-lock.json"));
  const changelog = read("CHANGELOG.md");
  if (step === "--check") {
    const problems = disagreements(tag, { changelog, version: manifest.version, locked: lock.version });
    for (const p of problems) console.error(p);
    if (problems.length > 0) process.exit(1);
    console.log(notes(changelog, manifest.version));
    return;
  }
  const version = next(manifest.version, step);
  writeFileSync("CHANGELOG.md", release(changelog, version, new Date().toISOString().slice(0, 10)));
  manifest.version = lock.version = lock.packages[""].version = version;
  writeFileSync("package.json", `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync("package-lock.json", `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`${version}: commit, then git tag v${version}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) main(process.argv.slice(2));
