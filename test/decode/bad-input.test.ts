/** Input that is wrong, or could mean two things: refused with what was got and what was expected. */
import { describe, expect, test } from "vitest";
import { compilePlan } from "../../src/planfile/write.ts";
import { parseConfig } from "../../src/config/config.ts";
import type { Decoder } from "../../src/decode/decoder.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import type { Outputs } from "../../src/decode/inputs.ts";
import { READING_NAMES } from "../../src/core/readings.ts";
import { ConfigError, TensorError } from "../../src/core/errors.ts";
import { TRAITS } from "../../src/core/families.ts";
import { type PossibilityList, inspect } from "../../src/node/inspect-tensors.ts";
import type { Frame } from "../../src/decode/frame.ts";
import type { DecoderOptions } from "../../src/config/types.ts";
import type { TensorInput } from "../../src/core/tensor.ts";
import { engines } from "../support/engines.ts";
import { filled as zeros } from "../support/seeded-networks.ts";

function nn(metadata: object = {}, more: object = {}): unknown {
  return {
    NN_config: {
      output_format: "detection",
      NN_family: "YOLO",
      NN_specific_metadata: {
        classes: 2,
        anchors: [10, 14, 23, 27, 37, 58],
        anchor_masks: { side4: [0, 1], side2: [2] },
        ...metadata,
      },
      ...more,
    },
  };
}

/** A small input of 126 cells: what is refused does not depend on their count. */
const V8 = { family: "yolov8", classes: 80, inputSize: [96, 64] };
const PLANES = [1, 84, 126];
const two = (more: object = {}): unknown => ({
  family: "yolov8",
  classes: 2,
  inputSize: [640, 640],
  ...more,
});
const decode = (config: unknown, outputs: unknown, options: object = {}): unknown =>
  createDecoderSync(config, options as DecoderOptions).decode(outputs as Outputs);

/** `expected one of ...` lists every family; the list itself is not what is tested here. */
const FAMILIES = Object.keys(TRAITS).join(", ");

type Thrown = new (...args: never[]) => Error;

/** Name, what is done, and the whole message. */
function refuses(kind: Thrown, cases: readonly (readonly [string, () => unknown, string])[]): void {
  test.each(cases)("%s", (_, act, message) => {
    let thrown: unknown;
    try {
      act();
    } catch (e) {
      thrown = e;
    }
    expect(thrown).toBeInstanceOf(kind);
    expect((thrown as Error).message).toBe(message);
  });
}

describe("configs", () => {
  refuses(ConfigError, [
    [
      "an array",
      () => parseConfig([1, 2]),
      "got [1,2], expected an object: NN_config, nn_config, model (NN Archive config.json) or family (typed options)",
    ],
    [
      "a number",
      () => parseConfig(7),
      "got 7, expected an object: NN_config, nn_config, model (NN Archive config.json) or family (typed options)",
    ],
    [
      "JSON text of a string",
      () => parseConfig('"x"'),
      'got "x", expected an object: NN_config, nn_config, model (NN Archive config.json) or family (typed options)',
    ],
    [
      "what stands beside a config, as a part of it",
      () => parseConfig({ ...V8, engine: "ts", outputs: [] }),
      "engine: got it among what describes the network, expected it in the second argument of createDecoder\noutputs: got it among what describes the network, expected it in the second argument of createDecoder",
    ],
    [
      "classes beside labels of another number",
      () => createDecoderSync({ family: "yolov8", labels: ["a", "b", "c"] }, { classes: 5 }),
      "options.classes: got 5, and 3 labels in the config, expected as many of both: say labels too",
    ],
    [
      "missing family, typed options",
      () => parseConfig({ classes: 3 }),
      `family: got undefined, expected one of ${FAMILIES}`,
    ],
    [
      "missing family, NN_config",
      () => parseConfig({ NN_config: { output_format: "detection" } }),
      'NN_config.NN_family: got undefined, expected "YOLO" or "mobilenet", as output_format is "detection", or the option family',
    ],
    [
      "odd anchor count",
      () => parseConfig(nn({ anchors: new Array(11).fill(3) })),
      "NN_specific_metadata.anchors: got 11 numbers, expected an even count",
    ],
    [
      "mask out of range",
      () => parseConfig(nn({ anchor_masks: { side4: [0, 7], side2: [-1] } })),
      "NN_specific_metadata.anchor_masks.side4[1]: got 7, expected 0..2, as there are 3 anchors\n" +
        "NN_specific_metadata.anchor_masks.side2[0]: got -1, expected 0..2, as there are 3 anchors",
    ],
  ]);

  test("text that is not JSON", () => {
    expect(() => parseConfig("{oops")).toThrow(ConfigError);
    expect(() => parseConfig("{oops")).toThrow(
      /^got text that is not JSON \(.+\), expected NN_config, nn_config, model \(NN Archive config\.json\) or family \(typed options\)$/,
    );
    expect(() => createDecoderSync("")).toThrow(ConfigError);
  });
});

