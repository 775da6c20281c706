import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { crc32 as zlibCrc32 } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as A from "../../src/core/abi.ts";
import { run } from "../../src/node/cli/run.ts";
import { compilePlan, cSource, standaloneKernel } from "../../src/planfile/write.ts";
import { crc32 } from "../../src/core/crc32.ts";
import { readScalarKernel } from "../../src/node/kernel.ts";
import { PAGE } from "../../src/engine/choose.ts";
import { readTensors } from "../../src/node/files.ts";
import { createDecoderSync } from "../../src/entries/index.ts";
import * as F from "../../src/planfile/format.ts";
import type { DecoderOptions, TensorData } from "../../src/entries/index.ts";
import { givenPriors, toHalf } from "../support/seeded-networks.ts";

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

interface Kernel {
  memory: { buffer: ArrayBuffer };
  abiVersion(): number;
  decode(plan: number): number;
}

/** What any host does with a plan file: copy its beginning, fill slots, decode, read columns; by the tables alone. */
function host(file: Uint8Array, tensors: Readonly<Record<string, Float32Array>>) {
  const word = (at: number, index: number) =>
    new DataView(file.buffer, file.byteOffset).getUint32(at + 4 * index, true);
  const text = (at: number) => new TextDecoder().decode(file.subarray(at, file.indexOf(0, at)));
  const memoryBytes = word(0, F.F_MEMORY_BYTES);
  const kernel = standaloneKernel(readScalarKernel(), Math.ceil(memoryBytes / PAGE));
  const instance = new WebAssembly.Instance(new WebAssembly.Module(kernel));
  const { memory, abiVersion, decode } = instance.exports as unknown as Kernel;
  expect(abiVersion()).toBe(word(0, F.F_ABI));
  expect(memory.buffer.byteLength).toBeGreaterThanOrEqual(memoryBytes);
  new Uint8Array(memory.buffer).fill(0xa5);
  new Uint8Array(memory.buffer).set(file.subarray(0, word(0, F.F_IMAGE_BYTES)));
  const slots = Array.from({ length: word(0, F.F_SLOTS) }, (_, i) => {
    const row = word(0, F.F_SLOT_TABLE) + i * F.SLOT_WORDS * 4;
    const name = text(word(row, F.S_NAME));
    const dims = Array.from({ length: word(row, F.S_RANK) }, (_, k) => word(row, F.S_DIM_0 + k));
    expect(word(row, F.S_BYTES)).toBe(tensors[name].byteLength);
    new Float32Array(memory.buffer, word(row, F.S_ADDRESS), tensors[name].length).set(tensors[name]);
    return { name, dims };
  });
  const images = Array.from({ length: word(0, F.F_IMAGES) }, (_, i) => {
    const row = word(0, F.F_IMAGE_TABLE) + i * F.IMAGE_WORDS * 4;
    const n = decode(word(row, F.I_PLAN));
    expect(new Int32Array(memory.buffer)[word(row, F.I_PLAN) / 4 + A.P_DETECTIONS]).toBe(n);
    return {
      boxes: new Float32Array(memory.buffer, word(row, F.I_BOXES), 4 * n).slice(),
      scores: new Float32Array(memory.buffer, word(row, F.I_SCORES), n).slice(),
      labels: new Int32Array(memory.buffer, word(row, F.I_CLASS_IDS), n).slice(),
      sources: new Uint32Array(memory.buffer, word(row, F.I_SOURCES), n).slice(),
    };
  });
  const labels = Array.from({ length: word(0, F.F_LABELS) }, (_, i) =>
    text(word(word(0, F.F_LABEL_TABLE), i)),
  );
  return { slots, images, labels };
}

const random = (n: number, seed: number) => {
  let state = seed;
  return Float32Array.from(
    { length: n },
    () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32,
  );
};

