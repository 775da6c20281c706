/** Shapes that could be taken for others: by chance of their numbers, with a map missing, with channels last. */
import { describe, expect, test } from "vitest";
import type { Decoder } from "../../src/decode/decoder.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import type { Outputs } from "../../src/decode/inputs.ts";
import { TensorError } from "../../src/core/errors.ts";
import type { DecoderOptions } from "../../src/config/types.ts";
import type { TensorInput } from "../../src/core/tensor.ts";
import { engines } from "../support/engines.ts";
import { type Filled, filled } from "../support/seeded-networks.ts";

const make = (config: object, options: object = {}): Decoder =>
  createDecoderSync(config, options as DecoderOptions);
const decode = (config: object, outputs: unknown, options: object = {}) =>
  make(config, options).decode(outputs as Outputs);
const readingOf = (config: object, outputs: unknown): string => {
  const d = make(config);
  d.decodeBatch(outputs as Outputs);
  return (d.describe().json as { reading: string }).reading;
};

describe.each(engines)("scores of 16 and 32 bits beside a column of labels, %s", (engine) => {
  const boxes = filled([1, 3, 4]);
  boxes.data.set([0.1, 0.1, 0.3, 0.3, 0.4, 0.4, 0.6, 0.6, 0.7, 0.7, 0.9, 0.9]);
  test.each([Int16Array, Int32Array])("keep looks at the label, %o", (Kind) => {
    const found = decode(
      {
        family: "boxes",
        classes: 3,
        coordinates: "normalised",
        roles: { boxes: "b", scores: "s", classIds: "l" },
        keep: [1],
      },
      {
        b: boxes,
        s: {
          data: Kind.from([9000, 100, 8000]),
          dims: [1, 3],
          type: Kind === Int16Array ? "i16" : "i32",
          scale: 1e-4,
          zeroPoint: 0,
        },
        l: { data: Int32Array.from([1, 0, 1]), dims: [1, 3] },
      },
      { engine },
    );
    expect(found.toArray().map((d) => [d.class_id, Number(d.confidence.toFixed(4)), d.x_min])).toEqual([
      [1, 0.9, Math.fround(0.1)],
      [1, 0.8, Math.fround(0.7)],
    ]);
  });

  test.each([1, 3, 16])("the lowest number of 32 bits is a number, %i classes", (classes) => {
    const [cells, lowest] = [5, -(2 ** 31)];
    const scores = {
      data: new Int32Array(classes * cells).fill(lowest),
      dims: [1, classes, cells],
      scale: 1e-9,
    };
    const outputs = { boxes: filled([1, 4, cells], 8), scores: { ...scores, zeroPoint: 0 } };
    const config = { family: "yolov8", classes, inputSize: [32, 32], scores: "logits" };
    const rules = { rules: { suppress: "none" }, confidenceThreshold: 0.1 };
    const found = decode({ ...config, ...rules }, outputs, { engine }).toArray();
    expect(found.map((d) => [d.class_id, d.confidence.toFixed(4)])).toEqual(Array(cells).fill([0, "0.1046"]));
  });

  test.each([1, 3, 16])("and so it is beside objectness, %i classes", (classes) => {
    const [cells, channels] = [5, 5 + classes];
    const data = new Int32Array(cells * channels).fill(-(2 ** 31));
    for (let i = 0; i < cells; i++) data.fill(0, i * channels, i * channels + 5);
    const config = {
      family: "yolov5",
      classes,
      inputSize: [32, 32],
      scores: "logits",
      confidenceThreshold: 0.1,
    };
    const rules = { rules: { suppress: "none", score: "class" }, coordinates: "normalised" };
    const output = { data, dims: [1, cells, channels], scale: 1e-9, zeroPoint: 0 };
    const found = decode({ ...config, ...rules }, { output }, { engine }).toArray();
    expect(found.map((d) => [d.class_id, d.confidence.toFixed(4)])).toEqual(Array(cells).fill([0, "0.1046"]));
  });

  const infinite: [string, typeof Float32Array | typeof Uint16Array, number, number][] = [
    ["f32", Float32Array, -Infinity, 1],
    ["f16", Uint16Array, 0xfc00, 0x3c00],
  ];
  test.each(infinite)("a logit of -Infinity passes no threshold, not even 0: %s", (_, Kind, none, one) => {
    for (const classes of [1, 2, 5, 17])
      for (const order of ["planes", "rows"]) {
        const channels = 5 + classes;
        const data = new Kind(channels * 84);
        for (let i = 0; i < 84; i++)
          for (let c = 4; c < channels; c++)
            data[order === "rows" ? i * channels + c : c * 84 + i] = c > 4 && i % 3 > 0 ? none : one;
        const dims = order === "rows" ? [1, 84, channels] : [1, channels, 84];
        const config = { family: "yolov5", classes, inputSize: [64, 64], scores: "logits" };
        const rules = { rules: { gate: ">=", suppress: "none" }, coordinates: "normalised" };
        const free = { ...config, ...rules, confidenceThreshold: 0 };
        expect(decode(free, { o: { data, dims, order } }, { engine })).toHaveLength(28);
        const [boxes, scores] = [filled([1, 4, 84]), data.slice(-classes * 84)];
        if (order === "rows") continue;
        const apart = { boxes, scores: { data: scores, dims: [1, classes, 84], order } };
        expect(decode({ ...free, family: "yolov8" }, apart, { engine })).toHaveLength(28);
      }
  });

  test("a label far beyond all memory", () => {
    const one = { b: filled([1, 1, 4], 0.5), l: { data: Int32Array.of(1999999), dims: [1, 1] } };
    one.b.data.fill(0.1, 0, 2);
    const s = { data: Int16Array.of(9000), dims: [1, 1], type: "i16", scale: 1e-4, zeroPoint: 0 };
    const config = { family: "boxes", classes: 2e6, coordinates: "normalised", keep: [1999999] };
    const roles = { boxes: "b", scores: "s", classIds: "l" };
    expect(decode({ ...config, roles }, { ...one, s }, { engine })).toHaveLength(1);
  });
});