describe("options", () => {
  const option = (o: object) => (): unknown => createDecoderSync(V8, o as DecoderOptions);
  refuses(ConfigError, [
    [
      "a misspelt option",
      option({ confThreshold: 0.5 } as unknown as DecoderOptions),
      "options.confThreshold: got an unknown name, expected a known one; did you mean confidenceThreshold?",
    ],
    ["family", option({ family: "yolo" }), `options.family: got "yolo", expected one of ${FAMILIES}`],
    [
      "scores",
      option({ scores: "relu" }),
      'options.scores: got "relu", expected one of probabilities, logits, softmax-logits',
    ],
    [
      "priorFormat",
      option({ priorFormat: "xywh" }),
      'options.priorFormat: got "xywh", expected one of xyxy, cxcywh, cycxhw',
    ],
    [
      "boxFormat",
      option({ boxFormat: "ltrb" }),
      'options.boxFormat: got "ltrb", expected one of cxcywh, xyxy, xywh, yxyx, cycxhw',
    ],
    [
      "coordinates",
      option({ coordinates: "px" }),
      'options.coordinates: got "px", expected one of pixels, normalised, photo, strides',
    ],
    ["inputSize", option({ inputSize: [640] }), "options.inputSize: got [640], expected 2 positive numbers"],
    ["strides", option({ strides: [] }), "options.strides: got [], expected some positive numbers"],
    ["variances", option({ variances: [1] }), "options.variances: got [1], expected 4 positive numbers"],
    [
      "scales and variances",
      option({ scales: [1, 1, 1, 1], variances: [1, 1, 1, 1] }),
      "options.scales: got scales and variances, expected one: one is the inverse of the other",
    ],
    [
      "engine, of what runs none",
      () => compilePlan(V8, { engine: "gpu" as "ts" }),
      'options.engine: got "gpu", expected one of auto, simd, scalar, ts',
    ],
    [
      "scaleXY",
      option({ scaleXY: -1 }),
      "options.scaleXY: got -1, expected a positive number, or one per map",
    ],
    ["scaleXY, a list", option({ scaleXY: [0] }), "options.scaleXY: got [0], expected only positive numbers"],
    ["priors", option({ priors: 3 }), "options.priors: got 3, expected a Float32Array of four numbers a box"],
    ["classes", option({ classes: 0 }), "options.classes: got 0, expected a positive whole number below 1e9"],
    [
      "maxDetections",
      option({ maxDetections: 0 }),
      "options.maxDetections: got 0, expected a positive whole number below 1e9",
    ],
    [
      "confidence",
      option({ confidenceThreshold: 4 }),
      "options.confidenceThreshold: got 4, expected 0..1, or an array of such, one per class",
    ],
    [
      "confidence, no class",
      option({ confidenceThreshold: [] }),
      "options.confidenceThreshold: got [], expected 0..1, or an array of such, one per class",
    ],
    [
      "confidence per class",
      option({ confidenceThreshold: [0.1] }),
      "options.confidenceThreshold: got [0.1], expected 80 values, one per class",
    ],
    ["iou", option({ iouThreshold: NaN }), "options.iouThreshold: got NaN, expected a number in 0..1"],
    ["keep", option({ keep: [1.5] }), "options.keep: got [1.5], expected class names or class numbers"],
    [
      "reading",
      option({ reading: 3 }),
      `options.reading: got 3, expected one of ${READING_NAMES.join(", ")}`,
    ],
    [
      "outputs",
      option({ outputs: 4 }),
      "options.outputs: got 4, expected an array or a record of {dims, type}",
    ],
    [
      "rules",
      option({ rules: "coco" }),
      'options.rules: got "coco", expected one of ultralytics, depthai, depthai-nodes, gen1, opencv, tflite',
    ],
    [
      "a set",
      option({ rules: { set: "coco" } }),
      'options.rules.set: got "coco", expected one of ultralytics, depthai, depthai-nodes, gen1, opencv, tflite',
    ],
    [
      "several at once",
      option({ rules: { clamp: "x", foo: 1, maxCandidates: -1 } }),
      'options.rules.clamp: got "x", expected "none" or "before" or "after" or "centre"\n' +
        "options.rules.foo: got an unknown name, expected one of score, gate, suppress, iouGate, pixelOffset, clamp, multiLabel, maxCandidates, maxDetections, countBackground\n" +
        "options.rules.maxCandidates: got -1, expected a whole number",
    ],
  ]);
  refuses(RangeError, [
    ["engine", option({ engine: "gpu" }), 'engine: got "gpu", expected "auto", "simd", "scalar" or "ts"'],
  ]);
});

