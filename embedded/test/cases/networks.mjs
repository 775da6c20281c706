/**
 * The networks that every build of the C library must decode. A case has a name, a config, options of the decoder,
 * the same options as flags of `boxwright compile`, output tensors, a frame, and the recorded detections if any.
 */
import { readFileSync } from "node:fs";
import {
  beyond,
  chosen,
  f32,
  planes,
  quantised,
  readJson,
  recorded,
  rotated,
  seeded,
  sparsePlanes,
  splitPlanes,
  toHalf,
} from "./tensors.mjs";

const yolov8 = { family: "yolov8", classes: 3, inputSize: [64, 48], confidenceThreshold: 0.4 };

/** Returns recorded outputs of three networks, with detections computed in double precision. */
function recordedCases() {
  const folder = "recorded/faceapi_tiny_yolov2_face/astronaut";
  const config = JSON.parse(readFileSync(new URL("../../examples/face.json", import.meta.url), "utf8"));
  const outputs = recorded(folder);
  const detectionsOf = (path) => readJson(`${path}/expected.json`).detections;
  return [
    { name: "tiny-face", config, outputs, golden: detectionsOf(folder) },
    { name: "tiny-face u8", config, outputs: { out0: quantised(outputs.out0, "u8") } },
    {
      name: "tiny-face f16, letterbox",
      config,
      outputs: { out0: toHalf(outputs.out0) },
      frame: { width: 640, height: 480, resize: "letterbox" },
    },
    ...["astronaut", "chelsea", "coffee"].flatMap((photo) => [
      {
        name: `yolo-fastest ${photo}`,
        config: readJson("yolo-fastest-1.1/config.json"),
        flags: ["--scores", "logits", "--rules", "opencv"],
        options: { scores: "logits", rules: "opencv" },
        outputs: recorded(`yolo-fastest-1.1/${photo}`),
        golden: detectionsOf(`yolo-fastest-1.1/${photo}`),
      },
      {
        name: `mobilenet-ssd ${photo}`,
        config: readJson("mobilenet-ssd/config.json"),
        outputs: recorded(`mobilenet-ssd/${photo}`),
        golden: detectionsOf(`mobilenet-ssd/${photo}`),
      },
    ]),
  ];
}

/** Returns planes with NaN and infinity in boxes and scores. */
function brokenPlanes() {
  const t = planes(83, 3, 5);
  t.data[83 * 4 + 7] = NaN;
  t.data[83 * 5 + 9] = 0.99;
  t.data[9] = Infinity;
  t.data[83 * 6 + 11] = 0.98;
  t.data[83 * 2 + 11] = NaN;
  return t;
}

/** Returns half floats with NaN and equal best scores, each within the first 64 bytes of a plane and behind them. */
function halfPlanes() {
  const t = planes(83, 3, 4);
  t.data[83 * 4 + 5] = t.data[83 * 5 + 80] = NaN;
  t.data[83 * 4 + 6] = t.data[83 * 6 + 6] = 0.9;
  t.data[83 * 5 + 81] = t.data[83 * 6 + 81] = 0.8;
  return toHalf(t);
}

function planesCases() {
  return [
    { name: "planes", config: yolov8, outputs: { output0: planes(83, 3, 3) } },
    { name: "planes f16", config: yolov8, outputs: { output0: halfPlanes() } },
    { name: "planes u8", config: yolov8, outputs: splitPlanes(planes(150, 3, 12), "u8") },
    { name: "planes i8", config: yolov8, outputs: splitPlanes(planes(150, 3, 13), "i8") },
    { name: "planes with NaN and infinity", config: yolov8, outputs: { output0: brokenPlanes() } },
    {
      name: "planes, pairs and caps",
      config: { ...yolov8, rules: "gen1", confidenceThreshold: 0.1, maxDetections: 17 },
      outputs: { output0: planes(83, 3, 6) },
    },
    {
      name: "planes, some classes",
      config: { ...yolov8, labels: ["a", "b", "\u00e9"], keep: ["a", 2], rules: "depthai-nodes" },
      outputs: { output0: planes(83, 3, 7) },
    },
    {
      name: "planes, a threshold per class",
      config: { ...yolov8, confidenceThreshold: [0.2, 0.9, 0.5], rules: "depthai" },
      outputs: { output0: planes(83, 3, 8) },
    },
    {
      name: "planes, thousands, letterbox",
      config: { ...yolov8, classes: 1, confidenceThreshold: 0.001, maxDetections: 200 },
      outputs: { output0: planes(3600, 1, 9) },
      frame: { width: 1000, height: 333, resize: "letterbox-topleft" },
    },
    {
      name: "planes, letterbox of 426.5 rows",
      config: { ...yolov8, inputSize: [640, 640], coordinates: "pixels", classes: 1 },
      outputs: { output0: planes(8400, 1, 31) },
      frame: { width: 1280, height: 853, resize: "letterbox" },
    },
    {
      name: "planes, crop by the exact factor",
      config: { ...yolov8, inputSize: [640, 640], coordinates: "pixels", classes: 1 },
      outputs: { output0: planes(8400, 1, 32) },
      frame: { width: 853, height: 1280, resize: "crop" },
    },
  ];
}

