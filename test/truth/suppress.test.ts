/** Suppression by name against formulas in doubles, OpenCV, TensorFlow.js and ensemble-boxes. */
import { describe, expect, test } from "vitest";
import { fuse, nmsOriented, orientedIou, suppress, type SuppressOptions } from "../../src/entries/index.ts";
import { type SuppressionCase as Case, readBeyond, suppressionCases } from "../support/beyond.ts";

/** Indices of what a method leaves. */
const nms = (...of: Parameters<typeof suppress>): Int32Array => suppress(...of).indices;

type Scored = readonly (readonly [index: number, score: number])[];

interface Merged {
  readonly top: number;
  /** Rows, or their count. */
  readonly members: readonly number[] | number;
  readonly score: number;
  readonly box: readonly number[];
}

interface Fused {
  readonly box: readonly number[];
  readonly score: number;
  readonly label: number;
}

const cases = suppressionCases();
const flat = (c: Case): number[] => c.boxes_xyxy.flat();

const close = (got: number, expected: number, what: string): void =>
  expect(Math.abs(got - expected), `${what}: ${got} for ${expected}`).toBeLessThanOrEqual(
    2e-7 * Math.max(1, Math.abs(expected)),
  );

const INDICES: readonly (readonly [string, "answers" | "outside", SuppressOptions])[] = [
  ["hard_0.45", "answers", {}],
  ["fast_0.45", "answers", { method: "fast" }],
  ["diou_0.45", "answers", { method: "diou" }],
  ["opencv4.6 NMSBoxes 0.45", "outside", { method: "hard" }],
];

const SCORES: readonly (readonly [string, "answers" | "outside", SuppressOptions])[] = [
  ["soft_linear thr0.3 stop0.05", "answers", { method: "soft-linear" }],
  ["soft_gaussian sigma0.5 stop0.05", "answers", { method: "soft-gaussian" }],
  ["soft_tf sigma0.5 iou1 stop0.05", "answers", { method: "soft-tensorflow" }],
  ["soft_tf sigma0.5 iou0.6 stop0.05", "answers", { method: "soft-tensorflow", iouThreshold: 0.6 }],
  ["opencv4.6 softNMSBoxes linear", "outside", { method: "soft-linear" }],
  ["opencv4.6 softNMSBoxes gaussian", "outside", { method: "soft-gaussian" }],
  [
    "tfjs 4.22.0 nonMaxSuppressionWithScore iou 1 score 0.05 softNmsSigma 0.5",
    "outside",
    { method: "soft-tensorflow" },
  ],
  [
    "tfjs 4.22.0 nonMaxSuppressionWithScore iou 0.6 score 0.05 softNmsSigma 0.5",
    "outside",
    { method: "soft-tensorflow", iouThreshold: 0.6 },
  ],
];

test("six sets, up to 150 boxes, five of them answered by others", () => {
  expect(cases.map(({ n }) => n)).toEqual([0, 1, 2, 24, 60, 150]);
  expect(cases.filter(({ outside }) => Object.keys(outside).length > 8)).toHaveLength(5);
});

describe.each(cases.map((c) => [c.n, c] as const))("%i boxes", (n, c) => {
  const outsiders = n > 0 ? ["answers", "outside"] : ["answers"];

  test.each(INDICES.filter(([, from]) => outsiders.includes(from)))("%s", (name, from, options) => {
    expect([...nms(flat(c), c.scores, options)]).toEqual(c[from][name]);
  });

  test.each(SCORES.filter(([, from]) => outsiders.includes(from)))("%s", (name, from, options) => {
    const { indices, scores, boxes } = suppress(flat(c), c.scores, { ...options, scoreThreshold: 0.05 });
    const expected = c[from][name] as Scored;
    expect([...indices]).toEqual(expected.map(([index]) => index));
    expected.forEach(([index, score], i) => {
      close(scores[i], score, `score of ${index}`);
      expect([...boxes.subarray(4 * i, 4 * i + 4)]).toEqual([...Float32Array.from(c.boxes_xyxy[index])]);
    });
  });

  test.each([
    ["matrix_gaussian sigma2 (order of input score)", "gaussian"],
    ["matrix_linear", "linear"],
  ] as const)("%s, within a class", (name, kernel) => {
    const { indices, scores } = suppress(flat(c), c.scores, {
      method: "matrix",
      kernel,
      classIds: c.classes,
    });
    const expected = c.answers[name] as Scored;
    expect([...scores].every((score, i) => i === 0 || scores[i - 1] >= score)).toBe(true);
    expect([...indices].sort((a, b) => a - b)).toEqual(
      expected.map(([index]) => index).sort((a, b) => a - b),
    );
    for (const [index, score] of expected) close(scores[indices.indexOf(index)], score, `score of ${index}`);
  });

  test.each([
    ["weighted_0.3", "weighted"],
    ["merge_0.45", "merge"],
  ] as const)("%s", (name, method) => {
    const { indices, scores, boxes, members } = suppress(flat(c), c.scores, { method });
    const expected = c.answers[name] as readonly Merged[];
    expect([...indices]).toEqual(expected.map(({ top }) => top));
    expected.forEach(({ members: rows, score, box }, i) => {
      if (typeof rows === "number") expect(members?.[i]).toHaveLength(rows);
      else expect(members?.[i]).toEqual(rows);
      close(scores[i], score, "score");
      box.forEach((v, k) => close(boxes[4 * i + k], v, `box ${i}`));
    });
  });
});

