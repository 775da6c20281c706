/**
 * The kernel and the TypeScript engine are twins, file by file and function by function. A function that only one of
 * them has stands in the header of its file: "Only here: name, name. Reason." A file without a twin says "Only here:
 * the whole file. Reason."
 */
import { readFileSync, readdirSync } from "node:fs";
import ts from "typescript";
import { describe, expect, test } from "vitest";

/** Sources by file name. */
type Sources = ReadonlyMap<string, string>;

/** Reads the sources of a folder and of the folders for pictures and masks in it. */
function sourcesOf(folder: string): Sources {
  const url = new URL(`../../${folder}/`, import.meta.url);
  const names = ["", "prepare/", "masks/"].flatMap((part) =>
    readdirSync(new URL(part, url))
      .filter((name) => name.endsWith(".ts"))
      .map((name) => part + name),
  );
  return new Map(names.map((name) => [name, readFileSync(new URL(name, url), "utf8")]));
}

const isForVectors = (name: string): boolean => name.endsWith("4.ts");
const assembly = sourcesOf("assembly");
const vectors: Sources = new Map([...assembly].filter(([name]) => isForVectors(name)));
const kernel: Sources = new Map([...assembly].filter(([name]) => !isForVectors(name)));
const engine = sourcesOf("src/engine/ts");

/** Returns the names of the functions that a file declares. AssemblyScript parses as TypeScript. */
function functionsOf(text: string): string[] {
  const { statements } = ts.createSourceFile("x.ts", text, ts.ScriptTarget.Latest);
  return statements.flatMap((s) => (ts.isFunctionDeclaration(s) && s.name ? [s.name.text] : []));
}

/** Returns the names that the header of a file says are only there. Throws if it gives no reason. */
function onlyHere(file: string, text: string): string[] {
  const header = /^\/\*\*[^]*?\*\//.exec(text)?.[0].replace(/\n \*( |\/$)?/g, " ") ?? "";
  const tag = /Only here: ([\w, ]+)\.\s*(.*)$/.exec(header);
  if (tag === null) return [];
  if (!/\w+ \w+.*\./.test(tag[2])) throw new Error(`${file}: got no reason after "Only here: ${tag[1]}."`);
  return tag[1].split(/,\s*/);
}

/** Returns what is wrong with the tags of one side, as sentences. */
function staleTags(side: Sources, other: Sources): string[] {
  return [...side].flatMap(([file, text]) => {
    const tagged = onlyHere(file, text);
    const twin = other.get(file);
    if (twin === undefined)
      return tagged.join() === "the whole file" ? [] : [`${file} has no twin and does not say so`];
    const names = functionsOf(text);
    const others = functionsOf(twin);
    const single = names.filter((name) => !others.includes(name));
    return [
      ...single.filter((name) => !tagged.includes(name)).map((name) => `${file}: ${name} has no twin`),
      ...tagged
        .filter((name) => !single.includes(name))
        .map(
          (name) => `${file}: ${name} is tagged, but ${names.includes(name) ? "has a twin" : "is not there"}`,
        ),
    ];
  });
}

describe("the check", () => {
  const tag = (names: string): string =>
    `/**\n * Does.\n *\n * Only here: ${names}. It is the\n * reason.\n */\n`;
  const check = (one: string, other: string): string[] =>
    staleTags(new Map([["a.ts", one]]), new Map([["a.ts", other]]));

  test("sees functions with decorators, generics and exports", () => {
    const text =
      "// @ts-ignore: decorator\n@inline\nexport function a<T>(x: i32): T {}\nfunction b(): void {}";
    expect(functionsOf(text)).toEqual(["a", "b"]);
  });

  test("passes twins and tagged functions", () => {
    expect(check("function a() {}", "function a() {}")).toEqual([]);
    expect(
      check(`${tag("b, c")}function a() {}\nfunction b() {}\nfunction c() {}`, "function a() {}"),
    ).toEqual([]);
  });

  test("finds a missing twin, a tag of a function with a twin, and a tag of none", () => {
    expect(check("function a() {}", "function b() {}")).toEqual(["a.ts: a has no twin"]);
    expect(check(`${tag("a")}function a() {}`, "function a() {}")).toEqual([
      "a.ts: a is tagged, but has a twin",
    ]);
    expect(check(`${tag("b")}function a() {}`, "function a() {}")).toEqual([
      "a.ts: b is tagged, but is not there",
    ]);
  });

  test("finds a file without a twin, and a tag without a reason", () => {
    const alone: Sources = new Map([["a.ts", "function a() {}"]]);
    expect(staleTags(alone, new Map())).toEqual(["a.ts has no twin and does not say so"]);
    expect(staleTags(new Map([["a.ts", tag("the whole file")]]), new Map())).toEqual([]);
    expect(() => check("/**\n * Only here: a.\n */\nfunction a() {}", "")).toThrow("no reason");
  });
});

test("both sides are read", () => {
  const count = (side: Sources): number => [...side.values()].flatMap(functionsOf).length;
  expect(count(kernel)).toBeGreaterThan(60);
  expect(count(engine)).toBeGreaterThan(50);
  const shared = [...kernel.keys()].filter((file) => engine.has(file));
  expect(shared.length).toBeGreaterThan(10);
});

test("every function of the kernel has a twin, or a tag that is not stale", () => {
  expect(staleTags(kernel, engine)).toEqual([]);
});

test("every function of the TypeScript engine has a twin, or a tag that is not stale", () => {
  expect(staleTags(engine, kernel)).toEqual([]);
});

test("files of the kernel whose names end in 4 are those with vectors", () => {
  const hasVectors = (text: string): boolean => /\b(v128|[fi](8x16|16x8|32x4|64x2))\b/.test(text);
  expect([...vectors].filter(([, text]) => !hasVectors(text)).map(([name]) => name)).toEqual([]);
  expect([...kernel].filter(([, text]) => hasVectors(text)).map(([name]) => name)).toEqual([]);
});
