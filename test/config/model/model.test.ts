/** What exports of each kind mean: from the file's bytes to boxes. */
import { describe, expect, test } from "vitest";
import {
  type Model,
  createDecoder,
  createDecoderSync,
  parseConfig,
  readModel,
} from "../../../src/entries/index.ts";
import { COCO80 } from "../../../src/core/labels.ts";
import { createDecoderSync as createCoreDecoder } from "../../../src/entries/core.ts";
import { withZip } from "../../support/archives.ts";
import {
  input,
  output,
  picture,
  problemsOf,
  ultralyticsJson,
  ultralyticsMetadata,
  ultralyticsOnnx,
  ultralyticsTflite,
  yoloxOnnx,
} from "../../support/model-files.ts";
import { onnxFile } from "../../support/onnx.ts";
import { tfliteFile } from "../../support/tflite.ts";

const missing = (model: Model): string[] => model.missing.map(({ path }) => path);
const NAMES = ["person", "driver's hat"];

describe("Ultralytics, ONNX", () => {
  test("a file needs no option: its boxes have names and places", async () => {
    const model = await readModel(ultralyticsOnnx());
    expect(model).toMatchObject({
      format: "onnx",
      exporter: "ultralytics",
      producer: "pytorch 2.5.1",
      description: ultralyticsMetadata.description,
      task: "detect",
      names: NAMES,
      inputSize: [64, 64],
      stride: 32,
      endToEnd: false,
      keypoints: null,
      missing: [],
    });
    expect(model.options).toEqual({ family: "yolo11", labels: NAMES, inputSize: [64, 64] });
    const decoder = await createDecoder(model);
    // One box in cell 10: centre 32, 16, size 20 x 24, the second class.
    const data = new Float32Array(6 * 84);
    [32, 16, 20, 24, 0.1, 0.75].forEach((value, channel) => (data[channel * 84 + 10] = value));
    expect(decoder.decode({ output0: { data, dims: [1, 6, 84] } }).toArray()).toEqual([
      {
        class_id: 1,
        label: "driver's hat",
        confidence: 0.75,
        x_min: 22 / 64,
        y_min: 4 / 64,
        x_max: 42 / 64,
        y_max: 28 / 64,
      },
    ]);
  });

  test("shapes in the file are known beforehand: slots are there, other shapes are refused", async () => {
    const decoder = createDecoderSync(await readModel(ultralyticsOnnx()));
    expect(decoder.slots["output0"].data).toHaveLength(504);
    const other = { data: new Float32Array(6 * 21), dims: [1, 6, 21] };
    expect(() => decoder.decode({ output0: other })).toThrow("[1,6,84] as given beforehand");
  });

  test.each([
    ["YOLOv8n", "yolov8"],
    ["YOLOv9c", "yolov9"],
    ["YOLO12x", "yolo12"],
    ["YOLO26n", "yolo26"],
    // the anchor-free rebuilds of older networks, and names of the user's own
    ["YOLOv5n", "yolov8"],
    ["YOLOv3-tiny", "yolov8"],
    ["best", "yolov8"],
  ])("%s is decoded as %s", async (name, family) => {
    const model = await readModel(ultralyticsOnnx({ description: `Ultralytics ${name} model` }));
    expect(model.options.family).toBe(family);
    expect(createDecoderSync(model).describe().text).toContain("class-rows");
  });

  test("end-to-end lists, by design or with suppression added, are read as such even with two classes", async () => {
    const statements: Record<string, string>[] = [{ end2end: "True" }, { args: "{'nms': True}" }];
    for (const metadata of statements) {
      const model = await readModel(ultralyticsOnnx(metadata, [output("output0", 1, 300, 6)]));
      expect(model).toMatchObject({ endToEnd: true, missing: [], options: { reading: "end-to-end" } });
      const decoder = createDecoderSync(model);
      const data = new Float32Array(1800);
      data.set([8, 16, 24, 32, 0.5, 1]);
      expect(decoder.decode({ output0: { data, dims: [1, 300, 6] } }).toArray()).toMatchObject([
        { label: "driver's hat", x_min: 0.125, y_min: 0.25, x_max: 0.375, y_max: 0.5 },
      ]);
    }
  });

  test("without that statement the same shape is not read as a list", async () => {
    const model = await readModel(ultralyticsOnnx({}, [output("output0", 1, 300, 6)]));
    expect(missing(model)).toEqual(["family"]);
  });

  test("YOLOv5's own exporter: stride and names alone, rows with objectness", async () => {
    const bytes = onnxFile({
      inputs: [input(1, 3, 64, 96)],
      outputs: [output("output", 1, 378, 7)],
      metadata: { stride: "32", names: "['person', 'cat']" },
    });
    const model = await readModel(bytes);
    expect(model.options).toEqual({ family: "yolov5", labels: ["person", "cat"], inputSize: [96, 64] });
    expect(createDecoderSync(model).describe().text).toContain("objectness-rows");
  });

  test("YOLOv5's own exporter states no task: prototypes tell of masks", async () => {
    const bytes = onnxFile({
      inputs: [input(1, 3, 64, 96)],
      outputs: [output("output0", 1, 378, 39), output("output1", 1, 32, 16, 24)],
      metadata: { stride: "32", names: "['person', 'cat']" },
    });
    const model = await readModel(bytes);
    expect(model).toMatchObject({
      task: "segment",
      missing: [],
      options: { family: "yolov5", task: "segment" },
    });
    expect(createDecoderSync(model).describe().text).toContain("masks: 32 coefficients");
  });

  test("RT-DETR: rows of queries", async () => {
    const named = { description: "Ultralytics rtdetr-l model" };
    const model = await readModel(ultralyticsOnnx(named, [output("output0", 1, 300, 6)]));
    expect(model.options.family).toBe("rtdetr");
    expect(createDecoderSync(model).describe().text).toContain("queries");
  });

  test("open shapes: the input's size comes from imgsz, [height, width]", async () => {
    const bytes = ultralyticsOnnx(
      { imgsz: "[64, 96]" },
      [output("output0", "batch", 6, "anchors")],
      input("batch", 3, "height", "width"),
    );
    const model = await readModel(bytes);
    expect(model).toMatchObject({ inputSize: [96, 64], missing: [], options: { family: "yolo11" } });
    expect(createDecoderSync(model).slots).toEqual({});
  });

  test.each([
    ["detect", "YOLO11n", {}, "yolo11", [1, 6, 84]],
    ["detect", "rtdetr-l", {}, "rtdetr", [1, 300, 6]],
    ["obb", "YOLO26n-obb", { end2end: "True" }, "yolo26", [1, 300, 7]],
  ])("%s of %s with every output dimension open", async (task, name, more, family, dims) => {
    const metadata = { task, description: `Ultralytics ${name} model`, ...more };
    const model = await readModel(
      ultralyticsOnnx(metadata, [output("output0", "batch", "channels", "cells")]),
    );
    expect(model).toMatchObject({ missing: [], options: { family } });
    const data = new Float32Array(dims[1] * dims[2]);
    expect(createDecoderSync(model).decode({ output0: { data, dims } }).length).toBe(0);
  });

  test.each([
    ["{0: ['nose', 'tail']}", ["nose", "tail"]],
    ["{0: ['nose', 'tail'], 1: ['nose', 'tail']}", ["nose", "tail"]],
    ["{0: ['nose', 'tail'], 1: ['beak', 'tail']}", undefined],
    ["{0: ['nose']}", undefined],
    ["['nose', 'tail']", undefined],
  ])("names of keypoints: %s", async (kpt_names, keypointNames) => {
    const metadata = { task: "pose", kpt_shape: "[2, 3]", kpt_names };
    const { options } = await readModel(ultralyticsOnnx(metadata, [output("output0", 1, 12, 84)]));
    expect(options).toMatchObject({ task: "pose", keypoints: [2, 3] });
    expect(options.keypointNames).toEqual(keypointNames);
  });

  test("pose: the decoder is told of the keypoints, and needs the import that reads them", async () => {
    const metadata = { task: "pose", kpt_shape: "[17, 3]" };
    const model = await readModel(ultralyticsOnnx(metadata, [output("output0", 1, 57, 84)]));
    expect(model).toMatchObject({
      task: "pose",
      keypoints: [17, 3],
      options: { family: "yolo11", task: "pose", keypoints: [17, 3] },
      missing: [],
    });
    expect(() => createCoreDecoder(model)).toThrow(
      'options.tasks: got none for "pose", expected import { pose } from "boxwright/core"',
    );
    const decoder = createDecoderSync(model);
    expect(decoder.describe().text).toContain("pose: 17 keypoints of x, y and a confidence in 0..1");
    const data = new Float32Array(57 * 84);
    [20, 20, 10, 10, 0.9, 0.1, 16, 8, 0.5].forEach((value, channel) => (data[channel * 84] = value));
    expect(decoder.decode([{ data, dims: [1, 57, 84] }]).at(0)?.keypoints?.[0]).toMatchObject({
      x: 0.25,
      y: 0.125,
      confidence: 0.5,
    });
  });

  test("oriented: planes with an angle, and lists that three classes would fit too", async () => {
    const planes = await readModel(ultralyticsOnnx({ task: "obb" }, [output("output0", 1, 7, 84)]));
    const list = await readModel(
      ultralyticsOnnx({ task: "obb", end2end: "True" }, [output("output0", 1, 300, 7)]),
    );
    for (const model of [planes, list])
      expect(model).toMatchObject({ task: "oriented", options: { task: "oriented" }, missing: [] });
    expect(() => createCoreDecoder(planes)).toThrow("tasks: [oriented]");
    const data = new Float32Array(7 * 84);
    [20, 20, 10, 6, 0.9, 0.1, 0.5].forEach((value, channel) => (data[channel * 84] = value));
    expect(
      createDecoderSync(planes)
        .decode([{ data, dims: [1, 7, 84] }])
        .at(0)?.angle,
    ).toBeCloseTo(0.5, 6);
    const rows = new Float32Array(300 * 7);
    rows.set([20, 20, 10, 6, 0.9, 1, 0.5]);
    const found = createDecoderSync(list).decode([{ data: rows, dims: [1, 300, 7] }]);
    expect(found.at(0)?.class_id).toBe(1);
    expect(found.at(0)?.angle).toBeCloseTo(0.5, 6);
  });

  test("pose, end to end: rows of 6 + 51 values", async () => {
    const metadata = { task: "pose", kpt_shape: "[17, 3]", end2end: "True" };
    const model = await readModel(ultralyticsOnnx(metadata, [output("output0", 1, 300, 57)]));
    expect(model).toMatchObject({ options: { reading: "end-to-end", keypoints: [17, 3] }, missing: [] });
    expect(createDecoderSync(model).describe().text).toMatch(
      /reading: end-to-end: .*\n[\s\S]*pose: 17 keypoints/,
    );
  });

  test("segment: the decoder needs the task masks", async () => {
    const outputs = [output("output0", 1, 38, 84), output("output1", 1, 32, 16, 16)];
    const model = await readModel(ultralyticsOnnx({ task: "segment" }, outputs));
    expect(model).toMatchObject({
      task: "segment",
      options: { family: "yolo11", task: "segment" },
      missing: [],
    });
    expect(() => createCoreDecoder(model)).toThrow("tasks: [masks]");
    const decoder = createDecoderSync(model);
    expect(decoder.describe().text).toContain(
      "masks: 32 coefficients, prototypes output1 [1,32,16,16] f32 as NCHW",
    );
    expect(decoder.slots.output1.data.length).toBe(32 * 16 * 16);
  });

  test("classify: probabilities of the whole picture, without a mean", async () => {
    for (const file of [
      ultralyticsOnnx({ task: "classify" }, [output("output0", 1, 2)]),
      ultralyticsTflite({ shape: [1, 2] }, { task: "classify" }),
    ]) {
      const model = await readModel(file);
      expect(model).toMatchObject({ exporter: "ultralytics", task: "classify", missing: [] });
      const decoder = createDecoderSync(model);
      expect(decoder.prepareRule).toMatchObject({ resize: "crop", resample: "pillow", mean: 0, std: 255 });
      const [{ name }] = model.outputs;
      const found = decoder.decode({ [name]: { data: Float32Array.of(0.25, 0.75), dims: [1, 2] } });
      expect(found.toArray().map((d) => [d.label, d.confidence])).toEqual([
        ["driver's hat", 0.75],
        ["person", 0.25],
      ]);
    }
    const other = await readModel(ultralyticsOnnx({ task: "classify" }, [output("output0", 1, 3)]));
    expect(missing(other)).toEqual(["family"]);
  });

  test.each([["depth", { task: "depth" }, [output("output0", 1, 1, 64, 64)], null, null]])(
    "%s: the task is told, and no decoder is made of it",
    async (name, metadata, outputs, task, keypoints) => {
      const model = await readModel(ultralyticsOnnx(metadata, outputs));
      expect(model).toMatchObject({ task, keypoints });
      expect(missing(model)).toEqual(["task"]);
      expect(() => createDecoderSync(model, { family: "yolov8" })).toThrow(
        `task: got a network for "${task ?? metadata.task}", expected "detect", "pose", "segment", "oriented" or "classify"`,
      );
      expect(name).toContain(metadata.task);
    },
  );

  test.each(["{0: 'a', 2: 'b'}", "{}", "{1: 'a'}", "names", "[['a']]"])(
    "names that are no names: %s",
    async (names) => {
      expect(await problemsOf(ultralyticsOnnx({ names }))).toContain("metadata.names: got");
    },
  );
});