describe.each(cases.filter(({ n }) => n > 0).map((c) => [c.n, c] as const))(
  "ensemble-boxes, %i boxes",
  (_, c) => {
    /** The package works on boxes in 0..1. */
    const unit = flat(c).map((v) => v / 640);
    const byScore = (a: Fused, b: Fused): number => b.score - a.score || a.box[0] - b.box[0];

    function expectFused(got: readonly Fused[], name: string): void {
      const expected = [...(c.outside[name] as readonly Fused[])].sort(byScore);
      expect(got).toHaveLength(expected.length);
      [...got].sort(byScore).forEach((g, i) => {
        expect(g.label).toBe(expected[i].label);
        close(g.score, expected[i].score, "score");
        g.box.forEach((v, k) => close(v, expected[i].box[k], `box ${i}`));
      });
    }

    test.each([
      ["average", "avg"],
      ["max", "max"],
    ] as const)("weighted boxes fusion, %s", (score, name) => {
      const half = Math.floor(c.n / 2);
      const model = (from: number, to: number, weight: number) => ({
        boxes: unit.slice(4 * from, 4 * to),
        scores: c.scores.slice(from, to),
        classIds: c.classes.slice(from, to),
        weight,
      });
      const models = [model(0, half, 2), model(half, c.n, 1)];
      const fused = fuse(models, { iouThreshold: 0.55, scoreThreshold: 0.1, score });
      expectFused(
        Array.from(fused.scores, (s, i) => ({
          box: [...fused.boxes.subarray(4 * i, 4 * i + 4)],
          score: s,
          label: fused.classIds[i],
        })),
        `ensemble-boxes weighted_boxes_fusion weights 2,1 iou 0.55 skip 0.1 ${name}`,
      );
    });

    const rowsOf = (options: SuppressOptions): Fused[] => {
      const { indices, scores, boxes } = suppress(unit, c.scores, { ...options, classIds: c.classes });
      return Array.from(indices, (row, i) => ({
        box: [...boxes.subarray(4 * i, 4 * i + 4)],
        score: scores[i],
        label: c.classes[row],
      }));
    };

    test("non_maximum_weighted", () => {
      expectFused(rowsOf({ method: "nmw" }), "ensemble-boxes non_maximum_weighted iou 0.5");
    });

    test.each(["linear", "gaussian"] as const)(
      "soft_nms %s keeps these boxes, and gives their own scores",
      (kind) => {
        const left = rowsOf({ method: `soft-${kind}`, scoreThreshold: 0.05 });
        const boxes = left.map(({ box }) => box.map((v) => Math.round(v * 640)).join());
        const expected = c.outside[
          `ensemble-boxes soft_nms ${kind} iou 0.3 sigma 0.5 thresh 0.05 (per class)`
        ] as Fused[];
        expect(boxes.sort()).toEqual(
          expected.map(({ box }) => box.map((v) => Math.round(v * 640)).join()).sort(),
        );
      },
    );
  },
);

interface Rotated {
  readonly pairs: readonly {
    readonly a: readonly number[];
    readonly b: readonly number[];
    readonly polygon_iou: number;
    readonly probiou: number;
    readonly shapely_iou: number;
  }[];
  readonly nms: readonly {
    readonly n: number;
    readonly xywhr: readonly (readonly number[])[];
    readonly scores: readonly number[];
    readonly classes: readonly number[];
    readonly answers: Readonly<Record<string, readonly number[] | number>>;
    readonly outside: Readonly<Record<string, readonly number[]>>;
  }[];
}

const rotated = readBeyond("rotated") as Rotated;

test("oriented overlaps: shapely, and the formulas", () => {
  expect(rotated.pairs).toHaveLength(68);
  expect(rotated.pairs.filter((p) => p.shapely_iou > 0).length).toBeGreaterThan(40);
  for (const p of rotated.pairs) {
    expect(orientedIou(p.a, p.b, "polygon")).toBeCloseTo(p.shapely_iou, 8);
    expect(orientedIou(p.a, p.b, "polygon")).toBeCloseTo(p.polygon_iou, 8);
    expect(orientedIou(p.a, p.b, "probiou")).toBeCloseTo(Math.max(0, p.probiou), 9);
  }
});

const ORIENTED = [
  ["polygon greedy per class, > 0.45", { iou: "polygon", method: "hard" }, true],
  ["polygon fast per class, >= 0.45", { iou: "polygon", method: "fast" }, true],
  ["polygon greedy agnostic, > 0.45", { iou: "polygon", method: "hard" }, false],
  ["probiou greedy per class, > 0.45", { method: "hard" }, true],
  ["probiou fast per class, >= 0.45", {}, true],
  ["probiou greedy agnostic, > 0.45", { iou: "probiou", method: "hard" }, false],
] as const;

describe.each(rotated.nms.map((c) => [c.n, c] as const))("%i oriented boxes", (n, c) => {
  test.each(ORIENTED)("%s", (name, options, perClass) => {
    const kept = nmsOriented(c.xywhr.flat(), c.scores, {
      ...options,
      ...(perClass ? { classIds: c.classes } : {}),
    });
    expect([...kept]).toEqual(c.answers[name]);
    expect(kept.length).toBeLessThan(n);
  });

  test("OpenCV NMSBoxesRotated", () => {
    const kept = nmsOriented(c.xywhr.flat(), c.scores, { iou: "polygon", method: "hard" });
    expect([...kept]).toEqual(c.outside["opencv4.6 NMSBoxesRotated agnostic 0.45"]);
  });
});
