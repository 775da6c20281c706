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

// What stands in a line of a function. Anything else is refused: an assignment or a jump that is not seen would be a check left out.
const forms = {
  declaration: /^\s*(?:(?:u32|u64|f32|f64) )?(?:\w+(?: = 0)?, )*\w+(?: = 0)?[,;] ?$/,
  assignment: /^\s*(\w+) ([-+*/%|&^]|<<|>>)?= ((?:[^;={}]|[=!<>]=)*);$/,
  call: /^\s*\w+\([^;={}]*\);$/,
  branch: /^\s*(?:if \(\w+\) \{(?:goto \w+;\})?|goto \w+;|return \w+;)$/,
  meeting: /^\s*(?:\w+:;?|\}(?: else \{)?) ?$/,
  nothing: /^\s*$/,
};
const prelude = readFileSync(new URL("kernel_prelude.h", import.meta.url), "utf8");
const leastMemory = Number(/^#define BXW_LEAST_MEMORY (\d+)$/m.exec(prelude)[1]);

const prototypes = functions.map((f) => `static ${f.result} ${f.name}(bxw_linear instance${f.parameters});`);
const bodies = functions
  .map((f) =>
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
  )
  .map(bounded);

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

/**
 * A function with its bounds checks, each a statement of its own before the first access that needs it. Most need none: several
 * accesses begin at the same base, and what was found to lie inside stays inside, as the memory does not grow.
 *
 *     i0 = p0;                                    i0 and p0 hold the same value
 *     BXW_BOUNDS(i0, 32);                         the furthest of both accesses
 *     i0 = i32_load(instance, i0, 4u);            i0 holds another one
 *     i1 = p0;
 *     i1 = i32_load(instance, i1, 28u);           nothing left to check
 *
 * A check may come before its access, by as much as no branch lies between. Where paths meet (a label, the end of a
 * block) nothing is known any more. test/prove.mjs goes over the outcome with another method.
 */
function bounded(body) {
  const lines = [];
  let values = new Map(); // of each variable
  let inside = new Map(); // how many bytes from a value on are known to lie in the memory
  let open = new Map(); // for each value the line that checks it, while no branch came since
  let made = 0;
  const valueOf = (name) => {
    if (!values.has(name)) values.set(name, made++);
    return values.get(name);
  };
  const [signature, ...statements] = body.split("\n");
  lines.push(signature);
  for (const line of statements) {
    const form = Object.keys(forms).find((f) => forms[f].test(line));
    const accesses = [...line.matchAll(/\b[if](32|64)_(?:load|store)(8|16)?\w*\((.*)/g)];
    if (form === undefined || accesses.length > 1)
      throw new Error(
        `wasm2c ${version}: got ${line.trim()}, expected one of the statements that it wrote so far`,
      );
    if (form === "meeting" || form === "branch") open = new Map();
    if (form === "meeting") {
      values = new Map();
      inside = new Map();
    }
    for (const [access, bits, fewer, given] of accesses) {
      const [, base, offset] = /^instance, (\w+), (\d+)u[,)]/.exec(given) ?? [];
      const bytes = Number(offset) + Number(fewer ?? bits) / 8;
      // also where there is no offset
      if (!(bytes <= leastMemory))
        throw new Error(
          `wasm2c ${version}: got ${access}, expected a base, an offset and an end within ${leastMemory} bytes`,
        );
      const value = valueOf(base);
      if (bytes <= (inside.get(value) ?? 0)) continue;
      inside.set(value, bytes);
      if (!open.has(value)) open.set(value, lines.push("") - 1);
      const check = open.get(value);
      // the variable of then, which may hold something else by now
      const name = /\((\w+)/.exec(lines[check])?.[1] ?? base;
      lines[check] = `${/^\s*/.exec(line)[0]}BXW_BOUNDS(${name}, ${bytes});`;
    }
    lines.push(line);
    if (form !== "assignment") continue;
    const [, name, operator, from] = forms.assignment.exec(line);
    values.set(name, operator === undefined && /^[a-z]\w+$/.test(from) ? valueOf(from) : made++);
  }
  return lines.join("\n");
}
