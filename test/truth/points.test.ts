/** Keypoints against outside answers: formulas in float64 on seeded tensors, and other software on real networks. */
import { join } from "node:path";
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { DecoderOptions, TypedOptions } from "../../src/config/types.ts";
import type { TensorInput } from "../../src/core/tensor.ts";
import type { Decoder } from "../../src/decode/decoder.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import type { Detection } from "../../src/decode/detections.ts";
import { suppressDetections } from "../../src/entries/index.ts";
import { engines } from "../support/engines.ts";
import { readBeyond } from "../support/beyond.ts";
import {
  type Row,
  type StoredOutput,
  describeShared,
  fixtures,
  foldersIn,
  readJson,
  readTensors,
} from "../support/shared-data.ts";

interface PointRow extends Row {
  readonly row?: number;
  readonly keypoints: readonly (readonly number[])[];
}
interface Golden {
  readonly input: { readonly width: number; readonly height: number };
  readonly classes: number;
  readonly keypoints: readonly [number, 2 | 3];
  readonly outputs: readonly StoredOutput[];
  readonly detections: readonly PointRow[];
}
/** Holds detections with points against expected ones, in order, to `tolerance` in the unit of 0..1. */
function expectPoints(
  found: readonly Detection[],
  expected: readonly PointRow[],
  [width, height]: readonly [number, number],
  tolerance: number,
): void {
  expect(found.length).toBe(expected.length);
  found.forEach((d, i) => {
    const e = expected[i];
    expect(Math.abs(d.confidence - e.confidence)).toBeLessThan(tolerance);
    expect(Math.abs(d.x_min - e.x_min / width)).toBeLessThan(tolerance);
    expect(Math.abs(d.y_max - e.y_max / height)).toBeLessThan(tolerance);
    expect(d.keypoints).toHaveLength(e.keypoints.length);
    d.keypoints?.forEach((p, k) => {
      const [x, y, confidence = 1] = e.keypoints[k];
      expect(Math.abs(p.x - x / width)).toBeLessThan(tolerance);
      expect(Math.abs(p.y - y / height)).toBeLessThan(tolerance);
      expect(Math.abs(p.confidence - confidence)).toBeLessThan(tolerance);
    });
  });
}

/** The rule of all expected files. */
const RULE: DecoderOptions = {
  confidenceThreshold: 0.26,
  iouThreshold: 0.45,
  maxDetections: 1000,
  rules: { set: "ultralytics", clamp: "none" },
};

/** Returns the tensors of one export, and the options that it needs. */
const FORMS: readonly (readonly [name: string, options: DecoderOptions, names: RegExp])[] = [
  ["fused", {}, /^output0$/],
  ["fused, 0..1", { coordinates: "normalised" }, /^output0_normalised$/],
  ["raw maps", {}, /^(box|cls|kpt)\d$/],
];

function goldenCases(folder: string, names: readonly string[]): void {
  describe.each(names)("%s", (name) => {
    const f = readJson(folder, name, "fixture.json") as Golden;
    const all = readTensors(join(folder, name), f.outputs);
    const size = [f.input.width, f.input.height] as const;
    const typed: TypedOptions = {
      family: name.includes("26") ? "yolo26" : "yolov8",
      task: "pose",
      classes: f.classes,
      inputSize: size,
      keypoints: f.keypoints,
    };
    for (const [form, options, wanted] of FORMS) {
      const tensors = Object.fromEntries(Object.entries(all).filter(([key]) => wanted.test(key)));
      if (Object.keys(tensors).length === 0) continue;
      test.each(engines)(`${form} (%s)`, (engine) => {
        const decoder = createDecoderSync(typed, { ...RULE, ...options, engine });
        const found = decoder.decode(tensors);
        // raw maps decode to the fused tensor within the rounding of float32
        expectPoints(found.toArray(), f.detections, size, form === "raw maps" ? 2e-5 : 1e-6);
        if (form !== "raw maps" && !name.includes("26"))
          expect([...found.sources.subarray(0, found.length)]).toEqual(f.detections.map(({ row }) => row));
      });
      test(`${form}: all engines give the same bytes`, () => {
        const [first, ...others] = engines.map((engine) => {
          const found = createDecoderSync(typed, { ...RULE, ...options, engine })
            .decode(tensors)
            .copy();
          return [found.boxes, found.scores, found.keypoints].map((column) =>
            Array.from(new Uint32Array((column as Float32Array).buffer)),
          );
        });
        for (const other of others) expect(other).toEqual(first);
      });
    }

    test("boxes are those of a decoder that does not know of points, on the tensor without their channels", () => {
      const { data, dims } = all["output0"];
      const points = f.keypoints[0] * f.keypoints[1];
      const [, a, b] = dims;
      const isRows = b < a;
      const values = Float32Array.from(data as Float32Array);
      const cut = isRows ? values.filter((_, i) => i % b < b - points) : values.subarray(0, (a - points) * b);
      const dimsOfCut = isRows ? [1, a, b - points] : [1, a - points, b];
      const { family, classes, inputSize } = typed;
      for (const engine of engines) {
        const withPoints = createDecoderSync(typed, { ...RULE, engine }).decode({ output0: all["output0"] });
        const alone = createDecoderSync({ family, classes, inputSize }, { ...RULE, engine }).decode({
          output0: { data: cut, dims: dimsOfCut },
        });
        expect(withPoints.length).toBe(f.detections.length);
        const columns = ["boxes", "scores", "classIds", "sources"] as const;
        for (const c of columns) expect([...withPoints.copy()[c]]).toEqual([...alone.copy()[c]]);
      }
    });
  });
}