function mapCases() {
  const random = seeded(11);
  const boxes = f32([1, 64, 4, 6], () => random() * 6 - 3);
  const scores = f32([1, 2, 4, 6], () => random() * 6 - 4);
  const config = {
    ...yolov8,
    classes: 2,
    inputSize: [48, 32],
    confidenceThreshold: 0.3,
    reading: "dfl-grid",
  };
  const fast = seeded(53);
  return [
    { name: "DFL maps", config, outputs: { boxes, scores } },
    {
      name: "DFL maps i8 and i16",
      config,
      outputs: { boxes: quantised(boxes, "i8"), scores: quantised(scores, "i16") },
    },
    {
      name: "FastestDet",
      config: { family: "fastestdet", classes: 3, inputSize: [80, 80], confidenceThreshold: 0.5 },
      outputs: { output: f32([1, 8, 5, 5], (i) => (i < 25 ? fast() : i < 75 ? fast() * 2 - 1 : fast())) },
    },
  ];
}

function rowCases() {
  const random = seeded(23);
  const rows = f32([2, 60, 7], (i) => (i % 7 < 2 ? random() * 64 : i % 7 < 4 ? 3 + random() * 30 : random()));
  const list = seeded(41);
  const query = seeded(61);
  return [
    {
      name: "rows, a batch of two",
      config: { family: "yolov5", classes: 2, inputSize: [64, 64] },
      outputs: { output0: rows },
      frame: { width: 333, height: 500, resize: "letterbox" },
    },
    {
      name: "TFLite post-process",
      config: {
        family: "tflite-postprocess",
        classes: 5,
        roles: { boxes: "boxes", classIds: "classes", scores: "scores", count: "count" },
      },
      outputs: {
        boxes: f32([1, 10, 4], (i) => (i % 4 < 2 ? list() * 0.5 : 0.5 + list() * 0.5)),
        classes: f32([1, 10], () => Math.floor(list() * 5)),
        scores: f32([1, 10], (i) => 0.95 - i * 0.07),
        count: f32([1], () => 8),
      },
    },
    {
      name: "queries, softmax",
      config: { family: "detr", classes: 4, confidenceThreshold: 0.4 },
      outputs: {
        logits: f32([1, 12, 5], () => query() * 8 - 3),
        boxes: f32([1, 12, 4], (i) => (i % 4 < 2 ? query() : query() * 0.4)),
      },
    },
  ];
}

function priorCase() {
  const random = seeded(31);
  return {
    name: "priors",
    config: {
      family: "ssd",
      classes: 4,
      priors: Array.from({ length: 4 * 40 }, (_, i) => (i % 4 < 2 ? random() : 0.05 + random() * 0.3)),
      priorFormat: "cxcywh",
      variances: [0.1, 0.1, 0.2, 0.2],
      scores: "probabilities",
      inputSize: [300, 300],
    },
    outputs: {
      boxes: f32([1, 40, 4], () => random() * 2 - 1),
      scores: f32([1, 40, 4], () => random() * 0.9),
    },
  };
}

/** The rule of the golden cases beyond boxes. */
const RULE = {
  confidenceThreshold: 0.26,
  iouThreshold: 0.45,
  maxDetections: 300,
  rules: { set: "ultralytics", clamp: "none" },
};