describe("tensors", () => {
  const names = (dims: readonly number[]): string => `output0 [${dims.join(",")}]`;
  const big = (Type: Uint8ArrayConstructor | Int8ArrayConstructor, more: object): unknown => [
    { data: new Type(84 * 126), dims: PLANES, ...more },
  ];
  refuses(TensorError, [
    ["no tensors", () => decode(V8, []), "got no tensors, expected the outputs of the network"],
    [
      "no outputs at all",
      () => decode(V8, null),
      "got null, expected the outputs: an array or a record of {data, dims}",
    ],
    ["a number", () => decode(V8, 3), "got 3, expected the outputs: an array or a record of {data, dims}"],
    [
      "two of one name",
      () =>
        decode(V8, [
          { ...zeros(PLANES), name: "a" },
          { ...zeros([1, 2]), name: "a" },
        ]),
      'tensor "a": got it twice among a [1,84,126], a [1,2], expected each name once',
    ],
    ["null for a tensor", () => decode(V8, [null]), 'tensor "output0": got null, expected {data, dims}'],
    [
      "a tensor without data",
      () => decode(V8, { out: { dims: PLANES } }),
      'tensor "out": got data undefined, expected a typed array',
    ],
    [
      "data that is an object",
      () => decode(V8, [{ data: {}, dims: PLANES }]),
      'tensor "output0": got data of type Object, expected a typed array',
    ],
    [
      "dims that are none",
      () => decode(V8, [{ data: new Float32Array(1), dims: "x" }]),
      'tensor "output0": got dims "x", expected an array of whole numbers',
    ],
    [
      "a shape in place of dims",
      () => decode(V8, [{ data: new Float32Array(1), shape: [1] }]),
      'tensor "output0": got shape and no dims, expected dims: rename shape to dims',
    ],
    [
      "dims with a fraction",
      () => decode(V8, [{ data: new Float32Array(1), dims: [1, 0.5] }]),
      'tensor "output0": got dims [1,0.5], expected an array of whole numbers',
    ],
    [
      "an unknown type",
      () => decode(V8, [{ ...zeros(PLANES), type: "bf16" }]),
      'tensor "output0": got type "bf16", expected one of f32 f16 u8 i8 i16 i32 (or f64, i64)',
    ],
    [
      "a type that the array is not",
      () => decode(V8, [{ ...zeros(PLANES), type: "i8" }]),
      'tensor "output0": got Float32Array data, expected Int8Array data for its type "i8"',
    ],
    [
      "data in the place of outputs",
      () => decode(V8, new Float32Array(3)),
      "got Float32Array [0,0,0], expected the outputs: an array or a record of {data, dims}",
    ],
    [
      "data in the place of a tensor",
      () => decode(V8, [new Float32Array(9)]),
      'tensor "output0": got Float32Array [0,0,0,0,0,0,0,0,...], expected {data, dims}',
    ],
    [
      "dims of another kind",
      () => decode(V8, [{ data: new Float32Array(2), dims: [1n, 2n] }]),
      'tensor "output0": got dims [1n,2n], expected an array of whole numbers',
    ],
    [
      "shorter than its dims",
      () => decode(V8, [{ data: new Float32Array(10), dims: PLANES }]),
      'tensor "output0": got 10 elements, expected 10584 for dims [1,84,126]',
    ],
    [
      "detached buffer",
      () => {
        const data = new Float32Array(84 * 126);
        structuredClone(data.buffer, { transfer: [data.buffer] });
        return decode(V8, [{ data, dims: PLANES }]);
      },
      'tensor "output0": got 0 elements (its buffer is detached or empty), expected 10584 for dims [1,84,126]',
    ],
    [
      "quantised without scale",
      () => decode(V8, big(Uint8Array, {})),
      "output0 [1,84,126]: got integers (u8) without a scale, expected scale and zeroPoint: real = (raw - zeroPoint) * scale",
    ],
    [
      "a scale below 0",
      () => decode(V8, big(Uint8Array, { scale: -1 })),
      'tensor "output0": got scale -1, expected a positive number (real = (raw - zeroPoint) * scale)',
    ],
    [
      "a zero point that is none",
      () => decode(V8, big(Uint8Array, { scale: 1, zeroPoint: NaN })),
      'tensor "output0": got zeroPoint NaN, expected a number',
    ],
    [
      "one int8 scale for boxes and scores",
      () => decode(V8, big(Int8Array, { scale: 2.5, zeroPoint: -128 })),
      "output0 [1,84,126]: got scale 2.5 and zero point -128 (values 0..637.5 in steps of 2.5), expected a scale that tells scores between 0 and 1 apart; boxes and scores share one scale here, which loses the scores: export them as outputs of their own",
    ],
    [
      "missing output",
      () => decode(nn(), [zeros([1, 14, 4, 4])]),
      "got output0 [1,14,4,4], expected for yolov3 (nothing in the file says otherwise; the option `family` does) of 2 classes: [1,2 x (5+2),h,4], [1,1 x (5+2),h,2] (anchors: got 2, one list for each map); [1,N,7], channels first or last",
    ],
    [
      "more maps than scaleXY has numbers for",
      () =>
        createDecoderSync(
          {
            family: "yolov4",
            classes: 1,
            inputSize: [64, 64],
            anchors: [[[1, 1]], [[2, 2]]],
            scaleXY: [1.2],
          } as object,
          {
            outputs: [8, 4].map((n) => ({ name: `o${n}`, dims: [1, 6, n, n] })),
          },
        ),
      "scaleXY: got a list of 1, expected 2, one per map, or one number for all",
    ],
    [
      "channels that match no reading",
      () => decode(nn(), [zeros([1, 15, 4, 4]), zeros([1, 8, 2, 2])]),
      "got output0 [1,15,4,4], output1 [1,8,2,2], expected for yolov3 (nothing in the file says otherwise; the option `family` does) of 2 classes: [1,2 x (5+2),h,4], [1,1 x (5+2),h,2] (anchors: got 2, one list for each map); [1,N,7], channels first or last",
    ],
    [
      "names that the config gives and the outputs lack",
      () =>
        decode(
          {
            model: {
              heads: [
                { parser: "YOLO", metadata: { subtype: "yolov8", n_classes: 2, yolo_outputs: ["a", "b"] } },
              ],
            },
          },
          { c: zeros([1, 6, 8]), a: zeros([1, 6, 8]) },
        ),
      'got outputs c [1,6,8], a [1,6,8], expected "a", "b" as the config names them',
    ],
    [
      "batches that differ, maps",
      () => decode(nn(), [zeros([2, 14, 4, 4]), zeros([1, 7, 2, 2])]),
      "got output0 [2,14,4,4] as NCHW, output1 [1,7,2,2] as NCHW with batches of 2 and 1, expected one batch size for all outputs",
    ],
    [
      "batches that differ, boxes and scores",
      () => decode({ ...V8, classes: 3 }, { boxes: zeros([2, 4, 10]), scores: zeros([3, 3, 10]) }),
      "got boxes [2,4,10], scores [3,3,10], expected for yolov8 (option family) of 3 classes: [1,N,7]; [1,N,4] + [1,N,3]; [1,8,h,w]; [1,64,h,w] + [1,3,h,w]; [1,67,h,w]; [1,N,6], channels first or last; all with the same batch, the first dimension",
    ],
    [
      "fewer labels than boxes",
      () =>
        decode(
          {
            family: "boxes",
            classes: 3,
            coordinates: "normalised",
            roles: { boxes: "b", scores: "s", classIds: "l" },
          },
          { b: zeros([1, 10, 4]), s: zeros([1, 10]), l: zeros([1, 4]) },
        ),
      "l [1,4]: got 4 elements, expected 10 cells for each of 1 image, as b [1,10,4] as rows + s [1,10] as rows has",
    ],
    [
      "[1,84,84]",
      () => decode(V8, [zeros([1, 84, 84])]),
      `got ${names([1, 84, 84])}, which can be read in 2 ways:
  - boxes, classes: output0 [1,84,84] as rows   (reading: "class-rows")
  - boxes, classes: output0 [1,84,84] as planes   (reading: "class-rows")
the tensor's order settles it: outputs: [{name: "output0", dims, order: "rows" or "planes", "NCHW" or "NHWC"}], or order beside data and dims`,
    ],
    [
      "N equal to 4 + C",
      () => decode({ ...V8, classes: 5 }, [zeros([1, 9, 9])]),
      `got ${names([1, 9, 9])}, which can be read in 2 ways:
  - boxes, classes: output0 [1,9,9] as rows   (reading: "class-rows")
  - boxes, classes: output0 [1,9,9] as planes   (reading: "class-rows")
the tensor's order settles it: outputs: [{name: "output0", dims, order: "rows" or "planes", "NCHW" or "NHWC"}], or order beside data and dims`,
    ],
    [
      "[1,300,6] of two classes",
      () => decode({ family: "yolov8", classes: 2, coordinates: "normalised" }, [zeros([1, 300, 6])]),
      `got ${names([1, 300, 6])}, which can be read in 2 ways:
  - boxes, classes: output0 [1,300,6] as rows   (reading: "class-rows")
  - detections x1 y1 x2 y2 score class: output0 [1,300,6] as rows   (reading: "end-to-end")
the option reading settles it, for instance reading: "class-rows"`,
    ],
    [
      "[1,300,6] of two classes, centres said",
      () => decode(two({ boxFormat: "cxcywh" }), [zeros([1, 300, 6])]),
      `got ${names([1, 300, 6])}, which can be read in 2 ways:
  - boxes, classes: output0 [1,300,6] as rows   (reading: "class-rows")
  - detections x1 y1 x2 y2 score class: output0 [1,300,6] as rows   (reading: "end-to-end")
the option reading settles it, for instance reading: "class-rows"`,
    ],
    [
      "boxes and scores of one shape",
      () =>
        decode(
          { family: "boxes", classes: 4, coordinates: "normalised" },
          { a: zeros([1, 9, 4]), b: zeros([1, 9, 4]) },
        ),
      `got a [1,9,4], b [1,9,4], which can be read in 2 ways:
  - boxes (xyxy), scores: a [1,9,4] as rows + b [1,9,4] as rows   (reading: "boxes-scores")
  - boxes (xyxy), scores: b [1,9,4] as rows + a [1,9,4] as rows   (reading: "boxes-scores")
roles settles it: {boxes: "name", scores: "name"}`,
    ],
    [
      "as many classes as box channels",
      () => decode({ ...V8, classes: 4 }, [zeros([1, 4, 7, 6]), zeros([1, 4, 7, 6])]),
      `got output0 [1,4,7,6], output1 [1,4,7,6], which can be read in 2 ways:
  - left-top-right-bottom distances: output0 [1,4,7,6] as NCHW + output1 [1,4,7,6] as NCHW   (reading: "distance-grid")
  - left-top-right-bottom distances: output1 [1,4,7,6] as NCHW + output0 [1,4,7,6] as NCHW   (reading: "distance-grid")
roles settles it: {boxes: "name", scores: "name"}`,
    ],
    [
      "objectness and the score of one class",
      () =>
        decode({ family: "yolox", classes: 1 }, [
          zeros([1, 4, 8, 8]),
          zeros([1, 1, 8, 8]),
          zeros([1, 1, 8, 8]),
        ]),
      `got output0 [1,4,8,8], output1 [1,1,8,8], output2 [1,1,8,8], which can be read in 2 ways:
  - point grids: output0 [1,4,8,8] as NCHW + output1 [1,1,8,8] as NCHW + output2 [1,1,8,8] as NCHW   (reading: "point-grid")
  - point grids: output0 [1,4,8,8] as NCHW + output2 [1,1,8,8] as NCHW + output1 [1,1,8,8] as NCHW   (reading: "point-grid")
roles settles it: {boxes: "name", scores: "name"}`,
    ],
    [
      "lying the other way than it says",
      () => decode({ ...V8, family: "yolov5" }, [{ ...zeros([1, 25200, 85]), order: "planes" }]),
      "got output0 [1,25200,85], expected for yolov5 (option family) of 80 classes: maps (anchors: got none, one list for each map); [1,N,85], channels first or last",
    ],
    [
      "a reading that there is none of",
      () => decode({ ...V8, reading: "end-to-end" }, [zeros(PLANES)]),
      'got output0 [1,84,126], expected for yolov8 (option family) of 80 classes and reading "end-to-end": [1,N,84]; [1,N,4] + [1,N,80]; [1,85,h,w]; [1,64,h,w] + [1,80,h,w]; [1,144,h,w]; [1,N,6], channels first or last',
    ],
    [
      "classes not known",
      () => decode({ family: "yolov8" }, [zeros([1, 84, 80])]),
      "got output0 [1,84,80], expected for yolov8 (option family): the number of classes (option classes, or labels); these shapes would be of 80 or 76 classes",
    ],
    [
      "nothing to decode",
      () => decode({ NN_config: { output_format: "raw" } }, [zeros(PLANES)]),
      'output_format "raw" and no NN_family: the network\'s tensors go to the host as they are, and nothing here says how to decode them (option family does)',
    ],
    [
      "a name without labels",
      () => decode(V8, [zeros(PLANES)], { keep: ["cat"] }),
      'keep: got "cat", expected class ids, as the config has no labels',
    ],
    [
      "a class that is none",
      () => decode(V8, [zeros(PLANES)], { keep: [80] }),
      "keep: got class 80, expected class ids in 0..79",
    ],
    [
      "pixels without an input size",
      () => decode({ family: "yolov8", classes: 2 }, [zeros([1, 6, 100])]),
      'boxes, classes: output0 [1,6,100] as planes: got boxes in pixels and no input size, expected inputSize: [width, height] (or coordinates: "normalised" if they are 0..1 already)',
    ],
    [
      "pixels without an input size, where 0..1 is usual",
      () =>
        decode({ family: "detr", classes: 2, coordinates: "pixels" }, [zeros([1, 9, 4]), zeros([1, 9, 2])]),
      'boxes, independent classes (RT-DETR): output0 [1,9,4] as rows + output1 [1,9,2] as rows: got boxes in pixels and no input size, expected inputSize: [width, height] (or coordinates: "normalised" if they are 0..1 already)',
    ],
    [
      "0..1 taken for pixels",
      () => decode(two(), [zeros([1, 6, 100], 0.4)]),
      'output0 [1,6,100] as planes: got boxes within 0.6 pixels of the corner, expected pixels of a 640x640 input; if they are 0..1, say coordinates: "normalised"',
    ],
    [
      "pixels taken for 0..1",
      () => {
        const t = zeros([1, 6, 100], 0.9);
        t.data.fill(300, 0, 400);
        return decode(two({ coordinates: "normalised" }), [t]);
      },
      'output0 [1,6,100] as planes: got box coordinates up to 450, expected 0..1; if they are pixels, say coordinates: "pixels"',
    ],
    [
      "decode() before shapes are known",
      () => createDecoderSync(V8).decode(),
      "decode() was called without outputs, but the shapes are not known yet. Pass the outputs once, or give `outputs` to createDecoder.",
    ],
    [
      "shapes that change after outputs were given",
      () => decode(V8, [zeros([1, 84, 2100])], { outputs: [{ name: "o", dims: PLANES }] }),
      'tensor "o": got dims [1,84,2100], expected [1,84,126] as given beforehand',
    ],
    [
      "names that are not those given",
      () => decode(V8, { p: zeros(PLANES) }, { outputs: [{ name: "o", dims: PLANES }] }),
      'tensor "o" is missing: got outputs p.',
    ],
    [
      "a frame without an input size",
      () =>
        createDecoderSync({ family: "yolov8", classes: 2, coordinates: "normalised" }).decode(
          [zeros([1, 6, 100])],
          {
            width: 3,
            height: 3,
            resize: "letterbox",
          },
        ),
      'frame: got resize "letterbox" and no input size, expected inputSize: [width, height], without which it cannot be undone (a plan file has that of its config)',
    ],
    [
      "a promise of outputs",
      () => decode(V8, Promise.resolve([])),
      "got a promise, expected what it resolves to: await it",
    ],
    [
      "a map of outputs",
      () => decode(V8, new Map()),
      "got a Map, expected an array or a record, as Object.fromEntries(map) makes of it",
    ],
    [
      "nothing to inspect",
      () => inspect(undefined),
      "got neither a config nor tensors, expected one of them",
    ],
  ]);

  refuses(RangeError, [
    ...(
      [
        [
          { confidenceThreshold: 2 },
          "confidenceThreshold: got 2, expected 0..1, or an array of such, one per class",
        ],
        [
          { confidenceThreshold: "1" },
          'confidenceThreshold: got "1", expected 0..1, or an array of such, one per class; a number has no quotes: 1',
        ],
        [
          { confidenceThreshold: [] },
          "confidenceThreshold: got [], expected 0..1, or an array of such, one per class",
        ],
        [{ confidenceThreshold: [0.1] }, "confidenceThreshold: got 1 values, expected 80, one per class"],
        [{ iouThreshold: -1 }, "iouThreshold: got -1, expected a number in 0..1"],
        [{ maxDetections: 301 }, "maxDetections: got 301, expected 1..300, the bound given at creation"],
        [{ maxDetections: 0 }, "maxDetections: got 0, expected 1..300, the bound given at creation"],
      ] as [object, string][]
    ).map(([u, message]): [string, () => unknown, string] => [
      `update ${JSON.stringify(u)}`,
      () => createDecoderSync(V8).update(u as Parameters<Decoder["update"]>[0]),
      message,
    ]),
    ...(
      [
        [
          { width: 0, height: 3, resize: "stretch" },
          "frame: got width 0, height 3, expected the original image's size in pixels",
        ],
        [
          { width: 1, height: 3, resize: "fit" },
          'frame: got resize "fit", expected "letterbox", "letterbox-topleft", "stretch" or "crop"',
        ],
        [
          { width: 3, height: 3, resize: "stretch", resise: "crop" },
          "frame.resise: got an unknown name, expected one of width, height, resize, placed, crop, rotation; did you mean resize?",
        ],
        [
          { width: 3, height: 3, resize: "stretch", rotation: 90 },
          "frame.rotation: got 90, expected 0, 1, 2 or 3 quarter turns clockwise that bring the picture upright: 90 degrees are 1",
        ],
        [
          { width: 3, height: 3, resize: "stretch", orientation: 6 },
          "frame.orientation: got an unknown name, expected one of width, height, resize, placed, crop, rotation; did you mean rotation?",
        ],
        [
          [{ width: 3, height: 3 }],
          "frame: got a list, expected one frame, {width, height, resize}. decodeBatch() takes a list, one frame for each image",
        ],
      ] as [Frame, string][]
    ).map(([frame, message]): [string, () => unknown, string] => [
      `frame ${JSON.stringify(frame)}`,
      () => createDecoderSync(V8).decode([zeros(PLANES)], frame),
      message,
    ]),
  ]);

  refuses(RangeError, [
    [
      "more memory than there are addresses",
      () => decode({ ...V8, maxDetections: 5e8 }, [zeros(PLANES)]),
      "memory: got 26000056016 bytes, expected at most 2147418112: fewer boxes or classes, or a lower maxDetections",
    ],
    [
      "a batch of half a billion images",
      () => createDecoderSync(V8, { outputs: [{ dims: [500_000_000, 6, 84] }] }),
      "memory: got 4404000000000 bytes, expected at most 2147418112: fewer boxes or classes, or a lower maxDetections",
    ],
  ]);

  test("a refused update leaves everything as it was", () => {
    const d = createDecoderSync(V8);
    const before = d.describe().text;
    expect(() => d.update({ confidenceThreshold: 0.9, iouThreshold: 7 })).toThrow(RangeError);
    expect(d.describe().text).toBe(before);
  });
});

