/**
 * Seeded cases of the conformance set, in layouts that npm packages read. ONNX Runtime's NonMaxSuppression gives the
 * answers, once by class and once over all classes. The boxes and scores for it come from formulas in doubles.
 */
import * as ort from "onnxruntime-node";
import { Graph } from "../bench/peers/onnx-graph.ts";
import { mulberry32 } from "../bench/random.ts";

const INPUT = [192, 128];
const [WIDTH, HEIGHT] = INPUT;
const CLASSES = 5;
const CONFIDENCE = 0.3;
const IOU = 0.5;
export const SOURCE = `ONNX Runtime ${ort.env?.versions?.common ?? "1.30.0"}, NonMaxSuppression`;

/** Cells of the strides 8, 16 and 32, row by row. */
const CELLS = [8, 16, 32].flatMap((stride) =>
  Array.from({ length: (WIDTH / stride) * (HEIGHT / stride) }, (_, i) => ({
    column: i % (WIDTH / stride),
    row: Math.floor(i / (WIDTH / stride)),
    stride,
  })),
);

/**
 * Draws a scene: a centre, a size and class probabilities for each of `count` places. Seven objects have several places
 * each, some of a second class. Everything lies inside the input, so clamping changes nothing.
 */
function drawScene(seed, count) {
  const random = mulberry32(seed);
  const objects = Array.from({ length: 7 }, (_, i) => ({
    w: 24 + 30 * random(),
    h: 20 + 30 * random(),
    x: 34 + (i % 4) * 40 + 8 * random(),
    y: 32 + Math.floor(i / 4) * 60 + 6 * random(),
    classId: Math.floor(CLASSES * random()),
  }));
  const places = Array.from({ length: count }, () => ({
    box: [20 + (WIDTH - 40) * random(), 20 + (HEIGHT - 40) * random(), 8 + 20 * random(), 8 + 20 * random()],
    scores: Array.from({ length: CLASSES }, () => 0.1 * random()),
  }));
  for (let k = 0; k < 42; k++) {
    const { w, h, x, y, classId } = objects[k % 7];
    const place = places[Math.floor(count * random())];
    const near = () => 0.94 + 0.12 * random();
    place.box = [x * near(), y * near(), w * near(), h * near()];
    place.scores = place.scores.map((s) => s / 2);
    place.scores[k % 5 === 4 ? (classId + 1) % CLASSES : classId] = 0.36 + 0.6 * random();
  }
  return places;
}

const best = ({ scores }) => scores.reduce((at, s, i) => (s > scores[at] ? i : at), 0);
const toRow = (place) => {
  const [cx, cy, w, h] = place.box;
  const classId = best(place);
  return {
    class_id: classId,
    confidence: place.scores[classId],
    x_min: (cx - w / 2) / WIDTH,
    y_min: (cy - h / 2) / HEIGHT,
    x_max: (cx + w / 2) / WIDTH,
    y_max: (cy + h / 2) / HEIGHT,
  };
};

/** Runs NonMaxSuppression over rows, by class or over all classes. Returns the kept rows, best first. */
export async function suppress(
  rows,
  isByClass,
  { classes = CLASSES, confidence = CONFIDENCE, iou = IOU } = {},
) {
  const lists = isByClass ? classes : 1;
  const g = new Graph();
  const boxes = g.input("boxes", [1, rows.length, 4]);
  const scores = g.input("scores", [1, lists, rows.length]);
  const limits = [g.ints(300), g.floats([iou]), g.floats([confidence])];
  g.output(g.node("NonMaxSuppression", [boxes, scores, ...limits]), "selected", "int64", ["n", 3]);
  const session = await ort.InferenceSession.create(g.model());
  const values = new Float32Array(lists * rows.length);
  rows.forEach((row, i) => (values[(isByClass ? row.class_id : 0) * rows.length + i] = row.confidence));
  const corners = rows.flatMap((r) => [r.y_min * HEIGHT, r.x_min * WIDTH, r.y_max * HEIGHT, r.x_max * WIDTH]);
  const { selected } = await session.run({
    boxes: new ort.Tensor("float32", Float32Array.from(corners), [1, rows.length, 4]),
    scores: new ort.Tensor("float32", values, [1, lists, rows.length]),
  });
  const kept = Array.from({ length: selected.dims[0] }, (_, i) => rows[Number(selected.data[i * 3 + 2])]);
  return kept.sort((a, b) => b.confidence - a.confidence);
}