describe("plan files", () => {
  test.each(["astronaut", "chelsea", "coffee"])(
    "yolo-fastest %s, as createDecoder answers",
    async (photo) => {
      const config = await readFile(fixture("yolo-fastest-1.1/config.json"), "utf8");
      const list = await readTensors(fixture(`yolo-fastest-1.1/${photo}/meta.json`));
      const options: DecoderOptions = { activation: "logits", conventions: "opencv" };
      const { bytes } = compilePlan(config, { ...options, outputs: list });
      const got = host(bytes, Object.fromEntries(list.map((t) => [t.name, t.data as Float32Array])));
      const decoder = createDecoderSync(config, options);
      const want = decoder.decode(Object.fromEntries(list.map((t) => [t.name, t])));
      const n = want.length;
      expect(n).toBeGreaterThan(0);
      expect(got.images).toEqual([
        {
          boxes: want.boxes.slice(0, 4 * n),
          scores: want.scores.slice(0, n),
          labels: want.classIds.slice(0, n),
          sources: want.sources.slice(0, n),
        },
      ]);
      expect(got.slots.map((s) => s.dims)).toEqual(list.map((t) => t.dims));
      expect(got.labels[want.classIds[0]]).toBe(want.toArray()[0].label);
    },
  );

  test("a batch has a plan block and columns for each image", () => {
    const config = { family: "yolov5", classes: 2, inputSize: [64, 64], labels: ["a", "\u{1f43c}"] };
    const data = random(2 * 60 * 7, 7).map((x, i) => (i % 7 < 4 ? x * 40 : x));
    const { bytes } = compilePlan(config, { outputs: { out: { dims: [2, 60, 7] } } });
    const got = host(bytes, { out: data });
    const want = createDecoderSync(config).decodeBatch({
      out: { data, dims: [2, 60, 7] },
    });
    expect(got.images.map((i) => i.boxes)).toEqual(want.map((d) => d.boxes.slice(0, 4 * d.length)));
    expect(want.map((d) => d.length).every((n) => n > 0)).toBe(true);
    expect(got.labels).toEqual(["a", "\u{1f43c}"]);
  });

  test("the checksum is CRC-32", () => {
    const crc = zlibCrc32 as ((data: Uint8Array) => number) | undefined;
    const bytes = Uint8Array.from({ length: 999 }, (_, i) => (i * 7) & 255);
    // the check value that every description of CRC-32 gives
    expect(crc32(new TextEncoder().encode("123456789"))).toBe(0xcbf43926);
    if (crc !== undefined) expect(crc32(bytes)).toBe(crc(bytes));
    const { bytes: file } = compilePlan(
      { family: "yolov8", classes: 1, inputSize: [64, 64] },
      { outputs: [{ dims: [1, 5, 84] }] },
    );
    expect(new DataView(file.buffer).getUint32(F.F_CHECK * 4, true)).toBe(
      crc32(file.subarray(F.F_FILE_BYTES * 4)),
    );
    expect(file.length % 4).toBe(0);
    expect(file[file.length - 1]).toBe(0);
  });

  test("prior boxes may come as a tensor that is at hand", () => {
    const priors = random(4 * 30, 3).map((x, i) => (i % 4 < 2 ? x * 0.5 : 0.5 + x * 0.5));
    const outputs = {
      loc: { dims: [1, 120], data: random(120, 5) },
      conf: { dims: [1, 60], data: random(60, 6) },
      mbox_priorbox: { dims: [1, 1, 120], data: priors },
    };
    const config = {
      family: "ssd",
      classes: 2,
      inputSize: [300, 300],
      variances: [0.1, 0.1, 0.2, 0.2],
      activation: "sigmoid",
      background: 0,
      roles: { boxes: "loc", scores: "conf", priors: "mbox_priorbox" },
    };
    const { bytes } = compilePlan(config, { outputs }, (name) => outputs[name as keyof typeof outputs].data);
    const want = createDecoderSync(config).decode(outputs);
    const got = host(bytes, { loc: outputs.loc.data, conf: outputs.conf.data, mbox_priorbox: priors });
    expect(want.length).toBeGreaterThan(0);
    expect(got.images[0].boxes).toEqual(want.boxes.slice(0, 4 * want.length));
  });

  test.each<[string, unknown, DecoderOptions, RegExp]>([
    ["no shapes", { family: "yolov8", classes: 1 }, {}, /outputs: got none, expected name, shape and type/],
    [
      "a zero in a name",
      { family: "yolov8", classes: 1, inputSize: [64, 64] },
      { outputs: [{ name: "a\0b", dims: [1, 5, 84] }] },
      /output name: got .*, expected one without a zero/,
    ],
    [
      "half a pixel",
      { family: "yolov8", classes: 1, inputSize: [64.5, 64] },
      { outputs: [{ dims: [1, 5, 84] }] },
      /inputSize: got \[64\.5,64\], expected \[width, height\] in whole pixels/,
    ],
    [
      "a shape that fits nothing",
      { family: "yolov8", classes: 1, inputSize: [64, 64] },
      { outputs: [{ dims: [1, 7, 84] }] },
      /got output0 \[1,7,84\], expected/,
    ],
  ])("refused: %s", (_, config, options, message) => {
    expect(() => compilePlan(config, options)).toThrow(message);
  });

  test("C source says the same words", () => {
    const compiled = compilePlan(
      { family: "yolov8", classes: 1, inputSize: [64, 64] },
      { outputs: [{ name: "evil */ name", dims: [1, 5, 84] }] },
    );
    const source = cSource("tiny", compiled);
    const words = [...source.matchAll(/0x([0-9a-f]{8})u/g)].map((m) => parseInt(m[1], 16));
    expect(words).toEqual([...new Uint32Array(compiled.bytes.buffer)]);
    expect(source).toContain(`static const uint32_t tiny[${words.length}]`);
    expect(source).toContain(`tiny_memory_bytes = ${compiled.layout.bytes},`);
    // the comment ends where it should
    expect(source.indexOf("*/")).toBe(source.indexOf("\n */") + 2);
    // scratch that only other engines need is left out of memory, and nothing else changes its place
    const scalarOnly = compilePlan(
      { family: "yolov8", classes: 20, inputSize: [64, 64] },
      { outputs: [{ name: "o", dims: [1, 24, 84] }] },
      () => null,
      true,
    );
    const whole = compilePlan(
      { family: "yolov8", classes: 20, inputSize: [64, 64] },
      { outputs: [{ name: "o", dims: [1, 24, 84] }] },
    );
    expect(whole.layout.scratch).toBe(scalarOnly.layout.scratch);
    expect(whole.layout.bytes - scalarOnly.layout.bytes).toBeGreaterThan(20_000);
    expect(() => cSource("1st", compiled)).toThrow(/name: got "1st", expected a C identifier/);
  });
});

