import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { TensorError } from "../../../src/core/errors.ts";
import { ELEMENTS } from "../../../src/core/tensor.ts";
import { elementType, parseTensorList } from "../../../src/node/files/bin.ts";
import { parseTensors } from "../../../src/node/files/parse.ts";
import { readTensors } from "../../../src/node/files/read.ts";
import { writeSafetensors } from "../../../src/node/files/safetensors.ts";
import type { FileElementType } from "../../../src/node/files/tensor.ts";
import { tempFolder } from "../../support/files.ts";

const { put } = tempFolder();
const values = Float32Array.of(1, 2, 3, 4, 5, 6);
const bytes = new Uint8Array(values.buffer);

test("reads a list, gzipped or not, in the spellings of several tools", async () => {
  await put("a.bin", bytes);
  await put("b.bin.gz", gzipSync(bytes));
  const list = await put("list.json", {
    tensors: [
      {
        name: "a",
        file: "a.bin",
        dtype: "fp32",
        dims: [2, 3],
        storage_order: "NHWC",
        scale: 1,
        zero_point: 0,
      },
      { name: "b", file: "b.bin", dtype: "int8", shape: [24], scale: 0.5, zeroPoint: -1 },
    ],
  });
  expect(await readTensors(list)).toEqual([
    { name: "a", type: "f32", dims: [2, 3], data: values, order: "NHWC", scale: 1, zeroPoint: 0 },
    {
      name: "b",
      type: "i8",
      dims: [24],
      data: new Int8Array(bytes.slice().buffer),
      scale: 0.5,
      zeroPoint: -1,
    },
  ]);
});

test("a scale of 0 counts as none", async () => {
  const list = [{ file: "zero.bin", dtype: "f32", shape: [6], scale: 0, zero_point: 0 }];
  await put("zero.bin", bytes);
  const [tensor] = await readTensors(await put("zero-list.json", list));
  expect(tensor).toEqual({ name: "zero", type: "f32", dims: [6], data: values, zeroPoint: 0 });
  const st = writeSafetensors([{ ...tensor, scale: 0 }]);
  expect(parseTensors(st, "x")).toEqual([tensor]);
});

test("reads a raw file with a description of its own", async () => {
  await put("lone.json", { dtype: "float32", shape: [3, 2] });
  expect(await readTensors(await put("lone.bin", bytes))).toEqual([
    { name: "lone", type: "f32", dims: [3, 2], data: values },
  ]);
});

test("reads a raw file that a list in its folder names", async () => {
  await put("tensors.json", [{ name: "out", file: "listed.bin", dtype: "f32", shape: [6] }]);
  expect((await readTensors(await put("listed.bin", bytes)))[0].name).toBe("out");
  await expect(readTensors(await put("unlisted.bin", bytes))).rejects.toThrow(
    /unlisted.bin is raw data without a description. Put unlisted.bin.json or unlisted.json beside it/,
  );
});

test.each<[string, unknown, RegExp]>([
  ["no list", { a: 1 }, /expected a list of \{name, file, dtype, shape\}/],
  ["a number", [3], /\[0\]: got 3/],
  ["no file", [{ name: "a", dtype: "f32", shape: [1] }], /got file nothing/],
  [
    "a file elsewhere",
    [{ file: "../../etc/passwd", dtype: "u8", shape: [1] }],
    /expected one inside the list's own folder/,
  ],
  ["a file at the root", [{ file: "/etc/passwd", dtype: "u8", shape: [1] }], /expected one inside/],
  ["no type", [{ file: "a.bin", shape: [1] }], /a: got dtype nothing, expected one of f32/],
  ["a type like a method", [{ file: "a.bin", dtype: "constructor", shape: [1] }], /got dtype "constructor"/],
  ["no shape", [{ file: "a.bin", dtype: "f32" }], /got shape nothing/],
  ["a huge shape", [{ file: "a.bin", dtype: "f32", shape: [1e300] }], /got shape \[1e\+300\]/],
  [
    "a name twice",
    [
      { file: "a.bin", dtype: "f32", shape: [1] },
      { file: "b/a.bin", dtype: "f32", shape: [1] },
    ],
    /got tensor "a" twice/,
  ],
  [
    "a scale that is none",
    [{ file: "a.bin", dtype: "u8", shape: [1], scale: -1 }],
    /got scale -1, expected a positive number/,
  ],
  [
    "a zero point that is none",
    [{ file: "a.bin", dtype: "u8", shape: [1], zero_point: "x" }],
    /got zero point "x"/,
  ],
  ["an order that is none", [{ file: "a.bin", dtype: "u8", shape: [1], order: 7 }], /got order 7/],
])("refuses %s", (_, json, message) => {
  expect(() => parseTensorList(json, "list.json")).toThrow(TensorError);
  expect(() => parseTensorList(json, "list.json")).toThrow(message);
});

test("elementType knows the spellings of core/tensor.ts, each wide type for itself", () => {
  const spelled: Record<FileElementType, string> = {
    f32: "f32 fp32 float float32",
    f16: "f16 fp16 float16 half",
    f64: "f64 fp64 float64 double",
    u8: "u8 uint8 u8f U8F uint8clamped",
    i8: "i8 int8",
    u16: "u16 uint16",
    i16: "i16 int16",
    u32: "u32 uint32",
    i32: "i32 int int32 INT32",
    i64: "i64 int64 bigint64",
  };
  for (const [type, words] of Object.entries(spelled))
    for (const word of words.split(" ")) expect({ word, type: elementType(word) }).toEqual({ word, type });
  // an element of 64 bits that no file can hold is not read as another
  for (const word of ["u64", "uint64", "biguint64", "", " ", "bool", "constructor", null, 32])
    expect({ word, type: elementType(word) }).toEqual({ word, type: null });
  const known = new Set(Object.values(spelled).join(" ").split(" "));
  for (const word of Object.values(ELEMENTS).flatMap((e) => e.names.split(" ")))
    expect(known.has(word) || /u.*64/.test(word)).toBe(true);
});

test("refuses a raw file whose length does not fit its shape", async () => {
  await put("short.json", { dtype: "f32", shape: [7] });
  await expect(readTensors(await put("short.bin", bytes))).rejects.toThrow(
    /short: got 24 bytes in short.bin, expected 28 \(f32\[7\]\)/,
  );
});
