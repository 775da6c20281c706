import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateRawSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ConfigError, TensorError } from "../../src/core/errors.ts";
import {
  elementType,
  parseNpy,
  parseNpz,
  parseTensorList,
  parseTensors,
  readArchiveConfig,
  readInput,
  readTensors,
  writeSafetensors,
} from "../../src/node/files.ts";
import { crc32 } from "../../src/core/crc32.ts";
import { createDecoderSync } from "../../src/decode/decoder.ts";
import { compilePlan, createArchiveDecoder, mergeTensors, packingOf } from "../../src/entries/node.ts";
import { ELEMENTS } from "../../src/core/tensor.ts";
import { dict, npy } from "../support/npy.ts";
import type { ElementType } from "../../src/node/files.ts";

const fixture = (name: string) => new URL(`../fixtures/files/${name}`, import.meta.url);
const load = async (name: string) => new Uint8Array(await readFile(fixture(name)));

/** What every NumPy fixture holds. */
const EIGHTHS = Float32Array.from({ length: 24 }, (_, i) => i / 8);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "boxwright-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function put(name: string, content: Uint8Array | string | object): Promise<string> {
  const path = join(folder, name);
  await writeFile(
    path,
    typeof content === "string" || content instanceof Uint8Array ? content : JSON.stringify(content),
  );
  return path;
}

describe(".npy", () => {
  test.each(["c", "fortran", "big-endian", "version2", "version3"])(
    "as NumPy writes it: %s",
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
  ] as const)("type %s", (descr, type, array) => {
    const data = new array(2);
    const tensor = parseNpy(npy(dict(`'${descr}'`, "(2,)"), new Uint8Array(data.buffer)), "t");
    expect(tensor).toEqual({ name: "t", type, dims: [2], data });
  });

  test("a scalar, an empty array, Python 2's long sizes", () => {
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
    ["no sizes", npy(dict("'<f4'", "(1 2)")), /got shape \[null\]/],
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
});

/** A zip by the letter of the format; each field can be lied about. */
interface Lie {
  method?: number;
  size?: number;
  packed?: number;
  crc?: number;
  flags?: number;
  offset?: number;
}
function zip(
  entries: { name: string; data: Uint8Array; crc: number; lie?: Lie }[],
  end: { count?: number; start?: number; cut?: boolean } = {},
): Uint8Array {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, data, crc, lie = {} } of entries) {
    const method = lie.method ?? 8;
    const packed = method === 8 ? deflateRawSync(data) : Buffer.from(data);
    const local = Buffer.alloc(30 + name.length);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    local.write(name, 30);
    const entry = Buffer.alloc(46 + name.length);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(lie.flags ?? 0, 8);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(lie.crc ?? crc, 16);
    entry.writeUInt32LE(lie.packed ?? packed.length, 20);
    entry.writeUInt32LE(lie.size ?? data.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(lie.offset ?? at, 42);
    entry.write(name, 46);
    locals.push(local, packed);
    directory.push(entry);
    at += local.length + packed.length;
  }
  const list = Buffer.concat(directory);
  const tail = Buffer.alloc(22);
  tail.writeUInt32LE(0x06054b50, 0);
  tail.writeUInt16LE(end.count ?? entries.length, 8);
  tail.writeUInt16LE(end.count ?? entries.length, 10);
  tail.writeUInt32LE(list.length, 12);
  tail.writeUInt32LE(end.start ?? at, 16);
  return new Uint8Array(Buffer.concat([...locals, list, end.cut ? tail.subarray(0, 10) : tail]));
}

