/**
 * Runs the conformance cases in every runtime that targets.mjs lists, with the packed tarball installed, and writes the table
 * to docs/runtimes.md. Run by `npm run test:runtimes`, after a build; words after it choose the runtimes whose line has them.
 * A runtime that cannot be had is reported; with CI set, that fails too.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadCases } from "../conformance/load.mjs";
import { RUNTIMES, obtain } from "./install.mjs";
import { TARGETS, writePrograms } from "./targets.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const app = mkdtempSync(join(tmpdir(), "boxwright-app-"));
const npm = (...args) =>
  execFileSync("npm", args, { cwd: app, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

const [{ filename }] = JSON.parse(npm("pack", root, "--json", "--ignore-scripts", "--pack-destination", app));
writeFileSync(join(app, "package.json"), '{"private":true}\n');
npm("install", "--no-audit", "--no-fund", "--ignore-scripts", join(app, filename));
mkdirSync(join(app, "out"));
const cases = loadCases();
writeFileSync(join(app, "cases.json"), JSON.stringify(cases));
writeFileSync(join(app, "cases.mjs"), `export const cases = ${JSON.stringify(cases)};\n`);
copyFileSync(join(root, "test/conformance/run.mjs"), join(app, "conformance.mjs"));
await writePrograms(app);
console.log(`${filename} installed; ${cases.length} cases`);

const NAMES = {
  node: "Node",
  bun: "Bun",
  deno: "Deno",
  quickjs: "QuickJS (quickjs-emscripten)",
  hermes: "Hermes",
};
let chromium = "";
/** What the table calls a runtime: its name, and the version that was run. */
function nameOf(runtime) {
  if (runtime === "Chromium") return `Chromium ${chromium}`.trim();
  const version = RUNTIMES[runtime].packages[0].split("@").pop();
  const [, kind, , machine] = /^([a-z]+)(\d*)(?:-(.*))?$/.exec(runtime);
  return `${NAMES[kind] ?? kind} ${version}${machine === undefined ? "" : `, ${machine}`}`;
}

const words = process.argv.slice(2);
const chosen = TARGETS.filter((t) =>
  words.every((w) => `${t.runtime} ${t.how}`.toLowerCase().includes(w.toLowerCase())),
);
const rows = [];
let passed = 0;
let failed = 0;
let missing = 0;
for (const { runtime, how, engine, go } of chosen) {
  const row = { runtime, how };
  rows.push(row);
  try {
    if (runtime in RUNTIMES) await obtain(runtime);
  } catch (e) {
    missing++;
    Object.assign(row, { works: "missing" });
    console.error(`${runtime}, ${how}: MISSING: ${e.message}`);
    continue;
  }
  try {
    const { result, loaded } = await go(app);
    chromium = result.browser ?? chromium;
    const right = result.failed === 0 && result.passed > 0 && result.engine === engine;
    Object.assign(row, {
      works: right ? "yes" : "NO",
      checks: `${result.passed} of ${result.passed + result.failed}`,
      engine: result.engine,
      loaded,
    });
    if (right) passed++;
    else failed++;
    console.log(
      `${runtime}, ${how}: ${row.works}, ${row.checks} checks, ${result.engine}, ${loaded.bytes} bytes (${loaded.gzipped} gzipped)`,
    );
    if (result.engine !== engine) console.error(`  got engine ${result.engine}, expected ${engine}`);
    for (const f of result.failures.slice(0, 5)) console.error(`  ${f}`);
  } catch (e) {
    failed++;
    Object.assign(row, { works: "NO" });
    console.error(`${runtime}, ${how}: NO: ${e.message}`);
  }
}

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const kB = (n) => `${(n / 1000).toFixed(1)} kB`;
const cells = rows.map((r) => [
  nameOf(r.runtime),
  r.how,
  r.works,
  r.checks ?? "",
  r.engine === undefined ? "" : `\`${r.engine}\``,
  r.loaded === undefined ? "" : `${kB(r.loaded.bytes)} (${kB(r.loaded.gzipped)})`,
]);
const head = ["runtime", "how", "works", "checks passed", "engine", "loaded (gzipped)"];
const table = [head, head.map(() => "---"), ...cells].map((r) => `| ${r.join(" | ")} |`).join("\n");
if (words.length === 0) {
  mkdirSync(join(root, "docs"), { recursive: true });
  writeFileSync(
    join(root, "docs/runtimes.md"),
    `# Where it was run

Written by \`npm run test:runtimes\`: the packed tarball installed by npm, then the ${cases.length} cases of \`test/conformance\` and a few more checks
in each runtime, with the engine that \`auto\` chose and with every lesser one. "Loaded" is what of the package comes into the runtime: its
files as published where nothing bundles, else a minified bundle of \`createDecoder\` (with the two .wasm files where they are fetched or imported).

${table}

"Without vector instructions" and "without WebAssembly" take them away in the runtime itself, by its own switches; nothing is patched.
Package version ${version}, Linux on ${process.arch}.
`,
  );
}
if (failed === 0) rmSync(app, { recursive: true, force: true });
else console.error(`the app is left in ${app}`);
if (missing > 0) console.error(`${missing} missing${process.env.CI ? ": CI has to have them" : ""}`);
console.log(`${passed} passed, ${failed + (process.env.CI ? missing : 0)} failed`);
process.exit(passed > 0 && failed === 0 && (missing === 0 || !process.env.CI) ? 0 : 1);