describe("maps of box and class with channels last", () => {
  // each size has a map as wide as one of the tensors has channels
  test.each([
    [640, 80],
    [512, 20],
    [512, 64],
    [320, 40],
    [416, 52],
  ])("input %i, %i classes: an object on each map is found there", (size, classes) => {
    const outputs: Record<string, TensorInput> = {};
    [8, 16, 32].forEach((stride, i) => {
      const w = size / stride;
      const cls = filled([1, w, w, classes], -9);
      cls.data[(i * w + 1) * classes + i] = 3 - i;
      outputs[`box${i}`] = filled([1, w, w, 64]);
      outputs[`cls${i}`] = cls;
    });
    const found = decode({ family: "yolov8", classes, inputSize: [size, size] }, outputs).toArray();
    expect(found.map((d) => d.class_id)).toEqual([0, 1, 2]);
    // distances of 7.5 cells to all sides, from the middle of cell (1, i)
    expect(found[2].x_max).toBeCloseTo(Math.min(1, (9 * 32) / size), 5);
  });

  test("the last map may be a single cell", () => {
    const sizes = [4, 2, 1];
    const order = "NHWC";
    const outputs = sizes.flatMap((w) => [
      filled([1, w, w, 4], 0, { order }),
      filled([1, w, w, 1], 0.9, { order }),
      filled([1, w, w, 3], 0.9, { order }),
    ]);
    const d = make({ family: "yolox", classes: 3, inputSize: [32, 32] });
    d.decode(outputs);
    expect(d.stats.candidates).toBe(16 + 4 + 1);
  });
});

describe("end-to-end results are not taken for rows of cells", () => {
  const rows = filled([1, 300, 6]);
  rows.data.set([100, 100, 300, 300, 0.9, 1, 400, 100, 500, 300, 0.8, 0]);

  test.each(["yolov10", "yolo26"])("300 detections, and a 20x15 map: %s", (family) => {
    const found = decode({ family, classes: 2, inputSize: [640, 480] }, [rows]).toArray();
    expect(found.map((d) => [d.class_id, Math.round(d.x_min * 640), Math.round(d.y_max * 480)])).toEqual([
      [1, 100, 300],
      [0, 400, 300],
    ]);
  });

  test("a family that also gives rows: both are named", () => {
    const config = { family: "yolov8", classes: 2, inputSize: [640, 480] };
    expect(() => decode(config, [rows])).toThrow('(reading: "end-to-end")');
    expect(() => decode(config, [rows])).toThrow('(reading: "class-rows")');
    expect(decode({ ...config, reading: "end-to-end" }, [rows])).toHaveLength(2);
  });

  test("a batch of them is no map", () => {
    const batch = filled([4, 300, 6]);
    expect(readingOf({ family: "yolov8", classes: 2, inputSize: [640, 384] }, [batch])).toBe("end-to-end");
  });

  test("rows of all three maps are rows", () => {
    expect(readingOf({ family: "yolov8", classes: 2, inputSize: [64, 64] }, [filled([1, 84, 6])])).toBe(
      "class-rows",
    );
  });
});