describe("Ultralytics, TFLite", () => {
  const decodeOne = (model: Model, values: readonly number[]): unknown => {
    const [{ name, dims, type, quantisation }] = model.outputs;
    const { scale, zeroPoint } = {
      scale: quantisation?.scale[0] ?? 1,
      zeroPoint: quantisation?.zeroPoint[0] ?? 0,
    };
    const data = type === "i8" ? new Int8Array(504).fill(zeroPoint) : new Float32Array(504);
    values.forEach((value, channel) => (data[channel * 84 + 10] = value / scale + zeroPoint));
    const decoder = createDecoderSync(model);
    return decoder.decode({ [name]: { data, dims: dims as number[] } }).toArray();
  };

  test("metadata from the zip; boxes are 0..1 with an NHWC input", async () => {
    const model = await readModel(ultralyticsTflite());
    expect(model).toMatchObject({
      format: "tflite",
      exporter: "ultralytics",
      names: NAMES,
      missing: [],
      endToEnd: false,
    });
    expect(model.options).toMatchObject({ family: "yolo11", coordinates: "normalised" });
    expect(decodeOne(model, [0.5, 0.25, 0.25, 0.5, 0.1, 0.75])).toMatchObject([{ x_min: 0.375, y_max: 0.5 }]);
  });

  test("temp_meta.txt in Python's words, with a TFLite Metadata buffer that calls it a label file", async () => {
    const python =
      "{'stride': 32, 'task': 'detect', 'imgsz': [64, 64], 'names': {0: 'person', 1: \"driver's hat\"}}";
    const bytes = withZip(
      tfliteFile({ inputs: [picture], outputs: [{ name: "Identity", type: "float32", shape: [1, 6, 84] }] }),
      [{ name: "temp_meta.txt", text: python, stored: true }],
      false,
    );
    const model = await readModel(bytes);
    expect(model).toMatchObject({ names: NAMES, missing: [] });
    expect(model.options.family).toBe("yolov8");
  });

  test.each([
    ["normalised", 1 / 254, -127, [0.5, 0.25, 0.25, 0.5, 0, 0.75], 0.375],
    ["pixels", 0.02, -128, [4, 3, 2, 2, 0, 0.8], 3 / 64],
  ])(
    "8-bit outputs: scale and zero point bound the values, so boxes are %s",
    async (unit, scale, zeroPoint, values, left) => {
      const tensor = { type: "int8", scale: [scale], zeroPoint: [zeroPoint] } as const;
      const model = await readModel(ultralyticsTflite(tensor));
      expect(model.options.coordinates).toBe(unit);
      const [box] = decodeOne(model, values) as { x_min: number }[];
      expect(box.x_min).toBeCloseTo(left, 2);
    },
  );

  test("end-to-end lists: pixels since inputs are NCHW, 0..1 before", async () => {
    const tensor = { shape: [1, 300, 6] };
    const old = await readModel(ultralyticsTflite(tensor, { args: { nms: true } }));
    expect(old.options).toMatchObject({ reading: "end-to-end", coordinates: "normalised" });
    const nchw = { ...picture, shape: [1, 3, 64, 64] };
    const recent = await readModel(ultralyticsTflite(tensor, { end2end: true }, nchw));
    expect(recent.options).toMatchObject({ reading: "end-to-end", coordinates: "pixels" });
    const rows = await readModel(ultralyticsTflite({}, {}, nchw));
    expect(rows.options.coordinates).toBe("normalised");
  });

  test("each channel of an output may have a scale of its own", async () => {
    const scale = [1, 1, 1, 1, 0.25, 0.0078125];
    const model = await readModel(
      ultralyticsTflite({ type: "int8", scale, zeroPoint: [0, 0, 0, 0, 0, 0], axis: 1 }),
    );
    expect(missing(model)).toEqual([]);
    expect(model.options.coordinates).toBe("pixels");
    const data = new Int8Array(6 * 84);
    // A box around (32, 16) with the second class at 96 / 128.
    [32, 16, 20, 24, 0, 96].forEach((value, channel) => (data[channel * 84 + 10] = value));
    const [found] = createDecoderSync(model)
      .decode({ Identity: { data, dims: [1, 6, 84] } })
      .toArray();
    expect(found).toMatchObject({ class_id: 1, confidence: 0.75, x_min: 22 / 64, y_max: 28 / 64 });
  });

  test("JSON and a dict of Python say the same", async () => {
    const fromZip = await readModel(ultralyticsTflite());
    const fromOnnx = await readModel(ultralyticsOnnx());
    expect(JSON.parse(ultralyticsJson())).toMatchObject({ imgsz: [64, 64] });
    for (const key of ["names", "task", "stride", "inputSize", "endToEnd", "description"] as const)
      expect(fromZip[key]).toEqual(fromOnnx[key]);
  });
});

