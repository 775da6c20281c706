import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { PAGE } from "../../../src/kernels/kernel.ts";
import { compilePlan } from "../../../src/planfile/write.ts";
import { boxwright } from "../../support/cli.ts";
import { fixture, tempFolder } from "../../support/files.ts";

const folder = tempFolder();
const ssd = fixture("mobilenet-ssd/config.json");
const shape = "detection_out:1x1x100x7:f32";

test("writes the plan to standard output or to a file, by shapes or by tensor files", async () => {
  const { code, chunks, err } = await boxwright("compile", ssd, "--outputs", shape);
  expect(code).toBe(0);
  expect(chunks).toHaveLength(1);
  expect(chunks[0]).toBeInstanceOf(Uint8Array);
  const { bytes } = compilePlan(await readFile(ssd, "utf8"), {
    outputs: [{ name: "detection_out", dims: [1, 1, 100, 7] }],
  });
  expect(chunks[0]).toEqual(bytes);
  expect(err).toMatch(/plan 2048 bytes \(read only\), memory \d+ bytes: up to 100 candidates/);
  const out = folder.path("plan.bin");
  expect(
    await boxwright("compile", ssd, fixture("mobilenet-ssd/coffee/meta.json"), "--out", out),
  ).toMatchObject({ code: 0, chunks: [] });
  expect(new Uint8Array(await readFile(out))).toEqual(new Uint8Array(bytes));
});

test("--outputs takes several shapes with scale and zero point", async () => {
  const file = folder.path("priors.json");
  await writeFile(
    file,
    JSON.stringify({ family: "yolov8", classes: 2, inputSize: [48, 32], reading: "dfl-grid" }),
  );
  const { code, chunks, err } = await boxwright(
      "compile", file, "--outputs", "boxes:1x64x4x6:i8:0.05,-3,scores:1x2x4x6:u8:0.03,200", "--c", "two",
    ); // prettier-ignore
  expect(err).toContain("slot 0: boxes [1,64,4,6] i8");
  expect(err).toContain("slot 1: scores [1,2,4,6] u8");
  expect(code).toBe(0);
  expect(chunks[0]).toContain("two_slots = 2,");
});

test("--out with the name of C source needs --c: the bytes of a plan are none", async () => {
  const out = folder.path("plan.h");
  const { code, err } = await boxwright("compile", ssd, "--outputs", shape, "--out", out);
  expect(code).toBe(2);
  expect(err).toContain("plan.h would hold the bytes of a plan file. Add --c NAME for C source");
});

test("--kernel writes a module with a memory of its own", async () => {
  const kernel = folder.path("kernel.wasm");
  expect(await boxwright("compile", ssd, "--outputs", shape, "--kernel", kernel)).toMatchObject({
    code: 0,
  });
  const module = new WebAssembly.Module(new Uint8Array(await readFile(kernel)));
  const { exports } = new WebAssembly.Instance(module);
  expect(Object.keys(exports).sort()).toEqual([
    "abiVersion",
    "compare",
    "decode",
    "memory",
    "nms",
    "scan",
    "sort",
    "within",
  ]);
  expect((exports.memory as { buffer: ArrayBuffer }).buffer.byteLength).toBe(PAGE);
});

test.each<[string, string[], RegExp]>([
  [
    "no config",
    ["--outputs", shape],
    /no network is described. Pass a config file, an NN Archive, or --family and --classes/,
  ],
  [
    "a shape that is none",
    [ssd, "--outputs", "detection_out"],
    /--outputs: got "detection_out", expected shapes such as/,
  ],
  [
    "a name C does not allow",
    [ssd, "--outputs", shape, "--c", "a-b"],
    /--c: got "a-b", expected a name that C allows/,
  ],
  [
    "a word that C keeps for itself",
    [ssd, "--outputs", shape, "--c", "int"],
    /--c: got "int", expected a name that C allows/,
  ],
  [
    "an engine of a plan file",
    [ssd, "--outputs", shape, "--engine", "ts"],
    /--engine is for a module: --out detector.mjs. A plan file runs on each engine, where it is loaded.\n/,
  ],
  [
    "an output twice",
    [ssd, "--outputs", shape, "--outputs", shape],
    /tensor "detection_out" is given twice. Each name may occur once./,
  ],
  [
    "a shape beside its tensor",
    [ssd, fixture("mobilenet-ssd/coffee/meta.json"), "--outputs", shape],
    /tensor "detection_out" is given twice/,
  ],
])("wrong usage: %s", async (_, argv, message) => {
  const { code, err, chunks } = await boxwright("compile", ...argv);
  expect(code).toBe(2);
  expect(err).toMatch(message);
  expect(chunks).toEqual([]);
});

test("names a config that is not JSON", async () => {
  const config = folder.path("bad.json");
  await writeFile(config, "{nonsense");
  const { code, err } = await boxwright("compile", config, "--outputs", shape);
  expect(code).toBe(1);
  expect(err).toContain(`boxwright: ${config}: got text that is not JSON`);
});

test("refuses a config without shapes", async () => {
  expect(await boxwright("compile", ssd)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^boxwright: outputs: got none, expected/) as string,
  });
});
