/**
 * Runs the tests of examples/ in a clean folder: the packed tarball is installed there, with the packages that the heads of
 * the examples name, and the examples are copied beside them. Run by `npm run test:examples`, after a build.
 * A test that is skipped counts as missing; with CI set, that fails.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "boxwright-examples-"));
/** Milliseconds for an installation or the tests. */
const LIMIT = 600_000;

// `npm run` puts the programs of node_modules in front; one of them is an npm of another version.
process.env.PATH = process.env.PATH.split(delimiter)
  .filter((path) => !/node_modules[\\/]\.bin$/.test(path))
  .join(delimiter);
const npm = (...words) =>
  execFileSync("npm", words, {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: LIMIT,
  });

/** Returns the packages that the heads of the examples say to install, with the versions that this project tests. */
function packagesOf(examples) {
  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const files = readdirSync(examples, { recursive: true }).filter((file) => /\.m?js$/.test(file));
  const words = files.flatMap((file) => {
    const text = readFileSync(join(examples, file), "utf8");
    return [...text.matchAll(/^\/\/ +npm install ([^\n(]*)/gm)].flatMap(([, line]) =>
      line.trim().split(/ +/),
    );
  });
  return [...new Set(words)]
    .filter((name) => name !== "boxwright")
    .map((name) => (name in devDependencies ? `${name}@${devDependencies[name]}` : name));
}

function install() {
  const [{ filename }] = JSON.parse(
    npm("pack", root, "--json", "--ignore-scripts", "--pack-destination", folder),
  );
  // The demo packs its network first, by a script of its own.
  const [demo] = JSON.parse(
    npm("pack", join(root, "demo"), "--json", "--silent", "--pack-destination", folder),
  );
  writeFileSync(join(folder, "package.json"), '{"private":true}\n');
  const packages = packagesOf(join(root, "examples"));
  console.log(`${filename}, ${packages.join(", ")}`);
  // Each of these brings its binaries in the package, so that install scripts can stay off.
  const options = ["--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock"];
  npm("install", ...options, join(folder, filename), join(folder, demo.filename), ...packages);
  cpSync(join(root, "examples"), folder, { recursive: true });
}

/** Runs vitest over the installed examples. Returns its report. */
function runTests() {
  const report = join(folder, "report.json");
  const words = [
    "run",
    "test/examples",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
  ];
  spawnSync(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), ...words], {
    cwd: root,
    env: { ...process.env, BOXWRIGHT_EXAMPLES: folder },
    stdio: "inherit",
    timeout: LIMIT,
  });
  return JSON.parse(readFileSync(report, "utf8"));
}

try {
  install();
  const { numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped, success } = runTests();
  const missing = process.env.CI && process.env.BOXWRIGHT_SHARED ? skipped : 0;
  // A file that does not load has no tests that fail.
  const faults = failed + missing + (success || failed > 0 ? 0 : 1);
  console.log(`${passed} passed, ${faults} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  process.exitCode = faults === 0 && passed > 0 ? 0 : 1;
} catch (error) {
  console.error(error.stderr ?? error);
  console.log("0 passed, 1 failed");
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
