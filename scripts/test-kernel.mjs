/**
 * Runs the kernel's own tests (assembly/__tests__, AssemblyScript, as-pect), with vectors and without. Checks that all
 * of them ran: as-pect also succeeds if it finds no tests.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = "assembly/__tests__";
/** Count of the tests for a kernel. `*.lanes.spec.ts` are only for the kernel with vectors. */
const writtenFor = (kind) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".spec.ts") && (kind === "simd" || !name.endsWith(".lanes.spec.ts")))
    .map((name) => readFileSync(join(folder, name), "utf8").match(/^\s*test\(/gm)?.length ?? 0)
    .reduce((a, b) => a + b, 0);
const { entries, ...config } = JSON.parse(readFileSync("as-pect.asconfig.json", "utf8"));

mkdirSync("build", { recursive: true });
for (const [kind, features] of Object.entries({ simd: ["simd"], scalar: [] })) {
  const written = writtenFor(kind);
  const file = `build/as-pect.${kind}.json`;
  // Paths of entries are relative to the config file, which is in another folder here.
  const moved = entries.map((e) => join("..", e));
  writeFileSync(
    file,
    JSON.stringify({ ...config, entries: moved, options: { ...config.options, enable: features } }),
  );
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      "node_modules/@as-pect/cli/bin/asp.js",
      "--config",
      "as-pect.config.js",
      "--as-config",
      file,
      "--no-logo",
    ],
    { encoding: "utf8" },
  );
  const text = `${stdout}${stderr}`.replace(/\x1b\[[0-9;]*m/g, "");
  const [, passed, ran] = /\[Tests\]: (\d+) \/ (\d+)/.exec(text) ?? [null, "0", "0"];
  if (status !== 0 || Number(passed) !== written || Number(ran) !== written || written === 0) {
    console.error(text);
    console.error(
      `kernel, ${kind}: ${passed} of ${ran} tests passed, exit ${status}; expected ${written}, as ${folder} has`,
    );
    process.exit(1);
  }
  console.log(`kernel, ${kind}: ${passed} tests in AssemblyScript passed`);
}
