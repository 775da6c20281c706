/**
 * Makes conformance/set.json and its tensors. Run this only when cases change:
 *
 *     node --import ./bench/ts.mjs --no-warnings scripts/make-conformance.mjs ../shared/data
 *
 * No answer comes from boxwright. The answers come from other programs, from ONNX Runtime's NonMaxSuppression, or from
 * formulas in doubles.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { conformanceCases } from "../test/conformance/cases.mjs";
import { SOURCE, seededCases, suppress } from "./conformance-seeds.mjs";

const [data] = process.argv.slice(2);
if (!data) throw new Error("got no folder, expected: make-conformance.mjs DATA");
const out = "conformance";

const read = (...path) => {
  const file = join(...path);
  return existsSync(file) ? readFileSync(file) : gunzipSync(readFileSync(`${file}.gz`));
};
const json = (...path) => JSON.parse(read(...path).toString());
const TYPES = { float32: "f32", float16: "f16", int8: "i8", uint8: "u8", int32: "i32", int64: "i64" };
const digits = (value) => Number(value.toPrecision(9));
const box = (d) => ({
  class_id: d.class_id,
  ...Object.fromEntries(
    ["confidence", "x_min", "y_min", "x_max", "y_max"].map((name) => [name, digits(d[name])]),
  ),
  ...(d.keypoints && { keypoints: d.keypoints.map((point) => point.map(digits)) }),
});
const answer = (rules, source, detections) => ({ rules, source, detections: detections.map(box) });

const FORMULAS = "formulas in double precision, from the source of the network's authors";
const RECORDED = { blazeface_short: "blazeface", faceapi_tiny_yolov2_face: "yolov2" };
const NETWORKS = {
  r1af: "YOLOv6 r1 or YOLOX, raw maps",
  tlbr: "YOLOv6 r2 to YOLO12, raw maps of distances",
  v3ab: "YOLOv3, raw maps with anchors",
  v5ab: "YOLOv5 or YOLOv7, raw maps with anchors",
  yolo26: "YOLO26, finished rows with all classes",
};

/** Returns the cases of test/fixtures: published decoders' answers, and recorded networks. */
function fixtureCases() {
  const cases = new Map();
  for (const { name, config, options, tensors, expected, tolerance, source } of conformanceCases()) {
    // Leave out Yolo-Fastest: its maps take 450 kB, and v3ab has the same layout.
    if (name.startsWith("yolo-fastest")) continue;
    const [folder, rules] = name.split(", rules of ");
    const id = folder.replaceAll(/[/_]/g, "-");
    const head = config.model?.heads?.[0].metadata;
    const isSsd = folder.startsWith("mobilenet-ssd");
    const rule = isSsd
      ? "none"
      : rules === undefined
        ? "by class"
        : rules.replace(/^depthai$/, "depthai-core");
    const where = rules === undefined ? `${source} (licences: test/fixtures/README.md)` : source;
    const said = cases.get(id);
    if (said) {
      said.answers.push(answer(rule, where, expected));
      continue;
    }
    const [recorded] = folder.split("/");
    cases.set(id, {
      id,
      network: isSsd
        ? "MobileNet SSD, finished rows: image, class, score, corners"
        : (NETWORKS[folder.split("_")[0]] ??
          { blazeface: "BlazeFace of MediaPipe" }[RECORDED[recorded]] ??
          "tiny YOLOv2 of face-api.js, raw map"),
      kind: rules === undefined ? "recorded" : "seeded",
      family: head?.subtype ?? RECORDED[recorded] ?? "ssd",
      classes: head?.n_classes ?? config.classes ?? 91,
      input: head ? config.model.inputs[0].shape.slice(2).reverse() : (config.inputSize ?? [300, 300]),
      ...(head?.anchors || config.anchors ? { anchors: head?.anchors ?? config.anchors } : {}),
      ...(head?.strides || config.strides ? { strides: head?.strides ?? config.strides } : {}),
      ...(head || isSsd ? { config } : {}),
      confidence: head?.conf_threshold ?? options.confidenceThreshold ?? 0.5,
      ...(isSsd ? {} : { iou: head?.iou_threshold ?? options.iouThreshold }),
      most: head?.max_det ?? options.maxDetections ?? 100,
      tolerance: tolerance * 2,
      tensors: tensors.map(({ file, ...tensor }) => ({ ...tensor, bytes: gunzipSync(readFileSync(file)) })),
      answers: [answer(rule, where, expected)],
    });
  }
  return [...cases.values()];
}