function poseCases() {
  const {
    tensors,
    golden,
    size: inputSize,
    ...facts
  } = beyond("pose_v8_2d_3cls", /^(output0|box.|cls.|kpt.)$/);
  const config = { family: "yolov8", task: "pose", inputSize, ...facts, ...RULE };
  const maps = chosen(tensors, /^(box|cls|kpt)\d$/);
  const ends = beyond("pose_26", /./);
  const face = seeded(91);
  const person = seeded(97);
  return [
    { name: "pose, planes", config, outputs: chosen(tensors, /^output0$/), golden },
    { name: "pose, maps", config, outputs: maps, golden },
    {
      name: "pose, maps f16, clamped, letterbox",
      config: { ...config, rules: "ultralytics" },
      outputs: Object.fromEntries(Object.entries(maps).map(([name, t]) => [name, toHalf(t)])),
      frame: { width: 333, height: 500, resize: "letterbox" },
    },
    {
      name: "pose, end-to-end",
      config: {
        ...{ family: "yolo26", task: "pose", inputSize: ends.size, classes: 1, keypoints: ends.keypoints },
        ...RULE,
      },
      outputs: ends.tensors,
      golden: ends.golden,
    },
    {
      name: "pose, raw confidences, i8, a batch of two",
      config: { ...config, classes: 1, keypoints: [3, 3], keypointScores: "logits" },
      outputs: {
        boxes: f32([2, 4, 504], (i) => (i % 2016 < 1008 ? person() * 128 : 8 + person() * 30)),
        scores: f32([2, 1, 504], () => person() ** 4),
        points: quantised(
          f32([2, 9, 504], () => person() * 128 - 8),
          "i8",
        ),
      },
      frame: { width: 1000, height: 333, resize: "letterbox-topleft" },
    },
    {
      name: "faces, priors",
      config: { family: "blazeface", task: "pose", inputSize: [128, 128], keypoints: [6, 2] },
      outputs: {
        boxes: f32([1, 896, 16], () => face() * 60 - 30),
        scores: f32([1, 896, 1], () => face() * 6 - 5),
      },
    },
    {
      name: "faces, maps with anchors",
      config: {
        ...{ family: "yolov5-face", inputSize: [96, 64], classes: 1 },
        anchors: [
          [4, 5, 8, 10],
          [23, 29, 43, 55],
          [73, 105, 146, 217],
        ],
      },
      outputs: Object.fromEntries(
        [8, 16, 32].map((stride) => [
          `map${stride}`,
          f32([1, 32, 64 / stride, 96 / stride], () => face() * 6 - 3),
        ]),
      ),
      frame: { width: 200, height: 100, resize: "letterbox" },
    },
    {
      name: "persons, y first",
      config: { family: "movenet-multipose", task: "pose", keypoints: [17, 3] },
      outputs: { output: f32([1, 6, 56], () => person()) },
    },
  ];
}

/**
 * Returns masks that rounding decides: edges of boxes are whole pixels of the prototypes, and the terms of each logit add
 * up to nearly 0.
 */
function narrowMasks() {
  const random = seeded(103);
  const rows = Array.from({ length: 12 }, (_, i) => {
    const [x, y] = [4 * i, 68 - 4 * i];
    const coefficients = Array.from({ length: 7 }, () => random() * 2 - 1);
    const rest = -coefficients.reduce((a, b) => a + b, 0);
    return [x, y, x + 44, y + 28, 0.95 - i * 0.05, 0, ...coefficients, rest];
  });
  const pixel = Float32Array.from({ length: 24 * 24 }, random);
  return {
    name: "masks, whole pixels and logits near 0",
    config: { family: "yolo26", task: "segment", inputSize: [96, 96], classes: 1, coordinates: "pixels" },
    outputs: {
      output0: f32([1, 12, 14], (i) => rows[Math.floor(i / 14)][i % 14]),
      output1: f32([1, 8, 24, 24], (i) => pixel[i % 576]),
    },
  };
}

function maskCases() {
  const { tensors, golden, size: inputSize, classes } = beyond("seg_v8", /^output[01]$/);
  const config = { family: "yolov8", task: "segment", inputSize, classes, ...RULE };
  const { output0, output1 } = tensors;
  const [, count, height, width] = output1.dims;
  const pixels = height * width;
  const nhwc = f32(
    [1, height, width, count],
    (i) => output1.data[(i % count) * pixels + Math.floor(i / count)],
  );
  return [
    { name: "masks, planes", config, outputs: { output0, output1 }, golden },
    {
      name: "masks, prototypes u8 with channels last, letterbox",
      config: { ...config, rules: "ultralytics" },
      outputs: { output0, output1: quantised(nhwc, "u8") },
      frame: { width: 333, height: 500, resize: "letterbox" },
    },
    narrowMasks(),
  ];
}

/** Returns the golden set of 120 oriented boxes, with what formulas and OpenCV keep of it. */
function rotatedCases() {
  const inputSize = [640, 480];
  const { outputs, goldenOf } = rotated(120, inputSize);
  const config = { family: "yolo26", task: "oriented", classes: 4, reading: "end-to-end", inputSize };
  return [
    ["ultralytics", "class", "probiou fast per class, >= 0.45"],
    ["probiou", "class", "probiou greedy per class, > 0.45"],
    ["probiou", "all", "probiou greedy agnostic, > 0.45"],
    ["opencv", "class", "polygon greedy per class, > 0.45"],
    ["opencv", "all", "opencv4.6 NMSBoxesRotated agnostic 0.45"],
  ].map(([orientedSuppression, nms, answer]) => ({
    name: `oriented, ${answer}`,
    config: {
      ...{ ...config, ...RULE, orientedSuppression, coordinates: "pixels", confidenceThreshold: 0 },
      rules: { ...RULE.rules, suppress: nms },
    },
    outputs,
    golden: goldenOf(answer),
  }));
}