describe("boxwright compile", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "boxwright-compile-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function boxwright(...argv: string[]) {
    const chunks: (string | Uint8Array)[] = [];
    let err = "";
    const code = await run(argv, { out: (t) => void chunks.push(t), err: (t) => void (err += t) });
    return { code, chunks, out: chunks.map((c) => (typeof c === "string" ? c : "")).join(""), err };
  }
  const ssd = fixture("mobilenet-ssd/config.json");
  const shape = "detection_out:1x1x100x7:f32";

  test("bytes to standard output, or to a file, and the same from tensor files", async () => {
    const { code, chunks, err } = await boxwright("compile", ssd, "--outputs", shape);
    expect(code).toBe(0);
    expect(chunks).toHaveLength(1);
    expect(chunks[0]).toBeInstanceOf(Uint8Array);
    const { bytes } = compilePlan(await readFile(ssd, "utf8"), {
      outputs: [{ name: "detection_out", dims: [1, 1, 100, 7] }],
    });
    expect(chunks[0]).toEqual(bytes);
    expect(err).toMatch(/plan 1992 bytes \(read only\), memory \d+ bytes: up to 100 candidates/);
    const out = join(folder, "plan.bin");
    expect(
      await boxwright("compile", ssd, fixture("mobilenet-ssd/coffee/meta.json"), "--out", out),
    ).toMatchObject({ code: 0, chunks: [] });
    expect(new Uint8Array(await readFile(out))).toEqual(new Uint8Array(bytes));
  });

  test("shapes with a scale and a zero point, several in one list", async () => {
    const file = join(folder, "priors.json");
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

  test("--kernel: a module that stands alone", async () => {
    const kernel = join(folder, "kernel.wasm");
    expect(await boxwright("compile", ssd, "--outputs", shape, "--kernel", kernel)).toMatchObject({
      code: 0,
    });
    const module = new WebAssembly.Module(new Uint8Array(await readFile(kernel)));
    const { exports } = new WebAssembly.Instance(module);
    expect(Object.keys(exports).sort()).toEqual(["abiVersion", "decode", "memory", "nms", "scan", "sort"]);
    expect((exports.memory as Kernel["memory"]).buffer.byteLength).toBe(PAGE);
  });

  test.each<[string, string[], RegExp]>([
    ["no config", ["--outputs", shape], /got no config, expected a config file or archive, or --family/],
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
      "an engine",
      [ssd, "--outputs", shape, "--engine", "ts"],
      /got --engine, expected an option of compile: this is one of decode, draw\n/,
    ],
    [
      "an output twice",
      [ssd, "--outputs", shape, "--outputs", shape],
      /got tensor "detection_out" twice, expected each name once/,
    ],
    [
      "a shape beside its tensor",
      [ssd, fixture("mobilenet-ssd/coffee/meta.json"), "--outputs", shape],
      /got tensor "detection_out" twice/,
    ],
  ])("wrong usage: %s", async (_, argv, message) => {
    const { code, err, chunks } = await boxwright("compile", ...argv);
    expect(code).toBe(2);
    expect(err).toMatch(message);
    expect(chunks).toEqual([]);
  });

  test("a config that is no JSON is named", async () => {
    const config = join(folder, "bad.json");
    await writeFile(config, "{nonsense");
    const { code, err } = await boxwright("compile", config, "--outputs", shape);
    expect(code).toBe(1);
    expect(err).toContain(`boxwright: ${config}: got text that is not JSON`);
  });

  test("no shapes anywhere", async () => {
    expect(await boxwright("compile", ssd)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^boxwright: outputs: got none, expected/) as string,
    });
  });
});

