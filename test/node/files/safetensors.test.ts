import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TensorError } from "../../../src/core/errors.ts";
import { readSafetensors, writeSafetensors } from "../../../src/node/files/safetensors.ts";
import {
  ELEMENT_TYPES,
  type NamedTensor,
  bytesPerElement,
  typedData,
} from "../../../src/node/files/tensor.ts";
import { repeats } from "../../support/effort.ts";

/** A file by the letter of the format, independent of the writer. */
function file(header: unknown, data: Uint8Array = new Uint8Array(0)): Uint8Array {
  const json = Buffer.from(typeof header === "string" ? header : JSON.stringify(header));
  const bytes = Buffer.alloc(8 + json.length + data.length);
  bytes.writeBigUInt64LE(BigInt(json.length));
  bytes.set(json, 8);
  bytes.set(data, 8 + json.length);
  return new Uint8Array(bytes);
}

/** A file whose header has these bytes, and no data. */
const header = (...bytes: number[]) => Uint8Array.of(bytes.length, 0, 0, 0, 0, 0, 0, 0, ...bytes);

const entry = (dtype: string, shape: unknown, data_offsets: unknown) => ({ dtype, shape, data_offsets });

const example: NamedTensor[] = [
  { name: "ids", type: "u8", dims: [3], data: Uint8Array.of(1, 2, 255) },
  { name: "758", type: "f32", dims: [1, 2], data: Float32Array.of(0.25, NaN), order: "NCHW" },
  {
    name: "größe \u{1f600} \"'\\",
    type: "i8",
    dims: [2, 2],
    data: Int8Array.of(-128, 0, 1, 127),
    scale: 0.0625,
    zeroPoint: -3,
  },
  { name: "__proto__", type: "i64", dims: [1], data: BigInt64Array.of(-(2n ** 60n)) },
  { name: "scalar", type: "f64", dims: [], data: Float64Array.of(Math.PI) },
  { name: "half", type: "f16", dims: [1, 1, 1], data: Uint16Array.of(0x3c00) },
  { name: "none", type: "f32", dims: [0, 7], data: new Float32Array(0) },
];

const byName = (tensors: NamedTensor[]) => [...tensors].sort((a, b) => (a.name < b.name ? -1 : 1));

test("reads a file written by the letter of the format", () => {
  const data = new Uint8Array(new Float32Array([1, 2, 3, 4, 5, 6]).buffer);
  const { tensors, metadata } = readSafetensors(
    file(
      { __metadata__: { format: "pt" }, b: entry("F32", [2, 2], [8, 24]), a: entry("F32", [2], [0, 8]) },
      data,
    ),
  );
  expect(metadata).toEqual({ format: "pt" });
  expect(tensors).toEqual([
    { name: "b", type: "f32", dims: [2, 2], data: Float32Array.of(3, 4, 5, 6) },
    { name: "a", type: "f32", dims: [2], data: Float32Array.of(1, 2) },
  ]);
});

test("reads back names, types, scales, order and metadata", () => {
  const bytes = writeSafetensors(example, { output_format: "raw", "kanji 字": "\u2028" });
  const { tensors, metadata } = readSafetensors(bytes);
  expect(byName(tensors)).toEqual(byName(example));
  expect(metadata).toEqual({ output_format: "raw", "kanji 字": "\u2028" });
});

test("writes an ASCII header and aligned tensors, which are read without a copy", () => {
  const bytes = writeSafetensors(example);
  const length = new DataView(bytes.buffer).getUint32(0, true);
  expect(length % 8).toBe(0);
  expect(bytes.subarray(8, 8 + length).every((b) => b < 0x80)).toBe(true);
  for (const { data } of readSafetensors(bytes).tensors) expect(data.buffer).toBe(bytes.buffer);
});

test("reads a file at an odd address", () => {
  const bytes = writeSafetensors(example);
  const shifted = new Uint8Array(bytes.length + 3).subarray(3);
  shifted.set(bytes);
  expect(byName(readSafetensors(shifted).tensors)).toEqual(byName(example));
});

test("writes a file without tensors, and refuses what is no list of tensors", () => {
  expect(readSafetensors(writeSafetensors([]))).toEqual({ tensors: [], metadata: {} });
  for (const [none, got] of [
    [null, "tensors null"],
    [[null], "tensor null"],
  ] as const)
    expect(() => writeSafetensors(none as unknown as [])).toThrow(`got ${got}, expected`);
  expect(readSafetensors(writeSafetensors([], { a: "b" }))).toEqual({ tensors: [], metadata: { a: "b" } });
});

