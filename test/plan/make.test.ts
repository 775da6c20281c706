/** From a config and shapes to a plan: the facts in it, and the options that a refusal names. */
import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { TensorError } from "../../src/core/errors.ts";
import { specOf } from "../../src/core/tensor.ts";
import { describeConfig, describePlan } from "../../src/plan/describe.ts";
import { explain } from "../../src/plan/explain.ts";
import { type Interpreted, interpretConfig, planOf } from "../../src/plan/make.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { ALL_TASKS } from "../../src/whole/tasks.ts";

type Shapes = Readonly<Record<string, readonly number[]>>;

const interpreted = (
  config: unknown,
  shapes: Shapes,
  values: Readonly<Record<string, readonly number[]>> = {},
): Interpreted => {
  const specs = Object.entries(shapes).map(([name, dims]) => specOf(name, { dims: [...dims] }));
  return interpretConfig(readConfig(config, {}), specs, ALL_TASKS, (i) => values[specs[i].name] ?? null);
};

const plan = (config: unknown, shapes: Shapes): Plan => planOf(interpreted(config, shapes), explain);

const YOLOV8 = { family: "yolov8", classes: 2, inputSize: [64, 64] };

describe("where a head stands", () => {
  test("an anchor of a map", () => {
    const anchors = [
      [10, 14, 23, 27],
      [81, 82, 135, 169],
    ];
    const config = { family: "yolov5", classes: 2, inputSize: [64, 64], anchors };
    const { heads } = plan(config, { a: [1, 14, 8, 8], b: [1, 14, 4, 4] });
    expect(heads.map(({ origin }) => origin.anchor)).toEqual([
      { index: 0, size: [10, 14], unit: "px" },
      { index: 1, size: [23, 27], unit: "px" },
      { index: 0, size: [81, 82], unit: "px" },
      { index: 1, size: [135, 169], unit: "px" },
    ]);
    expect(heads[3].origin.tensors).toEqual([
      { name: "b", dims: [1, 14, 4, 4], layout: "NCHW", parts: ["boxes", "objectness", "scores"] },
    ]);
    expect(heads[3].about).toBe("b [1,14,4,4] as NCHW, anchor 1 (135 x 169 px)");
  });

  test("anchors of YOLOv2 are in cells", () => {
    const config = { family: "yolov2", classes: 2, inputSize: [64, 64], anchors: [1, 2] };
    const [{ origin, size }] = plan(config, { a: [1, 7, 2, 2] }).heads;
    expect(origin.anchor).toEqual({ index: 0, size: [1, 2], unit: "cells" });
    expect(size).toEqual([1 / 2, 2 / 2]);
  });

  test("boxes and scores apart, and rows that are the cells of maps", () => {
    const [{ origin }] = plan(YOLOV8, { b: [1, 64, 8, 8], c: [1, 2, 8, 8] }).heads;
    expect(origin.tensors.map(({ name, parts }) => [name, parts])).toEqual([
      ["b", ["boxes"]],
      ["c", ["scores"]],
    ]);
    const { heads } = plan({ family: "yolox", classes: 2, inputSize: [64, 64] }, { o: [1, 84, 7] });
    expect(heads.map((head) => head.origin.rows)).toEqual([
      { first: 0, count: 64, stride: 8 },
      { first: 64, count: 16, stride: 16 },
      { first: 80, count: 4, stride: 32 },
    ]);
    expect(heads[1].about).toBe("o [1,84,7] as rows, cells 64..79 at stride 16");
  });
});

describe("a plan", () => {
  test("says as data why family and activation were taken", () => {
    expect(plan(YOLOV8, { o: [1, 6, 84] })).toMatchObject({
      familyWhy: { kind: "option", value: null },
      scoresWhy: { kind: "family", value: "yolov8", reading: "class-rows" },
    });
    expect(plan({ ...YOLOV8, scores: "logits" }, { o: [1, 6, 84] }).scoresWhy).toEqual({
      kind: "option",
    });
    const file = { nn_config: { NN_family: "YOLO", NN_specific_metadata: { classes: 2, anchors: [] } } };
    expect(plan(file, { output1_yolov6r2: [1, 7, 8, 8] })).toMatchObject({
      family: "yolov6",
      familyWhy: { kind: "output name", value: "output1_yolov6r2" },
      scoresWhy: { kind: "format", value: "nn_config" },
    });
  });

  test("is frozen all the way down", () => {
    const { heads, tensors } = plan(YOLOV8, { o: [1, 6, 84] });
    for (const part of [heads, heads[0], heads[0].score, heads[0].origin.tensors[0].parts, tensors[0].dims])
      expect(Object.isFrozen(part)).toBe(true);
  });

  test("keeps only the tensors that are read, and counts columns among them", () => {
    const { tensors, heads, notes } = plan(YOLOV8, { other: [3], o: [1, 6, 84] });
    expect(tensors.map(({ name }) => name)).toEqual(["o"]);
    expect(heads[0].score.tensor).toBe(0);
    expect(notes).toEqual(["left alone: other [3]"]);
  });
});

