/** How rounds become a row and a ratio, and what the command line of the benchmark takes and refuses. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { chosen, positive, UsageError } from "../../bench/options.ts";
import { entryOf, otherEntry } from "../../bench/package.ts";
import type { RowResult } from "../../bench/processes.ts";
import { faultOf, reportRow, summarise } from "../../bench/summary.ts";
import { layOut, us } from "../../bench/table.ts";
import { compare, measureRound, median, sidesOf } from "../../bench/turns.ts";
import { isMeant, WORKLOADS } from "../../bench/workloads.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const truth = { count: 1, boxes: [0, 0, 1, 1], scores: [0.5], classIds: [7] };
const row = { engine: "simd", input: "slot" } as const;

const round = (median: number, answer = truth): RowResult => ({
  status: "ok",
  timing: { median, min: median / 2, p90: 2 * median, runs: 10 },
  answer,
});
const rounds = (...medians: number[]): RowResult[] => medians.map((median) => round(median));
const failed: RowResult = { status: "failed", reason: "it stopped" };

describe("rounds", () => {
  test("the one with the lowest median is shown, whole", () => {
    expect(summarise(rounds(30, 10, 20), truth)).toMatchObject({ status: "ok", median: 10, min: 5, p90: 20 });
  });

  test("one that failed or answered otherwise is shown, however well the others went", () => {
    expect(summarise([round(10), failed], truth)).toEqual(failed);
    const other = { ...truth, classIds: [8] };
    const summary = summarise([round(10), round(30, other), round(20)], truth);
    expect(summary).toMatchObject({ median: 30 });
    const expected = summarise(rounds(10), truth).digest!;
    expect(faultOf({ ...row, ...summary }, expected)).toContain("MISMATCH");
    expect(faultOf(reportRow(row, rounds(10), undefined, truth), expected)).toBeUndefined();
  });

  test("a fault of the other package is a fault of the row", () => {
    const report = reportRow(row, rounds(10, 10), [round(10), failed], truth);
    expect(report.comparison).toBeUndefined();
    expect(faultOf(report, report.digest!)).toBe("FAILED: it stopped");
  });

  test("a row that is missing is no fault", () => {
    const report = reportRow(row, [{ status: "missing", reason: "not installed" }], undefined, truth);
    expect(faultOf(report, "")).toBeUndefined();
  });
});

describe("ratios", () => {
  test("are taken within a round, so a slow round does not count", () => {
    expect(compare([11, 110, 22], [10, 100, 20]).ratio).toBeCloseTo(1.1, 12);
    const { ratio, low, high } = compare([10, 10, 30], [10, 20, 10]);
    expect([ratio, low, high]).toEqual([1, 0.5, 3]);
  });

  test("stand in the report of the row", () => {
    const report = reportRow(row, rounds(30, 12), rounds(20, 8), truth);
    expect(report).toMatchObject({ median: 12, other: { median: 8 }, comparison: { ratio: 1.5 } });
  });

  test("the median of an even count is the mean of the middle two", () => {
    expect([median([9, 1, 5]), median([9, 1, 5, 3])]).toEqual([5, 4]);
  });

  test("packages change places each round", async () => {
    const calls: string[] = [];
    const sides = sidesOf<number>("new", "old");
    for (const turn of [0, 1]) await measureRound(turn, sides, async (entry) => calls.push(entry));
    expect(calls).toEqual(["new", "old", "old", "new"]);
    expect(sides).toEqual([
      { entry: "new", rounds: [1, 4] },
      { entry: "old", rounds: [2, 3] },
    ]);
    expect(sidesOf("new", undefined)).toHaveLength(1);
  });
});

describe("options", () => {
  const only = (words?: string): string[] =>
    chosen("--only", words, WORKLOADS, ({ name }) => name, isMeant).map(({ name }) => name);

  test("take names and their beginnings up to a sign", () => {
    expect(only()).toHaveLength(WORKLOADS.length);
    expect(only("v8")).toEqual(["v8@.25", "v8@.001", "v8-f16@.25", "v8-int8@.25"]);
    expect(only("nms-100,v3@.25")).toEqual(["v3@.25", "nms-100"]);
  });

  test("refuse unknown words and say what there is", () => {
    expect(() => only("v8,v9,n")).toThrow("--only: nothing is called v9, n. Give some of v8@.25, v8@.001,");
    expect(() => positive("--rounds", "none", 3)).toThrow("--rounds: got none, expected a number above 0.");
    expect([positive("--rounds", "2", 3), positive("--rounds", undefined, 3)]).toEqual([2, 3]);
  });

  test.each([
    ["run.ts", "--engines", "simd,rust", "--engines: nothing is called rust. Give some of native, simd"],
    [
      "scaling.ts",
      "--only",
      "threshold",
      "--only: nothing is called threshold. Give some of boxes, class-ids",
    ],
    ["startup.ts", "--engines", "js", "--engines: nothing is called js. Give some of simd, scalar, ts."],
    ["run.ts", "--append", "", "Unknown option '--append'"],
  ])("%s %s %s exits with 2 and a sentence", (script, option, value, message) => {
    const args = ["--import", "./bench/ts.mjs", "--no-warnings", `bench/${script}`, option];
    const { status, stderr } = spawnSync(process.execPath, value === "" ? args : [...args, value], {
      cwd: root,
      encoding: "utf8",
    });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("at main");
    expect(status).toBe(2);
  });
});

describe("packages", () => {
  const folder = mkdtempSync(join(tmpdir(), "boxwright-bench-test-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "package", "dist"), { recursive: true });
  const exports = {
    "./x": "./x.mjs",
    ".": { workerd: "./w.mjs", node: { types: "./t.d.mts", import: "./dist/n.mjs" } },
  };
  writeFileSync(join(folder, "package", "package.json"), JSON.stringify({ exports }));
  const file = join(folder, "package", "dist", "n.mjs");

  test("one that is not built is refused with the command that builds it", () => {
    expect(() => entryOf(join(folder, "package"))).toThrow("Run `npm run build`");
  });

  test("the entry is what Node imports, found from the package or its dist", () => {
    writeFileSync(file, "");
    const url = pathToFileURL(file).href;
    expect(entryOf(join(folder, "package"))).toBe(url);
    expect(entryOf(join(folder, "package", "dist"))).toBe(url);
    expect(() => entryOf(folder)).toThrow("has no package.json, nor has the folder above");
  });

  test("a packed tarball is unpacked", () => {
    const tarball = join(folder, "release.tgz");
    execFileSync("tar", ["-czf", tarball, "-C", folder, "package"]);
    expect(otherEntry({ release: tarball })).toMatch(/boxwright-release-.*package\/dist\/n\.mjs$/);
    expect(() => otherEntry({ release: join(folder, "none.tgz") })).toThrow("none.tgz is missing");
    expect(() => otherEntry({ release: tarball, against: folder })).toThrow(UsageError);
    expect(otherEntry({})).toBeUndefined();
  });
});

test("a run against another build writes its table apart from the JSON", () => {
  const args = [
    "--only",
    "nms-100",
    "--engines",
    "ts,js",
    "--rounds",
    "2",
    "--time",
    "1",
    "--against",
    "dist",
  ];
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ["--import", "./bench/ts.mjs", "--no-warnings", "bench/run.ts", ...args, "--out", "-"],
    { cwd: root, encoding: "utf8" },
  );
  expect(stderr).toContain("3 rows measured, 0 at fault");
  const [{ rows }] = (JSON.parse(stdout) as { workloads: { rows: { comparison?: object }[] }[] }).workloads;
  expect(rows.map(({ comparison }) => comparison !== undefined)).toEqual([true, true, false]);
  expect(status).toBe(0);
});

test("tables leave out empty columns and show three digits that count", () => {
  const lines = layOut(["engine", "us", "none", "answer"], [["simd", us(1.234), "", "yes"]], 1);
  expect(lines).toEqual(["engine    us  answer", "simd    1.23  yes"]);
  expect([12.34, 123.4, 1234].map(us)).toEqual(["12.3", "123", "1234"]);
});