/** Recorded families in the set: for each folder, the suppression rule of its answer. */
const FAMILIES = {
  "libreyolo-yolo9": "by class",
  "yolonas-raw": "by class",
  "damo-yolo": "by class",
  "picodet-boxes": "by class",
  "rtmdet-maps": "by class",
  "rfdetr-coco": "best pairs",
  "rfdetr-custom": "best pairs",
  "dfine-raw": "best pairs",
  "rtdetr-ultralytics": "best class",
  "yolov7-trt": "none",
  "hailo-by-class": "none",
  "mmdeploy-dets": "none",
  "paddle-nms": "none",
};

/**
 * Returns the best class of each query. Boxes are centre and size. `drop`: count of final columns that are no class.
 */
function bestOfQueries(boxes, logits, { gate }, drop) {
  const floats = (bytes) => new Float32Array(Uint8Array.from(bytes).buffer);
  const [places, values] = [floats(boxes), floats(logits)];
  const width = (values.length * 4) / places.length;
  return Array.from({ length: places.length / 4 }, (_, q) => {
    const row = values.subarray(q * width, (q + 1) * width - drop);
    const class_id = row.reduce((at, x, i) => (x > row[at] ? i : at), 0);
    const [cx, cy, w, h] = places.subarray(q * 4, q * 4 + 4);
    const corners = { x_min: cx - w / 2, y_min: cy - h / 2, x_max: cx + w / 2, y_max: cy + h / 2 };
    return { class_id, confidence: 1 / (1 + Math.exp(-row[class_id])), ...corners };
  })
    .filter((d) => d.confidence > gate)
    .sort((a, b) => b.confidence - a.confidence);
}

/** Networks of queries: files of boxes and logits, and the count of final columns that are no class. */
const QUERIES = {
  "rfdetr-custom": ["dets.bin", "labels.bin", 1],
  "dfine-raw": ["pred_boxes.bin", "logits.bin", 0],
};

