import { expect, test } from "vitest";
import { TensorError } from "../../../src/core/errors.ts";
import { parseNpz } from "../../../src/node/files/npz.ts";
import { readFixture } from "../../support/files.ts";
import { dict, npy } from "../../support/npy.ts";
import { type Lie, zip } from "../../support/zip.ts";

const load = (name: string) => readFixture(`files/${name}`);

/** Contents of every NumPy fixture. */
const EIGHTHS = Float32Array.from({ length: 24 }, (_, i) => i / 8);

test("reads what NumPy wrote, stored and deflated", async () => {
  expect(parseNpz(await load("stored.npz"), "x")).toEqual([
    { name: "boxes", type: "f32", dims: [2, 3, 4], data: EIGHTHS },
    { name: "scores", type: "f16", dims: [2, 3, 4], data: expect.any(Uint16Array) as Uint16Array },
    { name: "ids", type: "i64", dims: [2], data: BigInt64Array.of(-1n, 2n ** 40n) },
  ]);
  expect(parseNpz(await load("deflated.npz"), "x")).toEqual([
    { name: "boxes", type: "f32", dims: [2, 3, 4], data: EIGHTHS },
    { name: "zeros", type: "u8", dims: [50, 100], data: new Uint8Array(5000) },
  ]);
});

const data = npy(dict("'|u1'", "(1,)"), Uint8Array.of(7));
const crc = 0x1b0cf7b2; // of `data`, by Python's zlib
const one = (lie: Lie = {}) => zip([{ name: "t.npy", data, crc, lie }]);

test("reads an archive written by hand", () => {
  expect(parseNpz(one(), "x")).toEqual([{ name: "t", type: "u8", dims: [1], data: Uint8Array.of(7) }]);
  expect(parseNpz(one({ method: 0 }), "x")[0].data).toEqual(Uint8Array.of(7));
});

test("skips files that are not .npy", () => {
  expect(parseNpz(zip([{ name: "readme.txt", data, crc: 1 }]), "x")).toEqual([]);
});

test.each<[string, () => Uint8Array, RegExp]>([
  ["no end", () => zip([], { cut: true }), /without its end record/],
  ["zip64", () => zip([{ name: "t.npy", data, crc }], { start: 0xffffffff }), /got a zip64 archive/],
  ["a zip64 entry", () => one({ size: 0xffffffff }), /got a zip64 entry/],
  [
    "a directory past the end",
    () => zip([{ name: "t.npy", data, crc }], { start: 1e6 }),
    /got no file at byte -\d+/,
  ],
  [
    "more entries than there are",
    () => zip([{ name: "t.npy", data, crc }], { count: 3 }),
    /got no entry at byte \d+, expected entry 1 of 3/,
  ],
  [
    "a name twice",
    () =>
      zip([
        { name: "t.npy", data, crc },
        { name: "t.npy", data, crc },
      ]),
    /got t.npy twice/,
  ],
  ["encryption", () => one({ flags: 1 }), /got an encrypted zip entry/],
  ["another method", () => one({ method: 14 }), /got compression method 14, expected stored or deflated/],
  ["a wrong checksum", () => one({ crc: 1 }), /got checksum 1b0cf7b2, expected 00000001/],
  ["a size too small", () => one({ size: 3 }), /got deflate data that do not unpack .*, expected 3 bytes/],
  ["a size too large", () => one({ size: 9000 }), /got \d+ bytes unzipped, expected 9000/],
  ["an impossible size", () => one({ size: 2e9 }), /got a declared size of 2000000000, expected at most/],
  [
    "packed data past the end",
    () => one({ packed: 170 }),
    /got 170 bytes at byte \d+, expected at most \d+: cut short/,
  ],
  [
    "entries that share their bytes",
    () =>
      zip(
        Array.from({ length: 4 }, (_, i) => ({
          name: `${i}.npy`,
          data,
          crc,
          lie: { offset: 0, packed: 300 },
        })),
      ),
    /packed bytes together, expected at most/,
  ],
  ["a local header elsewhere", () => one({ offset: 5 }), /got no file at byte 5/],
  [
    "damaged deflate",
    () => {
      const b = one();
      b.fill(255, 40, 60);
      return b;
    },
    /do not unpack|unzipped|checksum/,
  ],
])("refuses %s", (_, make, message) => {
  expect(() => parseNpz(make(), "x")).toThrow(TensorError);
  expect(() => parseNpz(make(), "x")).toThrow(message);
});
