/**
 * Returns the conformance cases: networks whose detections every runtime must reproduce. All expected detections come
 * from the recordings in test/fixtures/, none from this package. `tensors[].file` is relative to the project's root.
 */
import { readFileSync } from "node:fs";

const root = new URL("../../", import.meta.url);
const read = (path) => JSON.parse(readFileSync(new URL(path, root), "utf8"));
const CORNERS = ["x_min", "y_min", "x_max", "y_max"];
const row = (class_id, confidence, corners) => ({
  class_id,
  confidence,
  ...Object.fromEntries(CORNERS.map((c, i) => [c, corners[i]])),
});

/** Returns cases of seeded tensors, one per published decoder (depthai-core, depthai-nodes) that answered them. */
function golden(name) {
  const folder = `test/fixtures/golden/${name}`;
  const f = read(`${folder}/fixture.json`);
  const c = f.config;
  const config = {
    config_version: "1.0",
    model: {
      metadata: { name, path: "model.onnx", precision: "float32" },
      inputs: [
        {
          name: "images",
          dtype: "float32",
          input_type: "image",
          shape: [1, 3, c.input_height, c.input_width],
          layout: "NCHW",
        },
      ],
      outputs: f.tensors.map((t) => ({ name: t.name, dtype: "float32" })),
      heads: [
        {
          parser: "YOLO",
          metadata: {
            classes: Array.from({ length: c.n_classes }, (_, i) => `class ${i}`),
            n_classes: c.n_classes,
            iou_threshold: c.iou_threshold ?? 0.5,
            conf_threshold: c.conf_threshold,
            max_det: c.max_det ?? 300,
            anchors: c.anchors ?? null,
            subtype: c.subtype,
            yolo_outputs: f.tensors.map((t) => t.name),
            ...(c.strides === undefined ? {} : { strides: c.strides }),
          },
        },
      ],
    },
  };
  const tensors = f.tensors.map((t) => ({
    name: t.name,
    type: t.dtype.replace("fp", "f"),
    dims: t.dims,
    ...(t.scale === undefined || t.dtype.startsWith("fp")
      ? {}
      : { scale: t.scale, zeroPoint: t.zero_point ?? 0 }),
    file: `${folder}/${t.file}.gz`,
  }));
  const lists = [];
  // Leave out depthai-core for v6r1: the recorded detections predate a fix of its box formula.
  if (f.expected_depthai_core && !name.startsWith("r1af"))
    lists.push([
      "depthai",
      f.expected_depthai_core.detections.map((d) =>
        row(d.label, d.confidence, [d.xmin, d.ymin, d.xmax, d.ymax]),
      ),
    ]);
  if (f.expected_depthai_nodes)
    lists.push([
      "depthai-nodes",
      f.expected_depthai_nodes.map((d) =>
        row(d.label, d.confidence, [d.cx - d.w / 2, d.cy - d.h / 2, d.cx + d.w / 2, d.cy + d.h / 2]),
      ),
    ]);
  return lists.map(([rules, expected]) => ({
    name: `${name}, rules of ${rules}`,
    source: `${rules === "depthai" ? "depthai-core" : "depthai-nodes"} on seeded tensors`,
    config,
    // Name the interpretation: finished boxes with scores of all classes have the shape of rows with objectness.
    options: { rules, ...(c.subtype === "yolo26" ? { reading: "corner-rows" } : {}) },
    tensors,
    ordered:
      f.score_ties_in_result === 0 && new Set(expected.map((d) => d.confidence)).size === expected.length,
    tolerance: 1e-5,
    expected,
  }));
}

/** Returns the case of a real network on a photo. Its detections were computed by the formulas in double precision. */
function recorded(folder, outputs, config, options) {
  const meta = read(`${folder}/meta.json`);
  const { detections } = read(`${folder}/expected.json`);
  return {
    name: folder.replace(/^test\/fixtures\/(recorded\/)?/, ""),
    source: "formulas in double precision on recorded outputs of a network for a photo",
    config,
    options,
    tensors: meta.outputs
      .filter((o) => outputs.includes(o.name))
      .map((o) => ({ name: o.name, type: "f32", dims: o.shape, file: `${folder}/${o.file}.gz` })),
    ordered: false,
    tolerance: 1e-5,
    expected: detections.map((d) =>
      row(
        d.class_id,
        d.confidence,
        CORNERS.map((c) => d[c]),
      ),
    ),
  };
}

const uniform = {
  confidenceThreshold: 0.26,
  iouThreshold: 0.45,
  rules: { set: "ultralytics", clamp: "none", maxCandidates: 0 },
  maxDetections: 1000,
};

/** Returns all cases. Boxes are normalised to the network's input. */
export function conformanceCases() {
  const fastest = "test/fixtures/yolo-fastest-1.1";
  const ssd = "test/fixtures/mobilenet-ssd";
  const names = ["r1af_v6r1", "tlbr_v8_conf1", "tlbr_v8_nchw", "v3ab_logits", "v5ab_nchw", "yolo26_e2e"];
  return [
    ...[...names.map((n) => `${n}_fp32`), "tlbr_v8_nhwc_i8", "v5ab_nhwc_fp16"].flatMap(golden),
    recorded(`${fastest}/chelsea`, ["raw_conv_120", "raw_conv_129"], read(`${fastest}/config.json`), {
      ...uniform,
      scores: "logits",
    }),
    ...["astronaut", "chelsea", "coffee"].map((photo) =>
      recorded(`${ssd}/${photo}`, ["detection_out"], read(`${ssd}/config.json`), {}),
    ),
    recorded(
      "test/fixtures/recorded/blazeface_short/astronaut",
      ["regressors", "classificators"],
      { family: "blazeface", classes: 1, inputSize: [128, 128] },
      uniform,
    ),
    recorded(
      "test/fixtures/recorded/faceapi_tiny_yolov2_face/astronaut",
      ["out0"],
      {
        family: "yolov2",
        classes: 1,
        inputSize: [416, 416],
        anchors: [
          1.603231, 2.094468, 6.041143, 7.080126, 2.882459, 3.518061, 4.266906, 5.178857, 9.041765, 10.66308,
        ],
        strides: [32],
      },
      uniform,
    ),
  ];
}