function familyCases() {
  return Object.entries(FAMILIES).map(([id, rules]) => {
    const folder = join(data, "golden/families", id);
    const f = json(folder, "fixture.json");
    const answers = [answer(rules, FORMULAS, f.detections)];
    // Column 0 of COCO's 91 is untrained: it never changes a query's best class.
    if (f.by_query)
      for (const rule of ["best class", "best class of every column"])
        answers.push(answer(rule, FORMULAS, f.by_query.detections));
    if (QUERIES[id]) {
      const [boxes, logits, drop] = QUERIES[id];
      const rows = bestOfQueries(read(folder, boxes), read(folder, logits), f, drop);
      answers.push(answer("best class", FORMULAS, rows));
      // RF-DETR's own predict() also takes the last column for a class.
      if (drop > 0) {
        const all = bestOfQueries(read(folder, boxes), read(folder, logits), f, 0);
        answers.push(answer("best class of every column", FORMULAS, all));
      }
    }
    return {
      id,
      network: f.network.split(/[:;(]| without post| with C| in COCO/)[0].trim(),
      kind: "seeded",
      family: f.family,
      classes: f.classes,
      input: [f.input.width, f.input.height],
      layout: [f.network, ...Object.values(f.rule)].join("; "),
      confidence: f.gate,
      ...(f.iou && { iou: f.iou }),
      most: 300,
      tolerance: 2e-4,
      tensors: f.outputs.map((o) => ({
        name: o.name,
        type: TYPES[o.dtype],
        dims: o.shape,
        bytes: read(folder, o.file),
      })),
      answers,
    };
  });
}

/** Returns the best class of each cell of planes, as rows. */
function rowsOfPlanes({ classes, input: { width, height }, outputs: [{ file, shape }] }, folder) {
  const values = new Float32Array(Uint8Array.from(read(folder, file)).buffer);
  const cells = shape[2];
  return Array.from({ length: cells }, (_, i) => {
    const at = (channel) => values[channel * cells + i];
    const ids = Array.from({ length: classes }, (_, id) => id);
    const class_id = ids.reduce((best, id) => (at(4 + id) > at(4 + best) ? id : best), 0);
    const [cx, cy, w, h] = [0, 1, 2, 3].map(at);
    return {
      class_id,
      confidence: at(4 + class_id),
      x_min: (cx - w / 2) / width,
      y_min: (cy - h / 2) / height,
      x_max: (cx + w / 2) / width,
      y_max: (cy + h / 2) / height,
    };
  });
}

/** Returns cases of pose networks, and of the boxes of segmentation networks, in the layout of Ultralytics. */
function planeCases() {
  const about = {
    pose_v8: [
      "YOLOv8-pose, planes",
      "cx cy w h in pixels of the input, class, 17 points of x y visibility",
      ["output0"],
    ],
    seg_v8: [
      "YOLOv8-seg, planes and prototypes; boxes alone are compared",
      "cx cy w h in pixels of the input, classes, 32 coefficients",
      ["output0", "output1"],
    ],
  };
  const cases = Object.entries(about).map(async ([name, [network, layout, wanted]]) => {
    const folder = join(data, "golden/beyond/heads", name);
    const f = json(folder, "fixture.json");
    const { width, height } = f.input;
    const rows = f.detections.map(({ keypoints, ...d }) => ({
      ...d,
      x_min: d.x_min / width,
      x_max: d.x_max / width,
      y_min: d.y_min / height,
      y_max: d.y_max / height,
      ...(keypoints && { keypoints: keypoints.map(([x, y, ...rest]) => [x / width, y / height, ...rest]) }),
    }));
    return {
      id: name.replace("_", "-"),
      network,
      kind: "seeded",
      family: "yolov8",
      task: f.keypoints ? "pose" : "segment",
      classes: f.classes,
      ...(f.keypoints && { keypoints: f.keypoints }),
      input: [width, height],
      layout,
      confidence: 0.26,
      iou: 0.45,
      most: 300,
      tolerance: 1e-5,
      tensors: f.outputs
        .filter((o) => wanted.includes(o.name))
        .map((o) => ({ name: o.name, type: TYPES[o.dtype], dims: o.shape, bytes: read(folder, o.file) })),
      answers: [
        answer("by class", FORMULAS, rows),
        // With one class, both rules have the same result.
        f.classes === 1
          ? answer("all classes", FORMULAS, rows)
          : answer(
              "all classes",
              SOURCE,
              await suppress(rowsOfPlanes(f, folder), false, { confidence: 0.26, iou: 0.45 }),
            ),
      ],
    };
  });
  return Promise.all(cases);
}

const seeded = (await seededCases()).map((c) => ({
  ...c,
  answers: c.answers.map((a) => answer(a.rules, a.source, a.detections)),
}));
const cases = [...seeded, ...(await planeCases()), ...familyCases(), ...fixtureCases()];
rmSync(join(out, "tensors"), { recursive: true, force: true });
mkdirSync(join(out, "tensors"), { recursive: true });
for (const c of cases)
  c.tensors = c.tensors.map(({ bytes, ...tensor }, i) => {
    const file = `tensors/${c.id}.${i}.bin.gz`;
    writeFileSync(join(out, file), gzipSync(bytes, { level: 9 }));
    return { ...tensor, file, sha256: createHash("sha256").update(bytes).digest("hex") };
  });
writeFileSync(
  join(out, "set.json"),
  `${JSON.stringify({ set: "Who decodes right?", version: "1.0.0", cases }, null, 1)}\n`,
);
console.log(`${cases.length} cases`);