describe("a network of 80 classes without names", () => {
  const read = (metadata: Record<string, string>, name = "output", classes = 80) =>
    readModel(
      onnxFile({
        inputs: [input(1, 3, 64, 64)],
        outputs: [output(name, 1, 84, 5 + classes)],
        metadata,
      }),
    );
  test.each([
    ["description", "YOLOX-s trained on COCO2017"],
    ["dataset", "coco"],
    ["data", "datasets/coco.yaml"],
    ["dataset", "ms-coco"],
  ])("has those of COCO where the file says so: %s, %s", async (key, text) => {
    const model = await read({ [key]: text });
    expect(model.names).toEqual(COCO80);
    const decoder = createDecoderSync(model);
    expect(decoder.config.labels?.[16]).toBe("dog");
    // The caller knows better.
    const own = Array.from({ length: 80 }, (_, i) => `thing ${i}`);
    expect(createDecoderSync(model, { labels: own }).config.labels).toEqual(own);
  });
  test.each([
    [{}, 80],
    [{ dataset: "cocopen" }, 80],
    [{ dataset: "own, fine-tuned from COCO" }, 80],
    [{ dataset: "coco" }, 79],
  ])("has none otherwise: %j, %d classes", async (metadata, classes) => {
    expect((await read(metadata as Record<string, string>, "output", classes)).names).toBeNull();
  });
});