describe(".npz", () => {
  test("as NumPy writes it, stored and deflated", async () => {
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

  test("the helper above makes a good file", () => {
    expect(parseNpz(one(), "x")).toEqual([{ name: "t", type: "u8", dims: [1], data: Uint8Array.of(7) }]);
    expect(parseNpz(one({ method: 0 }), "x")[0].data).toEqual(Uint8Array.of(7));
  });

  test("other files in it are left alone", () => {
    expect(parseNpz(zip([{ name: "readme.txt", data, crc: 1 }]), "x")).toEqual([]);
  });

  test.each<[string, () => Uint8Array, RegExp]>([
    ["no end", () => zip([], { cut: true }), /without its end record/],
    ["zip64", () => zip([{ name: "t.npy", data, crc }], { start: 0xffffffff }), /got a zip64 archive/],
    ["a zip64 entry", () => one({ size: 0xffffffff }), /got a zip64 entry/],
    [
      "a directory past the end",
      () => zip([{ name: "t.npy", data, crc }], { start: 1e6 }),
      /got a zip directory of bytes 1000000/,
    ],
    [
      "more entries than there are",
      () => zip([{ name: "t.npy", data, crc }], { count: 3 }),
      /got 1 entries in the zip directory, expected 3/,
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
    ["another method", () => one({ method: 14 }), /got zip method 14, expected 0 \(stored\) or 8/],
    ["a wrong checksum", () => one({ crc: 1 }), /got checksum 1b0cf7b2, expected 00000001/],
    ["a size too small", () => one({ size: 3 }), /does not unpack to the expected 3 bytes/],
    ["a size too large", () => one({ size: 9000 }), /got \d+ bytes unzipped, expected 9000/],
    ["an impossible size", () => one({ size: 2e9 }), /got a declared size of 2000000000, expected at most/],
    ["packed data past the end", () => one({ packed: 170 }), /got \d+ bytes of zipped data, expected 170/],
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
    ["a local header elsewhere", () => one({ offset: 5 }), /got no zip entry at byte 5/],
    [
      "damaged deflate",
      () => {
        const b = one();
        b.fill(255, 40, 60);
        return b;
      },
      /does not unpack|unzipped|checksum/,
    ],
  ])("refuses %s", (_, make, message) => {
    expect(() => parseNpz(make(), "x")).toThrow(TensorError);
    expect(() => parseNpz(make(), "x")).toThrow(message);
  });
});

describe(".bin with a JSON beside it", () => {
  const values = Float32Array.of(1, 2, 3, 4, 5, 6);
  const bytes = new Uint8Array(values.buffer);

  test("a list, gzipped or not, in the spellings of several tools", async () => {
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

  test("a scale of 0, as runtimes say of what is not quantised, is none", async () => {
    const list = [{ file: "zero.bin", dtype: "f32", shape: [6], scale: 0, zero_point: 0 }];
    await put("zero.bin", bytes);
    const [tensor] = await readTensors(await put("zero-list.json", list));
    expect(tensor).toEqual({ name: "zero", type: "f32", dims: [6], data: values, zeroPoint: 0 });
    const st = writeSafetensors([{ ...tensor, scale: 0 }]);
    expect(parseTensors(st, "x")).toEqual([tensor]);
  });

  test("a lone file and its description", async () => {
    await put("lone.json", { dtype: "float32", shape: [3, 2] });
    expect(await readTensors(await put("lone.bin", bytes))).toEqual([
      { name: "lone", type: "f32", dims: [3, 2], data: values },
    ]);
  });

  test("a file that a list in its folder names", async () => {
    await put("tensors.json", [{ name: "out", file: "listed.bin", dtype: "f32", shape: [6] }]);
    expect((await readTensors(await put("listed.bin", bytes)))[0].name).toBe("out");
    await expect(readTensors(await put("unlisted.bin", bytes))).rejects.toThrow(
      /no JSON beside it .* expected unlisted.bin.json or unlisted.json/,
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
    [
      "a type like a method",
      [{ file: "a.bin", dtype: "constructor", shape: [1] }],
      /got dtype "constructor"/,
    ],
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

  test("types are spelled as those of tensors are, in files each in its own width", () => {
    const spelled: Record<ElementType, string> = {
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

  test("a file of another length than its shape says", async () => {
    await put("short.json", { dtype: "f32", shape: [7] });
    await expect(readTensors(await put("short.bin", bytes))).rejects.toThrow(
      /short: got 24 bytes in short.bin, expected 28 \(f32\[7\]\)/,
    );
  });
});

describe("NN Archive", () => {
  test.each(["nnarchive.tar", "nnarchive.tar.gz", "nnarchive.tar.xz"])("%s", async (name) => {
    const text = await readArchiveConfig(await load(name), name);
    expect(JSON.parse(text)).toMatchObject({
      config_version: "1.0",
      model: { metadata: { name: "yolov8n" } },
    });
    expect(await readInput(fixture(name).pathname)).toEqual({
      kind: "config",
      path: fixture(name).pathname,
      text,
    });
  });

  test.each(["nnarchive.tar", "nnarchive.tar.gz", "nnarchive.tar.xz"])(
    "a decoder from the bytes of %s is that of its config.json",
    async (name) => {
      const bytes = await load(name);
      const text = await readArchiveConfig(bytes, name);
      const maps = (): object =>
        Object.fromEntries(
          [
            [12, 20],
            [6, 10],
            [3, 5],
          ].map(([h, w], i) => {
            const data = new Float32Array(9 * h * w);
            // distances of a cell each way, sure of the first cell and of class i
            data.fill(1, 0, 4 * h * w);
            data[4 * h * w] = 0.9;
            data[(5 + i) * h * w] = 0.75;
            return [`output${i + 1}_yolov6r2`, { data, dims: [1, 9, h, w] }];
          }),
        );
      for (const options of [{}, { engine: "ts", confidenceThreshold: 0.8 }] as const) {
        const [ours, theirs] = [await createArchiveDecoder(bytes, options), createDecoderSync(text, options)];
        expect(ours.describe()).toEqual(theirs.describe());
        const found = ours.decode(maps() as never).toArray();
        expect(found).toEqual(theirs.decode(maps() as never).toArray());
        // half a cell to the edge and a whole one the other way: of 20, 10 and 5 cells; nothing is above 0.8
        expect(found.map((d) => [d.label, Number(d.x_max.toFixed(5))])).toEqual(
          "engine" in options
            ? []
            : [
                ["a", 0.075],
                ["b", 0.15],
                ["c", 0.3],
              ],
        );
      }
    },
  );

  test.each([
    ["text", "x", 'got "x", expected the bytes of an NN Archive, a Uint8Array'],
    ["null", null, "got null, expected the bytes of an NN Archive, a Uint8Array"],
    [
      "other bytes",
      Uint8Array.of(1, 2, 3),
      "archive: got bytes that are no archive, expected .tar, .tar.gz or .tar.xz",
    ],
  ])("a decoder from %s is refused", async (_, bytes, message) => {
    const made = createArchiveDecoder(bytes as Uint8Array);
    await expect(made).rejects.toBeInstanceOf(ConfigError);
    await expect(made).rejects.toThrow(message);
  });

  test("how bytes are packed", async () => {
    for (const packing of ["tar", "gz", "xz"] as const)
      expect(packingOf(await load(packing === "tar" ? "nnarchive.tar" : `nnarchive.tar.${packing}`))).toBe(
        packing,
      );
    const tar = await load("nnarchive.tar");
    // a tar is known by the checksum of its first 512 bytes
    expect(packingOf(tar.slice(0, 512))).toBe("tar");
    expect(packingOf(tar.slice(0, 511))).toBeNull();
    tar[0] ^= 1;
    expect(packingOf(tar)).toBeNull();
    expect(packingOf(new Uint8Array(0))).toBeNull();
    expect(packingOf(await load("c.npy"))).toBeNull();
  });

  test("several at once share the one xz decoder", async () => {
    const bytes = await load("nnarchive.tar.xz");
    const cut = bytes.slice(0, 300);
    const results = await Promise.allSettled(
      [bytes, cut, bytes, cut, bytes].map((b) => readArchiveConfig(b, "x")),
    );
    expect(results.map((r) => r.status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
  });

  const header = (name: string, size: string, kind = "0") => {
    const h = Buffer.alloc(512);
    h.write(name, 0);
    h.write(size, 124);
    h.write(kind, 156);
    h.write("ustar\0", 257);
    h.write("        ", 148);
    h.write(
      `${h
        .reduce((a, b) => a + b, 0)
        .toString(8)
        .padStart(6, "0")}\0 `,
      148,
    );
    return h;
  };
  const octal = (n: number) => n.toString(8).padStart(11, "0");
  const block = (text: string) =>
    Buffer.concat([Buffer.from(text), Buffer.alloc((512 - (text.length % 512)) % 512)]);

  test("long names of GNU and pax, a folder, the end without empty blocks", async () => {
    const long = `${"d".repeat(120)}/config.json`;
    const gnu = Buffer.concat([
      header("././@LongLink", octal(long.length), "L"),
      block(long),
      header("cut", octal(2)),
      block("{}"),
    ]);
    expect(await readArchiveConfig(gnu, "x")).toBe("{}");
    const record = `${String(long.length + 10)} path=${long}\n`;
    const pax = Buffer.concat([
      header("pax", octal(record.length), "x"),
      block(record),
      header("cut", octal(2)),
      block("{}"),
    ]);
    expect(await readArchiveConfig(pax, "x")).toBe("{}");
  });

  test("a value of pax that looks like a record of its own is none", async () => {
    const record = "38 comment=path=evil\n11 path=other\n  \n";
    expect(record).toHaveLength(38);
    const pax = Buffer.concat([
      header("pax", octal(record.length), "x"),
      block(record),
      header("config.json", octal(2)),
      block("{}"),
    ]);
    expect(await readArchiveConfig(pax, "x")).toBe("{}");
  });

  test.each<[string, () => Promise<Uint8Array> | Uint8Array, RegExp]>([
    [
      "no archive",
      () => Buffer.from("hello"),
      /got bytes that are no archive, expected .tar, .tar.gz or .tar.xz/,
    ],
    [
      "no config",
      () => Buffer.concat([header("model.onnx", octal(3)), block("abc")]),
      /got no config.json \(model.onnx\)/,
    ],
    ["nothing", () => gzipSync(Buffer.alloc(1024)), /got no config.json \(the archive is empty\)/],
    [
      "a config too deep to be the archive's",
      () => Buffer.concat([header("a/b/config.json", octal(2)), block("{}")]),
      /got no config.json/,
    ],
    ["a cut header", () => gzipSync(header("a", octal(0)).subarray(0, 300)), /got a tar header of 300 bytes/],
    ["no tar inside", () => gzipSync(Buffer.alloc(2000, "x")), /got a tar header with a wrong checksum/],
    [
      "a cut config",
      () => Buffer.concat([header("config.json", octal(900)), block("{}")]),
      /got 512 bytes, expected 900: cut short/,
    ],
    [
      "a config too large",
      () => header("config.json", octal(2 ** 30)),
      /got 1073741824 bytes, expected at most/,
    ],
    [
      "a file too large",
      () => Buffer.concat([header("m", "77777777777\0"), header("m", "77777777777\0")]),
      /got no config.json|expected at most/,
    ],
    ["a size that is none", () => header("config.json", "-1"), /got tar size "-1", expected octal digits/],
    [
      "text that is not UTF-8",
      () => Buffer.concat([header("config.json", octal(2)), Buffer.alloc(512, 255)]),
      /not UTF-8/,
    ],
    [
      "cut gzip",
      () => gzipSync(Buffer.concat([header("m", octal(512)), Buffer.alloc(512, 7)])).subarray(0, 40),
      /got damaged gz data/,
    ],
    ["cut xz", async () => (await load("nnarchive.tar.xz")).slice(0, 400), /got damaged xz data/],
  ])("refuses %s", async (_, make, message) => {
    const bytes = await make();
    await expect(readArchiveConfig(bytes, "x.tar")).rejects.toThrow(ConfigError);
    await expect(readArchiveConfig(bytes, "x.tar")).rejects.toThrow(message);
  });

  test("says which package is missing", async () => {
    vi.doMock("xz-decompress", () => {
      throw new Error("Cannot find package");
    });
    await expect(readArchiveConfig(await load("nnarchive.tar.xz"), "x")).rejects.toThrow(
      /expected the optional package that unpacks it: npm install xz-decompress/,
    );
    vi.doUnmock("xz-decompress");
  });
});

describe("readInput and readTensors", () => {
  test("the format is told by content, also without an ending and gzipped", async () => {
    const bytes = await load("c.npy");
    expect(await readTensors(await put("boxes", bytes))).toMatchObject([{ name: "boxes", dims: [2, 3, 4] }]);
    expect(await readTensors(await put("boxes.npy.gz", gzipSync(bytes)))).toMatchObject([
      { name: "boxes", dims: [2, 3, 4] },
    ]);
    const st = writeSafetensors([{ name: "t", type: "u8", dims: [1], data: Uint8Array.of(1) }]);
    expect(await readTensors(await put("x.safetensors", st))).toMatchObject([{ name: "t" }]);
  });

  test("a JSON is a config, unless it lists tensors", async () => {
    expect(await readInput(await put("c1.json", { NN_config: {} }))).toMatchObject({ kind: "config" });
    expect(await readInput(await put("c2.json", "{broken"))).toMatchObject({
      kind: "config",
      text: "{broken",
    });
    await expect(readTensors(await put("c3.json", {}))).rejects.toThrow(
      /got a network's config, expected tensors/,
    );
  });

  test("a config is told by content too, whatever its name", async () => {
    for (const name of ["config", "config.txt", "NN.cfg"])
      expect(await readInput(await put(name, '\ufeff\n {"NN_config": {}}'))).toMatchObject({
        kind: "config",
      });
    const list = [{ name: "t", file: "t8.bin", dtype: "u8", shape: [1] }];
    await put("t8.bin", Uint8Array.of(7));
    expect(await readTensors(await put("list.txt", list))).toMatchObject([{ name: "t", dims: [1] }]);
    // 123 is the code of a brace, and the length of this header
    const header = '{"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'.padEnd(123);
    const st = Buffer.from(`${String.fromCharCode(123)}\0\0\0\0\0\0\0${header}\x07`, "latin1");
    expect(await readTensors(await put("braced", st))).toMatchObject([{ name: "t", dims: [1] }]);
  });

  test("a list with a mistake in one entry is a list", async () => {
    const list = await put("half.json", [
      { name: "a", file: "a.bin", dtype: "u8", shape: [1] },
      { name: "b", dtype: "u8", shape: [1] },
    ]);
    await expect(readInput(list)).rejects.toThrow(/half.json: \[1\]: got file nothing, expected the name/);
  });

  test("a file of another kind is called that, not a damaged one of ours", async () => {
    await expect(
      readInput(await put("photo.png", Buffer.from("\x89PNG\r\n\x1a\n0000", "latin1"))),
    ).rejects.toThrow(
      /photo.png: got a file that begins with 89 50 4e 47 0d 0a 1a 0a, expected .npy, .npz, .safetensors, or .bin/,
    );
    await expect(readInput(await put("none.npy", ""))).rejects.toThrow(
      /none.npy: got an empty file, expected .npy/,
    );
    await expect(readInput(await put("none.safetensors", ""))).rejects.toThrow(/got 0 bytes, expected 8/);
    await expect(
      readInput(
        await put("model.pt", zip([{ name: "archive/data.pkl", data: Uint8Array.of(7), crc: 0x4c2750bd }])),
      ),
    ).rejects.toThrow(/model.pt: got a zip with no .npy in it, expected an .npz file/);
  });

  test("a plan is told from raw data and from other files, packed or not, whatever stands beside it", async () => {
    const plan = compilePlan(
      { family: "yolov8", classes: 2, inputSize: [64, 64] },
      { outputs: [{ name: "o", dims: [1, 6, 84] }] },
    );
    const said =
      /plan.*: got a plan file, expected tensors or a config: pass the config that the plan was compiled from/;
    await put("plan.json", { family: "yolov8" });
    for (const [name, bytes] of [
      ["plan.bin", plan],
      ["plan.bin.gz", gzipSync(plan)],
      ["plan", plan],
      ["plan.safetensors", plan],
    ] as const)
      await expect(readInput(await put(name, bytes))).rejects.toThrow(said);
    expect(() => parseTensors(plan, "plan.npy")).toThrow(said);
  });

  test("the JSON beside a raw tensor is no config: the raw file is named", async () => {
    const about = { dtype: "float32", shape: [6] };
    const raw = new Uint8Array(24);
    for (const [json, file, written] of [
      ["d1.bin.json", "d1.bin", "d1.bin"],
      ["d2.json", "d2.bin", "d2.bin"],
      ["d3.json", "d3.raw", "d3.raw"],
      ["d4.json", "d4.bin.gz", "d4.bin.gz"],
      ["d5.raw.json", "d5.raw", null],
      ["d6.json", "d6.bin", null],
    ] as const) {
      if (written) await put(written, written.endsWith(".gz") ? gzipSync(raw) : raw);
      const path = await put(json, about);
      await expect(readInput(path)).rejects.toThrow(
        `${path}: got the JSON beside a raw tensor, expected the tensor: pass ${join(folder, file)}, and`,
      );
      if (written) expect(await readTensors(join(folder, file))).toHaveLength(1);
    }
  });

  test("a damaged file is named by its path, not by its tensor, and of an archive the entry too", async () => {
    const cut = (await load("c.npy")).subarray(0, 200);
    const path = await put("damaged.npy", cut);
    await expect(readTensors(path)).rejects.toThrow(`${path}: got 72 bytes of data, expected 96`);
    for (const [bytes, said] of [
      [npy(dict("'<c8'", "(1,)")), 'got dtype "<c8"'],
      [npy(dict("'<f4'", "(-1,)")), "got shape [-1]"],
      [npy("{}"), 'got header "{}"'],
      [npy("", undefined, 9), "got .npy version 9"],
    ] as const)
      expect(() => parseTensors(bytes, "a/b.npy")).toThrow(`a/b.npy: ${said}`);
    expect(parseTensors(await load("c.npy"), "a/b.npy")).toMatchObject([{ name: "b" }]);
    const bad = npy("{}");
    const crc = crc32(bad);
    expect(() => parseNpz(zip([{ name: "b.npy", data: bad, crc }]), "x.npz")).toThrow(
      "x.npz: b.npy: got header",
    );
  });

  test("errors of the file system and names claimed twice are said plainly", async () => {
    await expect(readInput(join(folder, "absent.npy"))).rejects.toThrow(
      /absent.npy: got no such file, expected a file that can be read/,
    );
    await expect(readInput(folder)).rejects.toThrow(/got a folder/);
    const st = writeSafetensors([{ name: "t", type: "u8", dims: [1], data: Uint8Array.of(1) }]);
    const [a, b] = [await put("1.safetensors", st), await put("2.safetensors", st)];
    await expect(readTensors(a, b)).rejects.toThrow(
      /got tensor "t" in .*1.safetensors and again in .*2.safetensors/,
    );
    await expect(
      readInput(await put("bad.npy.gz", gzipSync(Buffer.alloc(500)).subarray(0, 15))),
    ).rejects.toThrow(/got damaged gzip data/);
    await expect(readInput(await put("latin.json", Uint8Array.of(0xe4)))).rejects.toThrow(/not UTF-8/);
  });
});

describe("whatever the bytes, tensors or TensorError", () => {
  test("no bytes at all", () => {
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
  test("random bytes behind each format's first bytes", () => {
    const start = fc.constantFrom("", "\x93NUMPY\x01\x00", "\x93NUMPY\x02\x00", "PK\x03\x04", "PK\x05\x06");
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 300 }), (s, rest) =>
        check(new Uint8Array(Buffer.concat([Buffer.from(s, "latin1"), rest]))),
      ),
      { numRuns: 3000 },
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
        { numRuns: 1500 },
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
        { numRuns: 400 },
      );
    },
  );
});

test("tensors of several files are one list in their order, without configs, each name once", () => {
  const tensor = (name: string) => ({ name, dims: [1], type: "f32" as const, data: new Float32Array(1) });
  const file = (path: string, ...names: string[]) => ({
    kind: "tensors" as const,
    path,
    tensors: names.map(tensor),
  });
  const config = { kind: "config" as const, path: "config.json", text: "{}" };
  const names = mergeTensors([file("a", "y", "x"), config, file("b", "z")]).map((t) => t.name);
  expect(names).toEqual(["y", "x", "z"]);
  expect(mergeTensors([])).toEqual([]);
  for (const none of [null, [null], "x"])
    expect(() => mergeTensors(none as [])).toThrow(/got inputs .*, expected a list of what readInput gave/);
  expect(() => packingOf(null as unknown as Uint8Array)).toThrow("got null, expected the bytes of the file");
  expect(() => mergeTensors([file("a", "x", "y"), file("b", "y")])).toThrow(
    new TensorError('got tensor "y" in a and again in b, expected each name once'),
  );
});
