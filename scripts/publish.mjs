/**
 * Packs and publishes boxwright, demo, hub, agent and host at a tag:
 *
 *     node scripts/publish.mjs https://HOST/OWNER/NAME vX.Y.Z --pack       # packs and checks
 *     node scripts/publish.mjs https://HOST/OWNER/NAME vX.Y.Z --provenance # as the release does
 *     node scripts/publish.mjs https://HOST/OWNER/NAME vX.Y.Z --registry URL # a test
 *
 * Changes files of the working copy: manifests get the project's repository, pages get absolute links. Run it in a
 * temporary copy, after `npm ci` in the root and in fleet/. Writes a bill of materials beside each tarball.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { billOf, withPackage } from "./bill.mjs";
import { withRepository } from "./npm-manifest.mjs";
import { deadLinks, withAbsoluteLinks } from "./npm-readme.mjs";

/** Folders of the packages, in the order of their dependencies. */
const PACKAGES = ["", "demo", "fleet/hub", "fleet/agent", "fleet/host"];
const OUT = "out/release";
const ENV = { ...process.env, ONNXRUNTIME_NODE_INSTALL: "skip" };

const run = (cwd, command, ...words) =>
  execFileSync(command, words, { cwd: cwd || ".", env: ENV, encoding: "utf8", maxBuffer: 2 ** 28 });

/** Returns the files of an npm tarball by their paths, without "package/". */
export function readTarball(file) {
  const bytes = gunzipSync(readFileSync(file));
  const files = new Map();
  const field = (at, length) => bytes.toString("utf8", at, at + length).replace(/\0.*$/s, "");
  for (let at = 0; bytes[at] !== 0 && at < bytes.length;) {
    const size = parseInt(field(at + 124, 12), 8);
    const name = posix.join(field(at + 345, 155), field(at, 100));
    // "0" and NUL mark files. Skip others: folders and long names, which pages never have.
    if (/^[0\0]?$/.test(String.fromCharCode(bytes[at + 156])))
      files.set(name.replace(/^package\//, ""), bytes.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}

/** Returns the problems of a packed package. */
export function problemsOf(files, { folder, repository, tag, isTracked }) {
  const problems = [];
  const manifest = JSON.parse(files.get("package.json").toString());
  if (`v${manifest.version}` !== tag)
    problems.push(`version: got ${manifest.version}, expected that of ${tag}`);
  if (manifest.private) problems.push("private: got true, expected none");
  if (!manifest.repository?.url.includes(repository))
    problems.push("repository: got none, expected the place of the project");
  for (const name of ["LICENSE", "README.md"]) if (!files.has(name)) problems.push(`${name} is missing`);
  for (const target of Object.values(manifest.bin ?? {}))
    if (!files.has(posix.normalize(target))) problems.push(`bin: ${target} is missing`);
  for (const name of manifest.bundleDependencies ?? [])
    if (!files.has(`node_modules/${name}/package.json`)) problems.push(`node_modules/${name} is missing`);
  const inPackage = (path) => [...files.keys()].some((name) => posix.join(folder, name).startsWith(path));
  for (const [name, content] of files) {
    if (!name.endsWith(".md") || name.startsWith("node_modules/")) continue;
    const place = { repository, tag, page: posix.join(folder, name), isPacked: inPackage, isTracked };
    for (const link of deadLinks(content.toString(), place)) problems.push(`${name}: ${link} leads nowhere`);
  }
  return problems;
}

/** Packs a package. Returns the path of the tarball. */
function pack(folder) {
  const said = run(
    folder,
    "npm",
    "pack",
    "--json",
    "--silent",
    "--pack-destination",
    join(process.cwd(), OUT),
  );
  // Skip the build's output from `prepack`, which comes before the JSON.
  const [{ filename }] = JSON.parse(said.slice(said.lastIndexOf("\n[") + 1));
  return join(OUT, filename);
}

/** Fills in the project's repository, and makes links absolute that lead out of the package. */
function fillIn(folder, { repository, tag }) {
  const path = join(folder, "package.json");
  const manifest = withRepository(JSON.parse(readFileSync(path, "utf8")), repository, folder);
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
  const packed = manifest.files.map((name) => posix.join(folder, name));
  const isPacked = (page) => packed.some((name) => page === name || page.startsWith(`${name}/`));
  for (const page of run("", "git", "ls-files", folder || ".").split("\n")) {
    if (!page.endsWith(".md") || !isPacked(page)) continue;
    // npm shows the README alone. Other packed pages have their neighbours.
    const isReadme = page === posix.join(folder, "README.md");
    const text = readFileSync(page, "utf8");
    writeFileSync(page, withAbsoluteLinks(text, repository, tag, page, isReadme ? undefined : isPacked));
  }
}

/** Writes the bill of materials of a package beside its tarball. */
function writeBill(folder, tarball) {
  const json = (file) => JSON.parse(readFileSync(file, "utf8"));
  const isFleet = folder.startsWith("fleet/");
  const lock = json(isFleet ? "fleet/package-lock.json" : "package-lock.json");
  // The root's lockfile lists the demo's dependencies, for the tests, but not the demo.
  const own = folder === "demo" ? withPackage(lock, folder, json(`${folder}/package.json`)) : lock;
  const bill = billOf(own, folder.replace("fleet/", ""));
  writeFileSync(tarball.replace(/\.tgz$/, ".cdx.json"), `${JSON.stringify(bill, null, 2)}\n`);
}

const isPublished = (name, where) =>
  spawnSync("npm", ["view", name, "version", ...where], { encoding: "utf8" }).stdout.trim() !== "";

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { pack: { type: "boolean" }, provenance: { type: "boolean" }, registry: { type: "string" } },
  });
  const [repository, tag] = positionals;
  if (!/^https:\/\/[^/]+\/[^/]+\/[^/]+$/.test(repository ?? "") || !/^v\d/.test(tag ?? "")) {
    console.error(
      "usage: node scripts/publish.mjs https://HOST/OWNER/NAME vX.Y.Z [--pack] [--provenance] [--registry URL]",
    );
    process.exit(2);
  }
  const tracked = run("", "git", "ls-files").split("\n");
  const isTracked = (path) =>
    tracked.some((name) => name === path || name.startsWith(`${path.replace(/\/$/, "")}/`));
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  for (const folder of PACKAGES) fillIn(folder, { repository, tag });
  const tarballs = PACKAGES.map(pack);
  const problems = tarballs.flatMap((file, i) =>
    problemsOf(readTarball(file), { folder: PACKAGES[i], repository, tag, isTracked }).map(
      (text) => `${file}: ${text}`,
    ),
  );
  if (problems.length > 0) throw new Error(problems.join("\n"));
  tarballs.forEach((file, i) => writeBill(PACKAGES[i], file));
  console.log(`packed and checked: ${tarballs.join(", ")}`);
  if (values.pack) return;
  const where = values.registry === undefined ? [] : ["--registry", values.registry];
  const flags = [...where, "--access", "public", ...(values.provenance ? ["--provenance"] : [])];
  for (const file of tarballs) {
    const { name, version } = JSON.parse(readTarball(file).get("package.json").toString());
    // Skip published packages: the first release is published by hand, and a failed workflow may run again.
    if (isPublished(`${name}@${version}`, where)) console.log(`${name}@${version} is published already`);
    else execFileSync("npm", ["publish", file, ...flags], { stdio: "inherit" });
  }
}

if (process.argv[1]?.endsWith("publish.mjs")) main();
