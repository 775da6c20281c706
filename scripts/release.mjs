/**
 * `node scripts/release.mjs first|patch|minor|major`: turns "Unreleased" in CHANGELOG.md into the next version, and
 * sets this version in every manifest and lockfile of the root, demo/ and fleet/. `node scripts/release.mjs --check
 * vX.Y.Z` checks that they agree with a tag, and prints the notes.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

/** Paths of the manifests that state the version. */
export const MANIFESTS = [
  "package.json",
  "demo/package.json",
  ...["service", "agent", "host", "hub"].map((part) => `fleet/${part}/package.json`),
  ...["host", "hub"].map((part) => `fleet/${part}/client/package.json`),
];
export const LOCKFILES = ["package-lock.json", "fleet/package-lock.json"];
/** True for the name of one of our packages, which all have the same version. */
const isOwn = (name) =>
  name === "boxwright" || /^boxwright-(agent|demo|host|hub|service)(-client)?$/.test(name);

/** Returns the version after this one. "first" keeps the version of the manifests, for the first release. */
export function next(version, step) {
  if (step === "first") return version;
  const parts = /^(\d+)\.(\d+)\.(\d+)$/.exec(version)?.slice(1).map(Number);
  const at = ["major", "minor", "patch"].indexOf(step);
  if (parts === undefined || at < 0)
    throw new Error(
      `got version ${version} and step ${step}, expected x.y.z and first, patch, minor or major`,
    );
  return parts.map((n, i) => (i < at ? n : i === at ? n + 1 : 0)).join(".");
}

/** Returns the text of a section of the changelog; null if there is none. */
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

/**
 * Returns the changelog with a new version: "Unreleased" becomes its section, and an empty "Unreleased" is added above.
 */
export function release(changelog, version, date) {
  if (!notes(changelog, "Unreleased"))
    throw new Error('CHANGELOG.md: got nothing under "Unreleased", expected what is new');
  if (notes(changelog, version) !== null) throw new Error(`CHANGELOG.md: got a section ${version} already`);
  return changelog.replace("## Unreleased\n", `## Unreleased\n\n## ${version} (${date})\n`);
}

/**
 * Sets the version in a manifest, or in a lockfile's entry. Dependencies on our own packages follow: "^1.2.3" stays a
 * range, "1.2.3" stays exact.
 */
function setVersion(entry, version) {
  if (entry.version !== undefined && isOwn(entry.name ?? "")) entry.version = version;
  for (const kind of ["dependencies", "devDependencies", "peerDependencies"])
    for (const [name, range] of Object.entries(entry[kind] ?? {}))
      if (isOwn(name) && /^\^?\d/.test(range)) entry[kind][name] = range.replace(/\d.*$/, version);
}

/** Returns all versions of our own packages in a manifest or lockfile, each with its place. */
export function statedVersions(file, json) {
  const stated = [];
  const look = (place, entry) => {
    if (entry.version !== undefined && isOwn(entry.name ?? "")) stated.push([place, entry.version]);
    for (const kind of ["dependencies", "devDependencies", "peerDependencies"])
      for (const [name, range] of Object.entries(entry[kind] ?? {}))
        if (isOwn(name) && /^\^?\d/.test(range))
          stated.push([`${place}, ${kind}.${name}`, range.replace("^", "")]);
  };
  look(file, json);
  for (const [path, entry] of Object.entries(json.packages ?? {})) look(`${file}, "${path}"`, entry);
  return stated;
}

/** Returns the text of a manifest or lockfile with a new version. */
export function withVersion(text, version) {
  const json = JSON.parse(text);
  for (const entry of [json, ...Object.values(json.packages ?? {})]) setVersion(entry, version);
  return `${JSON.stringify(json, null, 2)}\n`;
}

/** Returns the disagreements with the tag. `files` has the text of each manifest and lockfile by path. */
export function disagreements(tag, changelog, files) {
  const version = tag.replace(/^v/, "");
  const problems = Object.entries(files)
    .flatMap(([file, text]) => statedVersions(file, JSON.parse(text)))
    .filter(([, stated]) => stated !== version || !tag.startsWith("v"))
    .map(([place, stated]) => `${place}: got version ${stated}, expected that of the tag ${tag}`);
  if (!notes(changelog, version))
    problems.push(`CHANGELOG.md: got nothing under ${version}, expected what is new in it`);
  return problems;
}

function main([step, tag]) {
  const read = (file) => readFileSync(file, "utf8");
  const changelog = read("CHANGELOG.md");
  const names = [...MANIFESTS, ...LOCKFILES].filter((file) => existsSync(file));
  const files = Object.fromEntries(names.map((file) => [file, read(file)]));
  if (step === "--check") {
    const problems = disagreements(tag ?? "", changelog, files);
    for (const problem of problems) console.error(problem);
    if (problems.length > 0) process.exit(1);
    console.log(notes(changelog, tag.slice(1)));
    return;
  }
  const version = next(JSON.parse(files["package.json"]).version, step);
  writeFileSync("CHANGELOG.md", release(changelog, version, new Date().toISOString().slice(0, 10)));
  for (const [file, text] of Object.entries(files)) writeFileSync(file, withVersion(text, version));
  console.log(`${version}: commit, then git tag v${version}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) main(process.argv.slice(2));
