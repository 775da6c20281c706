/** What the benchmark computes from its rows: limits, tables, charts, and the places they are written to. */
import { describe, expect, test } from "vitest";
import { lineOf, sweepsChart, sweepsTable, type SweepReport } from "../../bench/sweep-report.ts";
import { factsBlock, instructionsBlock, shortBlock, tableOf, timesBlock } from "../../bench/pages.ts";
import { blockOf, replaceBlock } from "../../bench/publish.ts";
import { chartOf, pageOf, short, type Report, type Row } from "../../bench/report.ts";
import { cellsOf, NATIVE_TO_READ_ONCE, tally } from "../../bench/targets.ts";
import { WORKLOADS } from "../../bench/workloads.ts";

const made = {
  made: "2026-01-02T03:04:05.000Z",
  command: "npm run bench",
  machine: { cpu: "A <processor>", cores: 2, arch: "x64", platform: "linux", node: "v20.0.0" },
};

/** Native takes 100 us, reading once 80, a copy 50; every other row takes what is given. */
function reportOf(rows: Readonly<Record<string, number>>): Report {
  return {
    ...made,
    rounds: 1,
    milliseconds: 100,
    workloads: WORKLOADS.map((spec) => ({
      ...spec,
      bytes: 1e6,
      readOnce: 80,
      copy: 50,
      rows: Object.entries({ "native resident": 100, ...rows }).map(([key, median]): Row => {
        const [engine, mode] = key.split(" ");
        return {
          engine,
          mode: mode as Row["mode"],
          status: "ok",
          median,
          min: median,
          p90: median,
          count: 34,
          digest: "abc",
          expected: "abc",
          toNative: median / 100,
          toReadOnce: median / 80,
        };
      }),
    })),
  };
}

const full = reportOf({
  "simd resident": 109,
  "simd array": 180,
  "simd-scan resident": 60,
  "scalar resident": 300,
  "ts resident": 400,
  "js-best array": 350,
});

describe("numbers to reach", () => {
  const cells = cellsOf(full);
  const cell = (workload: string, engine: string, mode: string) =>
    cells.find((c) => c.workload === workload && c.engine === engine && c.mode === mode)!;

  test("every cell that was asked for is there, once", () => {
    const of = (engine: string, mode: string): string[] =>
      cells.filter((c) => c.engine === engine && c.mode === mode).map((c) => c.workload);
    const floats = ["v8@.25", "v8@.001", "v5@.25", "v5@.001", "v3@.25", "v3@.001"];
    const quantised = ["v8-f16@.25", "v8-int8@.25"];
    const boxes = ["nms-1000", "nms-8400", "nms-25200"];
    expect(of("native", "resident")).toEqual(floats);
    expect(of("simd", "resident")).toEqual([...floats, ...boxes, ...quantised]);
    expect(of("simd", "array")).toEqual([...boxes, "v8@.25", "v8@.001", "v5@.25", "v3@.25", "v3@.001"]);
    expect(of("simd-scan", "resident")).toEqual(quantised);
    expect(of("scalar", "resident")).toEqual([...floats, ...quantised, ...boxes]);
    expect(of("ts", "resident")).toEqual([...floats, ...quantised, ...boxes]);
    expect(new Set(cells.map((c) => `${c.workload} ${c.engine} ${c.mode}`)).size).toBe(cells.length);
    const known = new Set(WORKLOADS.map(({ name }) => name));
    expect(cells.filter((c) => !known.has(c.workload))).toEqual([]);
  });

  test("a multiple of native has two bars", () => {
    const [required, own] = cell("v8@.25", "simd", "resident").limits;
    expect(required).toMatchObject({ bar: "required", met: true });
    expect(required.us).toBeCloseTo(1.1 * NATIVE_TO_READ_ONCE["v8@.25"] * 80, 9);
    expect(own).toMatchObject({ bar: "own", met: true });
    expect(own.us).toBeCloseTo(110, 9);
    // a fast native of our own makes the second bar the harder
    const [asked, ours] = cell("v3@.25", "simd", "array").limits;
    expect(asked.us).toBeCloseTo(1.6 * 3.7 * 80, 9);
    expect(asked).toMatchObject({ met: true });
    expect(ours).toMatchObject({ us: 160, met: false });
  });

  test("a copy is added before the factor", () => {
    const [required, own] = cell("v8@.001", "simd", "array").limits;
    expect(required.us).toBeCloseTo(1.25 * (3.34 * 80 + 50), 9);
    expect(own.us).toBeCloseTo(1.25 * 150, 9);
  });

  test("suppression alone has our own native only", () => {
    expect(cell("nms-8400", "simd", "array").limits.map(({ bar }) => bar)).toEqual(["own"]);
  });

  test("rows are held against rows", () => {
    expect(cell("v8-f16@.25", "simd", "resident").limits).toMatchObject([
      { bar: "row", us: 0.75 * 109, met: false },
    ]);
    expect(cell("v8-int8@.25", "simd-scan", "resident").limits).toMatchObject([{ us: 21, met: false }]);
    expect(cell("v5@.25", "scalar", "resident").limits).toMatchObject([{ us: 400, met: true }]);
    expect(cell("v5@.25", "ts", "resident").limits).toMatchObject([{ us: 350, met: false }]);
  });

  test("what was not measured is neither met nor missed", () => {
    const none = cellsOf({ ...full, workloads: [] });
    expect(none).toHaveLength(cells.length);
    expect(
      none.every(
        ({ measured, limits }) => measured === undefined && limits.every((l) => l.met === undefined),
      ),
    ).toBe(true);
    expect(tally(none, "own")).toEqual({ met: 0, told: 0 });
    expect(tally(cells, "required")).toEqual({ met: 9, told: 11 });
  });
});

