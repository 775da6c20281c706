import { TYPE_F16, TYPE_F32, TYPE_I16, TYPE_I32, TYPE_I8, TYPE_U8 } from "../../src/core/abi";
import { finite, halfKey, halfToFloat, value } from "../value";

/** Returns the number that the format defines for the bits of an f16. */
function meant(bits: i32): f64 {
  const exponent = (bits >> 10) & 31;
  const fraction = <f64>(bits & 1023);
  const sign: f64 = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction == 0 ? sign * Infinity : NaN;
  if (exponent == 0) return sign * fraction * 2.0 ** -24;
  return sign * (1 + fraction / 1024) * 2.0 ** (<f64>exponent - 15);
}

describe("half floats, all 65,536 patterns", () => {
  test("mean what the format says", () => {
    let wrong = 0;
    for (let bits = 0; bits < 65536; bits++) {
      const got = <f64>halfToFloat(<u32>bits);
      const want = meant(bits);
      if (isNaN(want) ? !isNaN(got) : got != want) wrong++;
    }
    expect(wrong).toBe(0);
  });

  test("keep the sign of zero", () => {
    expect(reinterpret<u32>(halfToFloat(0x8000))).toBe(0x80000000);
    expect(reinterpret<u32>(halfToFloat(0))).toBe(0);
  });

  test("keys order as the numbers do, NaN below minus infinity", () => {
    let wrong = 0;
    for (let bits = 0; bits < 65536; bits++) {
      const x = halfToFloat(<u32>bits);
      const k = halfKey(bits);
      if (isNaN(x)) {
        if (k >= halfKey(0xfc00)) wrong++;
        continue;
      }
      // Compare with the next larger number, and with random others.
      for (let j = 0; j < 8; j++) {
        const other = j == 0 ? (bits + 1) & 0xffff : (bits * 40503 + j * 8191) & 0xffff;
        const y = halfToFloat(<u32>other);
        if (isNaN(y)) continue;
        if (x < y && !(k < halfKey(other))) wrong++;
        if (x > y && !(k > halfKey(other))) wrong++;
      }
    }
    expect(wrong).toBe(0);
  });
});

describe("values", () => {
  test("of every type", () => {
    const at = heap.alloc(16);
    store<f32>(at, 0.75);
    expect(value(TYPE_F32, at, 9, 9)).toBe(0.75);
    store<u16>(at, 0xb800);
    expect(value(TYPE_F16, at, 9, 9)).toBe(-0.5);
    store<u8>(at, 200);
    expect(value(TYPE_U8, at, 0.5, 100)).toBe(50);
    store<i8>(at, -100);
    expect(value(TYPE_I8, at, 0.5, -20)).toBe(-40);
    store<i16>(at, -3000);
    expect(value(TYPE_I16, at, 0.25, 1000)).toBe(-1000);
    store<i32>(at, 1 << 24);
    expect(value(TYPE_I32, at, 1, 0)).toBe(16777216);
    heap.free(at);
  });

  test("finite", () => {
    expect(finite(0)).toBe(true);
    expect(finite(f32.MAX_VALUE)).toBe(true);
    expect(finite(NaN)).toBe(false);
    expect(finite(Infinity)).toBe(false);
    expect(finite(-Infinity)).toBe(false);
  });
});
