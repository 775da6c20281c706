/** Numbers of raw elements: the host's conversions agree with those of the engines for every element. */
import { expect, test } from "vitest";
import { dequantise, halfToFloat, numbersOf, rangeOf } from "../../src/core/number.ts";
import { specOf } from "../../src/core/tensor.ts";
import * as engine from "../../src/engine/ts/value.ts";

test("every half float, and its published values", () => {
  for (let bits = 0; bits < 0x10000; bits++) expect(halfToFloat(bits)).toBe(engine.halfToFloat(bits));
  // smallest subnormal, largest subnormal, smallest normal, one third, the largest, both infinities
  expect([0x0001, 0x03ff, 0x0400, 0x3555, 0x7bff, 0x7c00, 0xfc00].map(halfToFloat)).toEqual([
    2 ** -24,
    1023 * 2 ** -24,
    2 ** -14,
    0.333251953125,
    65504,
    Infinity,
    -Infinity,
  ]);
  expect(halfToFloat(0x7c01)).toBeNaN();
  expect(halfToFloat(0x8000)).toBe(-0);
});

test("a quantised element is rounded to f32 at each step", () => {
  for (let raw = -128; raw < 256; raw++)
    expect(dequantise(raw, 0.0039, 128)).toBe(engine.dequantise(raw, 0.0039, 128));
  expect(dequantise(3, 0.1, 1)).toBe(Math.fround(2 * Math.fround(0.1)));
});

test("the range of a type, and the numbers of a tensor", () => {
  const spec = { ...specOf("t", { dims: [3], type: "u8", scale: 0.5, zeroPoint: 2 }) };
  expect(rangeOf(spec)).toEqual([-1, 126.5]);
  expect(numbersOf(spec, Uint8Array.of(0, 2, 255))).toEqual([-1, 0, 126.5]);
});
