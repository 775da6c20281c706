/**
 * Runs the @example of every public function and class. An example is a whole program; a comment behind a console.log
 * says what it prints.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test, vi } from "vitest";
import * as boxwright from "../../src/entries/index.ts";
import * as core from "../../src/entries/core.ts";
import * as node from "../../src/entries/node.ts";
import * as plan from "../../src/entries/plan.ts";
import * as pool from "../../src/entries/pool.ts";
import { type Example, allExamples } from "../support/examples.ts";

const folder = new URL("./.examples.tmp/", import.meta.url);

const examples = allExamples();

const entries: Record<string, string> = {
  boxwright: "index",
  "boxwright/core": "core",
  "boxwright/wasm": "index",
  "boxwright/ts": "index",
  "boxwright/plan": "plan",
  "boxwright/node": "node",
};
/** Threads are built files, so the pool is the built one too. */
const BUILT = ["boxwright/pool"];

/** Runs an example and returns what it printed, one line for each console.log. */
async function run({ name, code }: Example, index: number): Promise<string[]> {
  const file = new URL(`${name}-${index}.ts`, folder);
  const local = code
    .replace(/from "(boxwright[\w/]*)"/g, (_, id: string) =>
      BUILT.includes(id)
        ? `from "../../../${id.replace("boxwright", "dist")}.mjs"`
        : `from "../../../src/entries/${entries[id]}.ts"`,
    )
    .replace(/node_modules\/boxwright\/dist\/(\w+\.wasm)/g, "build/$1");
  writeFileSync(file, `// @ts-nocheck\n${local}`);
  const lines: string[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((...args: unknown[]) => {
    lines.push(args.map((x) => (typeof x === "string" ? x : JSON.stringify(x))).join(" "));
  });
  try {
    await import(/* @vite-ignore */ file.href);
  } finally {
    log.mockRestore();
  }
  return lines;
}

describe("examples", () => {
  mkdirSync(folder, { recursive: true });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(examples.map((example, i) => [example.name, example, i] as const))(
    "%s",
    async (_, example, i) => {
      const promised = [...example.code.matchAll(/console\.log\([\s\S]*?\);\s*\/\/ (.*)$/gm)].map(
        ([, line]) => line,
      );
      expect(promised.length, "an example prints something, and says what").toBeGreaterThan(0);
      expect(await run(example, i)).toEqual(promised);
    },
  );

  test("every public function and class has one", () => {
    const names = [boxwright, core, node, plan, pool].flatMap((entry) =>
      Object.entries(entry)
        .filter(([name, value]) => typeof value === "function" && !name.endsWith("Error"))
        .map(([name]) => name),
    );
    const shown = new Set(examples.map((e) => e.name));
    expect([...new Set(names)].filter((name) => !shown.has(name))).toEqual([]);
  });
});