test("25 channels: inspect names the network that has one such map", () => {
  const { text, json } = inspect(undefined, [{ dims: [1, 25, 13, 13] }]);
  const found = (json as PossibilityList).possibilities;
  const told = found.map((p) => `${p.reading} ${p.classes}`);
  // Networks with one map are FastestDet's and YOLOv2's: others have several.
  expect(told).toContain("anchor-grid 20");
  expect(text).toContain('{ family: "fastestdet", classes: 20, inputSize: [width, height] }');
});

test.each([
  [
    "YOLOv8-seg",
    [
      [1, 116, 8400],
      [1, 32, 160, 160],
    ],
    "yolov8",
    80,
    "masks: 32 coefficients",
  ],
  [
    "YOLOv5-seg",
    [
      [1, 25200, 117],
      [1, 32, 160, 160],
    ],
    "yolov5",
    80,
    "masks: 32 coefficients",
  ],
  [
    "YOLOv8-seg of two classes",
    [
      [1, 38, 8400],
      [1, 32, 160, 160],
    ],
    "yolov8",
    2,
    "masks: 32 coefficients",
  ],
  [
    "YOLOv8-seg of an input of 192x128",
    [
      [1, 41, 504],
      [1, 32, 32, 48],
    ],
    "yolov8",
    5,
    "masks: 32 coefficients",
  ],
  ["YOLOv8-pose", [[1, 56, 8400]], "yolov8", 1, "pose: 17 keypoints"],
])("inspect of %s names what can be decoded of it first", (_, dims, family, classes, about) => {
  const { text } = inspect(
    undefined,
    dims.map((d) => ({ dims: d })),
  );
  const [, found, line] = text.split("\n");
  expect(found).toContain(about);
  expect(line).toContain(`{ family: "${family}", classes: ${classes}, `);
  expect(line).toContain("inputSize: [width, height] }");
});

