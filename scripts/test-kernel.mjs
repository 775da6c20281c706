/**
 * Runs the kernel's own tests (assembly/__tests__, AssemblyScript, as-pect) and checks that all of them ran:
 * as-pect ends well also when it finds none.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const folder = "assembly/__tests__";
const written = readdirSync(folder)
  .filter((name) => name.endsWith(".spec.ts"))
  .map((name) => readFileSync(join(folder, name), "utf8").match(/^\s*test\(/gm)?.length ?? 0)
  .reduce((a, b) => a + b, 0);

const asp = "node_modules/@as-pect/cli/bin/asp.js";
const { status, stdout, stderr } = spawnSync(
  process.execPath,
  [asp, "--config", "as-pect.config.js", "--as-config", "as-pect.asconfig.json", "--no-logo"],
  { encoding: "utf8" },
);
const text = `${stdout}${stderr}`.replace(/\x1b\[[0-9;]*m/g, "");
const [, passed, ran] = /\[Tests\]: (\d+) \/ (\d+)/.exec(text) ?? [null, "0", "0"];
if (status !== 0 || Number(passed) !== written || Number(ran) !== written || written === 0) {
  console.error(text);
  console.error(
    `kernel: ${passed} of ${ran} tests passed, exit ${status}; expected ${written}, as ${folder} has`,
  );
  process.exit(1);
}
console.log(`kernel: ${passed} tests in AssemblyScript passed`);
