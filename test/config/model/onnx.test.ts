/** The ONNX reader against ONNX Runtime, which reads the same bytes. */
import { InferenceSession } from "onnxruntime-node";
import { describe, expect, test } from "vitest";
import { readModel } from "../../../src/entries/index.ts";
import { problemsOf } from "../../support/model-files.ts";
import { type OnnxFile, type Value, block, int, onnxFile } from "../../support/onnx.ts";

const value = (name: string, type: Value["type"], ...dims: Value["dims"]): Value => ({ name, type, dims });
const add = (a: string, b: string, output: string) => ({ operator: "Add", inputs: [a, b], output });

const files: Record<string, OnnxFile> = {
  "an input and an output": {
    inputs: [value("images", "float32", 1, 3, 4, 6), value("bias", "float32", 1)],
    outputs: [value("output0", "float32", 1, 3, 4, 6)],
    nodes: [add("images", "bias", "output0")],
  },
  "a weight among the inputs, as files up to version 3 have": {
    inputs: [value("images", "float32", 1, 3, 4, 6), value("w", "float32", 1)],
    weights: ["w"],
    outputs: [value("output0", "float32", 1, 3, 4, 6)],
    nodes: [add("images", "w", "output0")],
  },
  "a weight that is no input": {
    inputs: [value("images", "float16", 1, 4)],
    weights: ["w"],
    outputs: [value("half", "float16", 1, 4), value("w2", "float32", 1)],
    nodes: [add("images", "images", "half"), add("w", "w", "w2")],
  },
  "dimensions with a name": {
    inputs: [value("images", "float32", "batch", 3, "height", "width")],
    outputs: [value("output0", "float32", "batch", 3, "height", "width"), value("n", "int64", 4)],
    nodes: [add("images", "images", "output0"), { operator: "Shape", inputs: ["images"], output: "n" }],
  },
};

/** ONNX Runtime's words for types. */
const TYPES: Record<string, string> = { float32: "f32", float16: "f16", int64: "i64" };

describe("ONNX Runtime reads the same names, shapes and types", () => {
  test.each(Object.keys(files))("%s", async (name) => {
    const bytes = onnxFile(files[name]);
    const session = await InferenceSession.create(bytes);
    const model = await readModel(bytes);
    const ours = (list: typeof model.inputs): unknown =>
      list.map(({ name, type, dims }) => ({ name, type, dims }));
    const theirs = (list: typeof session.inputMetadata): unknown =>
      list.map((v) => (v.isTensor ? { name: v.name, type: TYPES[v.type], dims: v.shape } : v.name));
    expect(ours(model.inputs)).toEqual(theirs(session.inputMetadata));
    expect(ours(model.outputs)).toEqual(theirs(session.outputMetadata));
    expect(model.inputs.length).toBeGreaterThan(0);
  });
});

test("producer, version of operators, layout and size of the picture, metadata", async () => {
  const model = await readModel(
    onnxFile({
      inputs: [value("images", "uint8", 1, 48, 64, 3)],
      outputs: [value("x", "int8", 1, "", 4)],
      metadata: { author: "someone", __proto__x: "1", ["__proto__"]: "kept" },
      producer: ["keras2onnx", "1.7"],
    }),
  );
  expect(model).toMatchObject({ format: "onnx", producer: "keras2onnx 1.7", opset: 13, inputSize: [64, 48] });
  expect(model.input).toMatchObject({ layout: "NHWC", type: "u8" });
  expect(model.outputs[0]).toMatchObject({ type: "i8", dims: [1, null, 4] });
  expect(Object.entries(model.metadata)).toContainEqual(["__proto__", "kept"]);
});

test("an open dimension may be written -1 or 0, and a value may have no shape at all", async () => {
  const minus = [10, 11, 8, ...Array<number>(9).fill(0xff), 1];
  const dims = [minus, block(1, [int(1, 0)]), block(1, [int(1, 5)])];
  const tensor = (shape: readonly (readonly number[])[]) => block(2, [block(1, [int(1, 1), ...shape])]);
  const graph = [
    block(12, [block(1, "a"), tensor([block(2, dims)])]),
    block(12, [block(1, "b"), tensor([])]),
    block(12, [block(1, "c"), tensor([block(2, [])])]),
    block(12, [block(1, "d")]),
  ];
  const { outputs } = await readModel(Uint8Array.from(block(7, graph)));
  expect(outputs.map(({ dims }) => dims)).toEqual([[null, null, 5], null, [], null]);
  expect(outputs[3].type).toBe("undefined");
});

test("the picture is not guessed among several inputs", async () => {
  const inputs = [value("a", "float32", 1, 3, 8, 8), value("b", "float32", 1, 3, 8, 8)];
  const model = await readModel(onnxFile({ inputs, outputs: [] }));
  expect(model).toMatchObject({ input: null, inputSize: null });
  expect(model.missing.map(({ path }) => path)).toEqual(["family", "inputSize"]);
});

test.each([
  ["no graph", Uint8Array.from(int(1, 8)), "ONNX file: got no graph"],
  [
    "a name of 5,000 bytes",
    onnxFile({ inputs: [value("x".repeat(5000), "float32")], outputs: [] }),
    "got text of 5000 bytes",
  ],
  [
    "33 dimensions",
    onnxFile({ inputs: [value("x", "float32", ...Array<number>(33).fill(1))], outputs: [] }),
    "more than 32 dimensions",
  ],
  [
    "257 entries of metadata",
    onnxFile({
      inputs: [],
      outputs: [],
      metadata: Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`k${i}`, ""])),
    }),
    "more than 256 entries",
  ],
  [
    "10,001 inputs",
    onnxFile({ inputs: Array.from({ length: 10_001 }, (_, i) => value(`i${i}`, "float32")), outputs: [] }),
    "more than 10000 tensors",
  ],
  [
    "1,001 operators",
    onnxFile({
      inputs: [],
      outputs: [],
      nodes: Array.from({ length: 1001 }, (_, i) => ({ operator: `o${i}`, inputs: [], output: "" })),
    }),
    "more than 1000 operators",
  ],
])("refuses %s", async (_, bytes, message) => {
  expect(await problemsOf(bytes)).toContain(message);
});

test("every beginning of a file is refused, or is a smaller file", async () => {
  const bytes = onnxFile(files["a weight among the inputs, as files up to version 3 have"]);
  const answers = await Promise.all(
    Array.from({ length: bytes.length }, (_, end) =>
      readModel(bytes.slice(0, end)).then(
        () => "read",
        (e: Error) => e.name,
      ),
    ),
  );
  expect([...new Set(answers)].sort()).toEqual(["ConfigError", "read"]);
  expect(answers.filter((a) => a === "ConfigError").length).toBeGreaterThan(0.8 * bytes.length);
});
