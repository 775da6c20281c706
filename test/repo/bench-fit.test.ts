/** The arithmetic of the sweeps: exponents and cliffs. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { cliffsOf, exponentOf, leastOf, steepestOf, stepsOf, type Point } from "../../bench/fit.ts";

const at = (x: number, us: number, work = x): Point => ({ label: String(x), x, work, us, found: 1 });

test("the exponent of a power is that power, whatever the constant", () => {
  fc.assert(
    fc.property(
      fc.double({ min: -1, max: 3, noNaN: true }),
      fc.double({ min: 1e-3, max: 1e3, noNaN: true }),
      fc.uniqueArray(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 2, maxLength: 12 }),
      (power, constant, xs) => {
        const points = xs.map((x) => at(x, constant * x ** power));
        expect(exponentOf(points)).toBeCloseTo(power, 6);
      },
    ),
  );
});

test("a fixed cost flattens the fit; one x alone has none", () => {
  const points = [1, 10, 100, 1000].map((x) => at(x, 50 + x));
  expect(exponentOf(points)).toBeGreaterThan(0.2);
  expect(exponentOf(points)).toBeLessThan(0.8);
  expect(exponentOf([at(8, 3), at(8, 5)])).toBeNaN();
});

test("time that follows the work has no cliff, at any power of it", () => {
  for (const power of [0, 1, 2]) {
    const points = [1, 3, 10, 30, 100].map((x) => at(x, 7 * x ** power, x ** power));
    expect(cliffsOf(points)).toEqual([]);
    expect(steepestOf(points)?.excess).toBeCloseTo(1, 9);
  }
});

test("a jump that the fit would hide is named", () => {
  const points = [10, 20, 40, 80, 160].map((x) => at(x, x > 40 ? 5 * x : x));
  expect(exponentOf(points)).toBeLessThan(1.8);
  expect(cliffsOf(points)).toEqual([{ from: "40", to: "80", excess: 5 }]);
  expect(steepestOf(points)).toEqual({ from: "40", to: "80", excess: 5 });
});

test("points may come in any order; less work along the axis counts as the same", () => {
  const points = [at(4, 9, 1), at(1, 3, 8), at(2, 3, 8)];
  expect(stepsOf(points)).toEqual([
    { from: "1", to: "2", excess: 1 },
    { from: "2", to: "4", excess: 3 },
  ]);
  expect(steepestOf([at(1, 1)])).toBeUndefined();
});

test("a cliff of one run is none of the least of two; one of both stays; other results are refused", () => {
  const quiet = [10, 20, 40, 80].map((x) => at(x, x > 20 ? 5 * x : x));
  const disturbed = quiet.map((p) => (p.label === "80" ? at(80, 4000) : p));
  expect(cliffsOf(disturbed)).toHaveLength(2);
  for (const least of [leastOf(quiet, disturbed), leastOf(disturbed, quiet)]) {
    expect(least).toEqual(quiet);
    expect(cliffsOf(least)).toEqual([{ from: "20", to: "40", excess: 5 }]);
  }
  expect(() => leastOf(quiet, [...quiet.slice(0, 3), { ...quiet[3], found: 2 }])).toThrow(
    "sweep: got 2 at 80, expected 1 at 80 as before",
  );
  expect(() => leastOf(quiet, quiet.slice(1))).toThrow("sweep: got 1 at 20, expected 1 at 10 as before");
});
