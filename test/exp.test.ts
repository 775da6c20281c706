/** The shared exponentials against Math's, and that they never step back. */
import { expect, test } from "vitest";
import * as plain from "../src/baseline/value.ts";
import { exp, log, power, sigmoid, tanh } from "../src/exp.ts";
import { mulberry32 } from "./make.ts";

const fround = Math.fround;

/** f32 numbers from `from` to `to`, evenly and at random. */
function* sweep(from: number, to: number, n: number): Generator<number> {
  const random = mulberry32(7);
  for (let i = 0; i <= n; i++) {
    yield fround(from + ((to - from) * i) / n);
    yield fround(from + (to - from) * random());
  }
}

function worst(f: (x: number) => number, g: (x: number) => number, xs: Iterable<number>): number {
  let most = 0;
  for (const x of xs) most = Math.max(most, Math.abs(f(x) - g(x)) / Math.abs(g(x)));
  return most;
}

function furthest(f: (x: number) => number, g: (x: number) => number, xs: Iterable<number>): number {
  let most = 0;
  for (const x of xs) most = Math.max(most, Math.abs(f(x) - g(x)));
  return most;
}

function expectMonotone(f: (x: number) => number, from: number, to: number, n: number): void {
  let before = -Infinity;
  let steps = 0;
  for (let i = 0; i <= n; i++) {
    const y = fround(f(fround(from + ((to - from) * i) / n)));
    if (y < before) steps++;
    before = y;
  }
  expect(steps).toBe(0);
}

/** What exp.ts states. */
const STATED = 1e-10;

test("exp is as near as stated, all over the normal range", () => {
  expect(worst(exp, Math.exp, sweep(-87, 88.7, 200000))).toBeLessThan(STATED);
  expect(exp(0)).toBe(1);
});

test("sigmoid, tanh, log and power likewise", () => {
  expect(worst(sigmoid, (x) => 1 / (1 + Math.exp(-x)), sweep(-80, 80, 100000))).toBeLessThan(STATED);
  expect(furthest(tanh, Math.tanh, sweep(-9, 9, 100000))).toBeLessThan(STATED);
  expect(furthest(log, Math.log, sweep(1e-6, 4, 50000))).toBeLessThan(STATED);
  for (const y of [0.4, 0.6])
    expect(
      worst(
        (x) => power(x, y),
        (x) => x ** y,
        sweep(1e-6, 1, 50000),
      ),
    ).toBeLessThan(STATED);
});

test("none of them steps back", () => {
  expectMonotone(exp, -88, 89, 300000);
  expectMonotone(sigmoid, -20, 20, 300000);
  expectMonotone((x) => power(x, 0.6), 0, 1, 100000);
});

test("the ends", () => {
  // past the range of f32; what is computed in doubles may stop at a large number
  expect(fround(exp(Infinity))).toBe(Infinity);
  expect(fround(exp(89))).toBe(Infinity);
  expect(fround(exp(-Infinity))).toBe(0);
  expect(exp(-800)).toBeLessThan(1e-38);
  expect(exp(NaN)).toBeNaN();
  expect(sigmoid(Infinity)).toBe(1);
  expect(fround(sigmoid(-Infinity))).toBe(0);
  expect(sigmoid(NaN)).toBeNaN();
  expect(tanh(Infinity)).toBe(1);
  expect(tanh(-Infinity)).toBe(-1);
  expect(power(0, 0.6)).toBe(0);
  expect(power(-1, 0.6)).toBe(0);
  expect(power(NaN, 0.6)).toBeNaN();
  expect(power(1, 0.4)).toBe(1);
  expect(power(Infinity, 0.5)).toBeCloseTo(2, 6);
});

test("the plain engine has the same bits by its own exp", () => {
  const own = (x: number): number => {
    plain.wide[0] = x;
    plain.exp();
    return plain.wide[0];
  };
  const special = [0, -0, NaN, Infinity, -Infinity, -150, 130, 1e-300, 5e-324, 1e308, -1e308];
  let seen = 0;
  for (const x of [...special, ...sweep(-160, 140, 20000), ...sweep(-1, 1, 5000)]) {
    expect(own(x)).toBe(exp(x));
    expect(plain.sigmoid(x)).toBe(sigmoid(x));
    for (const y of [0.4, 0.6]) expect(plain.power(x, y)).toBe(power(x, y));
    seen++;
  }
  expect(seen).toBeGreaterThan(50000);
});