test.each([
  ["yolov8", [2, 8400, 84], [640, 640], 80],
  ["yolox", [2, 3549, 85], [416, 416], 80],
])("a batch of rows is no map where the input has no such map: %s", (family, dims, inputSize, classes) => {
  const found = make({ family, classes, inputSize }).decodeBatch([filled(dims)]);
  expect(found).toHaveLength(2);
});

describe("a map that is missing or of another shape takes part of the boxes with it", () => {
  const map = (channels: number, w: number): Filled => filled([1, channels, w, w]);
  const V8 = { family: "yolov8", classes: 1, inputSize: [64, 64] };
  const roles = { boxes: ["b0", "b1"], scores: ["c0", "c1"] };
  test.each<[string, () => unknown, string]>([
    [
      "named, and not there",
      () => decode({ ...V8, roles }, { b0: map(64, 8), c0: map(1, 8) }),
      "roles: got outputs b0 [1,64,8,8], c0 [1,1,8,8], expected b1, c1 among them",
    ],
    [
      "named, with a channel too few",
      () => decode({ ...V8, roles }, { b0: map(64, 8), c0: map(1, 8), b1: map(63, 4), c1: map(1, 4) }),
      "got b1 [1,63,4,4], c1 [1,1,4,4] left over by distance distributions of 16 bins: b0 [1,64,8,8] as NCHW + c0 [1,1,8,8] as NCHW, expected every output of the head to fit. Leave out what the head does not need: pass its own outputs to decode(), or name them by --only on the command line",
    ],
    [
      "one stride without a map",
      () => decode({ ...V8, strides: [8, 16, 32] }, [map(65, 8), map(65, 2)]),
      "distance distributions of 16 bins: output0 [1,65,8,8] as NCHW, output1 [1,65,2,2] as NCHW: got 2 maps, expected 3, one for each of strides",
    ],
    [
      "an output of the head by its name",
      () =>
        decode(V8, {
          output1_yolov6r2: map(6, 8),
          output2_yolov6r2: map(9, 4),
          output3_yolov6r2: map(6, 2),
        }),
      "got output2_yolov6r2 [1,9,4,4] left over by",
    ],
    [
      "one map lying the other way",
      () =>
        decode({ ...V8, classes: 3 }, [
          filled([1, 64, 8, 8], 0, { order: "NCHW" }),
          filled([1, 3, 8, 8], 0, { order: "NCHW" }),
          filled([1, 4, 4, 64], 0, { order: "NHWC" }),
          filled([1, 4, 4, 3], 0, { order: "NHWC" }),
        ]),
      "which can be read in 2 ways",
    ],
  ])("%s", (_, act, message) => {
    expect(act).toThrow(TensorError);
    expect(act).toThrow(message);
  });
});

describe("rows that fill the maps of their input", () => {
  const V8 = { family: "yolov8", classes: 16, inputSize: [64, 64] };
  // 84 cells of 4 + 16 channels, as much as 20 cells of 4 x 17 + 16
  test.each([
    [1, 20, 84],
    [1, 84, 20],
  ])("planes and rows are no distributions without a word: [%i,%i,%i]", (...dims) => {
    expect(() => decode(V8, [filled(dims)])).toThrow("which can be read in 2 ways");
    expect(readingOf({ ...V8, reading: "class-rows" }, [filled(dims, 0.1)])).toBe("class-rows");
    expect(readingOf({ ...V8, reading: "dfl-grid" }, [filled(dims)])).toBe("dfl-grid");
  });

  test("the class map of a strip is no list of detections where a map of boxes stands beside it", () => {
    const strip = { family: "yolov10", classes: 1, inputSize: [96, 16] };
    const maps = { boxes: filled([1, 1, 6, 4]), classes: filled([1, 1, 6, 1]) };
    expect(readingOf(strip, maps)).toBe("distance-grid");
  });
});

