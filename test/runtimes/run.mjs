/**
 * Runs the conformance cases in every runtime that targets.mjs lists, with the packed tarball installed, and writes the table
 * to docs/runtimes.md. Run by `npm run test:runtimes`, after a build; words after it choose the runtimes whose line has them.
 * A runtime that cannot be had is reported; with CI set, that fails too.
 */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CHECKS_BESIDE } from "../conformance/run.mjs";
import { loadCases, withPlans } from "../conformance/load.mjs";
import { Missing, RUNTIMES, obtain } from "./install.mjs";
import { TARGETS, writePrograms } from "./targets.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const app = mkdtempSync(join(tmpdir(), "boxwright-app-"));
// not the npm 6 that as-pect brings along, which `npm run` puts in front
process.env.PATH = process.env.PATH.split(delimiter)
  .filter((folder) => !/node_modules[\\/]\.bin$/.test(folder))
  .join(delimiter);
const npm = (...args) =>
  execFileSync("npm", args, { cwd: app, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

const [{ filename }] = JSON.parse(npm("pack", root, "--json", "--ignore-scripts", "--pack-destination", app));
writeFileSync(join(app, "package.json"), '{"private":true}\n');
npm("install", "--no-audit", "--no-fund", "--ignore-scripts", join(app, filename));
mkdirSync(join(app, "out"));
const { compilePlan } = await import(join(app, "node_modules/boxwright/dist/node.mjs"));
const cases = withPlans(loadCases(), compilePlan);
writeFileSync(join(app, "cases.json"), JSON.stringify(cases));
writeFileSync(join(app, "cases.mjs"), `export const cases = ${JSON.stringify(cases)};\n`);
copyFileSync(join(root, "test/conformance/run.mjs"), join(app, "conformance.mjs"));
copyFileSync(join(root, "test/conformance/beside.mjs"), join(app, "beside.mjs"));
await writePrograms(app);
console.log(`${filename} installed; ${cases.length} cases`);

const NAMES = {
  node: "Node",
  bun: "Bun",
  deno: "Deno",
  quickjs: "QuickJS (quickjs-emscripten)",
  hermes: "Hermes",
  jest: "Jest",
  metro: "Metro",
  next: "Next.js",
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
const checks = cases.length + CHECKS_BESIDE;
const rows = [];
let passed = 0;
let failed = 0;
let missing = 0;
for (const { runtime, how, engine, go, checks: own } of chosen) {
  const row = { runtime, how };
  rows.push(row);
  const absent = (e) => {
    missing++;
    Object.assign(row, { works: "missing" });
    console.error(`${runtime}, ${how}: MISSING: ${e.message}`);
  };
  try {
    if (runtime in RUNTIMES) await obtain(runtime);
  } catch (e) {
    absent(e);
    continue;
  }
  try {
    const { result, loaded } = await go(app);
    chromium = result.browser ?? chromium;
    // Once with `auto`, and once with each engine from there down that the entry carries.
    const expected = own ?? checks * (1 + result.engines.length);
    const right =
      result.failed === 0 &&
      result.passed === expected &&
      result.engine === engine &&
      result.engines.at(-1) === "ts";
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
    if (e instanceof Missing) {
      absent(e);
      continue;
    }
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
const tableOf = (lines) => lines.map((r) => `| ${r.join(" | ")} |`).join("\n");
const head = ["runtime", "how", "works", "checks passed", "engine", "loaded (gzipped)"];
const table = tableOf([head, head.map(() => "---"), ...cells]);

/** What has to be the same here and in the committed page: sizes and the browser's version may differ from one machine to the next. */
const essence = (page) =>
  [...page.matchAll(/^\| ([^|]+) \| ([^|]+) \| (\S+) \| [^|]* \| ([^|]*) \|/gm)].map((m) =>
    [m[1].replace(/^Chromium .*/, "Chromium"), m[2], m[3], m[4]].join(", "),
  );

let stale = 0;
if (words.length === 0) {
  const page = join(root, "docs/runtimes.md");
  const text = `# Where it was run

Written by \`npm run test:runtimes\`: the packed tarball installed by npm, then the ${cases.length} cases of \`test/conformance\` and a few more checks
in each runtime, with the engine that \`auto\` chose and with every lesser one. "Loaded" is what of the package comes into the runtime: its
files as published where nothing bundles, else a minified bundle of \`createDecoder\` (with the two .wasm files where they are fetched or imported).

${table}

"Without vector instructions" and "without WebAssembly" take them away in the runtime itself, by its own switches; nothing is patched.
Package version ${version}, Linux on ${process.arch}.
`;
  if (process.env.CI) {
    const committed = existsSync(page) ? readFileSync(page, "utf8") : "";
    if (essence(committed).join("\n") !== essence(text).join("\n")) {
      stale = 1;
      console.error(
        "docs/runtimes.md: got other rows than were committed; run npm run test:runtimes and commit what it writes",
      );
    }
  }
  mkdirSync(join(root, "docs"), { recursive: true });
  writeFileSync(page, text);
}
if (failed === 0) rmSync(app, { recursive: true, force: true });
else console.error(`the app is left in ${app}`);
const lost = process.env.CI ? missing + stale : 0;
if (missing > 0) console.error(`${missing} missing${process.env.CI ? ": CI has to have them" : ""}`);
console.log(`${passed} passed, ${failed + lost} failed`);
process.exit(passed > 0 && failed + lost === 0 ? 0 : 1);
