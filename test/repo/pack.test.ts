/** The packer and the unpacker of the binaries: what goes in comes out, for the kernel and for bytes of any kind. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pack } from "../../scripts/pack.mjs";
import { ends, packed } from "../../src/engine/kernel.ts";
import { kernelSource } from "../../src/engine/binary.ts";
import { unpack } from "../../src/engine/unpack.ts";

const file = (name: string): Uint8Array => new Uint8Array(readFileSync(`build/${name}.wasm`));

describe("the kernel inside the package", () => {
  test.each(["scalar", "simd"] as const)("is the file of %s", (kind) => {
    expect(kernelSource(kind)).toEqual(file(kind));
  });
  test("simd needs only its own part of the text", () => {
    expect(unpack(packed.slice(0, Math.ceil(packed.length * 0.85)), ends.simd)).toEqual(file("simd"));
  });
  test("is text that no minifier has to escape", () => {
    expect(packed).toMatch(/^[(-[\]-|]+$/);
  });
});

describe("pack and unpack", () => {
  const back = (data: Uint8Array): Uint8Array => unpack(pack(data), data.length);
  test.each([
    ["nothing", []],
    ["one byte", [7]],
    ["zeros", new Array<number>(1500).fill(0)],
    ["255s", new Array<number>(1500).fill(255)],
    ["a count", Array.from({ length: 3000 }, (_, i) => i & 255)],
    ["a long repeat", Array.from({ length: 3000 }, (_, i) => ((i % 1400) * 77) & 255)],
    [
      "constants and vector operands",
      Array.from({ length: 2000 }, (_, i) => [253, 12, 67, 68, 253, 84, 32][i % 7]),
    ],
  ])("%s", (_, bytes) => {
    expect(back(Uint8Array.from(bytes))).toEqual(Uint8Array.from(bytes));
  });
  test("any bytes", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.nat(255), fc.nat(3)), { maxLength: 400 }), (bytes) => {
        expect(back(Uint8Array.from(bytes))).toEqual(Uint8Array.from(bytes));
      }),
      { numRuns: 60 },
    );
  });
  test("the same bytes give the same text", () => {
    expect(pack(file("scalar"))).toBe(pack(file("scalar")));
  });
  test("more bytes than a distance can span are refused", () => {
    expect(() => pack(new Uint8Array(65536))).toThrow("got 65536 bytes, expected at most 65535");
  });
});