describe("refuses", () => {
  const f32 = (shape: unknown, offsets: unknown, bytes = 8) =>
    file({ t: entry("F32", shape, offsets) }, new Uint8Array(bytes));
  const cases: [string, Uint8Array, RegExp][] = [
    ["nothing", new Uint8Array(0), /got 0 bytes, expected 8/],
    [
      "a header past the end",
      file({}).subarray(0, 9),
      /got a header of 2 bytes, expected at most the 1 that follow: is the file cut short/,
    ],
    [
      "a header of 2^63 bytes",
      Uint8Array.of(255, 255, 255, 255, 255, 255, 255, 127, 123, 125),
      /got a header of 9223372036854776000 bytes/,
    ],
    ["no JSON", file("{nonsense"), /got a header that is not JSON/],
    [
      "an overlong character",
      header(0xc0, 0x80),
      /safetensors: got a header that is not UTF-8, expected JSON/,
    ],
    ["a surrogate", header(0xed, 0xa0, 0x80), /not UTF-8/],
    ["a character above U+10FFFF", header(0xf4, 0x90, 0x80, 0x80), /not UTF-8/],
    ["a character that is cut short", header(0x7b, 0xe5, 0xad), /not UTF-8/],
    ["a byte order mark", header(0xef, 0xbb, 0xbf, 0x7b, 0x7d), /got a header that is not JSON/],
    ["a list", file([]), /got header \[\], expected an object/],
    [
      "a name twice",
      file(
        '{"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"\\u0074":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}',
      ),
      /got tensor "t" twice/,
    ],
    [
      "an unknown type",
      file({ t: entry("BF16", [1], [0, 2]) }, new Uint8Array(2)),
      /t: got dtype "BF16", expected one of F32 F16/,
    ],
    ["no shape", f32(undefined, [0, 8]), /got shape nothing, expected a list/],
    ["a negative size", f32([-2], [0, 8]), /got shape \[-2\], expected whole sizes/],
    ["a fraction", f32([1.5], [0, 8]), /got shape \[1.5\]/],
    ["sizes whose product overflows", f32([2 ** 30, 2 ** 30], [0, 8]), /expected at most 2\^53 - 1 elements/],
    ["the same behind a zero", f32([0, 2 ** 30, 2 ** 30], [0, 0], 0), /expected at most 2\^53 - 1 elements/],
    ["a huge shape", f32([2 ** 40], [0, 8]), /got 8 bytes of data, expected 4398046511104/],
    ["offsets that are none", f32([2], [0]), /got data_offsets \[0\]/],
    [
      "offsets past the end",
      f32([2], [0, 16], 8),
      /got data_offsets \[0,16\], expected \[begin, end\] within the 8 bytes of data: is the file cut short/,
    ],
    ["offsets backwards", f32([2], [8, 0]), /got data_offsets \[8,0\]/],
    ["too few bytes", f32([3], [0, 8]), /got 8 bytes of data, expected 12/],
    ["a hole", f32([1], [4, 8]), /got data from byte 4, expected 0/],
    ["data left over", f32([1], [0, 4]), /got 8 bytes of data, expected 4/],
    [
      "an overlap",
      file({ a: entry("U8", [3], [0, 3]), b: entry("U8", [2], [2, 4]) }, new Uint8Array(4)),
      /b: got data from byte 2, expected 3: tensors leave no holes and do not overlap/,
    ],
    [
      "metadata that are not texts",
      file({ __metadata__: { a: 1 } }),
      /__metadata__: got \{"a":1\}, expected an object of texts/,
    ],
    [
      "a scale below zero",
      file({ __metadata__: { "boxwright.tensors": '{"t":{"scale":-1}}' } }),
      /got scale -1, expected a positive number/,
    ],
    [
      "extras that are no JSON",
      file({ __metadata__: { "boxwright.tensors": "{" } }),
      /boxwright.tensors: got "\{"/,
    ],
    [
      "a shape nested without end",
      file(`{"t":{"dtype":"F32","shape":${"[".repeat(20000)}${"]".repeat(20000)},"data_offsets":[0,0]}}`),
      /expected whole sizes/,
    ],
  ];
  test.each(cases)("%s", (_, bytes, message) => {
    expect(() => readSafetensors(bytes)).toThrow(TensorError);
    expect(() => readSafetensors(bytes)).toThrow(message);
  });

  test("a tensor to write: a name twice, data that do not fit dims or type", () => {
    const t: NamedTensor = { name: "t", type: "f32", dims: [2], data: new Float32Array(2) };
    expect(() => writeSafetensors([t, t])).toThrow(/t: got this tensor name twice/);
    expect(() => writeSafetensors([{ ...t, name: "__metadata__" }])).toThrow(
      /__metadata__: this tensor name is reserved for metadata. Use another name./,
    );
    expect(() => writeSafetensors([{ ...t, dims: [3] }])).toThrow(
      /t: got 2 elements, expected 3 \(f32\[3\]\)/,
    );
    expect(() => writeSafetensors([{ ...t, type: "f16" }])).toThrow(
      /t: got data in Float32Array, expected Uint16Array for f16/,
    );
  });

  test("a tensor to write that would not read back as it is", () => {
    const t: NamedTensor = { name: "t", type: "f32", dims: [2], data: new Float32Array(2) };
    const write = (change: object) => () => writeSafetensors([{ ...t, ...change }]);
    // the words of ONNX Runtime
    expect(write({ type: "float32" })).toThrow(/t: got type "float32", expected one of f32 f16/);
    expect(write({ type: undefined })).toThrow(/t: got type nothing/);
    expect(write({ data: new Int32Array(2) })).toThrow(
      /got data in Int32Array, expected Float32Array for f32/,
    );
    expect(write({ data: [1, 2] })).toThrow(/got data in Array, expected Float32Array/);
    expect(write({ name: 5 })).toThrow(/got a tensor of name 5, expected text/);
    expect(write({ scale: NaN })).toThrow(/t: got scale NaN, expected a positive number/);
    expect(write({ order: 5 })).toThrow(/t: got order 5/);
    expect(() => writeSafetensors([t], { a: 5 as unknown as string })).toThrow(
      /metadata: __metadata__: got \{"a":5\}, expected an object of texts/,
    );
    expect(() => writeSafetensors([t], { "boxwright.tensors": "{}" })).toThrow(
      /metadata: the key "boxwright.tensors" is reserved. Use another key./,
    );
    const buffer = Buffer.from([1]);
    expect(
      readSafetensors(writeSafetensors([{ name: "b", type: "u8", dims: [1], data: buffer }])).tensors,
    ).toEqual([{ name: "b", type: "u8", dims: [1], data: Uint8Array.of(1) }]);
  });

  test("values that are not bytes", () => {
    expect(() => readSafetensors(new ArrayBuffer(20) as unknown as Uint8Array)).toThrow(
      /safetensors: got ArrayBuffer, expected the bytes of the file, a Uint8Array/,
    );
    expect(() => readSafetensors("x.safetensors" as unknown as Uint8Array)).toThrow(/got "x.safetensors"/);
  });
});

