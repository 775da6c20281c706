/** Masks of Mask R-CNN pasted into their boxes, against spec/masks.ts. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Picture, pasteOfDetectron, pasteOfTorchvision } from "../../../spec/masks.ts";
import { PASTE_RULES, type Pasted, pasteMask } from "../../../src/tasks/masks/paste.ts";

const SPEC = { torchvision: pasteOfTorchvision, detectron2: pasteOfDetectron } as const;

/**
 * True if torchvision's grown box has an edge within rounding of a whole pixel. The rule cuts edges in f32, the
 * specification in doubles: there they may differ by a pixel.
 */
const isCutByRounding = (
  side: number,
  [x1, y1, x2, y2]: readonly [number, number, number, number],
): boolean =>
  [
    [x1, x2],
    [y1, y2],
  ]
    .flatMap(([a, b]) => [-1, 1].map((sign) => (a + b) / 2 + (sign * (b - a) * (side + 2)) / side / 2))
    .some((grown) => Math.abs(grown - Math.round(grown)) < 1e-4);

/** Quarters of a pixel, which f32 holds exactly. */
const edge = fc.integer({ min: -60, max: 200 }).map((quarters) => quarters / 4);
const cases = fc
  .record({
    side: fc.integer({ min: 1, max: 7 }),
    a: edge,
    b: edge,
    c: edge,
    d: edge,
    width: fc.integer({ min: 1, max: 40 }),
    height: fc.integer({ min: 1, max: 40 }),
  })
  .chain(({ side, a, b, c, d, width, height }) =>
    fc
      .array(fc.integer({ min: 0, max: 64 }), { minLength: side * side, maxLength: side * side })
      .map((cells) => ({
        side,
        cells: cells.map((v) => v / 64),
        box: [Math.min(a, b), Math.min(c, d), Math.max(a, b) + 0.25, Math.max(c, d) + 0.25] as const,
        size: [width, height] as const,
      })),
  );

const isSet = ({ x, y, data }: Pasted, column: number, row: number): number =>
  column >= x.from && column < x.to && row >= y.from && row < y.to
    ? data[(row - y.from) * (x.to - x.from) + column - x.from]
    : 0;

test.each(PASTE_RULES)("%s: pixels of random masks", (rule) => {
  fc.assert(
    fc.property(cases, ({ side, cells, box, size }) => {
      fc.pre(rule !== "torchvision" || !isCutByRounding(side, box));
      const mask: Picture = Array.from({ length: side }, (_, y) => cells.slice(y * side, (y + 1) * side));
      const values = SPEC[rule](mask, box, ...size);
      const pasted = pasteMask(cells, [side, side], box, size, 0.5, rule);
      values.forEach((row, y) =>
        row.forEach((value, x) => {
          if (Math.abs(value - 0.5) > 1e-9)
            expect(isSet(pasted, x, y), `${x}, ${y}: ${value}`).toBe(value > 0.5 ? 1 : 0);
        }),
      );
    }),
    { numRuns: 200 },
  );
});

test("the threshold itself is set by detectron2 alone", () => {
  const cells = [0.5];
  const at = (rule: (typeof PASTE_RULES)[number]): number =>
    isSet(pasteMask(cells, [1, 1], [0, 0, 1, 1], [1, 1], 0.5, rule), 0, 0);
  expect([at("detectron2"), at("torchvision")]).toEqual([1, 0]);
});

test("a box of NaN has no pixels", () => {
  for (const rule of PASTE_RULES)
    expect(pasteMask([1], [1, 1], [NaN, 0, NaN, 1], [4, 4], 0.5, rule).data.length).toBe(0);
});