describe("YOLOX", () => {
  test("by names and rows; boxes are raw", async () => {
    const model = await readModel(yoloxOnnx());
    expect(model).toMatchObject({ exporter: "yolox", task: "detect", names: null, missing: [] });
    expect(model.options).toEqual({
      family: "yolox",
      classes: 2,
      inputSize: [64, 64],
      reading: "point-rows",
    });
    // The file proves that the boxes are raw. Without it the decoder says what else they may be.
    const outputs = { output: { dims: [1, 84, 7] } };
    const { reading, ...others } = model.options;
    expect(reading).toBe("point-rows");
    expect(createDecoderSync(model, { outputs }).describe().text).not.toContain("note:");
    expect(createDecoderSync(others, { outputs }).describe().text).toContain(
      'reading: point-rows: undecoded boxes (boxFormat: "cxcywh" says that they are decoded), objectness',
    );
    const data = new Float32Array(84 * 7);
    // Cell 10 is column 2 of row 1 at stride 8: centre (2 + 0.5) * 8, (1 + 1) * 8, size e^ln2 * 8 x 8.
    data.set([0.5, 1, Math.LN2, 0, 0.5, 0.1, 0.8], 70);
    const [box] = createDecoderSync(model)
      .decode({ output: { data, dims: [1, 84, 7] } })
      .toArray();
    expect(box).toMatchObject({ class_id: 1, y_min: 12 / 64, y_max: 20 / 64 });
    expect([box.confidence, box.x_min, box.x_max].map((x) => x.toFixed(5))).toEqual([
      "0.40000",
      "0.18750",
      "0.43750",
    ]);
  });

  test("with --decode_in_inference, which the operator Exp in the graph tells", async () => {
    const model = await readModel(yoloxOnnx([{ operator: "Exp", inputs: ["x"], output: "y" }]));
    expect(model.options).toMatchObject({ family: "yolox", boxFormat: "cxcywh" });
    expect(createDecoderSync(model).describe().text).toContain("objectness-rows");
  });

  test.each([
    ["another count of rows: YOLOv5 and YOLOv7 have three per cell", yoloxOnnx([], 252)],
    ["another name of the input", yoloxOnnx([], 84, { ...input(1, 3, 64, 64), name: "data" })],
    ["an input of open size", yoloxOnnx([], 84, input(1, 3, "h", "w"))],
  ])("not with %s", async (_, bytes) => {
    const model = await readModel(bytes);
    expect(model.exporter).toBeNull();
    expect(missing(model)[0]).toBe("family");
    expect(() => createDecoderSync(model)).toThrow("expected the option family");
  });
});

