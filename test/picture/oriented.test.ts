/** Oriented boxes on pictures: the outline follows the corners. */
import { expect, test } from "vitest";
import { type CanvasContext, DrawError, drawCanvas, drawSvg } from "../../src/entries/draw.ts";
import { box, png } from "../support/pictures.ts";

const corners = [
  { x: 0.8, y: 0.5 },
  { x: 0.5, y: 0.2 },
  { x: 0.2, y: 0.5 },
  { x: 0.5, y: 0.8 },
];
const turned = { ...box(0.2, 0.2, 0.8, 0.8), corners };

test("drawSvg draws a polygon, and its tag beside the upright box around it", () => {
  const svg = drawSvg(png(200, 100), [turned]);
  expect(svg.match(/<polygon points="160,50 100,20 40,50 100,80" fill="none"/g)).toHaveLength(2);
  expect(svg).not.toContain('<rect x="40"');
  expect(svg).toContain(">cat 50%</text>");
  expect(drawSvg(png(200, 100), [box(0.2, 0.2, 0.8, 0.8)])).not.toContain("polygon");
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