const bytesOf = (values) => Buffer.from(Float32Array.from(values).buffer);
const tensor = (name, dims, values) => ({ name, type: "f32", dims, bytes: bytesOf(values) });
const f32 = Math.fround;

/** Rounds a scene to f32, as in the tensors. */
const stored = (places) => places.map((p) => ({ ...p, box: p.box.map(f32), scores: p.scores.map(f32) }));

async function suppressed(places) {
  const rows = places.map(toRow);
  return [
    { rules: "by class", source: SOURCE, detections: await suppress(rows, true) },
    { rules: "all classes", source: SOURCE, detections: await suppress(rows, false) },
  ];
}

const common = {
  kind: "seeded",
  classes: CLASSES,
  input: INPUT,
  confidence: CONFIDENCE,
  iou: IOU,
  most: 300,
  tolerance: 1e-5,
};

function planesOf(places, boxOf) {
  const n = places.length;
  return Array.from({ length: (4 + CLASSES) * n }, (_, i) => {
    const place = places[i % n];
    const channel = Math.floor(i / n);
    return channel < 4 ? boxOf(place.box)[channel] : place.scores[channel - 4];
  });
}

async function planes() {
  const places = stored(drawScene(11, CELLS.length));
  const dims = [1, 4 + CLASSES, places.length];
  const unit = ([cx, cy, w, h]) => [cx / WIDTH, cy / HEIGHT, w / WIDTH, h / HEIGHT];
  const answers = await suppressed(places);
  return [
    {
      ...common,
      id: "yolov8-planes",
      network: "YOLOv8 to YOLO12 as Ultralytics exports them",
      family: "yolov8",
      layout: "[1, 4 + classes, cells]: cx cy w h in pixels of the input, then class probabilities",
      tensors: [
        tensor(
          "output0",
          dims,
          planesOf(places, (box) => box),
        ),
      ],
      answers,
    },
    {
      ...common,
      id: "yolov8-planes-0-to-1",
      network: "YOLOv8 to YOLO12 as TensorFlow Lite",
      family: "yolov8",
      unit: "input",
      layout: "[1, 4 + classes, cells]: cx cy w h divided by the input, then class probabilities",
      tensors: [tensor("output0", dims, planesOf(places, unit))],
      answers,
    },
  ];
}

/** Rows of YOLOv5 and YOLOX. The score of a row is objectness times the probability of the class. */
async function rows() {
  const scene = (seed, count) => {
    const random = mulberry32(seed + 1);
    return drawScene(seed, count).map((p) => {
      const objectness = f32(0.9 + 0.1 * random());
      const classes = p.scores.map(f32);
      return { box: p.box.map(f32), objectness, classes, scores: classes.map((c) => c * objectness) };
    });
  };
  const layout = (unit) =>
    `[1, rows, 5 + classes]: ${unit}, objectness, class probabilities; score = objectness x class`;
  const five = scene(21, CELLS.length * 3);
  const x = scene(31, CELLS.length);
  const width = 5 + CLASSES;
  const encoded = x.map((p, i) => {
    const { column, row, stride } = CELLS[i];
    const [cx, cy, w, h] = p.box;
    const raw = [cx / stride - column, cy / stride - row, Math.log(w / stride), Math.log(h / stride)].map(
      f32,
    );
    const box = [
      (raw[0] + column) * stride,
      (raw[1] + row) * stride,
      Math.exp(raw[2]) * stride,
      Math.exp(raw[3]) * stride,
    ];
    return { ...p, raw, box };
  });
  const flat = (places, boxOf) => places.flatMap((p) => [...boxOf(p), p.objectness, ...p.classes]);
  return [
    {
      ...common,
      id: "yolov5-rows",
      network: "YOLOv5 and YOLOv7, decoded rows",
      family: "yolov5",
      layout: layout("cx cy w h in pixels of the input"),
      tensors: [
        tensor(
          "output",
          [1, five.length, width],
          flat(five, (p) => p.box),
        ),
      ],
      answers: await suppressed(five),
    },
    {
      ...common,
      id: "yolox-rows",
      network: "YOLOX, rows as Megvii exports them",
      family: "yolox",
      layout: layout("cx cy in cells from the cell's corner, log of w h in cells"),
      tensors: [
        tensor(
          "output",
          [1, x.length, width],
          flat(encoded, (p) => p.raw),
        ),
      ],
      answers: await suppressed(encoded),
    },
    {
      ...common,
      id: "yolox-rows-decoded",
      network: "YOLOX, rows decoded in the network (LibreYOLO, decode_in_inference)",
      family: "yolox",
      isDecoded: true,
      layout: layout("cx cy w h in pixels of the input"),
      tensors: [
        tensor(
          "output",
          [1, x.length, width],
          flat(x, (p) => p.box),
        ),
      ],
      answers: await suppressed(x),
    },
  ];
}

