/** Oriented boxes on pictures: the outline follows the corners. */
import { expect, test } from "vitest";
import { type CanvasContext, DrawError, drawCanvas, drawSvg } from "../../src/entries/index.ts";
import { box, png } from "../support/pictures.ts";

const corners = [
  { x: 0.8, y: 0.5 },
  { x: 0.5, y: 0.2 },
  { x: 0.2, y: 0.5 },
  { x: 0.5, y: 0.8 },
];
const turned = { ...box(0.2, 0.2, 0.8, 0.8), corners };

test("drawSvg draws a polygon", () => {
  const svg = drawSvg(png(200, 100), [turned]);
  expect(svg.match(/<polygon points="160,50 100,20 40,50 100,80" fill="none"/g)).toHaveLength(2);
  expect(svg).not.toContain('<rect x="40"');
  expect(svg).toContain(">cat 50%</text>");
  expect(drawSvg(png(200, 100), [box(0.2, 0.2, 0.8, 0.8)])).not.toContain("polygon");
});

/** Returns left and bottom of the only tag on a picture of 400 x 200, for corners in its pixels. */
function tagOf(points: readonly (readonly [number, number])[]): number[] {
  const [xs, ys] = [points.map(([x]) => x / 400), points.map(([, y]) => y / 200)];
  const around = box(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys));
  const svg = drawSvg(png(400, 200), [{ ...around, corners: xs.map((x, i) => ({ x, y: ys[i] })) }]);
  const [, x, y, height] =
    /<rect x="([\d.]+)" y="([\d.]+)" width="[\d.]+" height="([\d.]+)" rx/.exec(svg) ?? [];
  return [Number(x), Number(y) + Number(height)].map(Math.round);
}

test("the tag touches the uppermost corner that is on the picture", () => {
  const turnedBox = [
    [300, 100],
    [250, 50],
    [50, 110],
    [100, 160],
  ] as const;
  expect(tagOf(turnedBox)).toEqual([249, 49]);
  // The uppermost corner is above the picture, the next one to its right: the third has the tag.
  expect(
    tagOf([
      [300, -20],
      [420, 40],
      [280, 120],
      [160, 60],
    ]),
  ).toEqual([159, 59]);
  // Two corners are level: the left one.
  expect(
    tagOf([
      [300, 160],
      [300, 60],
      [100, 60.5],
      [100, 160],
    ]),
  ).toEqual([99, 60]);
  // No corner is on the picture: the tag stands where that of an upright box does.
  expect(
    tagOf([
      [200, -300],
      [700, 100],
      [200, 500],
      [-300, 100],
    ]),
  ).toEqual([0, expect.any(Number)]);
});

test("drawCanvas draws the same corners", () => {
  const calls: string[] = [];
  const context = new Proxy({} as Record<string, unknown>, {
    get: (state, name: string) =>
      name === "canvas"
        ? { width: 200, height: 100 }
        : (state[name] ??
          ((...args: number[]) => calls.push(`${name} ${args.map((v) => Math.round(v)).join()}`))),
  }) as unknown as CanvasContext;
  drawCanvas(context, [turned], { tag: () => "" });
  const path = [
    "beginPath ",
    "moveTo 160,50",
    "lineTo 100,20",
    "lineTo 40,50",
    "lineTo 100,80",
    "closePath ",
    "stroke ",
  ];
  expect(calls.filter((call) => !/^(save|restore|translate)/.test(call))).toEqual([...path, ...path]);
});

test.each([[corners.slice(1)], [[...corners.slice(1), { x: NaN, y: 0 }]], [[1, 2, 3, 4]], ["0,0"]])(
  "refuses %j",
  (none) => {
    const wrong = { ...turned, corners: none as typeof corners };
    expect(() => drawSvg(png(9, 9), [wrong])).toThrow(DrawError);
    expect(() => drawSvg(png(9, 9), [wrong])).toThrow("expected four {x, y}, in order around the box");
  },
);