describe("NanoDet", () => {
  test.each([
    ["three maps", 84, [8, 16, 32]],
    ["four maps", 85, [8, 16, 32, 64]],
  ])("NanoDet-Plus: one output, %s", async (_, rows, strides) => {
    const bytes = onnxFile({
      inputs: [{ ...input(1, 3, 64, 64), name: "data" }],
      outputs: [output("output", 1, rows, 34)],
    });
    const model = await readModel(bytes);
    expect(model.options).toEqual({ family: "nanodet", classes: 2, strides, inputSize: [64, 64] });
    expect(createDecoderSync(model).describe().text).toContain(`input: 64x64; batch 1; 2 classes`);
  });

  test("NanoDet: two outputs per stride, by their names", async () => {
    const outputs = [8, 16, 32].flatMap((stride) => {
      const cells = (64 / stride) ** 2;
      return [
        output(`cls_pred_stride_${stride}`, 1, cells, 5),
        output(`dis_pred_stride_${stride}`, 1, cells, 32),
      ];
    });
    const read = (list: typeof outputs): Promise<Model> =>
      readModel(onnxFile({ inputs: [input(1, 3, 64, 64)], outputs: list }));
    const model = await read(outputs);
    expect(model).toMatchObject({ exporter: "nanodet", options: { family: "nanodet", classes: 5 } });
    expect(createDecoderSync(model).describe().text).toContain("dfl-grid");
    expect(missing(await read(outputs.slice(1)))).toEqual(["family"]);
    expect(missing(await read([...outputs, output("more", 1, 4)]))).toEqual(["family"]);
  });
});

