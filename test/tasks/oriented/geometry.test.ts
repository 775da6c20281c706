/** Numbers that can be checked by hand, and what holds for every oriented box. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type OrientedBox,
  cornersOf,
  fitCorners,
  nmsOriented,
  orientedIou,
  regularise,
} from "../../../src/entries/index.ts";
import { rotateCentreInto } from "../../../src/tasks/oriented/geometry.ts";
import { readBeyond } from "../../support/beyond.ts";

const close = (got: readonly number[], expected: readonly number[], digits = 6): void =>
  expected.forEach((v, i) => expect(got[i], `${got.join()} for ${expected.join()}`).toBeCloseTo(v, digits));

const boxes = fc
  .tuple(
    fc.double({ min: -1000, max: 1000, noNaN: true }),
    fc.double({ min: -1000, max: 1000, noNaN: true }),
    fc.double({ min: 0.5, max: 500, noNaN: true }),
    fc.double({ min: 0.5, max: 500, noNaN: true }),
    fc.double({ min: -20.5, max: 20.5, noNaN: true }).filter((v) => !Number.isInteger(v) || Math.abs(v) < 12),
  )
  .map((box): OrientedBox => box);

test("distances 2, 1, 4, 3 of cell (5, 3) at stride 16, turned by 0.5", () => {
  // Without an angle, the box goes from (5.5 - 2, 3.5 - 1) to (5.5 + 4, 3.5 + 3) cells.
  const box = Float64Array.of(6.5 * 16, 4.5 * 16, 96, 64, 0.5);
  rotateCentreInto(box, 0, 5.5 * 16, 3.5 * 16, box, 0);
  close([...box], [94.370512, 77.71213, 96, 64, 0.5]);
  const expected = [121.153, 128.807, 151.836, 72.642, 67.588, 26.617, 36.905, 82.782];
  close(cornersOf([...box] as unknown as OrientedBox).flat(), expected, 3);
});

describe("regularise", () => {
  test.each<readonly [number, number, number, readonly number[]]>([
    [50, 20, 2, [20, 50, 0.429204]],
    [50, 20, -0.3, [20, 50, 1.270796]],
    [50, 20, 0.3, [50, 20, 0.3]],
    [50, 20, 0, [50, 20, 0]],
    [50, 20, Math.PI / 2, [20, 50, 0]],
    [50, 20, -Math.PI, [50, 20, 0]],
    [50, 20, -1e-300, [50, 20, 0]],
  ])("%d x %d at %d", (width, height, angle, expected) => {
    close(regularise([1, 2, width, height, angle]).slice(2), expected);
  });

  test("refuses degrees and negative sides", () => {
    for (const compute of [regularise, cornersOf]) {
      expect(() => compute([1, 1, 4, 2, 30])).toThrow("box: got the angle 30, expected radians, not degrees");
      expect(() => compute([1, 1, 4, 2, -90])).toThrow("radians");
      expect(() => compute([1, 1, -4, 2, 0.3])).toThrow(
        "box: got width -4, height 2, expected [cx, cy, width, height, angle]: no corners",
      );
    }
    // A network may give any angle.
    expect(regularise([1, 1, 4, 2, 30.5])[4]).toBeCloseTo(30.5 % (Math.PI / 2));
    expect(regularise([1, 1, 4, 2, 12])[4]).toBeCloseTo(12 % (Math.PI / 2));
  });

  test("the golden pairs", () => {
    const { pairs } = readBeyond("rotated") as {
      pairs: readonly { a: OrientedBox; regularized_a: readonly number[] }[];
    };
    for (const { a, regularized_a } of pairs) close(regularise(a), regularized_a, 5);
  });

  test("gives an equal box with an angle in [0, pi/2)", () => {
    fc.assert(
      fc.property(boxes, (box) => {
        const same = regularise(box);
        expect(same[4]).toBeGreaterThanOrEqual(0);
        expect(same[4]).toBeLessThan(Math.PI / 2);
        expect(orientedIou(box, same, "polygon")).toBeCloseTo(1, 6);
        expect(regularise(same)).toEqual(same);
      }),
    );
  });
});

/** Boxes whose sides coincide but for rounding, which fast-check met. Corners came to stand on both sides of a line. */
const COINCIDING: readonly (readonly [box: OrientedBox, scale: number])[] = [
  [[1000, 5e-324, 0.5, 38.321158698641334, -2.7611082570877628], 1],
  [[642.8652982309814, 104.07826392938455, 499.9999999999718, 0.5, -7.8183994507218735], 1],
  [[0, 1000, 142.0727560780697, 0.5000000000078049, -20.000000000000004], 0.01],
  [[0, -287.3995976059938, 61.93355426519216, 0.5, -20.000000000000004], 34.66029677774216],
  [[-40.89862845451546, -999.9999999999317, 500, 78.00708416998005, 19.999999999911147], 5.634743434045895],
];