const point = (x: number, us: number) => ({ label: String(x), x, work: x, us, found: 1 });
const sweeps: SweepReport = {
  ...made,
  sweeps: [
    {
      name: "boxes",
      title: "Boxes",
      axis: "boxes",
      lines: [
        lineOf(
          "simd",
          [10, 100, 1000].map((x) => point(x, x / 2)),
        ),
        lineOf("ts", [point(10, 10), point(100, 100), point(1000, 9000)]),
      ],
    },
  ],
};

describe("pages", () => {
  test("text between two marks is replaced, the rest stays", () => {
    const page = "before\n<!-- a -->\nold\n<!-- /a -->\nafter\n";
    const once = replaceBlock(page, "a", "new");
    expect(once).toBe("before\n<!-- a -->\n\nnew\n\n<!-- /a -->\nafter\n");
    expect(replaceBlock(once, "a", "new")).toBe(once);
    expect(blockOf(once, "a")).toBe("new");
    expect(() => replaceBlock(page, "b", "new")).toThrow("got no <!-- b --> ... <!-- /b -->");
  });

  test("a peer that is missing is said to be, and a wrong answer too", () => {
    const [first, ...others] = full.workloads;
    const rows: Row[] = [
      ...first.rows,
      { engine: "tfjs", mode: "array", status: "missing", reason: "not installed" },
      { engine: "ort-node", mode: "array", status: "ok", median: 5, digest: "x", expected: "y", count: 1 },
    ];
    const report = { ...full, workloads: [{ ...first, rows }, ...others] };
    expect(timesBlock(report)).toContain("| TensorFlow.js, wasm | missing: not installed |");
    expect(timesBlock(report)).toContain("| x MISMATCH |");
    expect(pageOf(report)).toContain("missing: not installed");
    expect(chartOf(report)).toMatch(/TensorFlow.js, wasm<\/text>\n<text [^>]*>missing<\/text>/);
  });

  test("the short table says what follows from it", () => {
    const block = shortBlock(full);
    expect(block).toContain("| YOLOv8 [1,84,8400], 0.25 | 80 | 100 | 109 | 180 | 300 | 400 | 350 | - |");
    expect(block).toContain("1.1 times native on f32 YOLOv8");
  });

  test("a fact that was measured goes over the one that stands, the others stay", () => {
    const head = ["", "", "command"];
    const growth = (exponent: string, cliffs: string): string[] => [
      "growth: time as a power of boxes, classes, cells, images (`simd`)",
      `${exponent}, -, -, -; ${cliffs} in 1 sweeps`,
      "`npm run bench:sweeps`",
    ];
    const other = ["garbage", "`simd` 1 byte", "`npm run bench:memory -- --only garbage`"];
    const standing = tableOf([head, growth("0.50", "no cliff"), other]);
    expect(factsBlock({}, standing)).toBe(standing);
    const [sweep] = sweeps.sweeps;
    const measured = { ...sweeps, sweeps: [{ ...sweep, name: "boxes" }] };
    expect(factsBlock({ sweeps: measured }, standing)).toBe(
      tableOf([head, growth(sweep.lines[0].exponent.toFixed(2), "1 cliff"), other]),
    );
  });

  test("a later count replaces an earlier one", () => {
    expect(instructionsBlock(["v8\tC\t5", "v5\tC\t7", "v8\tC\t6000"])).toBe(
      tableOf([
        ["", "v8", "v5"],
        ["C", "6,000", "7"],
      ]),
    );
  });

  test("three digits in the unit that suits", () => {
    expect([0.1234, 12.34, 99.96, 123.4, 1234, 12345, 123456, 1234567].map(short)).toEqual([
      "0.123 us",
      "12.3 us",
      "100 us",
      "123 us",
      "1.23 ms",
      "12.3 ms",
      "123 ms",
      "1.23 s",
    ]);
  });
});

describe("charts", () => {
  const texts = (svg: string): string[] => [...svg.matchAll(/<text[^>]*>([^<]*)/g)].map(([, text]) => text);

  test("bars stay inside, and what is named is escaped", () => {
    const svg = chartOf(full);
    const width = Number(/ width="(\d+)"/.exec(svg)?.[1]);
    for (const [, x, w] of svg.matchAll(/<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"/g))
      expect(Number(x) + Number(w)).toBeLessThan(width);
    expect(svg).toContain("A &lt;processor&gt;");
    expect(svg).not.toMatch(/NaN|undefined/);
    expect(texts(chartOf(full, ["nms-1000"])).filter((text) => text.startsWith("NMS"))).toHaveLength(1);
  });

  test("a sweep states its exponent in chart and table, and rings a cliff", () => {
    const svg = sweepsChart(sweeps);
    expect(svg).toContain('simd: x<tspan dy="-4" font-size="9">1.00</tspan>');
    expect(svg.match(/stroke="#c00"/g)).toHaveLength(1);
    expect(svg).not.toMatch(/NaN|undefined/);
    const [, simd, ts] = sweepsTable(sweeps);
    expect(simd).toEqual([
      "Boxes",
      "10 … 1000 boxes",
      "`simd`",
      "1.00",
      "5 us … 500 us",
      "1.00 (10 → 100)",
      "none",
    ]);
    expect(ts.slice(3)).toEqual(["1.48", "10 us … 9 ms", "9.00 (100 → 1000)", "100 → 1000"]);
  });
});
