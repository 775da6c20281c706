/** The last lines of a run of CI name every failure (`.ci/failures.mjs`). */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { tempFolder } from "../support/files.ts";

const script = fileURLToPath(new URL("../../.ci/failures.mjs", import.meta.url));
const folder = tempFolder();

const run = (...words: string[]): string[] =>
  execFileSync(process.execPath, [script, ...words], { encoding: "utf8" })
    .trimEnd()
    .split("\n");

/** Returns what is said of a check that left these lines. */
const say = async (lines: readonly string[]): Promise<string[]> =>
  run("a part", await folder.put("log", lines.join("\n")));

const NOISE = Array.from({ length: 300 }, (_, i) => `noise ${i}`);
const SEED = '{ seed: -997030348, path: "1:0:0", endOnFailure: true }';

/** The part of a log in which vitest tells of a test. */
const failed = (name: string): string[] => [
  `\u001b[41m FAIL \u001b[49m test/a.test.ts > ${name}`,
  "Error: Property failed after 2 tests",
  SEED,
  `Counterexample: [${"1000,".repeat(500)}]`,
  " ❯ buildError ../node_modules/fast-check/lib/fast-check.js:2469:16",
  " ❯ test/a.test.ts:2:40",
  ...Array.from({ length: 30 }, (_, i) => `  - line ${i} of a long difference`),
  "⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/2]⎯",
];

test("a failed test and what it said are found in a long log, with the seed", async () => {
  const said = await say([
    "== hub",
    ...NOISE,
    ...failed("holds"),
    ...NOISE,
    "FAILED: tests",
    "1 passed, 1 failed",
  ]);
  expect(said).toHaveLength(12);
  expect(said.slice(0, 4)).toEqual([
    "-- a part",
    " FAIL  test/a.test.ts > holds",
    "Error: Property failed after 2 tests",
    SEED,
  ]);
  expect(said[4]!.length).toBeLessThan(250);
  expect(said.at(-1)).toBe("FAILED: tests");
});

test("a step without tests is told by its last lines", async () => {
  const said = await say([
    "== build",
    ...NOISE,
    "== start",
    "port 80 is taken",
    "FAILED: start",
    "3 passed, 1 failed",
  ]);
  expect(said).toEqual(["-- a part", "FAILED: start", "port 80 is taken"]);
});

test("a log that names no failure is told by its last lines", async () => {
  expect(await say(NOISE)).toEqual(["-- a part", ...NOISE.slice(-9)]);
});

test("many failures share a page, and each keeps its name and its seed", async () => {
  const names = Array.from({ length: 14 }, (_, i) => `test ${i}`);
  const one = await folder.put("one", (await say(names.flatMap(failed))).join("\n"));
  const page = run("--join", one, folder.path("missing"));
  expect(page.length).toBeLessThanOrEqual(60);
  for (const name of names) expect(page).toContain(` FAIL  test/a.test.ts > ${name}`);
  expect(page.filter((line) => line === SEED)).toHaveLength(14);

  const many = await folder.put(
    "many",
    (await say(Array.from({ length: 99 }, (_, i) => failed(`${i}`)).flat())).join("\n"),
  );
  expect(run("--join", many)).toHaveLength(60);
  expect(run("--join", many).at(-1)).toBe("... and 41 more");
});