/** Any tensor: data are made from random bytes, so NaN payloads and every bit pattern occur. */
const tensor = fc
  .record({
    name: fc.string({ unit: "binary" }).filter((n) => n !== "__metadata__"),
    type: fc.constantFrom(...ELEMENT_TYPES),
    dims: fc.array(fc.nat({ max: 4 }), { maxLength: 4 }),
    scale: fc.option(fc.float({ min: Math.fround(1e-6), max: 10, noNaN: true }), { nil: undefined }),
    seed: fc.nat(),
  })
  .map(({ seed, scale, ...head }) => {
    const count = head.dims.reduce((a, b) => a * b, 1);
    const bytes = Uint8Array.from(
      { length: count * bytesPerElement(head.type) },
      (_, i) => (seed * 31 + i * 97) >>> 3,
    );
    return {
      ...head,
      data: typedData(head.type, bytes),
      ...(scale === undefined ? {} : { scale, zeroPoint: seed % 7 }),
    };
  });

test("any tensors are read back as they were written", () => {
  fc.assert(
    fc.property(fc.uniqueArray(tensor, { selector: (t) => t.name, maxLength: 6 }), (tensors) => {
      expect(byName(readSafetensors(writeSafetensors(tensors)).tensors)).toEqual(byName(tensors));
    }),
  );
});

/** The one promise for bytes of any kind. */
const neverThrowsElse = (bytes: Uint8Array) => {
  try {
    readSafetensors(bytes);
  } catch (e) {
    expect(e).toBeInstanceOf(TensorError);
  }
};

test("any bytes give tensors or a TensorError", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), neverThrowsElse), { numRuns: repeats(2000, 400) });
  fc.assert(
    fc.property(fc.string({ maxLength: 80 }), (s) => neverThrowsElse(file(s))),
    { numRuns: repeats(1000, 200) },
  );
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.string(),
        fc.record({
          dtype: fc.constantFrom("F32", "U8", "?"),
          shape: fc.anything(),
          data_offsets: fc.anything(),
        }),
      ),
      (h) => {
        neverThrowsElse(file(JSON.stringify(h) ?? ""));
      },
    ),
    { numRuns: repeats(1000, 200) },
  );
});

test("a damaged file gives tensors or a TensorError", () => {
  const bytes = writeSafetensors(example, { a: "b" });
  fc.assert(
    fc.property(
      fc.nat({ max: bytes.length }),
      fc.array(fc.tuple(fc.nat({ max: bytes.length - 1 }), fc.nat({ max: 255 })), { maxLength: 4 }),
      (end, changes) => {
        const copy = bytes.slice(0, end === 0 ? undefined : end);
        for (const [at, value] of changes) if (at < copy.length) copy[at] = value;
        neverThrowsElse(copy);
      },
    ),
    { numRuns: repeats(3000, 500) },
  );
});