/** Networks of `recorded-beyond`, and how a decoder is told of them. */
const RECORDED: Readonly<
  Record<string, { readonly options: TypedOptions; readonly outputs?: readonly string[] }>
> = {
  retinaface_mnet025: { options: { family: "retinaface", inputSize: [640, 640] } },
  yunet_2023mar: { options: { family: "yunet", inputSize: [640, 640] } },
  yunet_2026may_320: { options: { family: "yunet", inputSize: [320, 320] } },
  blazeface_short: {
    options: { family: "blazeface", task: "pose", inputSize: [128, 128] },
    outputs: ["regressors", "classificators"],
  },
};

interface Outside {
  readonly detections?: readonly PointRow[];
  readonly answers?: Readonly<Record<string, readonly PointRow[]>>;
}

function recordedCases(folder: string, models: readonly string[]): void {
  describe.each(models)("%s", (model) => {
    const { options, outputs } = RECORDED[model];
    for (const photo of foldersIn(join(folder, model))) {
      const at = join(folder, model, photo);
      const meta = readJson(at, "meta.json") as { outputs: readonly StoredOutput[] };
      const tensors = readTensors(
        at,
        meta.outputs.filter(({ name }) => outputs?.includes(name) ?? true),
      );
      test.each(engines)(`${photo} (%s)`, (engine) => {
        const { detections } = readJson(at, "expected.json") as { detections: readonly PointRow[] };
        const found = createDecoderSync(options, { ...RULE, engine })
          .decode(tensors)
          .toArray();
        expectPoints(found, detections, [1, 1], 2e-6);
        expect(found.every(({ class_id }) => class_id === 0)).toBe(true);
        expect(found[0].keypoints?.[2].name).toContain("nose");
      });
      test(`${photo}: what other software answered`, () => {
        if (!["", ".gz"].some((end) => existsSync(join(at, `outside.json${end}`)))) return;
        const outside = readJson(at, "outside.json") as Outside;
        const answers = outside.answers ?? { "score>=0.26 nms 0.4": outside.detections ?? [] };
        for (const [rule, rows] of Object.entries(answers)) {
          const [, confidence, iou] = /score>=([\d.]+) nms ([\d.]+)/.exec(rule) as RegExpExecArray;
          const decoder = createDecoderSync(options, {
            ...RULE,
            confidenceThreshold: Number(confidence),
            iouThreshold: Number(iou),
            rules: { clamp: "none", gate: ">=" },
          });
          expectPoints(decoder.decode(tensors).toArray(), rows, [1, 1], 1e-4);
        }
      });
    }
  });
}

function weightedCase(folder: string): void {
  const at = join(folder, "blazeface_short", "astronaut");
  test("blazeface_short: boxes and points of MediaPipe's weighted suppression", () => {
    const meta = readJson(at, "meta.json") as { outputs: readonly StoredOutput[] };
    const { weighted } = readJson(at, "expected.json") as { weighted: { detections: readonly PointRow[] } };
    const decoder = createDecoderSync(RECORDED["blazeface_short"].options, {
      confidenceThreshold: 0.5,
      rules: { set: "ultralytics", clamp: "none", suppress: "none", gate: ">=" },
    });
    const outputs = meta.outputs.filter(({ name }) => RECORDED["blazeface_short"].outputs?.includes(name));
    const found = decoder.decode(readTensors(at, outputs));
    const merged = suppressDetections(found, { method: "weighted", iouThreshold: 0.3 });
    expectPoints(merged.toArray(), weighted.detections, [1, 1], 2e-6);
    expect(merged.copy().at(0)?.keypoints?.[0].name).toBe("right eye");
    // Every other method leaves the points of the row.
    const hard = suppressDetections(found, { method: "hard", iouThreshold: 0.3 });
    expect(hard.at(0)?.keypoints).toEqual(found.at(0)?.keypoints);
  });
}