function orientedCases() {
  const { tensors, golden, size: inputSize, classes } = beyond("obb_v8", /^(output0|box.|cls.|angle.)$/);
  const config = {
    family: "yolov8",
    task: "oriented",
    inputSize,
    classes,
    ...RULE,
    orientedSuppression: "opencv",
  };
  const planar = chosen(tensors, /^output0$/);
  const maps = chosen(tensors, /^(box|cls|angle)\d$/);
  const ends = beyond("obb_26", /./);
  const boat = seeded(107);
  const ship = seeded(109);
  // The rows that Ultralytics' suppression keeps are among the golden ones.
  const fast = new Set([140, 222, 31, 11, 449, 126, 475, 217]);
  return [
    { name: "oriented, planes", config, outputs: planar, golden },
    { name: "oriented, maps", config, outputs: maps, golden },
    {
      name: "oriented, maps, as Ultralytics suppresses",
      config: { ...config, orientedSuppression: "ultralytics" },
      outputs: maps,
      golden: golden.filter(({ row }) => fast.has(row)),
    },
    {
      name: "oriented, maps f16, greedy ProbIoU, raw angles, letterbox",
      config: { ...config, orientedSuppression: "probiou", angleRange: "raw" },
      outputs: Object.fromEntries(Object.entries(maps).map(([name, t]) => [name, toHalf(t)])),
      frame: { width: 333, height: 500, resize: "letterbox" },
    },
    {
      name: "oriented, planes, across classes, stretched",
      config: { ...config, rules: { ...RULE.rules, suppress: "all" }, iouThreshold: 0.2 },
      outputs: planar,
      frame: { width: 333, height: 500, resize: "stretch" },
    },
    {
      name: "oriented, end-to-end",
      config: { ...RULE, family: "yolo26", task: "oriented", inputSize: ends.size, classes: ends.classes },
      outputs: ends.tensors,
      golden: ends.golden,
    },
    {
      name: "oriented, end-to-end, any angle, raw, stretched",
      config: {
        ...{ family: "yolo26", task: "oriented", inputSize: [64, 48], classes: 2, reading: "end-to-end" },
        ...{ ...RULE, angleRange: "raw" },
      },
      outputs: {
        output0: f32(
          [1, 40, 7],
          (i) => [64, 48, 30, 15, 1, 1.99, 1e3 ** (i % 3)][i % 7] * boat() - (i % 7 === 6),
        ),
      },
      frame: { width: 1000, height: 333, resize: "stretch" },
    },
    {
      // The second box is half of the first. The nearest f32 to the threshold is 1/2.
      name: "oriented, a threshold that no f32 has",
      config: {
        ...{ family: "yolo26", task: "oriented", inputSize: [64, 32], classes: 2, reading: "end-to-end" },
        ...{ orientedSuppression: "opencv", iouThreshold: 0.5 - 1e-9, rules: { suppress: "class" } },
      },
      outputs: {
        output0: f32([1, 2, 7], (i) => [32, 16, 32, 16, 0.9, 0, 0, 32, 12, 32, 8, 0.8, 0, 0][i]),
      },
    },
    {
      name: "oriented, sigmoids, i8, a batch of two",
      config: {
        ...{
          family: "yolov8",
          task: "oriented",
          inputSize: [128, 64],
          classes: 2,
          orientedSuppression: "probiou",
        },
        ...{ angleForm: "fractions", roles: { boxes: "boxes", scores: "scores", angles: "angles" } },
        ...RULE,
      },
      outputs: {
        boxes: f32([2, 4, 168], (i) => ship() * (i % 672 < 168 ? 128 : i % 672 < 336 ? 64 : 40)),
        scores: f32([2, 2, 168], () => ship() ** 2),
        angles: quantised(
          f32([2, 1, 168], () => ship()),
          "i8",
        ),
      },
      frame: { width: 1000, height: 333, resize: "letterbox-topleft" },
    },
    {
      name: "oriented, thousands",
      config: {
        ...{ family: "yolov8", task: "oriented", inputSize: [512, 512], classes: 1, maxDetections: 200 },
        ...{ confidenceThreshold: 0.001, rules: { maxCandidates: 3300 } },
      },
      outputs: {
        // Scores of 1/64: many are equal.
        output0: f32([1, 6, 3600], (i) => {
          const channel = Math.floor(i / 3600);
          const x = ship();
          return channel < 2
            ? x * 512
            : channel < 4
              ? 4 + x * 40
              : channel < 5
                ? Math.ceil(x * 63) / 64
                : x * 2;
        }),
      },
    },
  ];
}