describe("other files", () => {
  const unknown = onnxFile({ inputs: [input(1, 3, 64, 64)], outputs: [output("x", 1, 85, 8, 8)] });

  test("say what is missing and which option gives it", async () => {
    const model = await readModel(unknown);
    expect(model).toMatchObject({
      exporter: null,
      task: null,
      names: null,
      options: { inputSize: [64, 64] },
    });
    expect(model.missing).toMatchObject([{ path: "family", option: "family" }]);
    await expect(createDecoder(model)).rejects.toThrow(
      "family: got outputs x [1,85,8,8] and no metadata of an exporter that is known, expected the option family",
    );
    const decoder = await createDecoder(model, { family: "fastestdet", classes: 80 });
    expect(decoder.config.inputSize).toEqual([64, 64]);
  });

  test("all that is missing is told at once, and only what the options do not give", async () => {
    const model = await readModel(
      onnxFile({ inputs: [input(1, 3, "h", "w")], outputs: [output("x", 1, "n", 85)] }),
    );
    expect(missing(model)).toEqual(["family", "inputSize"]);
    const problems = (options: Parameters<typeof createDecoderSync>[1]): unknown => {
      try {
        return createDecoderSync(model, options).engine;
      } catch (e) {
        return (e as { problems: { path: string }[] }).problems.map(({ path }) => path);
      }
    };
    expect(problems({})).toEqual(["family", "inputSize"]);
    expect(problems({ family: "yolov5", classes: 80 })).toEqual(["inputSize"]);
    expect(problems({ family: "yolov5", classes: 80, inputSize: [640, 640], engine: "ts" })).toBe("ts");
  });

  test.each([
    ["nothing", new Uint8Array(0), "got an empty file, expected ONNX, TFLite or an NN Archive"],
    ["an old PyTorch checkpoint", Buffer.from("\x80\x02}q\0.", "latin1"), "export the network to ONNX first"],
    ["a PyTorch checkpoint", Buffer.from("PK\x03\x04rest"), "export the network to ONNX first"],
    ["a config", Buffer.from('{"model": {}}'), "createDecoder takes a config as it is"],
    [
      "a page",
      Buffer.from("<!doctype html><title>404"),
      "got a page in HTML: the server has no file at this address",
    ],
    ["a page in capitals", Buffer.from("<HTML>"), "got a page in HTML"],
    [
      "a network of OpenVINO",
      Buffer.from('<?xml version="1.0"?><net>'),
      "got XML; for a model of OpenVINO, pass the ONNX file",
    ],
    [
      "a pointer",
      Buffer.from("version https://git-lfs.github.com/spec/v1\noid sha256:1"),
      "git lfs pull fetches the file",
    ],
    ["text", Buffer.from("some text"), 'got text that begins with "some text"'],
    [
      "no bytes",
      "model.onnx" as unknown as Uint8Array,
      'got "model.onnx", expected the bytes of a model file',
    ],
  ])("%s is refused", async (_, bytes, message) => {
    expect(await problemsOf(bytes)).toContain(message);
  });
});

test("a model is plain data: a copy through JSON makes the same decoder", async () => {
  for (const bytes of [ultralyticsOnnx(), ultralyticsTflite(), yoloxOnnx()]) {
    const model = await readModel(bytes);
    const copy = JSON.parse(JSON.stringify(model)) as Model;
    expect(copy).toEqual(structuredClone(model));
    expect(parseConfig(copy)).toEqual(parseConfig(model));
    expect(createDecoderSync(JSON.stringify(model)).describe()).toEqual(createDecoderSync(model).describe());
  }
});

test("options go over what the file says", async () => {
  const model = await readModel(ultralyticsOnnx());
  const decoder = createDecoderSync(model, { labels: ["a", "b"], confidenceThreshold: 0.9 });
  expect(decoder.config).toMatchObject({ labels: ["a", "b"], confidenceThreshold: 0.9, family: "yolo11" });
});