test("[1,20,8400]: inspect names classes, classes with an angle, and keypoints", () => {
  const { text } = inspect(undefined, [{ dims: [1, 20, 8400] }]);
  for (const wanted of [
    '{ family: "yolov8", classes: 16, inputSize: [width, height] }',
    '{ family: "yolov8", classes: 15, task: "oriented", inputSize: [width, height] }',
    '{ family: "yolov8", classes: 1, task: "pose", keypoints: [5, 3], inputSize: [width, height] }',
  ])
    expect(text.split("\n").map((line) => line.trim())).toContain(wanted);
  // A usual number of classes stays the likeliest; an option settles it.
  expect(inspect(undefined, [{ dims: [1, 84, 8400] }]).text).not.toContain("oriented");
  expect(inspect(undefined, [{ dims: [1, 20, 8400] }], { classes: 15 }).text).toContain('task: "oriented"');
  expect(inspect(undefined, [{ dims: [1, 20, 8400] }], { classes: 16 }).text).not.toContain("oriented");
});

test("each complete possibility of shapes is a config that reads them", () => {
  const shapes = [
    [[1, 84, 8400]],
    [[1, 56, 8400]],
    [[1, 20, 8400]],
    [[1, 300, 6]],
    [
      [1, 116, 8400],
      [1, 32, 160, 160],
    ],
    [[1, 100, 4], [1, 100], [1, 100], [1]],
  ];
  for (const dims of shapes) {
    const specs = dims.map((d, i) => ({ name: `o${i}`, dims: d }));
    const { possibilities } = inspect(undefined, specs, { inputSize: [640, 640] }).json as PossibilityList;
    const complete = possibilities.filter(({ missing }) => missing.length === 0);
    expect(complete, JSON.stringify(dims)).not.toHaveLength(0);
    const outputs = Object.fromEntries(specs.map(({ name, dims: d }) => [name, zeros(d)]));
    for (const { options, about } of complete)
      expect(() => createDecoderSync(options).decode(outputs), about).not.toThrow();
  }
});

