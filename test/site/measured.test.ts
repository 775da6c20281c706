/** The example of the measuring page is the first table of docs/performance.md. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { WORKLOADS } from "../../bench/workloads.ts";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

interface Example {
  readonly runtime: string;
  readonly date: string;
  readonly rows: readonly {
    readonly name: string;
    readonly found: number;
    readonly us: { readonly simd: number; readonly scalar: number; readonly ts: number };
  }[];
}

test("the example states the published figures, with their date and runtime", () => {
  const page = read("docs/performance.md");
  const example = JSON.parse(read("site/src/measured.json")) as Example;
  const lines = [...page.matchAll(/^\| [^|]+ \| ([\d.]+) us \| [^|]+ \| ([\d.]+) \| ([\d.]+) \|/gm)];
  const published = lines.slice(0, example.rows.length).map(([, simd, scalar, ts]) => ({
    simd: Number(simd),
    scalar: Number((Number(simd) * Number(scalar)).toFixed(1)),
    ts: Number((Number(simd) * Number(ts)).toFixed(1)),
  }));
  // The published table leaves out two sizes of suppression.
  const names = WORKLOADS.map(({ name }) => name).filter((name) => !/^nms-(100|8400)$/.test(name));
  expect(example.rows.map(({ name }) => name)).toEqual(names);
  example.rows.forEach(({ us, found }, i) => {
    for (const engine of ["simd", "scalar", "ts"] as const)
      expect(us[engine]).toBeCloseTo(published[i][engine], 0);
    expect(found).toBeGreaterThan(0);
  });
  expect(page).toContain(`Measured on ${example.date}: AMD EPYC, 2 shared cores, ${example.runtime}`);
});