describe("prior boxes that an output holds", () => {
  const priors = [0.5, 0.5, 0.2, 0.4, 0.25, 0.25, 0.5, 0.5];
  const ssd = { family: "ssd", classes: 2, variances: [0.1, 0.1, 0.2, 0.2], priorFormat: "cxcywh" };
  const shapes = { boxes: [1, 2, 4], scores: [1, 2, 3], priors: [1, 2, 4] };

  test("are waited for, by name", () => {
    expect(interpreted(ssd, shapes).awaits?.name).toBe("priors");
    const found = interpreted(ssd, shapes, { priors });
    expect(found.awaits).toBeNull();
    expect(Array.from(planOf(found, explain).heads[0].priors ?? [])).toEqual(priors.map(Math.fround));
    expect(interpreted(YOLOV8, { o: [1, 6, 84], priors: [1, 8] }).awaits).toBeNull();
  });

  test("are found among the outputs of the head, whatever stands before them", () => {
    const heads = [
      {
        parser: "SSD",
        outputs: ["boxes", "scores", "priors"],
        metadata: { n_classes: 2, boxes_outputs: "boxes", scores_outputs: "scores" },
      },
    ];
    const specs = Object.entries({ ...{ first: [1, 3], second: [1, 8] }, ...shapes }).map(([name, dims]) =>
      specOf(name, { dims }),
    );
    const config = readConfig(
      { config_version: "1.0", model: { heads } },
      { variances: [0.1, 0.1, 0.2, 0.2], priorFormat: "cxcywh" },
    );
    const asked: string[] = [];
    const found = interpretConfig(config, specs, ALL_TASKS, (i) => {
      asked.push(specs[i].name);
      return specs[i].name === "priors" ? priors : null;
    });
    expect(new Set(asked)).toEqual(new Set(["priors"]));
    expect(planOf(found, explain).heads[0].kind).toBe("prior");
  });
});

describe("a refusal names the options that would settle it", () => {
  test.each<[string, object, Shapes, unknown[]]>([
    ["no family", {}, { o: [1, 6, 84] }, [{ option: "family" }]],
    [
      "no number of classes",
      { family: "yolov8" },
      { o: [1, 6, 84] },
      [{ option: "classes" }, { option: "labels" }],
    ],
    [
      "no input size",
      { family: "yolov8", classes: 2 },
      { o: [1, 6, 84] },
      [{ option: "inputSize" }, { option: "coordinates", value: "normalised" }],
    ],
    ["no anchors", { family: "yolov5", classes: 2 }, { o: [1, 21, 8, 8] }, [{ option: "anchors" }]],
    [
      "no priors",
      { family: "ssd", classes: 2 },
      { b: [1, 9, 4], s: [1, 9, 3] },
      [{ option: "priors" }, { option: "variances" }, { option: "scales" }],
    ],
    [
      "another family's tensors",
      { family: "yolov5", classes: 2, anchors: [1, 1, 2, 2, 3, 3], inputSize: [64, 64] },
      { o: [1, 84, 6] },
      [{ option: "anchors" }, { option: "family", value: "yolov8" }],
    ],
    [
      "two readings",
      { family: "yolov8", classes: 16, inputSize: [64, 64] },
      { o: [1, 20, 84] },
      [{ option: "reading", value: "class-rows" }],
    ],
    [
      "two orders",
      { family: "yolov8", classes: 5, inputSize: [64, 64] },
      { o: [1, 9, 9] },
      [{ option: "outputs" }],
    ],
  ])("%s", (_, config, shapes, options) => {
    const act = (): Plan => plan(config, shapes);
    expect(act).toThrow(TensorError);
    try {
      act();
    } catch (e) {
      expect((e as TensorError).options).toEqual(options);
    }
  });
});

describe("descriptions", () => {
  test("of a config, before any shapes", () => {
    const { text, json } = describeConfig(readConfig({ ...YOLOV8, priors: [0, 0, 1, 1] }, {}));
    expect(text).toContain("family: yolov8 (option family)");
    if (json.kind !== "config") throw new Error(`got a description of ${json.kind}`);
    expect(json.config).toMatchObject({ family: "yolov8", priors: "4 numbers" });
  });

  test("of a plan, through JSON", () => {
    const config = readConfig(YOLOV8, {});
    const made = planOf(interpretConfig(config, [specOf("o", { dims: [1, 6, 84] })], ALL_TASKS), explain);
    const { text, json } = describePlan(config, made);
    expect(text).toContain("\nreading: class-rows: boxes, classes: o [1,6,84] as planes\n");
    expect(text).toContain("\nhead: o [1,6,84] as planes: 84 cells from number 0, box centre, score class\n");
    expect(json).toEqual(JSON.parse(JSON.stringify(json)));
    if (json.kind !== "plan") throw new Error(`got a description of ${json.kind}`);
    expect(json.heads[0]).toMatchObject({ firstSource: 0, priors: null, kind: "centre" });
    expect(json).toMatchObject({ ruleSet: "ultralytics", iouThreshold: 0.45, maxDetections: 300 });
  });
});
