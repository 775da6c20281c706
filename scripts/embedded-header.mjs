/**
 * Writes embedded/include/boxwright_abi.h from src/core/abi.ts and src/planfile/format.ts: the same numbers, with the same comments.
 *
 *     node scripts/embedded-header.mjs            writes it
 *     node scripts/embedded-header.mjs --check    fails where it is not what would be written
 *
 * Both sources hold constants only and no types, so they run as they are; values are taken from running them, since
 * some are sums of others, and comments from the text.
 */
import { readFile, writeFile } from "node:fs/promises";

const root = new URL("..", import.meta.url);
const target = new URL("embedded/include/boxwright_abi.h", root);

async function definitions(file) {
  const source = await readFile(new URL(`src/${file}`, root), "utf8");
  const values = await import(`data:text/javascript;base64,${Buffer.from(source).toString("base64")}`);
  const out = [];
  const seen = new Set();
  let pending = [];
  for (const line of source.split("\n")) {
    const constant = /^export const (\w+) = [^;]+;\s*(?:\/\/\s*(.*))?$/.exec(line);
    if (constant) {
      const [, name, comment] = constant;
      const value = values[name];
      if (!Number.isSafeInteger(value))
        throw new Error(`${file}: ${name}: got ${value}, expected a whole number`);
      if (pending.length > 0) out.push(...pending);
      pending = [];
      out.push(`#define BXW_${name} ${value}${comment ? ` /* ${comment} */` : ""}`);
      seen.add(name);
    } else if (/^\/\/ ---- /.test(line))
      out.push("", `/* ${line.replace(/^\/\/ -+ /, "").replace(/ -+$/, "")} */`);
    else if (/^\/\//.test(line)) out.push(`/* ${line.slice(3)} */`);
    else if (/^\/?\s?\*/.test(line)) {
      // a block comment goes out as it stands; C knows the same signs
      pending.push(line.replace(/^\/\*\*/, "/*"));
      if (line.endsWith("*/") && out.length === 0) {
        out.push(...pending);
        pending = [];
      }
    } else if (line !== "")
      throw new Error(`${file}: got a line that is neither constant nor comment: ${line}`);
  }
  const missing = Object.keys(values).filter((name) => !seen.has(name));
  if (missing.length > 0)
    throw new Error(
      `${file}: got ${missing.join(", ")} in no form this script reads, expected one constant a line`,
    );
  return out;
}

const text = [
  "/* Made by scripts/embedded-header.mjs from src/core/abi.ts and src/planfile/format.ts. Do not edit. */",
  "#ifndef BOXWRIGHT_ABI_H",
  "#define BOXWRIGHT_ABI_H",
  "",
  ...(await definitions("core/abi.ts")),
  "",
  ...(await definitions("planfile/format.ts")),
  "",
  "#endif",
  "",
].join("\n");

if (process.argv.includes("--check")) {
  const there = await readFile(target, "utf8").catch(() => null);
  if (there !== text) {
    console.error(
      `embedded/include/boxwright_abi.h: got ${there === null ? "no file" : "other contents"}, expected what src/core/abi.ts says now; run node scripts/embedded-header.mjs`,
    );
    process.exit(1);
  }
  console.log("embedded/include/boxwright_abi.h is up to date");
} else {
  await writeFile(target, text);
  console.log(
    `embedded/include/boxwright_abi.h: ${text.split("\n").filter((l) => l.startsWith("#define BXW_")).length} constants`,
  );
}
