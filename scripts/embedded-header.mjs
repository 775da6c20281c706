/**
 * Makes the C header of the kernel's interface from src/core/abi.ts and src/planfile/format.ts: the same constants with
 * the same comments. embedded/tools/translate.mjs writes it as boxwright_abi.h. Run directly, this script prints the
 * header.
 *
 * Both sources have only constants and comments, so Node runs them unchanged. Values come from running the sources,
 * since some constants are sums of others. Comments come from the text.
 */
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const SOURCES = ["core/abi.ts", "planfile/format.ts"];

/** Returns one line of the C header for a constant. */
function define(file, name, value, comment) {
  if (Number.isSafeInteger(value)) return `#define BXW_${name} ${value}${comment ? ` /* ${comment} */` : ""}`;
  throw new Error(`src/${file}: ${name} is ${value}. The C header takes integers only.`);
}

/** Returns the lines of one source as C. */
async function definitions(file) {
  const source = await readFile(new URL(`../src/${file}`, import.meta.url), "utf8");
  const values = await import(`data:text/javascript;base64,${Buffer.from(source).toString("base64")}`);
  const lines = [];
  const written = new Set();
  for (const line of source.split("\n")) {
    const [, name, comment] = /^export const (\w+) = [^;]+;\s*(?:\/\/\s*(.*))?$/.exec(line) ?? [];
    const title = /^\/\/ -+ (.*?) -*$/.exec(line)?.[1];
    if (name !== undefined) {
      lines.push(define(file, name, values[name], comment));
      written.add(name);
    } else if (title !== undefined) lines.push("", `/* ${title} */`);
    else if (line.startsWith("//")) lines.push(`/* ${line.slice(3)} */`);
    // A block comment is the same in C.
    else if (/^\/?\s?\*/.test(line) || line === "") lines.push(line.replace(/^\/\*\*/, "/*"));
    else throw new Error(`src/${file}: "${line}" is neither a constant nor a comment.`);
  }
  const missing = Object.keys(values).filter((name) => !written.has(name));
  if (missing.length === 0) return lines;
  throw new Error(
    `src/${file}: ${missing.join(", ")} must stand on a line of its own, as export const NAME = VALUE;`,
  );
}

/** Returns the whole header. */
export async function abiHeader() {
  const body = (await Promise.all(SOURCES.map(definitions))).flat().join("\n");
  return `/* Written by translate.mjs from src/core/abi.ts and src/planfile/format.ts. Do not edit. */
#ifndef BOXWRIGHT_ABI_H
#define BOXWRIGHT_ABI_H

${body.replace(/\n{3,}/g, "\n\n").trim()}

#endif
`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) process.stdout.write(await abiHeader());
