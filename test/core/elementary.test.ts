/** Elementary functions in doubles against values of 20 digits (mpmath), and with pinned bits. */
import { expect, test } from "vitest";
import { crc32 } from "../../src/core/crc32.ts";
import { angleOfVector, exp, writeCosSin } from "../../src/core/elementary.ts";
import { mulberry32 } from "../support/seeded-networks.ts";

const turn = new Float64Array(2);

const near = (got: number, wanted: number, within: number): void =>
  expect(Math.abs(got - wanted), `${got} for ${wanted}`).toBeLessThanOrEqual(within);

test.each([
  [0, 1, 0],
  [0.3, 0.955336489125606, 0.29552020666133957],
  [-0.75, 0.7316888688738209, -0.6816387600233342],
  [2, -0.4161468365471424, 0.9092974268256817],
])("cosine and sine of %d", (angle, cos, sin) => {
  writeCosSin(angle, turn);
  near(turn[0], cos, 2e-16);
  near(turn[1], sin, 2e-16);
});

test("cosine and sine are those of the runtime, to its rounding", () => {
  const random = mulberry32(3);
  for (let i = 0; i < 40000; i++) {
    const angle = (random() - 0.5) * [2, 8, 1000, 2 ** 18][i % 4];
    writeCosSin(angle, turn);
    near(turn[0], Math.cos(angle), 3e-16);
    near(turn[1], Math.sin(angle), 3e-16);
  }
});

test("angles of millions of turns and more are taken by the double 2 pi", () => {
  for (const angle of [2 ** 17, -(2 ** 17), 1e6, 1e30, -3e38]) {
    writeCosSin(angle, turn);
    near(turn[0], Math.cos(angle % (2 * Math.PI)), 3e-16);
    near(turn[1], Math.sin(angle % (2 * Math.PI)), 3e-16);
  }
  writeCosSin(Infinity, turn);
  expect([...turn]).toEqual([NaN, NaN]);
});

test("angles of vectors in all directions", () => {
  near(angleOfVector(3, 1), 0.32175055439664219, 2e-16);
  near(angleOfVector(1, 3), 1.2490457723982544, 3e-16);
  near(angleOfVector(-2, 5), 1.9513027039072615, 5e-16);
  near(angleOfVector(-4, -1), -2.896613990462929, 5e-16);
  for (const [x, y] of [
    [1, 0],
    [-1, 0],
    [0, 2],
    [0, -2],
    [5, 5],
    [5, -5],
  ])
    expect(angleOfVector(x, y)).toBe(Math.atan2(y, x));
  const random = mulberry32(4);
  for (let i = 0; i < 40000; i++) {
    const [x, y] = [random() - 0.5, (random() - 0.5) * [1, 1e-3, 1e3][i % 3]];
    const wanted = Math.atan2(y, x);
    near(angleOfVector(x, y), wanted, 6e-16 * Math.abs(wanted));
  }
  expect(angleOfVector(NaN, 1)).toBeNaN();
});

test("e to the x, within the range where an f32 is not 0 or infinite", () => {
  near(exp(1), Math.E, 5e-16);
  near(exp(-0.5), 0.6065306597126334, 2e-16);
  const random = mulberry32(5);
  for (let i = 0; i < 40000; i++) {
    const x = (random() - 0.5) * [1, 30, 250][i % 3];
    near(exp(x), Math.exp(x), 5e-16 * Math.exp(x));
  }
  expect(exp(0)).toBe(1);
  expect(exp(-1e9)).toBe(exp(-150));
  expect(exp(1e9)).toBe(exp(130));
  expect(exp(NaN)).toBeNaN();
});

test("bits are the same on every machine", () => {
  const random = mulberry32(6);
  const values = Float64Array.from({ length: 4000 }, (_, i) => {
    const x = (random() - 0.5) * [1, 7, 90, 200000][i % 4];
    writeCosSin(x, turn);
    return [turn[0], turn[1], angleOfVector(x, random() - 0.5), exp(x / 1000)][(i >> 2) % 4];
  });
  expect(crc32(new Uint8Array(values.buffer))).toBe(508605499);
});
