/** Skeletons on pictures: which lines and dots, in both ways of drawing. */
import { expect, test } from "vitest";
import { COCO17_EDGES } from "../../src/core/keypoints.ts";
import {
  type CanvasContext,
  type Drawn,
  type DrawnPoint,
  drawCanvas,
  drawSvg,
} from "../../src/entries/index.ts";
import { box, png } from "../support/pictures.ts";

const withPoints = (keypoints: readonly DrawnPoint[]): Drawn => ({ ...box(0.1, 0.1, 0.9, 0.9), keypoints });
const three = withPoints([
  { x: 0.25, y: 0.5 },
  { x: 0.75, y: 0.5, confidence: 0.9 },
  { x: 0.5, y: 0.25, confidence: 0.1 },
]);
const svgOf = (list: readonly Drawn[], edges?: readonly (readonly [number, number])[]): string =>
  drawSvg(png(200, 100), list, edges ? { edges } : {});

test("draws a dot for each point that is seen, and a line for each edge between two of these", () => {
  const svg = svgOf(
    [three],
    [
      [0, 1],
      [1, 2],
      [0, 9],
    ],
  );
  expect([...svg.matchAll(/<circle cx="(.*?)" cy="(.*?)"/g)].map(([, x, y]) => [x, y])).toEqual([
    ["50", "50"],
    ["150", "50"],
  ]);
  expect([...svg.matchAll(/<path d="(.*?)"/g)].map(([, d]) => d)).toEqual(["M50 50L150 50", "M50 50L150 50"]);
  // A white dot with a ring of the class's colour is seen on a photo of that colour, too.
  const [, colour] = /<rect [^>]*fill="none" stroke="(#\w{6})"/.exec(svg) ?? [];
  expect(svg).toContain(`fill="#fff" stroke="${colour}"`);
});

test("takes the edges of the detections, and those of COCO for 17 keypoints", () => {
  const paths = (svg: string): number => (/<path d="(.*?)"/.exec(svg)?.[1].match(/M/g) ?? []).length;
  expect(paths(svgOf([three]))).toBe(0);
  expect(paths(svgOf(Object.assign([three], { edges: [[0, 1]] })))).toBe(1);
  const person = withPoints(Array.from({ length: 17 }, (_, k) => ({ x: k / 17, y: 0.5 })));
  expect(paths(svgOf([person]))).toBe(COCO17_EDGES.length);
});

test("dots and lines are small where points are close together", () => {
  const mesh = Array.from({ length: 400 }, (_, k) => ({ x: (k % 20) / 20, y: Math.floor(k / 20) / 20 }));
  const radii = (svg: string): number[] =>
    [...svg.matchAll(/<circle .*? r="(.*?)"/g)].map(([, r]) => Number(r));
  const [usual] = radii(svgOf([three]));
  const dense = radii(svgOf([withPoints(mesh)], [[0, 1]]));
  expect(dense).toHaveLength(400);
  // 200 x 100 pixels, cut into 400 parts: points are about 7 pixels apart.
  for (const radius of dense) expect(radius).toBeLessThan(Math.min(usual, 7 / 4));
  // Points in one place, and one point alone, are as large as ever.
  expect(radii(svgOf([withPoints([mesh[0], mesh[0]])]))).toEqual([usual, usual]);
  expect(radii(svgOf([withPoints([mesh[0]])]))).toEqual([usual]);
});

test("a canvas shows the same lines and dots", () => {
  const calls: string[] = [];
  const state: Record<string, unknown> = { canvas: { width: 200, height: 100 } };
  const context = new Proxy(state, {
    get: (_, name: string) =>
      state[name] ?? ((...args: unknown[]) => calls.push(`${name} ${args.slice(0, 2).join()}`)),
  }) as unknown as CanvasContext;
  drawCanvas(context, [three], { edges: [[0, 1]], tag: () => "" });
  expect(calls.filter((call) => /^(moveTo|lineTo|arc) /.test(call))).toEqual([
    ...["moveTo 50,50", "lineTo 150,50", "moveTo 50,50", "lineTo 150,50"],
    ...["arc 50,50", "arc 150,50"],
  ]);
  const dots = calls.slice(calls.indexOf("arc 50,50")).map((call) => call.split(" ")[0]);
  expect(dots.slice(0, 3)).toEqual(["arc", "fill", "stroke"]);
});

test("detections without points are drawn as before, and points that are none are refused", () => {
  expect(svgOf([box(0, 0, 1, 1)])).not.toMatch(/<path|<circle/);
  expect(svgOf([withPoints([{ x: NaN, y: 0 }])])).not.toContain("<circle");
  expect(() => svgOf([withPoints(3 as never)])).toThrow(
    "got keypoints 3, expected a list of {x, y, confidence}",
  );
});
