import { expect, test } from "vitest";
import { TensorError } from "../../../src/core/errors.ts";
import { parseNpy } from "../../../src/node/files/npy.ts";
import { parseNpz } from "../../../src/node/files/npz.ts";
import { readFixture } from "../../support/files.ts";
import { dict, npy } from "../../support/npy.ts";

const load = (name: string) => readFixture(`files/${name}`);

/** Contents of every NumPy fixture. */
const EIGHTHS = Float32Array.from({ length: 24 }, (_, i) => i / 8);

test.each(["c", "fortran", "big-endian", "version2", "version3"])(
  "reads what NumPy wrote: %s.npy",
  async (name) => {
    const tensor = parseNpy(await load(`${name}.npy`), "t");
    expect(tensor).toEqual({ name: "t", type: "f32", dims: [2, 3, 4], data: EIGHTHS });
  },
);

test.each([
  ["<f8", "f64", Float64Array],
  ["<f2", "f16", Uint16Array],
  ["|u1", "u8", Uint8Array],
  ["|i1", "i8", Int8Array],
  ["<i2", "i16", Int16Array],
  ["<u2", "u16", Uint16Array],
  ["<i4", "i32", Int32Array],
  ["<u4", "u32", Uint32Array],
  ["<i8", "i64", BigInt64Array],
] as const)("reads elements of type %s", (descr, type, array) => {
  const data = new array(2);
  const tensor = parseNpy(npy(dict(`'${descr}'`, "(2,)"), new Uint8Array(data.buffer)), "t");
  expect(tensor).toEqual({ name: "t", type, dims: [2], data });
});

test("reads a scalar, an empty array, and sizes as Python 2 wrote them", () => {
  expect(parseNpy(npy(dict("'<f4'", "()"), new Uint8Array(4)), "t").dims).toEqual([]);
  expect(parseNpy(npy(dict("'<f4'", "(0, 5)")), "t").data.length).toBe(0);
  expect(parseNpy(npy(dict("'|u1'", "(2L, 1L)"), new Uint8Array(2)), "t").dims).toEqual([2, 1]);
});

test.each<[string, Uint8Array, RegExp]>([
  ["another file", Uint8Array.of(1, 2, 3, 4, 5, 6, 7), /expected \\x93NUMPY/],
  ["cut after the version", npy("").subarray(0, 8), /got 8 bytes, expected at least 10/],
  ["version 9", npy("", undefined, 9), /got .npy version 9, expected 1, 2 or 3/],
  [
    "a header past the end",
    npy(dict("'<f4'", "(1,)")).subarray(0, 20),
    /got a header of 58 bytes, expected at most 10/,
  ],
  [
    "a header of 4 GiB",
    Uint8Array.of(0x93, 78, 85, 77, 80, 89, 2, 0, 255, 255, 255, 255, 123),
    /got a header of 4294967295 bytes/,
  ],
  ["a struct", npy(dict("[('a', '<f4')]", "(1,)"), new Uint8Array(4)), /no usable 'descr'/],
  ["booleans", npy(dict("'|b1'", "(1,)"), new Uint8Array(1)), /got dtype "\|b1", expected one of f4/],
  ["complex numbers", npy(dict("'<c8'", "(1,)"), new Uint8Array(8)), /got dtype "<c8"/],
  ["a Python object", npy(dict("'|O'", "(1,)"), new Uint8Array(8)), /got dtype "\|O"/],
  ["a negative size", npy(dict("'<f4'", "(-1,)")), /got shape \[-1\]/],
  ["sizes whose product overflows", npy(dict("'<f4'", "(4294967296, 4294967296)")), /2\^53/],
  ["no sizes", npy(dict("'<f4'", "(1 2)")), /got shape \[NaN\]/],
  [
    "too little data",
    npy(dict("'<f4'", "(2,)"), new Uint8Array(7)),
    /got 7 bytes of data, expected 8 \(f32\[2\]\)/,
  ],
  ["too much data", npy(dict("'<f4'", "(2,)"), new Uint8Array(9)), /got 9 bytes of data, expected 8/],
  [
    "a huge shape",
    npy(dict("'<f4'", "(1000000000, 1000)"), new Uint8Array(4)),
    /got 4 bytes of data, expected 4000000000000/,
  ],
])("refuses %s", (_, bytes, message) => {
  expect(() => parseNpy(bytes, "t")).toThrow(TensorError);
  expect(() => parseNpy(bytes, "t")).toThrow(message);
});

test("a name that was left out is named, and not printed as undefined", async () => {
  const bytes = await load("c.npy");
  expect(() => parseNpy(bytes, undefined as never)).toThrow("name of the tensor: got nothing, expected text");
  expect(() => parseNpz(bytes, 5 as never)).toThrow("name of the file: got 5, expected text");
});
