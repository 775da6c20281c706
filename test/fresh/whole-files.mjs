/**
 * Finds the test files that `npm test` runs in full on every machine. The part `fresh` of `.ci/run` runs them, so that
 * the part `package` need not run them again.
 *     node test/fresh/whole-files.mjs REPORT...    prints those of them with a skipped test in a report of vitest
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Words of a file whose tests depend on the machine: on variables, programs, a browser, or the larger collection. */
const VARIES = /\/effort\.ts"|process\.env|\b(skip|run)If\(|\.skip\(/;
const IMPORT = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;

/** Returns a file and the files of test/ that it imports, directly or not. */
function filesBehind(file) {
  const files = new Map([[file, readFileSync(join(root, file), "utf8")]]);
  for (const [from, text] of files)
    for (const [, to] of text.matchAll(IMPORT)) {
      const path = relative(root, join(root, dirname(from), to));
      if (path.startsWith("test/") && !files.has(path) && existsSync(join(root, path)))
        files.set(path, readFileSync(join(root, path), "utf8"));
    }
  return files;
}

/** Returns the paths of these test files, from the root of the project. */
export const findWholeFiles = () =>
  readdirSync(join(root, "test"), { recursive: true })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => `test/${name.replaceAll("\\", "/")}`)
    .filter((file) => ![...filesBehind(file).values()].some((text) => VARIES.test(text)))
    .sort();

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const whole = findWholeFiles();
  for (const report of process.argv.slice(2))
    for (const { name, assertionResults } of JSON.parse(readFileSync(report, "utf8")).testResults)
      if (!assertionResults.length || assertionResults.some(({ status }) => !/passed|failed/.test(status)))
        for (const file of whole) if (name.endsWith(`/${file}`)) console.log(file);
}