describe("what a family's maps hold", () => {
  test("NanoDet: classes first, probabilities", () => {
    const w = 2;
    const head = filled([1, 3 + 32, w, w]);
    head.data[1 * w * w + 3] = 0.8; // class 1 of the last cell
    const d = make({ family: "nanodet", classes: 3, inputSize: [16, 16] });
    const [found] = d.decode([head]).toArray();
    expect([found.class_id, found.confidence]).toEqual([1, Math.fround(0.8)]);
    expect(d.describe().text).toContain("scores: probabilities");
  });

  test("YOLOv8 with a class too many in the tensor has no objectness", () => {
    expect(() =>
      decode({ family: "yolov8", classes: 79, inputSize: [640, 640] }, [filled([1, 84, 8400])]),
    ).toThrow("got output0 [1,84,8400], expected for yolov8 (option family) of 79 classes: [1,N,83]");
  });

  test("YOLOv6 r1: objectness gates by depthai-nodes, and has no say by depthai-core", () => {
    const row = filled([1, 6, 1, 1]);
    row.data.set([0, 0, 0, 0, 0.3, 0.9]);
    const config = { family: "yolov6r1", classes: 1, inputSize: [8, 8], confidenceThreshold: 0.5 };
    const by = (rules: string) =>
      decode(config, [row], { rules })
        .toArray()
        .map((d) => d.confidence);
    expect(by("depthai")).toEqual([Math.fround(0.9)]);
    expect(by("depthai-nodes")).toEqual([]);
  });

  test("SSD: a background in the middle is refused, at either end it is none of the classes", () => {
    const boxes = filled([1, 5, 4], 0, { order: "rows" });
    const scores = filled([1, 5, 4], 0, { order: "rows" });
    for (let i = 0; i < 4; i++) scores.data[i * 4 + i] = 0.9;
    const priors = Float32Array.from({ length: 20 }, (_, i) => (i % 4 < 2 ? i / 40 : i / 40 + 0.02));
    const ids = (background: number) =>
      decode(
        {
          family: "ssd",
          classes: 4,
          inputSize: [32, 32],
          priors,
          variances: [0.1, 0.1, 0.2, 0.2],
          background,
          roles: { boxes: "b", scores: "s" },
        },
        { b: boxes, s: scores },
      )
        .toArray()
        .map((d) => d.class_id)
        .sort();
    expect(ids(0)).toEqual([1, 2, 3]);
    expect(ids(3)).toEqual([0, 1, 2]);
    expect(() => ids(1)).toThrow("background: got class column 1 of 4, expected 0, 3 or false");
    expect(() => ids(7)).toThrow("background: got class column 7 of 4, expected 0, 3 or false");
  });
});

describe("UltraFace: offsets from priors, or boxes that the network decoded", () => {
  const shapes = { boxes: { dims: [1, 3, 4] }, scores: { dims: [1, 3, 2] } };
  const variances = [0.1, 0.1, 0.2, 0.2];
  const priors = [0.5, 0.5, 0.2, 0.4, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 0.1, 0.1];
  const readingWith = (more: object): string => {
    const d = createDecoderSync({ family: "ultraface", ...more } as never, { outputs: shapes });
    return (d.describe().json as { reading: string }).reading;
  };

  test("priors with variances make offsets, corners make boxes", () => {
    expect(readingWith({ priors, variances })).toBe("prior-rows");
    expect(readingWith({ boxFormat: "xyxy" })).toBe("boxes-scores");
    expect(readingWith({ boxFormat: "xyxy", priors, variances })).toBe("boxes-scores");
    expect(readingWith({})).toBe("boxes-scores");
  });
  test("one without the other is refused: the tensor of boxes holds offsets", () => {
    expect(() => readingWith({ priors })).toThrow("with variances");
    expect(() => readingWith({ variances })).toThrow("with variances");
  });
});

