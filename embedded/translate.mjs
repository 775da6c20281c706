/**
 * The scalar kernel as one C file:
 *
 *     node translate.mjs kernel.wasm boxwright_kernel.c
 *
 * wasm2c (Debian package wabt, or npm's) translates the functions; its prelude and its instance handling, which are
 * there for any module, are replaced by kernel_prelude.h, which is there for this one. What the kernel would need
 * beyond that does not compile, so a kernel that changes is noticed here.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [wasm, target] = process.argv.slice(2);
if (target === undefined)
  throw new Error("got too few words, expected: node translate.mjs kernel.wasm boxwright_kernel.c");
const wasm2c = process.env.WASM2C ?? "wasm2c";
const folder = mkdtempSync(join(tmpdir(), "boxwright-"));
let source;
let version;
try {
  version = execFileSync(wasm2c, ["--version"], { encoding: "utf8" }).trim();
  execFileSync(wasm2c, [wasm, "-n", "kernel", "-o", join(folder, "kernel.c")]);
  source = readFileSync(join(folder, "kernel.c"), "utf8");
} finally {
  rmSync(folder, { recursive: true });
}

// the part between the first declaration of a function of the module and the last export
const verbs = ["abiVersion", "decode", "nms", "scan", "sort"];
const first = source.search(/^static \w+ w2c_\w+\(\w+\*/m);
const last = source.lastIndexOf("/* export: 'sort' */");
const end = source.indexOf("\n}\n", last) + 3;
if (first < 0 || last < first)
  throw new Error(
    `${wasm2c} ${version}: got C without the kernel's functions where they were looked for, expected the form of version 1.0.32`,
  );
let code = source.slice(first, end);

code = code
  // what fills the memory at the start has nothing to fill
  .replace(/^static void init_memories\([^)]*\) \{\n\}\n/m, "")
  // the memory travels by value
  .replace(/\b\w+_instance_t\* ?instance\b/g, "bxw_linear instance")
  .replace(/\b\w+_instance_t\*/g, "bxw_linear")
  .replace(/instance->\w*memory\b/g, "instance")
  // the exported wrappers take our names
  .replace(/\bZ_kernelZ_(\w+)\(/g, "bxw_kernel_$1(");
const strange = [
  ...new Set(code.match(/\b(instance->\w+|Z_\w+|wasm_rt_\w+|CALL_INDIRECT|func_types)\b/g) ?? []),
];
if (strange.length > 0)
  throw new Error(
    `${wasm2c} ${version}: got ${strange.join(", ")} in the translation, expected functions over one memory and nothing else`,
  );
for (const verb of verbs)
  if (!code.includes(`u32 bxw_kernel_${verb}(bxw_linear instance`))
    throw new Error(`${wasm}: got no export ${verb}, expected ${verbs.join(", ")}`);

writeFileSync(
  target,
  [
    `/* Made by translate.mjs with wasm2c ${version} from boxwright's scalar kernel. Do not edit. */`,
    '#include "kernel_prelude.h"',
    "",
    // machine-written code keeps parameters it does not use
    '#pragma GCC diagnostic ignored "-Wunused-parameter"',
    "",
    code,
  ].join("\n"),
);
console.log(`${target}: ${code.split("\n").length} lines, wasm2c ${version}`);
