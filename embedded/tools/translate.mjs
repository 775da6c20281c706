/**
 * Translates the scalar kernel to C and writes the header of its interface:
 *
 *     node embedded/tools/translate.mjs build/scalar.wasm FOLDER
 *
 * FOLDER then holds boxwright_kernel.c and boxwright_abi.h. wasm2c translates the functions: version 1.0.32 (Debian's
 * package wabt) to 1.0.39 (npm's wabt). The environment variable WASM2C names another binary. src/kernel_prelude.h
 * replaces the prelude and the runtime of wasm2c. A kernel that needs more than the prelude offers does not compile.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { abiHeader } from "../../scripts/embedded-header.mjs";

const WASM2C = process.env.WASM2C ?? "wasm2c";

/** Exports of the kernel, with their parameters besides the memory. */
const EXPORTS = {
  abiVersion: [],
  scan: ["plan"],
  sort: ["plan"],
  nms: ["plan"],
  decode: ["plan"],
  within: ["column", "from"],
  compare: ["column"],
};

/** Runs wasm2c. Returns its C source and its version. */
function runWasm2c(wasm) {
  const folder = mkdtempSync(join(tmpdir(), "boxwright-"));
  try {
    const version = execFileSync(WASM2C, ["--version"], { encoding: "utf8" }).trim();
    execFileSync(WASM2C, [wasm, "-n", "kernel", "-o", join(folder, "kernel.c")]);
    return { source: readFileSync(join(folder, "kernel.c"), "utf8"), version };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the functions of the module. Version 1.0.32 names them w2c_f1, later versions w2c_kernel_f1. */
function functionsIn({ source, version }) {
  const definition =
    /^(?:static )?(u32|u64|f32|f64|void) (w2c_\w+)\((\w+)\* instance((?:, \w+ \w+)*)\) \{\n[\s\S]*?^\}\n/gm;
  // Leave out the functions with which later versions wrap the exports.
  const wrappers = Object.keys(EXPORTS).map((name) => `w2c_kernel_${name}`);
  const functions = [...source.matchAll(definition)]
    .map(([text, result, name, instance, parameters]) => ({ text, result, name, instance, parameters }))
    .filter(({ name }) => !wrappers.includes(name));
  if (functions.length > 0) return functions;
  throw new Error(`wasm2c ${version} wrote no function of the expected form. Use version 1.0.32 to 1.0.39.`);
}

/** Returns a function in the form for the prelude: memory by value, base and offset of an access as two arguments. */
const adapted = ({ text, instance }) =>
  text
    .replace(/^(?:static )?/, "static ")
    .replace(`${instance}* instance`, "bxw_linear instance")
    .replace(/instance->\w*memory\b/g, "instance")
    .replace(/\b(\w+_(?:load|store)\w*?)_default32\(/g, "$1(")
    .replace(
      /\b(\w+_(?:load|store)\w*\(instance, )\(u64\)\((\w+)\)(?: \+ (\d+)u?)?/g,
      (_, access, base, offset = "0") => `${access}${base}, ${offset}u`,
    );

/** Returns the public function of an export. It checks the smallest memory size, which all bounds checks assume. */
function exported(name, functions) {
  const target = functions.find((f) => f.name === `w2c_${name}` || f.name === `w2c_kernel_${name}_0`);
  if (target === undefined)
    throw new Error(`The kernel has no export ${name}. Expected ${Object.keys(EXPORTS).join(", ")}.`);
  const declared = EXPORTS[name].map((p) => `, u32 ${p}`).join("");
  const passed = EXPORTS[name].map((p) => `, ${p}`).join("");
  return `u32 bxw_kernel_${name}(bxw_linear instance${declared}) {
  if (instance.size < BXW_LEAST_MEMORY) bxw_trap(BXW_TRAP_BOUNDS);
  return ${target.name}(instance${passed});
}
`;
}

/** Throws if the code needs more than one memory, or if an offset is too large for the bounds check of the prelude. */
function checkCode(code) {
  const unknown = code.match(/\b(instance->\w+|wasm_rt_\w+|CALL_INDIRECT|func_types)\b/g) ?? [];
  if (unknown.length > 0)
    throw new Error(
      `The kernel uses ${[...new Set(unknown)].join(", ")}. Only functions over one memory are supported.`,
    );
  const prelude = readFileSync(new URL("../src/kernel_prelude.h", import.meta.url), "utf8");
  const least = Number(/^#define BXW_LEAST_MEMORY (\d+)$/m.exec(prelude)[1]);
  for (const [access, name, given] of code.matchAll(/\b([if]\d+_(?:load|store)\w*)\(([^;]*)/g)) {
    const offset = /^instance, \w+, (\d+)u[,)]/.exec(given)?.[1];
    if (offset === undefined)
      throw new Error(`${access} is not of the form ${name}(instance, base, offset).`);
    if (Number(offset) + 8 > least)
      throw new Error(`${access} has an offset beyond the first ${least} bytes. Raise BXW_LEAST_MEMORY.`);
  }
}

/** Returns the scalar kernel as one C file. */
function kernelSource(wasm) {
  const output = runWasm2c(wasm);
  const functions = functionsIn(output);
  const code = [
    ...functions.map((f) => `static ${f.result} ${f.name}(bxw_linear instance${f.parameters});`),
    "",
    ...functions.map(adapted),
    ...Object.keys(EXPORTS).map((name) => exported(name, functions)),
  ].join("\n");
  checkCode(code);
  return `/* Written by translate.mjs with wasm2c ${output.version} from the scalar kernel of boxwright. Do not edit. */
#include "kernel_prelude.h"

/* Translated functions have parameters that they do not use. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

${code}`;
}

const [wasm, folder] = process.argv.slice(2);
if (folder === undefined)
  throw new Error("Usage: node embedded/tools/translate.mjs build/scalar.wasm FOLDER");
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "boxwright_kernel.c"), kernelSource(wasm));
writeFileSync(join(folder, "boxwright_abi.h"), await abiHeader());
console.log(`${folder}: boxwright_kernel.c and boxwright_abi.h`);