test("the C header has the constants of abi.ts and format.ts", () => {
  const script = fileURLToPath(new URL("../../scripts/embedded-header.mjs", import.meta.url));
  const header = execFileSync(process.execPath, [script], { encoding: "utf8" });
  const defined = [...header.matchAll(/^#define BXW_(\w+) (-?\d+)/gm)].map(
    (m) => [m[1], Number(m[2])] as const,
  );
  expect(Object.fromEntries(defined)).toEqual({ ...A, ...F });
});

test("priors that the network gives are numbers, whatever their type", () => {
  const priorsOf = (p: { data: TensorData; type?: "f16" | "u8"; scale?: number }): number[] => {
    const { plan } = compilePlan(
      givenPriors,
      {
        outputs: [
          { name: "b", dims: [1, 2, 4] },
          { name: "s", dims: [1, 2, 2], order: "rows" as const },
          { name: "p", dims: [1, 2, 4], type: p.type ?? "f32", ...(p.scale ? { scale: p.scale } : {}) },
        ],
      },
      (name) => (name === "p" ? p.data : null),
    );
    return [...(plan.heads[0].priors as Float32Array)].map((v) => Number(v.toFixed(4)));
  };
  const numbers = [0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.125, 0.125];
  expect(priorsOf({ data: Float32Array.from(numbers) })).toEqual(numbers);
  expect(priorsOf({ data: Uint16Array.from(numbers, toHalf), type: "f16" as const })).toEqual(numbers);
  expect(
    priorsOf({ data: Uint8Array.from(numbers, (v) => v * 80), type: "u8" as const, scale: 1 / 80 }),
  ).toEqual(numbers);
});

test("a confidence for each class has one for each", () => {
  const boxes = {
    family: "boxes",
    boxFormat: "xyxy",
    coordinates: "normalised",
    confidenceThreshold: [0.9, 0.1],
  };
  const outputs = [
    { name: "b", dims: [1, 5, 4] },
    { name: "s", dims: [1, 5, 3], order: "rows" as const },
  ];
  expect(() => compilePlan(boxes, { outputs })).toThrow(
    "confidenceThreshold: got 2 values, expected 3, one per class",
  );
});
