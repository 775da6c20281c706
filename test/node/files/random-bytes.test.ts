/** Whatever the bytes, readers return tensors or throw their own kind of error. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { ConfigError, TensorError } from "../../../src/core/errors.ts";
import { readArchiveConfig } from "../../../src/node/files/archive.ts";
import { parseNpy } from "../../../src/node/files/npy.ts";
import { parseNpz } from "../../../src/node/files/npz.ts";
import { parseTensors } from "../../../src/node/files/parse.ts";
import { readFixture } from "../../support/files.ts";
import { repeats } from "../../support/effort.ts";

const load = (name: string) => readFixture(`files/${name}`);

test("values that are not bytes are refused", () => {
  for (const parse of [parseTensors, parseNpy, parseNpz])
    for (const given of [
      new ArrayBuffer(200),
      new Float32Array(9),
      "a.npy",
      null,
      undefined,
      () => 1,
      Symbol("a"),
      1n,
    ])
      expect(() => parse(given as unknown as Uint8Array, "x")).toThrow(
        /^x: got .*, expected the bytes of the file, a Uint8Array$/,
      );
});

const check = (bytes: Uint8Array) => {
  try {
    parseTensors(bytes, "x");
  } catch (e) {
    expect(e).toBeInstanceOf(TensorError);
  }
};
test("random bytes behind the first bytes of each format", () => {
  const start = fc.constantFrom("", "\x93NUMPY\x01\x00", "\x93NUMPY\x02\x00", "PK\x03\x04", "PK\x05\x06");
  fc.assert(
    fc.property(start, fc.uint8Array({ maxLength: 300 }), (s, rest) =>
      check(new Uint8Array(Buffer.concat([Buffer.from(s, "latin1"), rest]))),
    ),
    { numRuns: repeats(3000, 500) },
  );
});

test.each(["c.npy", "fortran.npy", "version2.npy", "stored.npz", "deflated.npz"])(
  "%s with bytes changed or cut",
  async (name) => {
    const bytes = await load(name);
    const change = fc.tuple(fc.nat({ max: bytes.length - 1 }), fc.nat({ max: 255 }));
    fc.assert(
      fc.property(
        fc.option(fc.nat({ max: bytes.length })),
        fc.array(change, { maxLength: 4 }),
        (end, changes) => {
          const copy = bytes.slice(0, end ?? undefined);
          for (const [at, value] of changes) if (at < copy.length) copy[at] = value;
          check(copy);
        },
      ),
      { numRuns: repeats(1500, 300) },
    );
  },
);

test.each(["nnarchive.tar", "nnarchive.tar.gz", "nnarchive.tar.xz"])(
  "%s with bytes changed or cut",
  async (name) => {
    const bytes = await load(name);
    const used = Math.min(bytes.length, 2048);
    const change = fc.tuple(fc.nat({ max: used - 1 }), fc.nat({ max: 255 }));
    await fc.assert(
      fc.asyncProperty(
        fc.option(fc.nat({ max: used })),
        fc.array(change, { maxLength: 3 }),
        async (end, changes) => {
          const copy = bytes.slice(0, end ?? undefined);
          for (const [at, value] of changes) if (at < copy.length) copy[at] = value;
          await readArchiveConfig(copy, "x").catch((e: unknown) => expect(e).toBeInstanceOf(ConfigError));
        },
      ),
      { numRuns: repeats(400, 100) },
    );
  },
);