describe("what a tensor says of itself", () => {
  const V8 = { family: "yolov8", classes: 2, coordinates: "normalised", reading: "class-rows" };
  test.each<[string, object, string]>([
    ["order", { order: "ZZZ" }, 'order "ZZZ", expected NCHW, NHWC, CHW, HWC, rows or planes'],
    ["order, a number", { order: 5 }, "order 5, expected NCHW, NHWC, CHW, HWC, rows or planes"],
    [
      "a scale of floats",
      { scale: 0.5, zeroPoint: 3 },
      "f32 data with scale 0.5 and zeroPoint 3, expected neither: they are of integers",
    ],
  ])("%s", (_, more, message) => {
    expect(() => decode(V8, [filled([1, 6, 20], 0, more)])).toThrow(`tensor "output0": got ${message}`);
  });

  test("scale 0 and zero point 0 are how TensorFlow Lite says that a tensor is not quantised", () => {
    expect(decode(V8, [filled([1, 6, 20], 0, { scale: 0, zeroPoint: 0 })])).toHaveLength(0);
  });

  test("integers that 32 bits do not hold are refused, not wrapped", () => {
    const big = (data: BigInt64Array | Uint32Array) => () =>
      decode(V8, [{ data, dims: [1, 6, 1], scale: 0.01, zeroPoint: 0 }]);
    expect(big(BigInt64Array.of(1n, 1n, 1n, 1n, 2n ** 32n + 90n, 0n))).toThrow(
      'tensor "output0": got 4294967386 as element 4, expected a whole number of i32, -2147483648..2147483647',
    );
    expect(big(Uint32Array.of(1, 1, 1, 1, 2 ** 31, 0))).toThrow("got 2147483648 as element 4");
    expect(big(BigInt64Array.of(1n, 1n, 1n, 1n, 90n, 0n))()).toHaveLength(1);
  });

  test.each([
    ["u8", 0, 255],
    ["i8", -128, 127],
    ["i16", -32768, 32767],
    ["i32", -2147483648, 2147483647],
  ])("plain numbers of %s are whole, and in its range", (type, low, high) => {
    // scores are read of the fifth element alone, so that both ends may stand among the box
    const plain = (data: number[]) => decode(V8, [{ data, dims: [1, 6, 1], type, scale: 2 ** -31 }]);
    expect(plain([low, high, 0, 1, 1, 0])).toHaveLength(0);
    for (const x of [low - 1, high + 1, 0.5, NaN])
      expect(() => plain([0, x, 0, 0, 0, 0])).toThrow(
        `tensor "output0": got ${x} as element 1, expected a whole number of ${type}, ${low}..${high}`,
      );
  });
});

test.each(["probabilities", "logits"])(
  "zeros of either sign are what they are in every engine, %s",
  (activation) => {
    // four cells, three of whose classes are zeros: the first of the largest is a negative one
    const t = filled([1, 4 + 9, 21], -1);
    t.data.fill(16, 0, 4 * 21);
    if (activation === "probabilities") t.data.fill(0, 4 * 21);
    for (let cell = 0; cell < 4; cell++)
      for (const c of [2, 3, 8]) t.data[(4 + c) * 21 + cell] = c === 2 ? -0 : 0;
    const images = engines.map((engine) => {
      const d = make(
        {
          family: "yolov8",
          classes: 9,
          inputSize: [32, 32],
          scores: activation,
          confidenceThreshold: 0,
          iouThreshold: 1,
        },
        { engine, rules: { gate: ">=", suppress: "none" } },
      );
      const found = d.decode([t]);
      return [...found.scores.slice(0, found.length)].map((s, i) => [
        Object.is(s, -0) ? "-0" : s,
        found.classIds[i],
      ]);
    });
    expect(images[0]).toHaveLength(21);
    for (const image of images) expect(image).toEqual(images[0]);
  },
);

test.each(engines)("distributions of 32 bins a side (%s)", (engine) => {
  // cells of 8 pixels; in cell (3, 4) each side is sure of one bin, the last among them
  const [box, cls] = [filled([1, 4 * 32, 8, 8]), filled([1, 2, 8, 8], -20)];
  const cell = 4 * 8 + 3;
  const sides = [1, 2, 31, 17];
  sides.forEach((bin, side) => (box.data[(side * 32 + bin) * 64 + cell] = 100));
  cls.data[64 + cell] = 20;
  const config = { family: "yolov8", classes: 2, inputSize: [64, 64] };
  const found = decode(config, { box, cls }, { engine, rules: { clamp: "none" } });
  expect(found.toArray().map((d) => d.class_id)).toEqual([1]);
  // left, top, right, bottom of the cell's middle, an eighth of the input for each bin
  const expected = [3.5 - 1, 4.5 - 2, 3.5 + 31, 4.5 + 17].map((cells) => cells / 8);
  expected.forEach((x, i) => expect(found.boxes[i]).toBeCloseTo(x, 5));
});

test.each(engines)("BlazeFace has one class where nobody says (%s)", (engine) => {
  const [offsets, scores] = [filled([1, 896, 16]), filled([1, 896, 1], -20)];
  // of the first anchor, which is centred at half of 1/16: 60 and 28 pixels on, 32 wide and 64 high
  offsets.data.set([60, 28, 32, 64]);
  scores.data[0] = 20;
  const d = make({ family: "blazeface", inputSize: [128, 128] }, { engine });
  const found = d.decode({ offsets, scores });
  expect([...found.classIds.slice(0, found.length)]).toEqual([0]);
  expect([...found.boxes.slice(0, 4)]).toEqual([(64 - 16) / 128, 0, (64 + 16) / 128, (32 + 32) / 128]);
  expect(d.describe().text).toContain("; 1 class\n");
});