test.each(COINCIDING)("the IoU of a box and the same box is 1: %j times %d", (box, scale) => {
  const scaled = [...box.slice(0, 4).map((v) => v * scale), box[4]] as unknown as OrientedBox;
  const fitted = fitCorners(cornersOf(box).map(([x, y]) => [x * scale, y * scale]));
  for (const same of [fitted, regularise(scaled)]) {
    expect(orientedIou(same, scaled, "polygon")).toBeCloseTo(1, 6);
    expect(orientedIou(scaled, same, "polygon")).toBeCloseTo(1, 6);
    // The better one of two equal boxes suppresses the other.
    const kept = nmsOriented([...scaled, ...same], [0.9, 0.8], { iou: "polygon", method: "hard" });
    expect([...kept]).toEqual([0]);
  }
});

describe("fitCorners", () => {
  test("brings a rectangle back, in whatever frame of equal axes", () => {
    fc.assert(
      fc.property(boxes, fc.double({ min: 0.01, max: 50, noNaN: true }), (box, scale) => {
        const fitted = fitCorners(cornersOf(box).map(([x, y]) => [x * scale, y * scale]));
        const scaled = [...box.slice(0, 4).map((v) => v * scale), box[4]] as unknown as OrientedBox;
        expect(orientedIou(fitted, scaled, "polygon")).toBeCloseTo(1, 6);
        // Width and height keep their meaning: the angle is the same but for half turns.
        expect(Math.abs(Math.sin(fitted[4] - box[4]))).toBeLessThan(1e-6);
      }),
    );
  });

  test("is the smallest rectangle around a stretched one: none of 720 others is smaller", () => {
    fc.assert(
      fc.property(boxes, fc.double({ min: 0.3, max: 3, noNaN: true }), (box, stretch) => {
        const corners = cornersOf(box).map(([x, y]): [number, number] => [x * stretch, y]);
        const fitted = fitCorners(corners);
        const extent = (angle: number): number => {
          const along = corners.map(([x, y]) => x * Math.cos(angle) + y * Math.sin(angle));
          const across = corners.map(([x, y]) => y * Math.cos(angle) - x * Math.sin(angle));
          return (Math.max(...along) - Math.min(...along)) * (Math.max(...across) - Math.min(...across));
        };
        const area = fitted[2] * fitted[3];
        // It holds all corners, and is no larger than it has to be.
        expect(extent(fitted[4]) / area).toBeCloseTo(1, 6);
        for (let k = 0; k < 720; k++) expect(extent((k * Math.PI) / 720)).toBeGreaterThan(area * (1 - 1e-6));
      }),
      { numRuns: 60 },
    );
  });

  test.each<readonly [order: string, corners: readonly (readonly [number, number])[]]>([
    [
      "Z",
      [
        [0, 0],
        [4, 0],
        [0, 2],
        [4, 2],
      ],
    ],
    [
      "N",
      [
        [0, 0],
        [4, 2],
        [4, 0],
        [0, 2],
      ],
    ],
    [
      "around",
      [
        [0, 0],
        [4, 0],
        [4, 2],
        [0, 2],
      ],
    ],
    [
      "the other way round",
      [
        [0, 0],
        [0, 2],
        [4, 2],
        [4, 0],
      ],
    ],
  ])("corners of 4 x 2 in order: %s", (_, corners) => {
    for (const turned of [0, 1, 2, 3].map((k) => [...corners.slice(k), ...corners.slice(0, k)])) {
      const [x, y, width, height, angle] = fitCorners(turned);
      expect([x, y, Math.max(width, height), Math.min(width, height)]).toEqual([2, 1, 4, 2]);
      // The longer side lies along x.
      expect(Math.abs(Math.sin(angle + (width < height ? Math.PI / 2 : 0)))).toBeLessThan(1e-9);
    }
  });

  test("every order of the corners gives the same rectangle", () => {
    const orders = [0, 1, 2, 3].flatMap((i) =>
      [0, 1, 2, 3].flatMap((j) =>
        [0, 1, 2, 3].filter((k) => new Set([i, j, k]).size === 3).map((k) => [i, j, k, 6 - i - j - k]),
      ),
    );
    expect(orders).toHaveLength(24);
    fc.assert(
      fc.property(boxes, fc.constantFrom(...orders), (box, order) => {
        const corners = cornersOf(box);
        const fitted = fitCorners(order.map((k) => corners[k]));
        // No side of these boxes is less than a thousandth of the other.
        expect(orientedIou(fitted, box, "polygon")).toBeCloseTo(1, 5);
      }),
    );
  });

  test("corners that turn inwards, or lie on a line, are left as they are", () => {
    expect(
      fitCorners([
        [0, 0],
        [10, 4],
        [5, 0],
        [10, -4],
      ])[0],
    ).toBe(6.25);
    expect(
      fitCorners([
        [0, 0],
        [4, 0],
        [4, 1e-9],
        [0, -1e-9],
      ])[3],
    ).toBe(4);
  });

  test("a point has no sides", () => {
    expect(
      fitCorners([
        [3, 4],
        [3, 4],
        [3, 4],
        [3, 4],
      ]),
    ).toEqual([3, 4, 0, 0, 0]);
  });
});
