/** The conversions of core/number.ts by the definition of the formats, and with the bits of the TypeScript engine. */
import { expect, test } from "vitest";
import { FN_SIGMOID, TYPE_F16 } from "../../src/core/abi.ts";
import { memoryOf } from "../../src/core/memory.ts";
import { dequantise, halfToFloat, numbersOf, rangeOf, sigmoid } from "../../src/core/number.ts";
import { specOf } from "../../src/core/tensor.ts";
import { activate } from "../../src/engine/ts/box.ts";
import { scratch32 } from "../../src/engine/ts/registers.ts";
import { load, value } from "../../src/engine/ts/value.ts";

/** Returns what IEEE 754 says that 16 bits stand for. */
function halfByDefinition(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return (sign * fraction) / 2 ** 24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

test("all 65,536 half floats, with bits above them, in core and in both loads of the engine", () => {
  const m = memoryOf(new ArrayBuffer(16));
  const wrong: number[] = [];
  for (let bits = 0; bits < 65536; bits++) {
    const expected = halfByDefinition(bits);
    m.i32[0] = 0x7fff0000 | bits;
    load(m, TYPE_F16, 0, 0, 0);
    const found = [halfToFloat(bits), halfToFloat(0x10000 | bits), value(m, TYPE_F16, 0, 1, 0), scratch32[0]];
    if (!found.every((x) => Object.is(x, expected))) wrong.push(bits);
  }
  expect(wrong).toEqual([]);
});

test("sigmoid is that of the engine, to the bit", () => {
  for (let x = -40; x <= 40; x += 0.37) {
    scratch32[0] = x;
    const rounded = scratch32[0];
    activate(FN_SIGMOID, 0);
    expect(Math.fround(sigmoid(rounded))).toBe(scratch32[0]);
  }
});

test("integers are rounded to f32 at each step", () => {
  expect(dequantise(200, 0.5, 100)).toBe(50);
  expect(dequantise(-3, 0.1, -128)).toBe(Math.fround(125 * Math.fround(0.1)));
  expect(dequantise(16777217, 1, 0)).toBe(16777216);
});

test("the range of a type, and the numbers of a tensor", () => {
  const spec = specOf("t", { dims: [3], type: "u8", scale: 0.5, zeroPoint: 2 });
  expect(rangeOf(spec)).toEqual([-1, 126.5]);
  expect(numbersOf(spec, Uint8Array.of(0, 2, 255))).toEqual([-1, 0, 126.5]);
});
