import { gzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import { ConfigError } from "../../../src/core/errors.ts";
import { createDecoderSync } from "../../../src/whole/decoder.ts";
import { createArchiveDecoder } from "../../../src/entries/node.ts";
import { packingOf, readArchiveConfig } from "../../../src/node/files/archive.ts";
import { readInput } from "../../../src/node/files/read.ts";
import { fixture, readFixture } from "../../support/files.ts";
import { block, header, octal } from "../../support/tar.ts";

const load = (name: string) => readFixture(`files/${name}`);

test.each(["nnarchive.tar", "nnarchive.tar.gz", "nnarchive.tar.xz"])("%s", async (name) => {
  const text = await readArchiveConfig(await load(name), name);
  expect(JSON.parse(text)).toMatchObject({
    config_version: "1.0",
    model: { metadata: { name: "yolov8n" } },
  });
  expect(await readInput(fixture(`files/${name}`))).toEqual({
    kind: "config",
    path: fixture(`files/${name}`),
    text,
  });
});

test.each(["nnarchive.tar", "nnarchive.tar.gz", "nnarchive.tar.xz"])(
  "createArchiveDecoder(%s) decodes as its config.json does",
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

test("packingOf tells tar, gzip and xz by their first bytes", async () => {
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

test("several archives unpack at once, though they share one xz decoder", async () => {
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

test("reads long names of GNU and pax, and an archive without empty blocks at its end", async () => {
  const long = `${"d".repeat(120)}/config.json`;
  const cut = [header("cut", octal(2)), block("{}")];
  const gnu = Buffer.concat([header("././@LongLink", octal(long.length), "L"), block(long), ...cut]);
  expect(await readArchiveConfig(gnu, "x")).toBe("{}");
  const record = `${String(long.length + 10)} path=${long}\n`;
  const pax = Buffer.concat([header("pax", octal(record.length), "x"), block(record), ...cut]);
  expect(await readArchiveConfig(pax, "x")).toBe("{}");
});

test("skips a value of pax that looks like a record", async () => {
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
    /"config.json": got 512 bytes, expected 900: the archive is cut short/,
  ],
  [
    "a config too large",
    () => header("config.json", octal(2 ** 26 + 1)),
    /"config.json": got 67108865 bytes, expected at most 67108864/,
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
    /got damaged data/,
  ],
  [
    "gzip whose checksum is wrong, behind the config",
    async () => (await load("nnarchive.tar.gz")).map((b, i, all) => (i === all.length - 8 ? b ^ 1 : b)),
    /got damaged data \(incorrect data check\), expected a whole file/,
  ],
  [
    "gzip that is cut behind the config",
    async () => (await load("nnarchive.tar.gz")).slice(0, -9),
    /got damaged data \(unexpected end of file\), expected a whole file/,
  ],
  [
    "xz whose index is damaged, behind the config",
    async () => (await load("nnarchive.tar.xz")).map((b, i, all) => (i === all.length - 16 ? b ^ 1 : b)),
    /got damaged data/,
  ],
  [
    "a small archive that unpacks to very much behind its config",
    () => gzipSync(Buffer.concat([header("config.json", octal(2)), block("{}"), Buffer.alloc(80 << 20)])),
    /x.tar: got more than 6\d{7} bytes unpacked, expected fewer/,
  ],
  ["cut xz", async () => (await load("nnarchive.tar.xz")).slice(0, 400), /got damaged data/],
])("refuses %s", async (_, make, message) => {
  const bytes = await make();
  await expect(readArchiveConfig(bytes, "x.tar")).rejects.toThrow(ConfigError);
  await expect(readArchiveConfig(bytes, "x.tar")).rejects.toThrow(message);
});

test("names the package that is missing", async () => {
  vi.doMock("xz-decompress", () => {
    throw new Error("Cannot find package");
  });
  await expect(readArchiveConfig(await load("nnarchive.tar.xz"), "x")).rejects.toThrow(
    /expected the optional package that unpacks it: npm install xz-decompress/,
  );
  vi.doUnmock("xz-decompress");
});
