/** Elements as the engine in TypeScript loads them: every half, and integers at every byte of a word. */
import { expect, test } from "vitest";
import * as A from "../../src/core/abi.ts";
import { memoryOf } from "../../src/core/memory.ts";
import { halfToFloat } from "../../src/core/number.ts";
import { SCORE, scratch32 } from "../../src/engine/ts/registers.ts";
import { halfKey, load, value } from "../../src/engine/ts/value.ts";

const memory = memoryOf(new ArrayBuffer(64));
/** Word of a scale, which the zero point follows. */
const SCALE_AT = 8;

test("every half is loaded as the number that it stands for", () => {
  const halves = new Uint16Array(memory.buffer);
  for (let bits = 0; bits < 65536; bits++) {
    halves[bits & 3] = bits;
    const at = 2 * (bits & 3);
    load(memory, A.TYPE_F16, at, SCALE_AT, SCORE);
    const expected = halfToFloat(bits);
    if (!Object.is(scratch32[SCORE], expected)) expect(scratch32[SCORE], String(bits)).toBe(expected);
    expect(Object.is(value(memory, A.TYPE_F16, at, 1, 0), expected)).toBe(true);
  }
});

test("keys of halves order like the numbers, NaN below all", () => {
  const all = Array.from({ length: 65536 }, (_, bits) => ({ key: halfKey(bits), x: halfToFloat(bits) }));
  const numbers = all.filter(({ x }) => !Number.isNaN(x)).sort((a, b) => a.x - b.x);
  for (let i = 1; i < numbers.length; i++) {
    const [a, b] = [numbers[i - 1], numbers[i]];
    if (a.x === b.x ? a.key !== b.key : a.key >= b.key)
      throw new Error(`${a.x} and ${b.x}: ${a.key}, ${b.key}`);
  }
  const nans = all.filter(({ x }) => Number.isNaN(x));
  expect(nans.length).toBe(2046);
  expect(Math.max(...nans.map(({ key }) => key))).toBeLessThan(numbers[0].key);
});

test.each([
  ["u8", A.TYPE_U8, Uint8Array.of(0, 1, 127, 128, 255, 3, 200, 77)],
  ["i8", A.TYPE_I8, Int8Array.of(0, -1, 127, -128, 5, -77, 100, -3)],
  ["i16", A.TYPE_I16, Int16Array.of(0, -1, 32767, -32768, 300, -300)],
  ["i32", A.TYPE_I32, Int32Array.of(0, -1, 2147483647, -2147483648)],
] as const)("%s at every place of a word, with a scale and a zero point", (_, type, numbers) => {
  new Uint8Array(memory.buffer).set(new Uint8Array(numbers.buffer));
  memory.f32[SCALE_AT] = 0.5;
  memory.f32[SCALE_AT + 1] = 3;
  numbers.forEach((x, i) => {
    load(memory, type, i * numbers.BYTES_PER_ELEMENT, SCALE_AT, SCORE);
    expect(scratch32[SCORE]).toBe(Math.fround(Math.fround(Math.fround(x) - 3) * 0.5));
  });
});
