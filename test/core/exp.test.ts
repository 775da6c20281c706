/**
 * The exponentials of the plain engine against Math's, and that they never step back; the kernel's in
 * assembly/__tests__/exp.spec.ts.
 */
import { expect, test } from "vitest";
import { activate } from "../../src/engine/ts/box.ts";
import * as engine from "../../src/engine/ts/exp.ts";
import { power } from "../../src/engine/ts/exp.ts";
import { scratch32, scratch64 } from "../../src/engine/ts/registers.ts";
import { sigmoid } from "../../src/core/number.ts";
import * as A from "../../src/core/abi.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import { log } from "../../src/core/exp.ts";
import { engines } from "../support/engines.ts";
import { mulberry32 } from "../support/seeded-networks.ts";

const fround = Math.fround;

function exp(x: number): number {
  scratch64[0] = x;
  engine.exp();
  return scratch64[0];
}

/** Rounded to f32. */
function tanh(x: number): number {
  scratch32[0] = x;
  activate(A.FN_TANH, 0);
  return scratch32[0];
}

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
  // and half a step of an f32
  expect(furthest(tanh, Math.tanh, sweep(-9, 9, 100000))).toBeLessThan(STATED + 2 ** -25);
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
  expect(power(1e9, 0.5)).toBeCloseTo(2, 6);
  expect(power(Infinity, 0.5)).toBe(Infinity);
});

test("scores of all engines are the rounded sigmoid, to the bit the same", () => {
  const side = 128;
  const xs = [...sweep(-60, 60, (side * side) / 2 - 1)];
  const data = new Float32Array(6 * side * side);
  data.set(xs, 4 * side * side);
  // a class for certain
  data.fill(200, 5 * side * side);
  const scores = engines.map((engine) => {
    const decoder = createDecoderSync(
      {
        family: "yolov3",
        classes: 1,
        inputSize: [8 * side, 8 * side],
        anchors: [[[16, 16]]],
        confidenceThreshold: 1e-30,
      },
      { engine, maxDetections: side * side, rules: { suppress: "none" } },
    );
    const found = decoder.decode([{ data, dims: [1, 6, side, side] }]);
    expect(found).toHaveLength(side * side);
    const byCell = new Float32Array(side * side);
    for (let i = 0; i < found.length; i++) byCell[found.sources[i]] = found.scores[i];
    return byCell;
  });
  for (const other of scores)
    expect(Buffer.from(other.buffer).equals(Buffer.from(scores[0].buffer))).toBe(true);
  const exact = (x: number): number => 1 / (1 + Math.exp(-x));
  expect(Math.max(...xs.map((x, i) => Math.abs(scores[0][i] / exact(x) - 1)))).toBeLessThan(
    2 ** -24 + STATED,
  );
});
