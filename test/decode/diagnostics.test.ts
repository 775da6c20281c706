/**
 * What looks like a mistake of the caller: refused where it can only be one, a note in `describe()` where it may be
 * meant.
 */
import { describe, expect, test } from "vitest";
import { parseConfig } from "../../src/config/config.ts";
import type { Decoder } from "../../src/decode/decoder.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import type { Outputs } from "../../src/decode/inputs.ts";
import { ssdMobilenetAnchors } from "../../src/heads/priors.ts";
import { type Filled, filled } from "../support/seeded-networks.ts";

/** Returns the notes. Most tensors here hold zeros, and that they do is told too (`notes.test.ts`). */
const notesOf = (d: Decoder): readonly string[] =>
  (d.describe().json as { notes: readonly string[] }).notes.filter(
    (note) => !note.startsWith("every score of"),
  );
const decoded = (config: object, outputs: unknown): Decoder => {
  const d = createDecoderSync(config, { engine: "ts" });
  d.decode(outputs as Outputs);
  return d;
};

describe("names", () => {
  const typed = { family: "yolov8", classes: 80, inputSize: [640, 640] };
  test.each([
    [
      { ...typed, conf: 0.4 },
      "conf: got an unknown name, expected a known one; did you mean confidenceThreshold?",
    ],
    [
      { ...typed, nms_threshold: 0.4 },
      "nms_threshold: got an unknown name, expected a known one; did you mean iouThreshold?",
    ],
    [{ ...typed, topK: 4 }, "topK: got an unknown name, expected a known one; did you mean maxDetections?"],
    [{ ...typed, imgsz: 640 }, "imgsz: got an unknown name, expected a known one; did you mean inputSize?"],
    [
      { ...typed, agnosticNms: true },
      'agnosticNms: got an unknown name, expected a known one; did you mean rules: { suppress: "all" }?',
    ],
    [
      { ...typed, normalized: true },
      "normalized: got an unknown name, expected a known one; did you mean coordinates?",
    ],
    [{ ...typed, names: ["a"] }, "names: got an unknown name, expected a known one; did you mean labels?"],
    [{ ...typed, family: "YOLOv11n" }, /^family: got "YOLOv11n", expected "yolo11", or one of yolov2, /],
    // Networks that are read as a family of another name.
    [
      { ...typed, family: "yoloe-v8s" },
      /expected "yolov8" \(YOLOE has the tensors of YOLOv8, .*\), or one of/,
    ],
    [{ ...typed, family: "YOLO-World" }, /expected "yolov8" \(YOLO-World has /],
    [{ ...typed, family: "yolov5su" }, /expected "yolov8" \(YOLOv5u and YOLOv3u have the head of YOLOv8\)/],
    [{ ...typed, family: "fastsam" }, /expected "yolov8" with task: "segment", classes: 1 \(FastSAM is /],
    [{ ...typed, family: "tfod" }, /expected "boxes" with boxFormat: "yxyx", .*class ids begin at 1/],
    [{ ...typed, family: "RT-DETRv2" }, /^family: got "RT-DETRv2", expected "rtdetr", or one of yolov2, /],
    [{ ...typed, family: "no" }, /^family: got "no", expected one of yolov2, /],
  ])("%j", (config, message) => {
    expect(() => parseConfig(config)).toThrow(message);
  });
});

describe("classes that the shapes do not have", () => {
  const of = (classes: number, dims: number[]) => () =>
    decoded({ family: "yolov8", classes, inputSize: [640, 640] }, { o: filled(dims) });
  test("are named", () => {
    expect(of(79, [1, 84, 8400])).toThrow(/; these shapes would be of 80 or 20 classes$/);
    expect(of(80, [1, 24, 8400])).toThrow(/; these shapes would be of 20 classes$/);
  });
});

test("rows that are the cells of all maps: how many there are is said", () => {
  const of = (family: string, inputSize: number[], dims: number[]) => () =>
    decoded({ family, classes: 80, inputSize }, { o: filled(dims) });
  expect(of("yolox", [640, 640], [1, 3549, 85])).toThrow(/\[1,N,85\].*, N = 8400 for inputSize 640x640/);
  expect(of("nanodet", [416, 416], [1, 2125, 112])).toThrow(/N = 3549 for inputSize 416x416/);
});

test("rows of another input size, or of none that is stated: the size is named, and no other family", () => {
  for (const inputSize of [undefined, [640, 640]])
    expect(() => decoded({ family: "yolox", classes: 80, inputSize }, { o: filled([1, 3549, 85]) })).toThrow(
      /, channels first or last; inputSize: \[416, 416\] would read these$/,
    );
});

test("tensors of another kind of head: its family is named", () => {
  const of = (family: string, dims: number[]) => () =>
    decoded({ family, classes: 80, inputSize: [640, 640] }, { o: filled(dims) });
  expect(of("yolov5", [1, 84, 8400])).toThrow(
    /; family "yolov8" would read these; these shapes would be of 79 classes$/,
  );
  expect(of("yolov8", [1, 25200, 85])).toThrow(/last; family "yolov5" would read these; if the last channel/);
  // One row per cell is of no network with anchors.
  expect(of("yolov8", [1, 8400, 85])).toThrow(/last; family "yolox" would read these; if the last channel/);
  expect(of("yolov8", [1, 85, 8400])).toThrow(/last; family "yolox" would read these; if the last channel/);
  const uncounted = { family: "yolov8", inputSize: [640, 640] };
  expect(() => decoded(uncounted, { o: filled([1, 8400, 85]) })).toThrow(
    '; family "yolox" with classes: 80 would read these',
  );
  expect(() => decoded(uncounted, { o: filled([1, 84, 8400]) })).not.toThrow("classes: 80 would");
  expect(of("yolov5", [1, 300, 6])).toThrow(/; family "yolov8" would read these/);
});

/** True for notes other than the one on maps that are missing. */
const isOfOther = (note: string): boolean => !note.startsWith("no map has stride");

test("maps whose cells would not be square get a note", () => {
  const notes = (inputSize: number[]): readonly string[] =>
    notesOf(
      decoded(
        {
          family: "yolov5",
          classes: 2,
          inputSize,
          anchors: [[[10, 13]], [[30, 61]]],
          scores: "probabilities",
        },
        { a: filled([1, 7, 24, 40], 0.1), b: filled([1, 7, 12, 20], 0.1) },
      ),
    ).filter(isOfOther);
  expect(notes([320, 192])).toEqual([]);
  expect(notes([318, 190])).toEqual([]);
  expect(notes([320, 320])).toEqual([
    "a 320x320 input has no map of 40x24 or 20x12 cells at a stride of 8, 16, 32 or another power of two: is that its width and height? The option strides settles it",
  ]);
});

test("two maps of another input get a note: each has a stride of whole pixels, but not one that networks have", () => {
  const notes = (size: number, strides?: number[]): readonly string[] =>
    notesOf(
      decoded(
        { family: "yolov3", classes: 2, inputSize: [size, size], strides, anchors: [[[10, 14]], [[81, 82]]] },
        { a: filled([1, 7, 26, 26], -8), b: filled([1, 7, 13, 13], -8) },
      ),
    ).filter((note) => note.includes("cells"));
  expect(notes(416)).toEqual([]);
  expect(notes(416, [16, 32])).toEqual([]);
  for (const size of [320, 500, 512, 608, 640, 1024, 1280])
    expect(notes(size)).toEqual([
      `a ${size}x${size} input has no map of 26x26 or 13x13 cells at a stride of 8, 16, 32 or another power of two: ` +
        "is that its width and height? The option strides settles it",
    ]);
  expect(notes(416, [8, 16])).toEqual([
    "a 416x416 input has no map of 13x13 cells at a stride of 8, 16: is that its width and height? The option strides settles it",
  ]);
});

test("boxes whose middles lie outside the input get a note", () => {
  const notes = (inputSize: number[]): readonly string[] => {
    const o = filled([1, 6, 1260]);
    for (let i = 0; i < 1260; i++)
      [i % 320, i % 192, 16, 16, i % 3 === 0 ? 0.9 : 0.1].forEach((x, c) => (o.data[c * 1260 + i] = x));
    return notesOf(decoded({ family: "yolov8", classes: 2, inputSize }, { o }));
  };
  expect(notes([320, 192])).toEqual([]);
  expect(notes([192, 320])).toEqual([
    "boxes stand around up to 319, 189 in a 192x320 input: is that its width and height?",
  ]);
});

test("a misspelt block or field of a config file is named", () => {
  const metadata = { classes: 2, anchors: [10, 14], anchor_mask: { side26: [0] } };
  const of = (key: string) => () =>
    parseConfig({ NN_config: { NN_family: "YOLO", output_format: "raw", [key]: metadata } });
  expect(of("NN_specific_metadta")).toThrow(
    /NN_config\.NN_specific_metadta: got an unknown name, .*did you mean NN_specific_metadata\?/,
  );
  expect(of("NN_specific_metadata")).toThrow(
    /NN_specific_metadata\.anchor_mask: got an unknown name, .*did you mean anchor_masks\?/,
  );
});

test("boxes that are all NaN get a note, once", () => {
  const o = filled([1, 6, 84], NaN);
  o.data.fill(0, 4 * 84);
  o.data[4 * 84 + 3] = 0.9;
  const d = decoded({ family: "yolov8", classes: 2, inputSize: [64, 64] }, { o });
  d.decode({ o });
  expect(notesOf(d)).toEqual([
    "candidates of frame 1 whose box, score or class id is NaN or infinite are dropped: 1",
  ]);
});

test("scores that are infinite are counted with a note that names them", () => {
  const o = filled([1, 6, 84], 1);
  o.data.fill(0, 4 * 84);
  o.data[4 * 84 + 3] = Infinity;
  const d = decoded({ family: "yolov8", classes: 2, inputSize: [64, 64] }, { o });
  expect(d.stats.dropped.notFinite).toBe(1);
  expect(notesOf(d)).toEqual([
    "candidates of frame 1 whose box, score or class id is NaN or infinite are dropped: 1",
  ]);
});

test("the bytes of a file are no floats", () => {
  const bytes = (): Decoder =>
    decoded(
      { family: "yolov8", classes: 2, inputSize: [64, 64] },
      { o: { data: new Uint8Array(4 * 6 * 84), dims: [1, 6, 84] } },
    );
  expect(bytes).toThrow(
    'tensor "o": got 2016 elements, expected 504 for dims [1,6,84]; bytes of floats are new Float32Array(data.buffer, data.byteOffset, data.length / 4)',
  );
});

describe("what goes with priors", () => {
  const priors = Float32Array.of(0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 0.2, 0.2);
  const of = (more: object) => (): Decoder =>
    decoded(
      { family: "ssd", classes: 2, inputSize: [300, 300], priors, ...more },
      { boxes: filled([1, 2, 4]), scores: filled([1, 2, 3]) },
    );
  test("is told apart by its size", () => {
    expect(of({ scales: [0.1, 0.1, 0.2, 0.2] })).toThrow(
      /^scales: got .*of smaller ones, which are factors, say variances/,
    );
    expect(of({ variances: [10, 10, 5, 5] })).toThrow(
      /^variances: got .*of larger ones, which divide, say scales/,
    );
    expect(of({ scales: [10, 10, 5, 5], priors: priors.map((x) => x * 300) })).toThrow(
      "priors: got numbers up to 90, expected 0..1 of the input, not pixels",
    );
    expect(of({ scales: [10, 10, 5, 5], priorFormat: "cxcywh" })).not.toThrow();
  });
});

test("end to end: classes beyond those that were stated get a note", () => {
  const o = { data: Float32Array.of(8, 8, 24, 24, 0.9, 41, 0, 0, 0, 0, 0, 0), dims: [1, 2, 6] };
  const config = { family: "yolo26", inputSize: [64, 64] };
  expect(notesOf(decoded({ ...config, classes: 2 }, { o }))).toEqual([
    "class 41 was found, and there are 2 classes: are they those of this network?",
  ]);
  expect(notesOf(decoded({ ...config, classes: 80 }, { o }))).toEqual([]);
});

test("two tensors that both fit: what settles it names one", () => {
  const both = (): Decoder =>
    decoded(
      { family: "yolov5", classes: 2, inputSize: [64, 64] },
      { a: { ...filled([1, 252, 7]), order: "rows" }, b: { ...filled([1, 7, 252]), order: "planes" } },
    );
  expect(both).toThrow(/2 ways:[^]*roles settles it: \{boxes: "name"/);
});

describe("two tensors for one map", () => {
  const wide = (value: number, dims: number[]): Filled => filled(dims, value);
  test.each([
    [
      "yolov5",
      { anchors: [[[10, 13]], [[30, 61]]] },
      { a: wide(-9, [1, 7, 8, 8]), b: wide(-9, [1, 7, 4, 4]), c: wide(4, [1, 7, 4, 4]) },
    ],
    ["yolox", {}, { a: wide(0, [1, 7, 8, 8]), b: wide(0, [1, 7, 4, 4]), c: wide(0.9, [1, 7, 4, 4]) }],
    ["yolov8", {}, { a: wide(-9, [1, 66, 8, 8]), b: wide(-9, [1, 66, 4, 4]), c: wide(4, [1, 66, 4, 4]) }],
  ])("%s: neither is left out without a word", (family, more, outputs) => {
    const config = { family, classes: 2, inputSize: [64, 64], ...more };
    const count = (roles?: object): number => {
      const d = createDecoderSync(roles ? { ...config, roles } : config, { engine: "ts" });
      return d.decode(outputs).length;
    };
    expect(() => count()).toThrow(/2 ways:[^]*roles settles it: \{boxes: \["name", \.\.\.\]\}/);
    expect(count({ boxes: ["a", "b"] })).toBe(0);
    expect(count({ boxes: ["a", "c"] })).toBeGreaterThan(0);
  });
});

describe("the four outputs of TFLite's operator", () => {
  const config = { family: "tflite-postprocess", classes: 90, confidenceThreshold: 0.5 };
  const [boxes, count] = [filled([1, 2, 4]), filled([1], 2)];
  boxes.data.set([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]);
  const [classes, scores] = [filled([1, 2]), filled([1, 2])];
  classes.data.set([17, 3]);
  scores.data.set([0.9, 0.7]);
  const expected = [
    [17, 0.9, 0.2, 0.1, 0.4, 0.3],
    [3, 0.7, 0.6, 0.5, 0.8, 0.7],
  ];
  const found = (outputs: unknown, more: object = {}): number[][] => {
    const d = createDecoderSync({ ...config, ...more }, { engine: "ts" });
    const rows = d.decode(outputs as Outputs).toArray();
    return rows.map((r) =>
      [r.class_id, r.confidence, r.x_min, r.y_min, r.x_max, r.y_max].map((v) => Number(v.toFixed(4))),
    );
  };
  test("names of a SavedModel, whose class ids begin at 1, get a note", () => {
    const notes: string[] = [];
    const d = createDecoderSync(config, { engine: "ts", onNote: (note) => notes.push(note) });
    d.decode({
      detection_boxes: boxes,
      detection_classes: classes,
      detection_scores: scores,
      num_detections: count,
    });
    expect(notes).toEqual([expect.stringMatching(/^detection_classes .* class ids begin at 1 .*"boxes"/)]);
  });

  test.each(["TFLite_Detection_PostProcess", "detections"])("as TensorFlow 1 names them: %s", (n) => {
    expect(found({ [n]: boxes, [`${n}:1`]: classes, [`${n}:2`]: scores, [`${n}:3`]: count })).toEqual(
      expected,
    );
  });
  test.each(["StatefulPartitionedCall:", "output_"])("as TensorFlow 2 numbers them: %s", (n) => {
    expect(found({ [`${n}0`]: count, [`${n}1`]: scores, [`${n}2`]: classes, [`${n}3`]: boxes })).toEqual(
      expected,
    );
  });
  test("in another order of coordinates", () => {
    const named = { boxes, classes, scores, count };
    expect(found(named, { boxFormat: "xyxy" })[0]).toEqual([17, 0.9, 0.1, 0.2, 0.3, 0.4]);
    expect(found(named)[0]).toEqual(expected[0]);
  });
});

describe("maps of another input", () => {
  const notes = (inputSize: number[], w: number, h: number): readonly string[] =>
    notesOf(
      decoded(
        { family: "yolov8", classes: 2, inputSize, scores: "probabilities" },
        { box: filled([1, 64, h, w]), cls: filled([1, 2, h, w]) },
      ),
    ).filter(isOfOther);
  test("width and height changed about", () => {
    expect(notes([384, 640], 80, 48)).toEqual([
      "a 384x640 input has no map of 80x48 cells at a stride of 8, 16, 32 or another power of two: is that its width and height? The option strides settles it",
    ]);
    expect(notes([640, 384], 80, 48)).toEqual([]);
  });
  test("a map of which the last cells stand out is one of the input", () => {
    expect(notes([416, 416], 7, 7)).toEqual([]);
    expect(notes([650, 650], 82, 82)).toEqual([]);
    expect(notes([640, 640], 81, 80)).toHaveLength(1);
  });
});

describe("anchors", () => {
  const anchored = (family: string, anchors: unknown, maps: number[], inputSize: number[] | undefined) =>
    notesOf(
      decoded(
        { family, classes: 1, anchors, inputSize, scores: "probabilities" },
        Object.fromEntries(maps.map((n) => [`m${n}`, filled([1, 18, n, n])])),
      ),
    ).filter(isOfOther);
  const px = [10, 13, 16, 30, 33, 23, 116, 90, 156, 198, 373, 326];
  const units = [1.25, 1.625, 2, 3.75, 4.125, 2.875, 3.625, 2.8125, 4.875, 6.1875, 11.65625, 10.1875];
  test("in cells where pixels are meant", () => {
    expect(anchored("yolov5", units, [80, 20], [640, 640])).toEqual([
      "no anchor is larger than 11.65625 pixels beside cells of 32: are they in cells, or 0..1?",
    ]);
    expect(anchored("yolov5", px, [80, 20], [640, 640])).toEqual([]);
  });
  test("the largest first", () => {
    const turned = [...px.slice(6), ...px.slice(0, 6)];
    expect(anchored("yolov5", turned, [80, 20], [640, 640])).toEqual([
      "the largest map has the largest anchors: is their order that of the maps, the largest map first?",
    ]);
  });
  test("in pixels where cells are meant", () => {
    const cells = [1, 1, 3, 4, 9, 10];
    expect(anchored("yolov2", cells, [13], [416, 416])).toEqual([]);
    expect(
      anchored(
        "yolov2",
        cells.map((x) => x * 32),
        [13],
        [416, 416],
      ),
    ).toEqual(["anchors of up to 320 cells on a 13x13 map: are they in pixels? yolov2 has them in cells"]);
  });
});

test("boxes that are turned over", () => {
  const rows = filled([1, 4, 6]);
  rows.data.set([300, 400, 40, 60, 0.9, 0]);
  const config = { family: "yolov10", classes: 80, inputSize: [640, 640] };
  expect(notesOf(decoded(config, { o: rows }))).toEqual([
    "1 of the first 1 candidates have x_max < x_min or y_max < y_min: are the boxes as boxFormat says, or as it is by default?",
  ]);
  expect(notesOf(decoded({ ...config, boxFormat: "cxcywh" }, { o: rows }))).toEqual([]);
});

test("roles of another export", () => {
  const config = { family: "yolov8", classes: 1, inputSize: [64, 64], roles: { boxes: "b", scores: "s" } };
  expect(notesOf(decoded(config, { o: filled([1, 5, 84]) }))).toEqual([
    "roles name none of these outputs: b, s",
  ]);
});

test("priors as centre and size, taken for corners", () => {
  const [boxes, scores] = [filled([1, 1917, 4]), filled([1, 1917, 3])];
  const config = { family: "ssd", classes: 2, inputSize: [300, 300], priors: ssdMobilenetAnchors() };
  const variances = [0.1, 0.1, 0.2, 0.2];
  expect(notesOf(decoded({ ...config, variances }, { boxes, scores }))).toEqual([
    '1723 of 1917 priors have x_max < x_min or y_max < y_min as corners: if they are centre and size, say priorFormat "cxcywh", or "cycxhw" (TensorFlow, whose factors are scales)',
  ]);
  expect(notesOf(decoded({ ...config, scales: [10, 10, 5, 5] }, { boxes, scores }))).toEqual([]);
});

describe("decoded boxes taken for distributions", () => {
  // [1,84,8400] is 4 + 80 classes, and 4 x 16 bins with 20 classes
  const planes = (most: number, filling = 0): Outputs => {
    const o = filled([1, 84, 8400], filling);
    o.data.fill(most, 0, 8400);
    o.data[83 * 8400] = 0.9;
    return { o };
  };
  const config = { family: "yolov8", classes: 20, inputSize: [640, 640] };
  test("are refused, and the number of classes is said", () => {
    for (const given of [config, { ...config, scores: "probabilities" }])
      expect(() => decoded(given, planes(600))).toThrow(
        given === config
          ? /: got channels that all lie in 0\.\.1 but for the first four, expected distributions of 16 bins; .* 80 classes look like that: say classes: 80$/
          : /say classes: 80$/,
      );
    expect(decoded({ ...config, classes: 80 }, planes(600)).stats.candidates).toBe(1);
  });
  test("masks behind the classes, by which no number of classes can be said", () => {
    const o = filled([1, 116, 8400]);
    o.data.fill(600, 0, 8400);
    o.data.fill(-2, 84 * 8400);
    const seg = { ...config, classes: 52, scores: "logits" };
    expect(() => decoded(seg, { o })).toThrow(
      /: got box channels of which the first four are pixels and the other 60 lie in 0\.\.1, expected .* masks or keypoints after them: say task/,
    );
  });
  test("logits are not", () => {
    expect(decoded(config, planes(20)).stats.frames).toBe(1);
    expect(decoded(config, planes(600, -1)).stats.frames).toBe(1);
  });
});

test("a class that the labels do not have", () => {
  const rows = filled([1, 4, 6]);
  rows.data.set([30, 40, 100, 160, 0.9, 7]);
  const config = { family: "yolov10", labels: ["a", "b"], inputSize: [640, 640] };
  expect(notesOf(decoded(config, { o: rows }))).toEqual([
    "class 7 was found, and there are 2 labels: are they those of this network?",
  ]);
  rows.data[5] = 1;
  expect(notesOf(decoded(config, { o: rows }))).toEqual([]);
});

describe("lists for each class", () => {
  const make = (config: object, options: object = {}) => createDecoderSync(config, options);
  const v8 = { family: "yolov8", classes: 3, inputSize: [64, 64] };
  const ssd = { family: "ssd", classes: 90, inputSize: [300, 300], scales: [10, 10, 5, 5] };
  const names = (n: number): string[] => Array.from({ length: n }, (_, i) => `c${i}`);
  test("labels as an option are counted as those of a config are", () => {
    expect(() => make(v8, { labels: ["a", "b"] })).toThrow(
      "options.labels: got 2 labels, expected 3 for classes = 3",
    );
    expect(() => make({ ...v8, labels: ["a", "b"] })).toThrow("labels: got 2 labels, expected 3");
    expect(make(v8, { labels: names(3) }).config.labels).toHaveLength(3);
  });
  test("may name the background of an SSD, before shapes are known too", () => {
    for (const n of [90, 91]) {
      expect(make({ ...ssd, labels: names(n) }).config.labels).toHaveLength(n);
      expect(() => make(ssd).update({ confidenceThreshold: new Array<number>(n).fill(0.5) })).not.toThrow();
    }
    expect(() => make({ ...ssd, labels: names(92) })).toThrow("labels: got 92 labels");
    expect(() => make(ssd).update({ confidenceThreshold: new Array<number>(92).fill(0.5) })).toThrow(
      "confidenceThreshold: got 92 values, expected 90, one per class",
    );
  });
  test("a name to keep is one of the labels", () => {
    expect(() => make({ ...v8, labels: names(3) }, { keep: ["c1", "cow"] })).toThrow(
      'options.keep: got "cow", expected one of the labels c0, c1, c2',
    );
    expect(make({ ...v8, labels: names(3), keep: ["c1"] }).config.keep).toEqual(["c1"]);
  });
});

describe("tensors with fields of other libraries", () => {
  const config = { family: "yolov8", classes: 2, inputSize: [64, 64] };
  test.each(["zero_point", "zeropoint", "quantization", "dtype", "scales"])("%s", (name) => {
    expect(() => decoded(config, { o: { ...filled([1, 6, 84]), [name]: -128 } })).toThrow(
      `tensor "o": got an unknown name, ${name}, expected one of name, data, dims, type, scale, zeroPoint, axis, order`,
    );
    expect(() => decoded(config, { o: { ...filled([1, 6, 84]), [name]: undefined } })).not.toThrow();
  });
});

describe("what no reading fits", () => {
  const refused = (config: object, ...shapes: readonly (readonly number[])[]): string => {
    try {
      decoded(
        { inputSize: [640, 640], ...config },
        Object.fromEntries(shapes.map((s, i) => [`o${i}`, filled([...s])])),
      );
    } catch (e) {
      return (e as Error).message;
    }
    return "";
  };
  test("channels behind the classes", () => {
    expect(refused({ family: "yolov8", classes: 80 }, [1, 116, 8400], [1, 32, 160, 160])).toContain(
      '; if the last 32 channels are keypoints, say task: "pose", keypoints: [16, 2]; ' +
        'if coefficients of masks, say task: "segment"; ' +
        "else give the first 84 alone",
    );
    expect(refused({ family: "yolov8", classes: 1 }, [1, 56, 8400])).toContain(
      'the last 51 channels are keypoints, say task: "pose", keypoints: [17, 3]; if coefficients',
    );
    expect(refused({ family: "yolo11", classes: 15 }, [1, 20, 21504])).toContain("the first 19 alone");
    expect(refused({ family: "yolov5", classes: 80 }, [1, 25200, 117])).toContain("the first 85 alone");
    // A small input: its few rows are cells, and no finished list.
    expect(refused({ family: "yolov8", classes: 5, inputSize: [192, 128] }, [1, 41, 504])).toContain(
      "the last 32 channels are keypoints",
    );
    // Finished lists: four edges, a score, a class id, and more.
    expect(refused({ family: "yolo26", classes: 80 }, [1, 300, 38], [1, 32, 160, 160])).toContain(
      '; if the last 32 channels are keypoints, say task: "pose", keypoints: [16, 2]; ' +
        'if coefficients of masks, say task: "segment"; ' +
        "else give the first 6 alone",
    );
    expect(refused({ family: "yolo26", classes: 1 }, [1, 300, 57])).toContain(
      "the last 51 channels are keypoints",
    );
    expect(refused({ family: "yolo26", classes: 15 }, [1, 300, 7])).toContain(
      'if the last channel is an angle, say task: "oriented"',
    );
    expect(refused({ family: "yolov8", classes: 80 }, [1, 24, 8400])).not.toContain("alone");
    // A map has no rows, and its width is none of channels.
    expect(refused({ family: "yolov8", classes: 2 }, [1, 9, 9, 9])).not.toContain("alone");
    expect(refused({ family: "yolov8", classes: 2 }, [9, 7])).not.toContain("alone");
    // Four more channels are no angle, no keypoints and no coefficients.
    expect(refused({ family: "yolov8", classes: 2 }, [1, 10, 84])).not.toContain("alone");
    expect(refused({ family: "yolov8", classes: 2 }, [1, 7, 84])).toContain(
      "if the last channel is an angle",
    );
  });
  test("roles that name no output", () => {
    const roles = { boxes: "dets", scores: "o1" };
    expect(refused({ family: "boxes", classes: 3, roles }, [1, 9, 4], [1, 9, 2])).toContain(
      "; roles name dets, which is none of these",
    );
    expect(refused({ family: "boxes", classes: 3 }, [1, 9, 4], [1, 9], [1, 9])).toContain(
      "[1,N,4] + [1,N] + [1,N] with roles: {boxes, scores, classIds}",
    );
  });
  test("maps without anchors, and with too few", () => {
    const maps = [80, 40, 20].map((n) => [1, 21, n, n]);
    expect(refused({ family: "yolov5", classes: 2 }, ...maps)).toContain(
      "maps (anchors: got none, one list for each map)",
    );
    const anchors = [
      [10, 13, 16, 30, 33, 23],
      [30, 61, 62, 45, 59, 119],
    ];
    expect(refused({ family: "yolov5", classes: 2, anchors }, ...maps)).toContain(
      "(anchors: got 2, one list for each map)",
    );
    expect(
      refused(
        {
          family: "yolov5",
          classes: 2,
          anchors: [
            [10, 13, 16],
            [30, 61],
          ],
        },
        ...maps,
      ),
    ).toBe("anchors[0]: got 3 numbers, expected an even count");
  });
});

test("a path where JSON is meant", () => {
  expect(() => parseConfig("./config.json")).toThrow(
    /expected NN_config.*; a path or a name, perhaps: files are read by the caller$/,
  );
});

describe("scores that become NaN after a good frame", () => {
  const good = (): { o: Filled } => ({ o: filled([1, 6, 84]) });
  const lost = (from = 0): ReturnType<typeof good> => {
    const outputs = good();
    outputs.o.data.fill(NaN, 4 * 84 + from);
    return outputs;
  };
  const say = (config: object, frames: object[]): readonly string[] => {
    const d = createDecoderSync(
      { family: "yolov8", classes: 2, inputSize: [64, 64], ...config },
      { engine: "ts" },
    );
    for (const frame of frames) expect(d.decode(frame as Outputs)).toHaveLength(0);
    return notesOf(d);
  };
  test("are told, once, with the number of the frame", () => {
    expect(say({}, [good(), good()])).toEqual([]);
    const told = ["scores of frame 3 are NaN, which pass no threshold"];
    expect(say({}, [good(), good(), lost(), lost()])).toEqual(told);
    expect(say({ scores: "logits", confidenceThreshold: 0.6 }, [good(), good(), lost()])).toEqual(told);
  });
  test("are found in a part of the map, as each frame looks at another cell", () => {
    const frames = Array.from({ length: 84 }, (_, i) => (i === 0 ? good() : lost(80)));
    expect(say({}, frames)).toEqual(["scores of frame 81 are NaN, which pass no threshold"]);
  });
  test("are told of the first frame by their number, and not again", () => {
    expect(say({}, [lost(), lost()])).toEqual(["168 scores of the first frame are NaN or infinite"]);
  });
});

test("anchors for a family that has none are told", () => {
  const anchors = [[[10, 13]], [[30, 61]]];
  const d = decoded(
    { family: "yolov8", classes: 2, inputSize: [64, 64], anchors },
    { o: filled([1, 6, 84]) },
  );
  expect(notesOf(d)).toEqual(["yolov8 has no anchors: those given are not used"]);
});
