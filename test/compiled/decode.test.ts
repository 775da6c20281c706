/**
 * Modules that `boxwright compile --out detector.mjs` writes: the bytes of a decoder of the config, in both engines.
 * Reads the templates of dist/, which `npm test` builds first.
 */
import { readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type * as Compiled from "../../src/compiled/simd.ts";
import type { ElementType, TensorInput } from "../../src/core/tensor.ts";
import { type Detections, type Frame, createDecoderSync } from "../../src/entries/index.ts";
import { readTemplate } from "../../src/node/kernel.ts";
import { moduleSource, moduleTypes } from "../../src/planfile/module.ts";
import { compilePlan } from "../../src/planfile/write.ts";
import { boxwright } from "../support/cli.ts";
import { isThorough, repeats } from "../support/effort.ts";
import { fixture, tempFolder } from "../support/files.ts";
import { encode, kinds, mulberry32, numbersOf, quantisation } from "../support/seeded-networks.ts";

const folder = tempFolder();
type Tensors = Readonly<Record<string, TensorInput>>;

const rowsOf = ({ length: n, boxes, scores, classIds, sources, labels }: Detections) => ({
  boxes: boxes.slice(0, 4 * n),
  scores: scores.slice(0, n),
  classIds: classIds.slice(0, n),
  sources: sources.slice(0, n),
  labels,
});

const load = (file: string): Promise<typeof Compiled> =>
  import(/* @vite-ignore */ pathToFileURL(file).href) as Promise<typeof Compiled>;

const headsOf = (tensors: Tensors) =>
  Object.entries(tensors).map(([name, { dims, type, scale, zeroPoint, order }]) => ({
    name,
    dims,
    type,
    scale,
    zeroPoint,
    order,
  }));

function networkOf(kind: string, type: ElementType, turn: number): { config: object; tensors: Tensors } {
  const classes = /blazeface|one class/.test(kind) ? 1 : 3;
  const made = kinds[kind]({ w: 7, h: 5, classes, batch: 1, last: turn % 2 === 0 });
  const random = mulberry32(7 + turn);
  const tensors = made.tensors.map((part) => {
    const own = part.parts.some((p) => !["box", "score", "objectness"].includes(p)) ? "f32" : type;
    const q = quantisation(own, made.probabilities);
    const data = encode(numbersOf(part, random, "mixed", made, classes), own, q.scale, q.zeroPoint);
    return [part.spec.name, { ...part.spec, ...q, type: own, data } as TensorInput] as const;
  });
  return { config: made.config, tensors: Object.fromEntries(tensors) };
}

const TYPES = ["f32", "f16", "u8", "i8", "i16"] as const;

/** Returns the types in which a kind of network is tried: all of them, or one, another for the next kind. */
const typesOf = (index: number) => TYPES.filter((_, turn) => isThorough || turn === index % 5);

describe("a module gives the bytes of a decoder", () => {
  let found = 0;
  test.each(Object.keys(kinds).map((kind, index) => [kind, index] as const))("%s", async (kind, index) => {
    for (const type of typesOf(index)) {
      const turn = TYPES.indexOf(type);
      const { config, tensors } = networkOf(kind, type, turn);
      const options = { outputs: headsOf(tensors) };
      let compiled;
      try {
        compiled = compilePlan(config, options as never, (name) => tensors[name].data as Float32Array);
      } catch {
        // Not every kind comes in every type.
        continue;
      }
      const resize = "inputSize" in config && config.inputSize ? "letterbox" : "stretch";
      const frames: (Frame | undefined)[] = [
        undefined,
        { width: 300, height: 200, resize },
        { width: 200, height: 300, resize: "stretch", rotation: 1 },
        { width: 300, height: 200, resize: "stretch", crop: { cx: 100, cy: 90, width: 80, height: 60 } },
      ];
      for (const engine of ["simd", "ts"] as const) {
        const file = folder.path(`${kind.replace(/\W/g, "-")}-${type}-${engine}.mjs`);
        await writeFile(file, moduleSource(readTemplate(engine), compiled));
        const { decode } = await load(file);
        const decoder = createDecoderSync(config as never, { ...(options as object), engine });
        for (const frame of frames) {
          const expected = rowsOf(decoder.decode(tensors, frame));
          expect(rowsOf(decode(tensors, frame))).toEqual(expected);
          expect(rowsOf(decode(Object.values(tensors), frame))).toEqual(expected);
          found += expected.scores.length;
        }
      }
    }
  });
  test("they found boxes", () => expect(found).toBeGreaterThan(repeats(5000, 700)));
});

const yolov8 = ["--family", "yolov8", "--labels", "coco80", "--input-size", "640x640"];
const shape = ["--outputs", "output0:1x84x8400:f32"];

test("the module of YOLOv8 is small, has one export and needs no other file", async () => {
  for (const [engine, most] of [
    ["simd", 25_000],
    ["ts", 19_000],
  ] as const) {
    const file = folder.path(`yolov8.${engine}.mjs`);
    const ran = await boxwright("compile", ...yolov8, ...shape, "-o", file, "--engine", engine);
    expect(ran).toMatchObject({ code: 0, chunks: [] });
    const source = await readFile(file, "utf8");
    expect(gzipSync(source, { level: 9 }).length).toBeLessThan(most);
    expect(source).not.toMatch(/\bfrom ?"|\bimport\b|\brequire\b|BOXWRIGHT_PLAN/);
    // The minifier may break the line at the dot.
    expect(/WebAssembly\.\s*Module/.test(source)).toBe(engine === "simd");
    expect(Object.keys(await load(file))).toEqual(["decode"]);
    expect(await readFile(file.replace(".mjs", ".d.mts"), "utf8")).toBe(moduleTypes());
  }
});

test("types that would be written over a file that is read are refused", async () => {
  const labels = folder.path("mine.d.ts");
  await writeFile(labels, "cat\n");
  const words = [
    "--family",
    "yolov8",
    "--labels",
    labels,
    "--input-size",
    "640x640",
    "--outputs",
    "o:1x5x8400:f32",
  ];
  const ran = await boxwright("compile", ...words, "-o", folder.path("mine.js"));
  expect(ran.code).toBe(2);
  expect(ran.err).toContain('mine.d.ts", expected a file of its own');
  expect(await readFile(labels, "utf8")).toBe("cat\n");
});

test("a model file is compiled as it is", async () => {
  const file = folder.path("model.mjs");
  const model = fixture("models/yolox_nano.onnx");
  const ran = await boxwright("compile", model, "--labels", "coco80", "-o", file);
  expect(ran).toMatchObject({ code: 0, chunks: [] });
  const { decode } = await load(file);
  const data = new Float32Array(85 * 3549);
  expect(decode({ output: { data, dims: [1, 3549, 85] } } as never)).toHaveLength(0);
});

test("outputs of another network are refused, and scores that are no probabilities", async () => {
  const file = folder.path("refusals.mjs");
  await boxwright("compile", ...yolov8, ...shape, "-o", file);
  const { decode } = await load(file);
  const outputs = { output0: { data: new Float32Array(84 * 8400).fill(2), dims: [1, 84, 8400] } };
  expect(() => decode(outputs)).toThrow("got a score outside 0..1, expected probabilities");
  expect(() => decode({ output0: { data: new Float32Array(84), dims: [1, 84, 1] } })).toThrow(
    "the outputs are not those that this module was compiled for: output0 [1,84,8400] f32",
  );
  expect(() => decode(outputs, { width: 0, height: 1, resize: "stretch" })).toThrow(RangeError);
  expect(() => decode(Promise.resolve(outputs) as never)).toThrow("await it");
});

test.each([
  [["--task", "pose", "--keypoints", "17x3", "--classes", "1"], "1x56x8400", /expected boxes alone/],
  [["--classes", "80"], "2x84x8400", /batch: got 2, expected 1/],
])("%s is refused", async (words, dims, message) => {
  const file = folder.path("refused.mjs");
  const ran = await boxwright(
    "compile",
    ...yolov8.slice(0, 2),
    ...yolov8.slice(4),
    ...words,
    "--outputs",
    `output0:${dims}:f32`,
    "-o",
    file,
  );
  expect(ran.code).toBe(1);
  expect(ran.err).toMatch(message);
});

test("--engine belongs to a module, and --c does not", async () => {
  expect(await boxwright("compile", ...yolov8, ...shape, "--engine", "ts")).toMatchObject({ code: 2 });
  const file = folder.path("x.mjs");
  expect(await boxwright("compile", ...yolov8, ...shape, "--c", "x", "-o", file)).toMatchObject({ code: 2 });
  const ran = await boxwright("compile", ...yolov8, ...shape, "--engine", "scalar", "-o", file);
  expect(ran.err).toContain('--engine: got "scalar", expected simd or ts');
});
