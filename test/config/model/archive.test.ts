import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { XzReadableStream } from "xz-decompress";
import { createDecoderSync, readModel } from "../../../src/entries/index.ts";
import { tar } from "../../support/archives.ts";
import { problemsOf } from "../../support/model-files.ts";

const fixture = (packing: string): Uint8Array =>
  readFileSync(fileURLToPath(new URL(`../../fixtures/files/nnarchive.${packing}`, import.meta.url)));

const config = {
  config_version: "1.0",
  model: {
    metadata: { name: "pose" },
    inputs: [
      {
        name: "image",
        dtype: "uint8",
        input_type: "image",
        shape: [1, 3, 32, 64],
        layout: "NCHW",
        preprocessing: { mean: [0, 0, 0], scale: [255, 255, 255] },
      },
    ],
    outputs: [{ name: "output", dtype: "float32", shape: [1, -1, 6] }],
    heads: [
      { parser: "YOLO", metadata: { classes: ["a"], subtype: "yolov8", n_keypoints: 17, strides: [8, 16] } },
    ],
  },
};
const text = JSON.stringify(config);
const packed = (bytes: Uint8Array): Uint8Array => Uint8Array.from(gzipSync(bytes));

test.each(["tar", "tar.gz", "tar.xz"])("reads an archive that GNU tar wrote: .%s", async (packing) => {
  const model = await readModel(fixture(packing), { unxz: (stream) => new XzReadableStream(stream) });
  expect(model).toMatchObject({
    format: "nn-archive",
    task: "detect",
    names: ["a", "b", "c", "d"],
    inputSize: [160, 96],
    missing: [],
  });
  expect(createDecoderSync(model).config).toEqual(createDecoderSync(model.archive).config);
  expect(createDecoderSync(model).config).toMatchObject({ format: "nn-archive", subtype: "yolov8" });
});

test("says what the config says of the network", async () => {
  const model = await readModel(tar([{ name: "config.json", data: text }]));
  expect(model).toMatchObject({ description: "pose", task: "pose", keypoints: [17, 3], stride: 16 });
  expect(model.input).toMatchObject({
    name: "image",
    type: "u8",
    layout: "NCHW",
    normalisation: { mean: [0, 0, 0], std: [255, 255, 255] },
  });
  expect(model.outputs).toMatchObject([{ name: "output", dims: [1, null, 6], type: "f32" }]);
  expect(model.archive).toEqual(config);
});

test("finds the config behind other files, in a folder, and behind a long name", async () => {
  const long = "x".repeat(200);
  const before = [
    { name: "net.onnx", data: new Uint8Array(5000) },
    { name: "././@LongLink", kind: "L", data: `${long}\0` },
    { name: long, data: "x" },
  ];
  const model = await readModel(packed(tar([...before, { name: "archive/config.json", data: text }])));
  expect(model.description).toBe("pose");
});

test("a config that no decoder reads is told when the decoder is made", async () => {
  const heads = [{ parser: "XFeatMonoParser", metadata: {} }];
  const data = JSON.stringify({ ...config, model: { ...config.model, heads } });
  const model = await readModel(tar([{ name: "config.json", data }]));
  expect(model.missing[0].message).toContain("XFeatMonoParser");
  expect(() => createDecoderSync(model)).toThrow(model.missing[0].message);
});

describe("refuses", () => {
  const archive = tar([{ name: "config.json", data: text }]);
  test.each([
    [
      "no config",
      tar([{ name: "net.blob", data: "x" }]),
      "archive: got no config.json (net.blob), expected an NN Archive",
    ],
    [
      "a config that is no JSON",
      tar([{ name: "config.json", data: "{" }]),
      "config.json: got text that is not JSON",
    ],
    ["a config that is cut short", archive.slice(0, 600), "archive: config.json: got 88 bytes, expected"],
    [
      "a header that is cut short",
      tar([
        { name: "a", data: "x".repeat(600) },
        { name: "b", data: "" },
      ]).slice(0, 2000),
      "got a tar header of 464 bytes",
    ],
    [
      "too large a config",
      tar([{ name: "config.json", data: " ".repeat((1 << 20) + 1) }]),
      "archive: config.json: got 1048577 bytes, expected at most 1048576",
    ],
    [
      "too long a name",
      tar([{ name: "x", kind: "x", data: "1".repeat(9000) }]),
      "archive: x: got 9000 bytes, expected at most 8192",
    ],
    [
      "300 files",
      tar(Array.from({ length: 300 }, (_, i) => ({ name: `f${i}`, data: "" }))),
      "more than 256 files without a config.json",
    ],
    ["a damaged gzip", packed(archive).map((b, i) => (i > 40 ? b ^ 85 : b)), "archive: got damaged data"],
    [
      "a gzip whose checksum is wrong, behind the config",
      packed(archive).map((b, i, all) => (i === all.length - 8 ? b ^ 1 : b)),
      "archive: got damaged data",
    ],
    [
      "a small archive that unpacks to very much behind its config",
      packed(Buffer.concat([archive.slice(0, 1024), new Uint8Array(80 << 20)])),
      "archive: got more than 6",
    ],
    ["half a gzip", packed(archive).slice(0, 60), "archive: got"],
    [
      "an xz without the option",
      fixture("tar.xz"),
      "got an archive packed with xz, expected gzip or none, or the option unxz",
    ],
  ])("%s", async (_, bytes, message) => {
    expect(await problemsOf(bytes)).toContain(message);
  });

  test("a small file that unpacks to very much before its config", async () => {
    const bomb = packed(tar([{ name: "net.onnx", data: new Uint8Array(80 << 20) }]));
    expect(bomb.length).toBeLessThan(200_000);
    expect(await problemsOf(bomb)).toContain(
      "archive: net.onnx: got 83886080 bytes at 512, expected at most 6",
    );
  });
});
