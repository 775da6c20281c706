/** The specification against what others answered: golden files and recorded networks. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { decode } from "../../spec/decode.ts";
import type { DecoderOptions } from "../../src/config/types.ts";
import type { TensorInput } from "../../src/core/tensor.ts";
import { expectSame } from "../support/expect-detections.ts";
import { archiveOf, cases, fixtureOf, lists, tensorsOf, typedOf } from "../support/golden.ts";
import { type Network, networks, uniformRule } from "../support/recorded-networks.ts";
import {
  type Recording,
  type Row,
  describeShared,
  fixtures,
  foldersIn,
  readBytes,
  readJson,
  readRecording,
} from "../support/shared-data.ts";
import { askedOf, elementsOf, rowsOf, specify } from "../support/specification.ts";

describe("golden files: what depthai-core and depthai-nodes answered", () => {
  for (const name of cases) {
    const f = fixtureOf(name);
    for (const { rules, rows } of lists(name, f))
      test.each([
        ["NN Archive", archiveOf(f)],
        ["typed options", typedOf(f)],
      ])(`${name}, ${rules}, %s`, (_, config) => {
        const ordered =
          f.score_ties_in_result === 0 && new Set(rows.map((r) => r.confidence)).size === rows.length;
        const [answer] = specify(config, { rules }, tensorsOf(name, f));
        expectSame(rowsOf(answer), rows, 1e-6, ordered);
      });
  }
});

const outputsOf = (r: Recording, n: Network): Record<string, TensorInput> =>
  Object.fromEntries((n.outputs ?? Object.keys(r.tensors)).map((name) => [name, r.tensors[name]]));

describe("recordings in the repository: expected.json, computed in doubles from the formulas", () => {
  for (const n of networks.filter((x) => foldersIn(fixtures, "recorded").includes(x.folder)))
    test(`${n.folder}, ${n.form}`, () => {
      const r = readRecording(join(fixtures, "recorded"), n.folder, "astronaut");
      const [answer] = specify(n.config(r), uniformRule, outputsOf(r, n));
      expectSame(rowsOf(answer), r.expected as Row[], 1e-6, true);
    });

  for (const [folder, options] of [
    ["yolo-fastest-1.1", { scores: "logits", ...uniformRule }],
    ["mobilenet-ssd", {}],
  ] as const)
    test.each(foldersIn(fixtures, folder))(`${folder}, %s`, (photo) => {
      const r = readRecording(fixtures, folder, photo);
      const config = readJson(fixtures, folder, "config.json");
      expectSame(rowsOf(specify(config, options, r.tensors)[0]), r.expected as Row[], 1e-6, true);
    });
});

describeShared("specification and recorded networks", (data) => {
  const recorded = join(data, "recorded");

  for (const n of networks)
    test.each(foldersIn(recorded, n.folder))(`${n.folder}, ${n.form}, %s: expected.json`, (photo) => {
      const r = readRecording(recorded, n.folder, photo);
      const rule: DecoderOptions = n.folder === "mobilenet_ssd_detection_output" ? {} : uniformRule;
      const [answer] = specify(n.config(r), rule, outputsOf(r, n));
      expect(answer.detections.length).toBeGreaterThan(0);
      expectSame(rowsOf(answer), r.expected as Row[], 1e-6, true);
    });

  test("OpenCV's DetectionOutput, from raw offsets, scores and priors", () => {
    const { tensors } = readRecording(recorded, "opencv_face_ssd", "astronaut");
    const { data: table, dims } = tensors["detection_out"];
    const rows = Array.from({ length: dims[2] }, (_, i) => table.subarray(i * 7, i * 7 + 7))
      .filter(([image, , confidence]) => image === 0 && confidence > 0)
      .map(([, class_id, confidence, x_min, y_min, x_max, y_max]): Row => ({
        class_id,
        confidence,
        x_min,
        y_min,
        x_max,
        y_max,
      }));
    expect(rows.length).toBeGreaterThan(50);
    const config = {
      family: "ssd",
      confidenceThreshold: 0.01,
      iouThreshold: 0.45,
      maxDetections: 200,
      rules: { set: "opencv", maxCandidates: 400 },
    };
    const outputs = Object.fromEntries(
      ["mbox_loc", "mbox_conf_flatten", "mbox_priorbox"].map((name) => [name, tensors[name]]),
    );
    expectSame(rowsOf(specify(config, {}, outputs)[0]), rows, 1e-5, true);
  });

  test.each(foldersIn(recorded, "coco_ssd_mobilenet_v1.raw"))("TFLite_Detection_PostProcess, %s", (photo) => {
    const raw = readRecording(recorded, "coco_ssd_mobilenet_v1.raw", photo);
    const { tensors: post } = readRecording(recorded, "coco_ssd_mobilenet_v1.postprocess", photo);
    const asIs = specify({ family: "tflite-postprocess", confidenceThreshold: 0 }, {}, post);
    const config = {
      family: "ssd",
      classes: 90,
      scales: [10, 10, 5, 5],
      confidenceThreshold: 1e-8,
      iouThreshold: 0.6,
      rules: "tflite",
      priors: raw.tensors["anchors"].data,
    };
    const { Squeeze, convert_scores } = raw.tensors;
    const decoded = specify(config, {}, { Squeeze, convert_scores });
    expect(asIs[0].detections).toHaveLength(10);
    expectSame(rowsOf(decoded[0]), rowsOf(asIs[0]), 1e-6);
  });

  test("depthai-core's own unit test: counts at each threshold, boxes by hand", () => {
    const folder = join(data, "golden", "depthai_unit");
    interface Unit {
      readonly file: string;
      readonly dims: readonly number[];
      readonly subtype: string;
      readonly n_classes: number;
      readonly strides: readonly number[];
      readonly input: readonly [number, number];
      readonly expect_counts: readonly { conf: number; iou?: number; count: number }[];
    }
    const { cases: units } = readJson(folder, "fixture.json") as { cases: Unit[] };
    const configs = [
      {
        family: "yolov6",
        classes: units[0].n_classes,
        inputSize: units[0].input,
        strides: units[0].strides,
        scores: "probabilities",
        rules: "depthai",
      },
      { nn_config: { output_format: "detection", NN_family: "mobilenet" } },
    ];
    units.forEach((u, i) => {
      const bits = new Uint16Array(readBytes(folder, u.file).buffer);
      const outputs = { output: { data: bits, dims: u.dims, type: "fp16" as const } };
      const counts = u.expect_counts.map(({ conf, iou }) => {
        const options = { confidenceThreshold: conf, ...(iou === undefined ? {} : { iouThreshold: iou }) };
        return specify(configs[i], options, outputs)[0].detections.length;
      });
      expect(counts).toEqual(u.expect_counts.map((e) => e.count));
    });
  });
});

test("a plan is all that the specification needs", () => {
  const outputs = { o: { data: Float32Array.of(8, 8, 4, 4, 0.75), dims: [1, 1, 5], order: "rows" as const } };
  const { plan, thresholds } = askedOf({ family: "yolov8", classes: 1, inputSize: [16, 16] }, {}, outputs);
  const copy = JSON.parse(JSON.stringify(plan)) as typeof plan;
  const [{ detections }] = decode(copy, elementsOf(outputs), thresholds);
  expect(detections).toEqual([{ classId: 0, score: 0.75, box: [0.375, 0.375, 0.625, 0.625], source: 0 }]);
});