function finished() {
  const random = mulberry32(41);
  const found = Array.from({ length: 60 }, (_, i) => {
    const [w, h] = [20 + 60 * random(), 16 + 40 * random()];
    const [x, y] = [(WIDTH - w) * random(), (HEIGHT - h) * random()];
    return [
      x,
      y,
      x + w,
      y + h,
      i < 9 ? 0.95 - 0.07 * i - 0.01 * random() : 0.01 + 0.1 / i,
      Math.floor(CLASSES * random()),
    ].map(f32);
  });
  const detections = found
    .filter((row) => row[4] > CONFIDENCE)
    .map(([x0, y0, x1, y1, confidence, class_id]) => ({
      class_id,
      confidence,
      x_min: x0 / WIDTH,
      y_min: y0 / HEIGHT,
      x_max: x1 / WIDTH,
      y_max: y1 / HEIGHT,
    }));
  return {
    ...common,
    id: "yolo26-end2end",
    network: "YOLOv10 and YOLO26, end to end",
    family: "yolo26",
    layout:
      "[1, rows, 6]: x_min y_min x_max y_max in pixels of the input, score, class; nothing is suppressed",
    tensors: [tensor("output0", [1, found.length, 6], found.flat())],
    answers: [{ rules: "none", source: "the rows above the threshold, as they stand", detections }],
  };
}

function detr() {
  const random = mulberry32(51);
  const queries = Array.from({ length: 40 }, (_, q) => {
    const [w, h] = [0.1 + 0.3 * random(), 0.1 + 0.3 * random()];
    const box = [w / 2 + (1 - w) * random(), h / 2 + (1 - h) * random(), w, h].map(f32);
    const logits = Array.from({ length: CLASSES + 1 }, () => f32(-2 + 2 * random()));
    logits[CLASSES] = f32(q % 5 === 0 ? 0.5 * random() : 4 + random());
    if (q % 5 === 0) logits[Math.floor(CLASSES * random())] = f32(2.2 + 2 * random());
    return { box, logits };
  });
  const detections = queries
    .map(({ box: [cx, cy, w, h], logits }) => {
      const sum = logits.reduce((s, x) => s + Math.exp(x), 0);
      const class_id = logits.slice(0, CLASSES).reduce((at, x, i) => (x > logits[at] ? i : at), 0);
      const corners = { x_min: cx - w / 2, y_min: cy - h / 2, x_max: cx + w / 2, y_max: cy + h / 2 };
      return { class_id, confidence: Math.exp(logits[class_id]) / sum, ...corners };
    })
    .filter((d) => d.confidence > 0.5)
    .sort((a, b) => b.confidence - a.confidence);
  return {
    ...common,
    id: "detr",
    network: "DETR and YOLOS",
    family: "detr",
    layout:
      "boxes [1, queries, 4]: cx cy w h from 0 to 1; logits [1, queries, classes + 1]: softmax, the last column is nothing",
    confidence: 0.5,
    tensors: [
      tensor(
        "logits",
        [1, 40, CLASSES + 1],
        queries.flatMap((q) => q.logits),
      ),
      tensor(
        "pred_boxes",
        [1, 40, 4],
        queries.flatMap((q) => q.box),
      ),
    ],
    answers: [
      { rules: "best class", source: "formulas in double precision, of DETR's PostProcess", detections },
    ],
  };
}

/** Returns the cases, with their tensors as bytes. */
export const seededCases = async () => [...(await planes()), ...(await rows()), finished(), detr()];
