/**
 * The scalar kernel as one C file:
 *
 *     node translate.mjs kernel.wasm boxwright_kernel.c
 *
 * wasm2c (Debian's package wabt, 1.0.32, or npm's, 1.0.39; WASM2C names another) translates the functions; its prelude and its instance handling, which are
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

// Functions of the module, as 1.0.32 (static w2c_f1) and later versions (w2c_kernel_f1) write them. What later versions
// wrap around the exports is left out along with the rest.
const verbs = { abiVersion: [], scan: ["plan"], sort: ["plan"], nms: ["plan"], decode: ["plan"] };
const definition =
  /^(?:static )?(u32|u64|f32|f64|void) (w2c_\w+)\((\w+)\* instance((?:, \w+ \w+)*)\) \{\n[\s\S]*?^\}\n/gm;
const functions = [...source.matchAll(definition)]
  .map(([text, result, name, instance, parameters]) => ({ text, result, name, instance, parameters }))
  .filter(({ name }) => !Object.keys(verbs).some((verb) => name === `w2c_kernel_${verb}`));
if (functions.length === 0)
  throw new Error(
    `wasm2c ${version}: got C without functions of the form looked for, expected that of version 1.0.32 to 1.0.39`,
  );
const targets = Object.keys(verbs).map((verb) => {
  const f = functions.find(({ name }) => name === `w2c_${verb}` || name === `w2c_kernel_${verb}_0`);
  if (f === undefined)
    throw new Error(`${wasm}: got no export ${verb}, expected ${Object.keys(verbs).join(", ")}`);
  return [verb, f.name];
});

const prelude = readFileSync(new URL("../src/kernel_prelude.h", import.meta.url), "utf8");
const leastMemory = Number(/^#define BXW_LEAST_MEMORY (\d+)$/m.exec(prelude)[1]);

const prototypes = functions.map((f) => `static ${f.result} ${f.name}(bxw_linear instance${f.parameters});`);
const bodies = functions.map((f) =>
  f.text
    .replace(/^(?:static )?/, "static ")
    // the memory travels by value
    .replace(`${f.instance}* instance`, "bxw_linear instance")
    .replace(/instance->\w*memory\b/g, "instance")
    // "of the only memory, which has 32-bit addresses"
    .replace(/\b(\w+_(?:load|store)\w*?)_default32\(/g, "$1(")
    // base and offset apart, as the prelude wants them
    .replace(
      /\b(\w+_(?:load|store)\w*\(instance, )\(u64\)\((\w+)\)(?: \+ (\d+)u?)?/g,
      (_, access, base, offset = "0") => `${access}${base}, ${offset}u`,
    ),
);

const wrappers = targets.map(([verb, name]) => {
  const plan = verbs[verb].length > 0;
  return [
    `u32 bxw_kernel_${verb}(bxw_linear instance${plan ? ", u32 plan" : ""}) {`,
    "  if (instance.size < BXW_LEAST_MEMORY) bxw_trap(BXW_TRAP_BOUNDS);",
    `  return ${name}(instance${plan ? ", plan" : ""});`,
    "}\n",
  ].join("\n");
});
const code = [...prototypes, "", ...bodies, ...wrappers].join("\n");
for (const [access, , offset] of code.matchAll(/\b[if]\d+_(?:load|store)\w*\(instance, (\w+), (\d+)u/g))
  if (Number(offset) + 8 > leastMemory)
    throw new Error(
      `${wasm}: ${access} reaches past the first ${leastMemory} bytes, which every memory has. Raise BXW_LEAST_MEMORY.`,
    );
const strange = [...new Set(code.match(/\b(instance->\w+|wasm_rt_\w+|CALL_INDIRECT|func_types)\b/g) ?? [])];
if (strange.length > 0)
  throw new Error(
    `wasm2c ${version}: got ${strange.join(", ")} in the translation, expected functions over one memory and nothing else`,
  );

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
