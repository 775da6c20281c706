import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { crc32 } from "../../../src/core/crc32.ts";
import { TensorError } from "../../../src/core/errors.ts";
import { compilePlan } from "../../../src/entries/node.ts";
import { packingOf } from "../../../src/node/files/archive.ts";
import { parseNpz } from "../../../src/node/files/npz.ts";
import { parseTensors } from "../../../src/node/files/parse.ts";
import { mergeTensors, readInput, readTensors } from "../../../src/node/files/read.ts";
import { writeSafetensors } from "../../../src/node/files/safetensors.ts";
import { readFixture, tempFolder } from "../../support/files.ts";
import { dict, npy } from "../../support/npy.ts";
import { zip } from "../../support/zip.ts";

const { path: pathOf, put } = tempFolder();
const load = (name: string) => readFixture(`files/${name}`);

test("readTensors tells the format by the bytes, gzipped or not", async () => {
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

test("readInput tells a config by its bytes, whatever its name", async () => {
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

test("a list with a mistake in one entry counts as a list", async () => {
  const list = await put("half.json", [
    { name: "a", file: "a.bin", dtype: "u8", shape: [1] },
    { name: "b", dtype: "u8", shape: [1] },
  ]);
  await expect(readInput(list)).rejects.toThrow(/half.json: \[1\]: got file nothing, expected the name/);
});

test("refuses files of other formats by their first bytes", async () => {
  await expect(
    readInput(await put("photo.png", Buffer.from("\x89PNG\r\n\x1a\n0000", "latin1"))),
  ).rejects.toThrow(
    /photo.png: got a file that begins with 89 50 4e 47 0d 0a 1a 0a, expected .npy, .npz, .safetensors, or .bin/,
  );
  await expect(readInput(await put("none.npy", ""))).rejects.toThrow(
    /none.npy: got an empty file, expected .npy/,
  );
  await expect(readInput(await put("none.safetensors", ""))).rejects.toThrow(/got 0 bytes, expected 8/);
  const checkpoint = zip([{ name: "archive/data.pkl", data: Uint8Array.of(7), crc: 0x4c2750bd }]);
  for (const [name, said] of [
    ["model.zip", /model.zip: got a zip without a .npy file in it, expected an .npz file/],
    ["model.pt", /model.pt: got a zip; a PyTorch checkpoint .* export the network to ONNX first/],
  ] as const)
    await expect(readInput(await put(name, checkpoint))).rejects.toThrow(said);
});

test("refuses a plan file in place of tensors or a config", async () => {
  const plan = compilePlan(
    { family: "yolov8", classes: 2, inputSize: [64, 64] },
    { outputs: [{ name: "o", dims: [1, 6, 84] }] },
  );
  const said =
    /plan.* is a plan file, and plans are for loadPlan of boxwright.plan. Pass tensors, or the config that the plan was/;
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

test("refuses the JSON beside a raw tensor, and names the raw file", async () => {
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
      `${path} describes a raw tensor. Pass the tensor, ${pathOf(file)}: the description is read with it.`,
    );
    if (written) expect(await readTensors(pathOf(file))).toHaveLength(1);
  }
});

test("errors name the path of a damaged file, and its entry in an archive", async () => {
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

test("refuses files that cannot be read, and tensors of the same name", async () => {
  await expect(readInput(pathOf("absent.npy"))).rejects.toThrow(
    /absent.npy cannot be read: there is no such file or folder./,
  );
  await expect(readInput(pathOf("."))).rejects.toThrow(/cannot be read: it is a folder./);
  const st = writeSafetensors([{ name: "t", type: "u8", dims: [1], data: Uint8Array.of(1) }]);
  const [a, b] = [await put("1.safetensors", st), await put("2.safetensors", st)];
  await expect(readTensors(a, b)).rejects.toThrow(
    /tensor "t" is in .*1.safetensors and again in .*2.safetensors. Each name may occur once./,
  );
  await expect(
    readInput(await put("bad.npy.gz", gzipSync(Buffer.alloc(500)).subarray(0, 15))),
  ).rejects.toThrow(/got damaged gzip data/);
  await expect(readInput(await put("latin.json", Uint8Array.of(0xe4)))).rejects.toThrow(/not UTF-8/);
});

test("mergeTensors joins tensors in order, skips configs, and refuses a name twice", () => {
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
    expect(() => mergeTensors(none as [])).toThrow(
      /got inputs .*, expected a list of what readInput returns/,
    );
  expect(() => packingOf(null as unknown as Uint8Array)).toThrow("got null, expected the bytes of the file");
  expect(() => mergeTensors([file("a", "x", "y"), file("b", "y")])).toThrow(
    new TensorError('tensor "y" is in a and again in b. Each name may occur once.'),
  );
});
