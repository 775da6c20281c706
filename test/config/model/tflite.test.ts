import { describe, expect, test } from "vitest";
import { readModel } from "../../../src/entries/index.ts";
import { withZip } from "../../support/archives.ts";
import { picture, problemsOf } from "../../support/model-files.ts";
import { type TfliteTensor, tfliteFile, tfliteMetadata } from "../../support/tflite.ts";

const boxes: TfliteTensor = { name: "boxes", type: "float32", shape: [1, 10, 4] };

describe("tensors", () => {
  test("names, shapes, types, names in the signature, and what wrote the file", async () => {
    const model = await readModel(
      tfliteFile({
        inputs: [picture],
        outputs: [boxes, { name: "ids", type: "int64", shape: [1, 10] }],
        signature: { inputs: ["image"], outputs: ["output_0", "output_1"] },
      }),
    );
    expect(model).toMatchObject({
      format: "tflite",
      producer: "written by a test",
      opset: null,
      inputSize: [64, 64],
    });
    expect(model.input).toMatchObject({
      name: "images",
      layout: "NHWC",
      signature: "image",
      quantisation: null,
    });
    expect(model.outputs).toEqual([
      { name: "boxes", type: "f32", dims: [1, 10, 4], quantisation: null, signature: "output_0" },
      { name: "ids", type: "i64", dims: [1, 10], quantisation: null, signature: "output_1" },
    ]);
  });

  test("one scale, and one scale per channel", async () => {
    const { outputs } = await readModel(
      tfliteFile({
        inputs: [],
        outputs: [
          { ...boxes, type: "uint8", scale: [0.5], zeroPoint: [128] },
          { ...boxes, name: "signed", type: "int8", scale: [0.25], zeroPoint: [-128] },
          {
            ...boxes,
            name: "channels",
            type: "int8",
            scale: [1, 2, 3, 4],
            zeroPoint: [0, 1, 0, -1],
            axis: 2,
          },
          { ...boxes, name: "no zero points", type: "int8", scale: [2] },
          { ...boxes, name: "no scale", type: "int8", scale: [], zeroPoint: [] },
          { ...boxes, name: "scale of 0", type: "int8", scale: [0], zeroPoint: [0] },
        ],
      }),
    );
    expect(outputs.map(({ quantisation }) => quantisation)).toEqual([
      { scale: [0.5], zeroPoint: [128], axis: 0 },
      { scale: [0.25], zeroPoint: [-128], axis: 0 },
      { scale: [1, 2, 3, 4], zeroPoint: [0, 1, 0, -1], axis: 2 },
      { scale: [2], zeroPoint: [0], axis: 0 },
      null,
      null,
    ]);
  });

  test("open dimensions, and an output without a shape", async () => {
    const model = await readModel(
      tfliteFile({
        inputs: [{ ...picture, shape: [1, 1, 1, 3], signature: [1, -1, -1, 3] }],
        outputs: [{ ...boxes, shape: [] }],
      }),
    );
    expect(model.inputs[0].dims).toEqual([1, null, null, 3]);
    expect(model).toMatchObject({ inputSize: null, input: { layout: "NHWC" } });
    expect(model.outputs[0].dims).toBeNull();
  });
});

describe("TensorFlow's operator for detections", () => {
  const outputs = ["a", "b", "c", "d"].map((name): TfliteTensor => ({ name, type: "float32", shape: [] }));
  const operator = { name: "TFLite_Detection_PostProcess", outputs: [2, 0, 1, 3] };

  test("gives the roles in its own order of outputs", async () => {
    const model = await readModel(tfliteFile({ inputs: [picture], outputs, operator }));
    expect(model).toMatchObject({ exporter: "tensorflow", task: "detect", missing: [] });
    expect(model.options).toEqual({
      family: "tflite-postprocess",
      roles: { boxes: "c", classIds: "a", scores: "b", count: "d" },
      inputSize: [64, 64],
    });
  });

  test("another operator gives nothing", async () => {
    const model = await readModel(
      tfliteFile({ inputs: [picture], outputs, operator: { ...operator, name: "Other" } }),
    );
    expect(model.missing.map(({ path }) => path)).toEqual(["family"]);
  });

  test.each([
    ["person\ncat\n", ["person", "cat"]],
    ["???\r\nperson\r\n???\r\ncat", ["person", "???", "cat"]],
  ])(
    "labels come from the label file of TFLite Metadata, without a first line for the background",
    async (text, names) => {
      const metadata = tfliteMetadata(
        "Detector",
        [
          { name: "labels-de.txt", type: 3, locale: "de" },
          { name: "notes.txt", type: 1 },
          { name: "labels.txt", type: 3 },
        ],
        [127.5],
        [128],
      );
      const file = withZip(tfliteFile({ inputs: [picture], outputs, operator, metadata }), [
        { name: "labels-de.txt", text: "Mensch\nKatze\n" },
        { name: "notes.txt", text: "notes" },
        { name: "labels.txt", text, stored: true },
      ]);
      const model = await readModel(file);
      expect(model.names).toEqual(names);
      expect(model.options.labels).toEqual(names);
      expect(model.description).toBe("Detector");
      expect(model.input?.normalisation).toEqual({ mean: [127.5], std: [128] });
    },
  );
});

test.each([
  [
    "a scale below 0",
    { scale: [-1], zeroPoint: [0] },
    "TFLite file: got scale -1, expected positive numbers",
  ],
  ["a scale that is NaN", { scale: [NaN], zeroPoint: [0] }, "TFLite file: got scale NaN"],
  ["4,097 scales", { scale: Array<number>(4097).fill(1) }, "got 4097 items at byte"],
  ["33 dimensions", { shape: Array<number>(33).fill(1) }, "got 33 items at byte"],
  ["a name of 5,000 bytes", { name: "x".repeat(5000) }, "got text of 5000 bytes"],
])("refuses %s", async (_, lie, message) => {
  const tensor = { ...boxes, ...lie };
  expect(await problemsOf(tfliteFile({ inputs: [], outputs: [tensor] }))).toContain(message);
});

test("refuses 129 outputs", async () => {
  const outputs = Array.from({ length: 129 }, () => boxes);
  expect(await problemsOf(tfliteFile({ inputs: [], outputs }))).toContain("got 129 items at byte");
});

test("a flatbuffer without a graph is refused", async () => {
  const bytes = Uint8Array.from([8, 0, 0, 0, ...Buffer.from("TFL3"), 4, 0, 0, 0, 4, 0, 4, 0]);
  bytes.set([252, 255, 255, 255], 8);
  expect(await problemsOf(bytes)).toContain("TFLite file: got no subgraph");
});