function movenetCase(folder: string): void {
  const at = join(folder, "movenet_lightning_192", "astronaut");
  test.each(engines)("movenet_lightning_192 (%s)", (engine) => {
    const { outputs } = readJson(at, "meta.json") as { outputs: readonly StoredOutput[] };
    const expected = readJson(at, "expected.json") as {
      keypoints: readonly (readonly [number, number, number])[];
    };
    const decoder: Decoder = createDecoderSync(
      { family: "movenet", inputSize: [192, 192] },
      { engine, confidenceThreshold: 0.2 },
    );
    const [person, ...others] = decoder.decode(readTensors(at, outputs));
    expect(others).toEqual([]);
    // the file writes x, y, score
    person.keypoints?.forEach(({ x, y, confidence }, k) => {
      const [ex, ey, score] = expected.keypoints[k];
      for (const [a, b] of [
        [x, ex],
        [y, ey],
        [confidence, score],
      ])
        expect(Math.abs(a - b)).toBeLessThan(1e-6);
    });
    expect(person.keypoints?.map(({ name }) => name).slice(0, 3)).toEqual(["nose", "left eye", "right eye"]);
    const mean = expected.keypoints.reduce((sum, [, , score]) => sum + score, 0) / 17;
    expect(person.confidence).toBeCloseTo(mean, 6);
    const xs = expected.keypoints.map(([x]) => x);
    expect(person.x_min).toBeCloseTo(Math.min(...xs), 6);
    expect(person.x_max).toBeCloseTo(Math.max(...xs), 6);
    decoder.update({ confidenceThreshold: 0.9 });
    expect(decoder.decode(readTensors(at, outputs))).toHaveLength(0);
  });
}

describeShared("all golden and recorded points", (data) => {
  const heads = join(data, "golden", "beyond", "heads");
  goldenCases(
    heads,
    foldersIn(heads).filter((name) => name.startsWith("pose")),
  );
  recordedCases(join(data, "recorded-beyond"), Object.keys(RECORDED));
  movenetCase(join(data, "recorded-beyond"));
  weightedCase(join(data, "recorded-beyond"));
});

describe("some of them", () => {
  goldenCases(join(fixtures, "beyond", "heads"), ["pose_26", "pose_v8_2d_3cls"]);
  recordedCases(join(fixtures, "beyond", "recorded"), ["yunet_2026may_320", "blazeface_short"]);
  movenetCase(join(fixtures, "beyond", "recorded"));
  weightedCase(join(fixtures, "beyond", "recorded"));
});

describe("YuNet of 2022: what OpenCV 4.6 answers on seeded outputs", () => {
  interface Case {
    readonly input: readonly [number, number];
    readonly scoreThreshold: number;
    readonly outputs: Record<string, TensorInput>;
    readonly faces: readonly (readonly number[])[];
  }
  const { cases } = readBeyond("yunet_2022") as { readonly cases: readonly Case[] };

  test.each(cases)("input $input", ({ input, scoreThreshold, outputs, faces }) => {
    const [first, ...others] = engines.map((engine) =>
      createDecoderSync(
        { family: "yunet", inputSize: input },
        {
          engine,
          confidenceThreshold: scoreThreshold,
          iouThreshold: 1,
          maxDetections: 1000,
          rules: { clamp: "none", gate: ">=" },
        },
      )
        .decode(outputs)
        .copy(),
    );
    const expected = faces.map((face): PointRow => {
      const [x, y, w, h] = face;
      const points = Array.from({ length: 5 }, (_, k) => [face[4 + 2 * k], face[5 + 2 * k]]);
      return {
        class_id: 0,
        x_min: x,
        y_min: y,
        x_max: x + w,
        y_max: y + h,
        confidence: face[14],
        keypoints: points,
      };
    });
    // Equal scores have no order of their own, and OpenCV's is another.
    const order = (a: { confidence: number; x_min: number }, b: typeof a): number =>
      Math.abs(a.confidence - b.confidence) > 1e-6 ? b.confidence - a.confidence : a.x_min - b.x_min;
    expectPoints(first.toArray().sort(order), expected.sort(order), input, 2e-6);
    for (const other of others)
      for (const column of ["boxes", "scores", "keypoints"] as const)
        expect(other[column]).toEqual(first[column]);
    // The predicted IoU is not bounded by the network.
    expect(Math.max(...(outputs["iou"].data as number[]))).toBeGreaterThan(1.3);
  });
});
