/**
 * `node ../service/build.js`, in the folder of a part: runs the `compile` script of service/ and of the part, each only
 * if its sources or its output have changed. So a running part keeps its files, and a start need not wait.
 */
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const service = fileURLToPath(new URL(".", import.meta.url));
const SOURCES = [
  "src",
  "client",
  "page",
  "package.json",
  ...["base", "build", "client"].map((n) => `tsconfig.${n}.json`),
];
const OUTPUTS = ["dist", "client/dist"];

/** Returns the files at and below a path, sorted by name. */
function filesOf(path) {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

function digest(files) {
  const hash = createHash("sha256");
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(file)).update("\0");
  return hash.digest("hex");
}

function build(folder) {
  const filesIn = (names) => names.flatMap((name) => filesOf(join(folder, name)));
  const sources = filesIn(SOURCES).filter((file) => !file.startsWith(join(folder, "client/dist")));
  const own = digest([...sources, ...filesOf(join(service, "src")), join(service, "../package-lock.json")]);
  const stamp = join(folder, "out/built.json");
  const built = existsSync(stamp) ? JSON.parse(readFileSync(stamp, "utf8")) : {};
  if (built.sources === own && built.outputs === digest(filesIn(OUTPUTS))) return;
  rmSync(stamp, { force: true });
  execFileSync("npm", ["run", "--silent", "compile"], { cwd: folder, stdio: "inherit" });
  mkdirSync(join(folder, "out"), { recursive: true });
  writeFileSync(stamp, `${JSON.stringify({ sources: own, outputs: digest(filesIn(OUTPUTS)) })}\n`);
}

for (const folder of new Set([service, join(process.cwd(), "/")])) build(folder);