test("[1,300,6]: inspect names the list first, as 300 is no count of cells", () => {
  const { json } = inspect(undefined, [{ dims: [1, 300, 6] }]);
  const told = (json as PossibilityList).possibilities.map((p) => p.reading);
  expect(told[0]).toBe("end-to-end");
  expect(told).not.toContain("objectness-rows");
});

describe.each(engines)("values, %s", (engine) => {
  /** Planes of 2 classes and 20 cells: cell i is a box of its own, class 0 at 0.5. */
  function planes(): TensorInput & { readonly data: Float32Array } {
    const t = zeros([1, 6, 20]);
    for (let i = 0; i < 20; i++) {
      t.data.set([i * 30 + 10], i);
      t.data.set([200], 20 + i);
      t.data.set([20], 40 + i);
      t.data.set([20], 60 + i);
      t.data.set([0.5], 80 + i);
      t.data.set([0.1], 100 + i);
    }
    return t;
  }
  const make = (more: object = {}): Decoder => createDecoderSync(two(more), { engine });

  test("a probability outside 0..1: any value at the first decode", () => {
    // below the threshold in its cell, but still no probability
    const t = planes();
    t.data[105] = 1.5;
    t.data[85] = 0.01;
    expect(() => make().decode([t])).toThrow(
      'output0 [1,6,20], cell 5, class 1: got score 1.5, expected probabilities in 0..1 (scores "probabilities", default of yolov8 class-rows); if the tensor holds logits, say scores: "logits"',
    );
    t.data[105] = -3;
    expect(() => make().decode([t])).toThrow("got score -3, expected probabilities in 0..1");
    expect(() => make({ scores: "logits" }).decode([t])).not.toThrow();
  });

  test("later: any candidate", () => {
    const d = make();
    const t = planes();
    expect(d.decode([t]).length).toBe(20);
    t.data[85] = 4;
    expect(() => d.decode([t])).toThrow(
      'boxes, classes: output0 [1,6,20] as planes: got a score outside 0..1, expected probabilities in 0..1 (scores "probabilities", default of yolov8 class-rows); if the tensor holds logits, say scores: "logits"',
    );
    t.data[85] = -4;
    expect(d.decode([t]).length).toBe(19);
  });

  test("NaN never passes and never hides another class; what is infinite is dropped and counted", () => {
    const d = make();
    const t = planes();
    t.data[83] = NaN; // class 0 of cell 3: class 1 is below the threshold
    t.data[84] = NaN; // class 0 of cell 4, and class 1 good
    t.data[104] = 0.9;
    t.data[102] = NaN; // class 1 of cell 2: class 0 stays
    t.data[85] = Infinity; // score of cell 5
    t.data[6] = NaN; // cx of cell 6
    t.data[47] = Infinity; // w of cell 7
    t.data[88] = -Infinity; // score of cell 8
    const found = d.decode([t]);
    const bySource = new Map(found.toArray().map((x, i) => [found.sources[i], x]));
    expect([...bySource.keys()].sort((a, b) => a - b)).toEqual([
      0, 1, 2, 4, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
    ]);
    expect(bySource.get(4)).toMatchObject({ class_id: 1, confidence: Math.fround(0.9) });
    expect(bySource.get(2)).toMatchObject({ class_id: 0, confidence: 0.5 });
    expect(d.stats.dropped).toEqual({ capped: 0, notFinite: 3, empty: 0 });
    // and the count is that of the last frame
    expect(d.decode([planes()]).length).toBe(20);
    expect(d.stats.dropped).toEqual({ capped: 0, notFinite: 0, empty: 0 });
  });

  test("the same in half floats, where NaN has many bit patterns, at every place of a vector", () => {
    const bits = { half: 0x3800, ninth: 0x3b33, nan: [0x7e00, 0x7c01, 0xfe00, 0xffff] };
    for (let place = 0; place < 20; place++) {
      for (const nan of bits.nan) {
        for (const other of [0, 1]) {
          const data = new Uint16Array(120);
          for (let i = 0; i < 20; i++) {
            data.set([0x5000 + i * 16], i); // about 32 px and up
            data[20 + i] = 0x5400;
            data[40 + i] = data[60 + i] = 0x3c00;
          }
          data[80 + 20 * other + place] = bits.ninth;
          data[80 + 20 * (1 - other) + place] = nan;
          const found = make().decode([{ data, dims: [1, 6, 20] }]);
          expect(found.toArray().map((d) => d.class_id)).toEqual([other]);
          expect(found.sources[0]).toBe(place);
        }
      }
    }
  });
});