/** A map of 12 x 12 cells in i8, background and face: two faces of several cells. */
export function fomoTensor() {
  const data = new Int8Array(288).fill(-128);
  const faces = [
    [2, 3, 3, 3],
    [8, 7, 2, 2],
  ];
  for (const [left, top, width, height] of faces)
    for (let y = top; y < top + height; y++)
      for (let x = left; x < left + width; x++) data[(y * 12 + x) * 2 + 1] = 20 + 3 * x + y;
  return { data, dims: [1, 12, 12, 2], type: "i8", scale: 1 / 256, zeroPoint: -128 };
}

/** Maps of cells, by both rules: FOMO. */
function cellCases() {
  const random = seeded(61);
  const config = { family: "fomo", task: "peaks", inputSize: [96, 96] };
  // Most cells are low, so that there are several groups.
  const scattered = (dims) => f32(dims, () => random() ** 2);
  return [
    { name: "cells, two faces", config: { ...config, classes: 1 }, outputs: { map: fomoTensor() } },
    {
      name: "cells, three classes, a batch of two",
      config: { ...config, classes: 3, maxDetections: 30 },
      outputs: { map: scattered([2, 12, 12, 4]) },
      frame: { width: 320, height: 240, resize: "crop" },
    },
    {
      name: "cells, enclosing, channels first",
      config: {
        ...config,
        classes: 2,
        cellGroups: "enclosing",
        inputSize: [160, 96],
        rules: { clamp: "after" },
      },
      outputs: { map: scattered([1, 3, 12, 20]) },
      frame: { width: 300, height: 200, resize: "letterbox" },
    },
    {
      name: "cells, enclosing, i8",
      config: { ...config, classes: 1, cellGroups: "enclosing" },
      outputs: { map: quantised(scattered([1, 12, 12, 2]), "i8") },
    },
  ];
}

export const cases = [
  ...recordedCases(),
  ...planesCases(),
  ...mapCases(),
  ...rowCases(),
  priorCase(),
  ...poseCases(),
  ...maskCases(),
  ...orientedCases(),
  ...rotatedCases(),
  ...cellCases(),
];

/** Networks of common size, for counting instructions. Half floats keep boxes and scores in one tensor. */
export function largeCases() {
  const output0 = sparsePlanes([1, 84, 8400], 200, 71);
  const config = { family: "yolov8", classes: 80, inputSize: [640, 640] };
  return [
    { name: "YOLOv8 [1,84,8400] f32", config, outputs: { output0 } },
    { name: "YOLOv8 [1,84,8400] f16", config, outputs: { output0: toHalf(output0) } },
  ];
}

/** Returns YOLOv8 as published figures of other decoders have it, by short names: boxes, and 100 masks, in f32 and i8. */
export function speedCases() {
  const boxes = { family: "yolov8", classes: 80, inputSize: [640, 640] };
  const masks = { ...boxes, task: "segment" };
  const random = seeded(72);
  const signed = () => 2 * random() - 1;
  const planes = sparsePlanes([1, 84, 8400], 100, 71);
  const coefficients = f32([1, 32, 8400], signed);
  const prototypes = f32([1, 32, 160, 160], signed);
  const whole = f32([1, 116, 8400], (i) => planes.data[i] ?? coefficients.data[i - planes.data.length]);
  // Boxes, scores and coefficients differ in range. Exporters for i8 give each a tensor with a scale of its own.
  const inBytes = (tensors) =>
    Object.fromEntries(Object.entries(tensors).map(([k, t]) => [k, quantised(t, "i8")]));
  const cut = (from, to) => f32([1, to - from, 8400], (i) => planes.data[from * 8400 + i]);
  const parts = { boxes: cut(0, 4), scores: cut(4, 84) };
  return {
    "boxes-f32": { name: "boxes, f32", config: boxes, outputs: { output0: planes } },
    "boxes-i8": { name: "boxes, i8", config: boxes, outputs: inBytes(parts) },
    "masks-f32": { name: "masks, f32", config: masks, outputs: { output0: whole, output1: prototypes } },
    "masks-i8": {
      name: "masks, i8",
      config: masks,
      outputs: inBytes({ ...parts, coefficients, prototypes }),
    },
  };
}