describe("keep, at the ends of the classes", () => {
  const v8 = { family: "yolov8", classes: 2, inputSize: [64, 64] };
  const ssd = {
    family: "ssd",
    classes: 2,
    priors: [0.5, 0.5, 0.25, 0.25],
    priorFormat: "cxcywh",
    variances: [0.1, 0.1, 0.2, 0.2],
    confidenceThreshold: 0.01,
    roles: { boxes: "b", scores: "s" },
  };
  const scores = filled([1, 1, 3]);
  scores.data.set([0.75, 0.125, 0.0625]);
  const kept = (config: object, keep: unknown): number[] =>
    decode(config, { b: filled([1, 1, 4]), s: scores }, { keep })
      .toArray()
      .map((d) => d.class_id);

  test("numbers below the first class and behind the last are refused", () => {
    for (const id of [-1, 2])
      expect(() => decode(v8, [filled([1, 6, 84])], { keep: [id] })).toThrow(
        `keep: got class ${id}, expected class ids in 0..1`,
      );
    expect(decode(v8, [filled([1, 6, 84])], { keep: [0, 1] })).toHaveLength(0);
    // of one class too, where a list may count another way
    expect(() => decode({ ...v8, classes: 1 }, [filled([1, 5, 84])], { keep: [-1] })).toThrow(
      "keep: got class -1",
    );
  });

  test("the background may be named, and is never found, however sure the network is of it", () => {
    for (const labels of [
      ["cat", "dog"],
      ["background", "cat", "dog"],
    ]) {
      expect(() => kept({ ...ssd, labels }, ["background"])).toThrow(
        "keep: got only the background, which is never detected, expected class ids in 1..2",
      );
      expect(kept({ ...ssd, labels }, ["background", "dog"])).toEqual([2]);
      expect(kept({ ...ssd, labels }, ["cat"])).toEqual([1]);
    }
    const behind = { ...ssd, background: 2, labels: ["cat", "dog", "nothing"] };
    expect(() => kept(behind, [2])).toThrow(
      "keep: got only the background, which is never detected, expected class ids in 0..1",
    );
    expect(kept(behind, ["cat", "nothing"])).toEqual([0]);
  });

  test("of a network without a background, or one that numbers leave out, it is no class", () => {
    expect(() =>
      decode({ ...v8, labels: ["a", "b"] }, [filled([1, 6, 84])], { keep: ["background"] }),
    ).toThrow('keep: got "background"');
    const config = { ...ssd, labels: ["background", "cat", "dog"], rules: "tflite" };
    expect(() => kept(config, ["background"])).toThrow('keep: got "background"');
    expect(kept(config, ["dog"])).toEqual([1]);
  });
});

describe("rows of six channels: cells of a network of two classes, or a finished list", () => {
  const config = {
    family: "yolov8",
    classes: 2,
    inputSize: [64, 64] as [number, number],
    coordinates: "normalised",
  };
  const read = (rows: number, more: object = {}): string =>
    createDecoderSync({ ...config, ...more }, { outputs: { o: { dims: [1, rows, 6] } } }).describe().text;

  test("three maps are no chance: the rows are cells", () => {
    expect(read(84)).toContain("class-rows");
  });

  test("one map may be chance, unless the config states its stride", () => {
    // 64 rows are the map of stride 8: 8 x 8 cells.
    expect(() => read(64)).toThrow(/reading: "class-rows"[^]*reading: "end-to-end"/);
    expect(read(64, { strides: [8] })).toContain("class-rows");
  });
});

test("corner rows are a list without doubles: nothing is suppressed, unless the config says so", () => {
  const config = { family: "yolo26", classes: 1, inputSize: [64, 64], reading: "corner-rows" } as const;
  const data = Float32Array.from([8, 8, 40, 40, 1, 0.9, 8, 8, 40, 41, 1, 0.8, 9, 8, 40, 40, 1, 0.7]);
  const count = (rules: object): number =>
    createDecoderSync({ ...config, rules }).decode({ o: { data, dims: [1, 3, 6], order: "rows" } }).length;
  expect(count({})).toBe(3);
  expect(count({ suppress: "class" })).toBe(1);
});
