/** What holds for every method of suppression, and the published numbers of a small case. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../../src/whole/decoder.ts";
import type { Outputs } from "../../../src/decode/inputs.ts";
import { nms as engineNms } from "../../../src/decode/nms.ts";
import {
  fuse,
  nmsOriented,
  orientedIou,
  suppress,
  suppressDetections,
  type OrientedOptions,
  type SuppressOptions,
} from "../../../src/entries/index.ts";
import { repeats } from "../../support/effort.ts";

/** Indices of what a method leaves. */
const nms = (...of: Parameters<typeof suppress>): Int32Array => suppress(...of).indices;

const METHODS = [
  "hard",
  "fast",
  "diou",
  "soft-linear",
  "soft-gaussian",
  "soft-tensorflow",
  "matrix",
  "weighted",
  "merge",
  "nmw",
] as const satisfies readonly NonNullable<SuppressOptions["method"]>[];

interface Scene {
  readonly boxes: readonly number[];
  readonly scores: readonly number[];
  readonly classIds: readonly number[];
}

/** Boxes of whole numbers that overlap a good deal, with scores of which no two are equal. */
const scenes = fc
  .array(
    fc.record({
      x: fc.integer({ min: 0, max: 30 }),
      y: fc.integer({ min: 0, max: 30 }),
      width: fc.integer({ min: 1, max: 25 }),
      height: fc.integer({ min: 1, max: 25 }),
      classId: fc.integer({ min: 0, max: 2 }),
      score: fc.integer({ min: 1, max: 4095 }),
    }),
    { maxLength: 25 },
  )
  .map((all): Scene => {
    const rows = all.filter(({ score }, i) => all.findIndex((other) => other.score === score) === i);
    return {
      boxes: rows.flatMap(({ x, y, width, height }) => [x, y, x + width, y + height]),
      scores: rows.map(({ score }) => score / 4096),
      classIds: rows.map(({ classId }) => classId),
    };
  });

const run = ({ boxes, scores, classIds }: Scene, options: SuppressOptions, perClass = true) =>
  suppress(boxes, scores, { ...options, ...(perClass ? { classIds } : {}) });

describe.each(METHODS)("%s of many scenes far apart", (method) => {
  // A scene alone has too few boxes for the grid; all of them together have enough for every short cut.
  test("leaves in each scene what it leaves there alone", () => {
    fc.assert(
      fc.property(fc.array(scenes, { minLength: 40, maxLength: 60 }), fc.boolean(), (all, perClass) => {
        const together = run(
          {
            boxes: all.flatMap(({ boxes }, i) =>
              boxes.map((v, k) => v + (k & 1 ? 64 * (i >> 3) : 64 * (i & 7))),
            ),
            scores: all.flatMap(({ scores }) => scores),
            classIds: all.flatMap(({ classIds }) => classIds),
          },
          { method },
          perClass,
        );
        let first = 0;
        for (const scene of all) {
          const alone = run(scene, { method }, perClass);
          const end = first + scene.scores.length;
          const places = [...together.indices.keys()].filter(
            (i) => together.indices[i] >= first && together.indices[i] < end,
          );
          expect(places.map((i) => together.indices[i] - first)).toEqual([...alone.indices]);
          expect(places.map((i) => together.scores[i])).toEqual([...alone.scores]);
          expect(places.map((i) => together.members?.[i].map((row) => row - first))).toEqual(
            places.map((_, i) => alone.members?.[i]),
          );
          first = end;
        }
      }),
      { numRuns: 8 },
    );
  });
});

describe("three boxes by hand", () => {
  const boxes = [0, 0, 10, 10, 2, 0, 12, 10, 20, 0, 30, 10];
  const scores = [0.9, 0.8, 0.7];
  test.each<readonly [SuppressOptions, number]>([
    [{ method: "soft-linear", iouThreshold: 0.3 }, 0.266667],
    [{ method: "soft-gaussian", sigma: 0.5 }, 0.32889],
    [{ method: "soft-tensorflow", sigma: 0.5, iouThreshold: 1 }, 0.512944],
    [{ method: "matrix", kernel: "gaussian", sigma: 2 }, 0.32889],
    [{ method: "matrix", kernel: "linear" }, 0.266667],
  ])("%j", (options, second) => {
    const left = suppress(boxes, scores, options);
    expect([...left.indices]).toEqual([0, 2, 1]);
    [0.9, 0.7, second].forEach((score, i) => expect(left.scores[i]).toBeCloseTo(score, 6));
    expect(left.members).toBeNull();
  });

  test("weighted", () => {
    const { indices, boxes: merged } = suppress(boxes, scores, { method: "weighted" });
    expect([...indices]).toEqual([0, 2]);
    [0.941176, 0, 10.941176, 10, 20, 0, 30, 10].forEach((v, i) => expect(merged[i]).toBeCloseTo(v, 5));
  });

  test("DIoU is 0.650273, IoU 2/3, with one pixel more 9/13", () => {
    const kept = (options: SuppressOptions): number => nms(boxes, scores, options).length;
    expect([0.6502, 0.6503].map((iouThreshold) => kept({ method: "diou", iouThreshold }))).toEqual([2, 3]);
    expect([0.6666, 0.6667].map((iouThreshold) => kept({ iouThreshold }))).toEqual([2, 3]);
    expect([0.6923, 0.6924].map((iouThreshold) => kept({ iouThreshold, pixelOffset: 1 }))).toEqual([2, 3]);
  });

  test("at the threshold itself", () => {
    const half = [0, 0, 10, 10, 0, 0, 10, 5];
    for (const method of ["hard", "fast"] as const) {
      expect(nms(half, [0.9, 0.8], { method, iouThreshold: 0.5 })).toHaveLength(2);
      expect(nms(half, [0.9, 0.8], { method, iouThreshold: 0.5, iouGate: ">=" })).toHaveLength(1);
    }
  });
});

describe.each(METHODS)("%s", (method) => {
  const law = (holds: (scene: Scene) => void): void =>
    fc.assert(fc.property(scenes, holds), { numRuns: repeats(150, 50) });

  test("every format of a box gives the same", () => {
    law((scene) => {
      const corners = run(scene, { method });
      const turned = (to: (a: number, b: number, c: number, d: number, i: number) => number[]): number[] =>
        scene.scores.flatMap((_, i) =>
          to(...(scene.boxes.slice(4 * i, 4 * i + 4) as [number, number, number, number]), i),
        );
      const formats = {
        yxyx: turned((a, b, c, d) => [b, a, d, c]),
        xywh: turned((a, b, c, d) => [a, b, c - a, d - b]),
        cxcywh: turned((a, b, c, d) => [(a + c) / 2, (b + d) / 2, c - a, d - b]),
        // Most boxes have their corners in order, or they would be refused as sizes.
        xyxy: turned((a, b, c, d, i) => (i % 3 === 2 ? [c, d, a, b] : [a, b, c, d])),
      };
      for (const [boxFormat, boxes] of Object.entries(formats) as [keyof typeof formats, number[]][]) {
        const other = run({ ...scene, boxes }, { method, boxFormat });
        expect([...other.indices], boxFormat).toEqual([...corners.indices]);
        expect([...other.scores]).toEqual([...corners.scores]);
        // What comes out can go in again.
        const again = suppress(other.boxes, other.scores, { boxFormat, iouThreshold: 1 });
        expect(again.indices).toHaveLength(other.indices.length);
        if (boxFormat === "yxyx")
          corners.boxes.forEach((v, i) => expect(other.boxes[i ^ 1]).toBeCloseTo(v, 4));
        if (boxFormat === "cxcywh")
          corners.boxes.forEach((v, i) => {
            const b = i - (i & 3);
            const side = (i & 3) < 2 ? -0.5 : 0.5;
            expect(other.boxes[b + (i & 1)] + side * other.boxes[b + 2 + (i & 1)]).toBeCloseTo(v, 4);
          });
      }
    });
  });

  test("within a class is each class alone", () => {
    law((scene) => {
      const together = run(scene, { method });
      const expected: [number, number][] = [];
      for (const id of [0, 1, 2]) {
        const rows = scene.scores.flatMap((_, i) => (scene.classIds[i] === id ? [i] : []));
        const alone = suppress(
          rows.flatMap((i) => scene.boxes.slice(4 * i, 4 * i + 4)),
          rows.map((i) => scene.scores[i]),
          { method },
        );
        alone.indices.forEach((k, i) => expected.push([rows[k], alone.scores[i]]));
      }
      const got = Array.from(together.indices, (row, i) => [row, together.scores[i]]);
      expect(got.sort((a, b) => a[0] - b[0])).toEqual(expected.sort((a, b) => a[0] - b[0]));
    });
  });

  test("best first, no row twice, no score above its own; a cap cuts the end", () => {
    let lowered = 0;
    law((scene) => {
      const { indices, scores, boxes, members } = run(scene, { method }, false);
      expect(new Set(indices).size).toBe(indices.length);
      scores.forEach((score, i) => {
        if (i > 0) expect(score).toBeLessThanOrEqual(scores[i - 1]);
        expect(score).toBeLessThanOrEqual(scene.scores[indices[i]]);
        if (score < scene.scores[indices[i]]) lowered++;
      });
      const capped = run(scene, { method, maxDetections: 3 }, false);
      expect([...capped.indices]).toEqual([...indices.subarray(0, 3)]);
      expect([...capped.boxes]).toEqual([...boxes.subarray(0, 12)]);
      members?.forEach((rows, i) => {
        expect(rows[0]).toBe(indices[i]);
        for (let k = 0; k < 4; k++) {
          const values = rows.map((row) => scene.boxes[4 * row + k]);
          expect(boxes[4 * i + k]).toBeGreaterThanOrEqual(Math.min(...values) - 1e-4);
          expect(boxes[4 * i + k]).toBeLessThanOrEqual(Math.max(...values) + 1e-4);
        }
      });
    });
    expect(lowered > 0).toBe(method.startsWith("soft") || method === "matrix");
  });

  test("boxes at or below the threshold and boxes that are none take no part", () => {
    law((scene) => {
      const n = scene.scores.length;
      const threshold = 0.5;
      const left = scene.scores.flatMap((score, i) => (score > threshold ? [i] : []));
      const alone = suppress(
        left.flatMap((i) => scene.boxes.slice(4 * i, 4 * i + 4)),
        left.map((i) => scene.scores[i]),
        { method, scoreThreshold: threshold },
      );
      const bad = {
        boxes: [...scene.boxes, 0, 0, NaN, 50, 0, 0, 50, 50, 0, 0, Infinity, 50],
        scores: [...scene.scores, 0.99, NaN, 0.98],
      };
      const all = suppress(bad.boxes, bad.scores, { method, scoreThreshold: threshold });
      expect([...all.indices]).toEqual(Array.from(alone.indices, (k) => left[k]));
      expect([...all.scores]).toEqual([...alone.scores]);
      expect(all.indices.every((i) => i < n)).toBe(true);
    });
  });
});

describe("between methods", () => {
  const law = (holds: (scene: Scene) => void): void =>
    fc.assert(fc.property(scenes, holds), { numRuns: 300 });

  test("hard is the nms of the engines", () => {
    law((scene) => {
      for (const iouThreshold of [0, 0.25, 0.45, 0.5, 1])
        for (const iouGate of [">", ">="] as const) {
          const options = { iouThreshold, iouGate, classIds: scene.classIds };
          expect([...nms(scene.boxes, scene.scores, options)]).toEqual([
            ...engineNms(scene.boxes, scene.scores, { ...options, method: "hard", engine: "ts" }),
          ]);
        }
    });
  });

  test("Fast NMS keeps some of what hard keeps; DIoU keeps more at first, and all of it with a high beta", () => {
    let fewer = 0;
    let more = 0;
    law((scene) => {
      const hard = run(scene, { iouThreshold: 0.1 }, false).indices;
      const fast = run(scene, { method: "fast", iouThreshold: 0.1 }, false).indices;
      expect([...fast].every((row) => hard.includes(row))).toBe(true);
      fewer += hard.length - fast.length;
      more += run(scene, { method: "diou", iouThreshold: 0.1 }, false).indices.length - hard.length;
      expect([...run(scene, { method: "diou", iouThreshold: 0.1, beta: 1e4 }, false).indices]).toEqual([
        ...hard,
      ]);
    });
    expect(fewer).toBeGreaterThan(0);
    expect(more).toBeGreaterThan(0);
  });

  test("weighted and nmw use every row once; merge may use it twice", () => {
    let twice = 0;
    law((scene) => {
      for (const method of ["weighted", "nmw"] as const) {
        const rows = run(scene, { method }).members?.flat() ?? [];
        expect([...rows].sort((a, b) => a - b)).toEqual(scene.scores.map((_, i) => i));
      }
      const merged = run(scene, { method: "merge", iouThreshold: 0.2 }).members?.flat() ?? [];
      twice += merged.length - new Set(merged).size;
      expect([...run(scene, { method: "merge" }).indices]).toEqual([...run(scene, {}).indices]);
    });
    expect(twice).toBeGreaterThan(0);
  });

  test("TensorFlow's sigma is half of Bodla's", () => {
    law((scene) => {
      const bodla = run(scene, { method: "soft-gaussian", sigma: 1, scoreThreshold: 0.01 });
      const tensorflow = run(scene, { method: "soft-tensorflow", sigma: 0.5, scoreThreshold: 0.01 });
      expect([...tensorflow.indices]).toEqual([...bodla.indices]);
      bodla.scores.forEach((score, i) => expect(tensorflow.scores[i]).toBeCloseTo(score, 6));
    });
  });
});

test("fuse: a box that one of two models saw keeps half, one that both saw keeps its mean", () => {
  const one = { boxes: [0, 0, 10, 10], scores: [0.8] };
  const both = fuse([one, { boxes: [0, 0, 10, 10, 50, 50, 60, 70], scores: [0.4, 0.6] }]);
  expect([...both.boxes]).toEqual([0, 0, 10, 10, 50, 50, 60, 70]);
  [0.6, 0.3].forEach((score, i) => expect(both.scores[i]).toBeCloseTo(score, 6));
  expect(both.members).toEqual([
    [
      [0, 0],
      [1, 0],
    ],
    [[1, 1]],
  ]);
  // Boxes without area and boxes below the threshold take no part.
  const few = {
    boxes: [0, 0, 0, 9, 5, 5, 9, 9, 20, 20, 30, 30],
    scores: [0.9, 0.1, 0.3],
    classIds: [1, 1, 1],
  };
  const left = fuse([few], { scoreThreshold: 0.2, boxFormat: "xyxy" });
  expect([...left.boxes, ...left.classIds]).toEqual([20, 20, 30, 30, 1]);
});

describe("oriented boxes", () => {
  const oriented = fc.array(
    fc.tuple(
      fc.double({ min: 0, max: 60, noNaN: true }),
      fc.double({ min: 0, max: 60, noNaN: true }),
      fc.double({ min: 0.5, max: 40, noNaN: true }),
      fc.double({ min: 0.5, max: 40, noNaN: true }),
      fc.double({ min: -7, max: 7, noNaN: true }),
    ),
    { maxLength: 20 },
  );
  const scoresOf = (n: number): number[] => Array.from({ length: n }, (_, i) => 1 - i / 32);

  test.each<readonly ["probiou" | "polygon", "hard" | "fast"]>([
    ["probiou", "hard"],
    ["probiou", "fast"],
    ["polygon", "hard"],
    ["polygon", "fast"],
  ])("%s, %s: by the overlap of each pair", (iou, method) => {
    let dropped = 0;
    fc.assert(
      fc.property(oriented, fc.constantFrom(0.01, 0.1, 0.45, 0.8), (boxes, iouThreshold) => {
        const kept: number[] = [];
        boxes.forEach((box, i) => {
          const better = method === "hard" ? kept : [...boxes.keys()].slice(0, i);
          if (better.every((k) => orientedIou(boxes[k], box, iou) <= iouThreshold)) kept.push(i);
        });
        const options: OrientedOptions = { iou, method, iouThreshold, iouGate: ">" };
        expect([...nmsOriented(boxes.flat(), scoresOf(boxes.length), options)]).toEqual(kept);
        dropped += boxes.length - kept.length;
      }),
      { numRuns: 300 },
    );
    expect(dropped).toBeGreaterThan(100);
  });

  test.each([0.05, 0.3, 0.45, 0.7, 0.95])(
    "two long boxes in a row part where their ProbIoU is %d",
    (iouThreshold) => {
      const long = [0, 0, 80, 6, 0.4];
      const ahead = (distance: number): number[] => [
        distance * Math.cos(0.4),
        distance * Math.sin(0.4),
        ...long.slice(2),
      ];
      let [near, far] = [0, 500];
      for (let i = 0; i < 60; i++) {
        const middle = (near + far) / 2;
        if (orientedIou(long, ahead(middle), "probiou") > iouThreshold) near = middle;
        else far = middle;
      }
      const kept = (distance: number): number =>
        nmsOriented([...long, ...ahead(distance)], [0.9, 0.8], { iouThreshold }).length;
      expect([kept(near * 0.9999), kept(far * 1.0001)]).toEqual([1, 2]);
    },
  );

  test("upright boxes have their IoU, whichever side is called the width", () => {
    const side = fc.integer({ min: 1, max: 30 });
    fc.assert(
      fc.property(side, side, side, side, (w, h, x, y) => {
        const a = [0, 0, 20, 30, 0];
        const turned = [x, y, h, w, Math.PI / 2];
        const shared =
          Math.max(0, Math.min(10, x + w / 2) - Math.max(-10, x - w / 2)) *
          Math.max(0, Math.min(15, y + h / 2) - Math.max(-15, y - h / 2));
        const expected = shared / (600 + w * h - shared);
        expect(orientedIou(a, [x, y, w, h, 0], "polygon")).toBeCloseTo(expected, 9);
        expect(orientedIou(a, turned, "polygon")).toBeCloseTo(expected, 9);
        expect(orientedIou(a, turned, "probiou")).toBeCloseTo(orientedIou(a, [x, y, w, h, 0], "probiou"), 9);
      }),
    );
  });

  test("published values: equal boxes, a square turned by 45 degrees, two that touch", () => {
    const square = [0, 0, 20, 20, 0];
    const turned = [0, 0, 20, 20, Math.PI / 4];
    expect(orientedIou(square, turned, "polygon")).toBeCloseTo(0.7071, 4);
    expect(orientedIou(square, square, "polygon")).toBeCloseTo(1, 12);
    expect(orientedIou(square, square, "probiou")).toBeCloseTo(0.99955, 5);
    expect(orientedIou(square, turned, "probiou")).toBeCloseTo(0.99955, 5);
    expect(orientedIou([0, 0, 50, 20, 0], [50, 0, 50, 20, 0], "probiou")).toBeCloseTo(0.1186, 4);
    expect(orientedIou([0, 0, 50, 20, 0], [50, 0, 50, 20, 0], "polygon")).toBeCloseTo(0, 12);
    expect(orientedIou(square, [900, 0, 20, 20, 0], "probiou")).toBe(0);
  });

  test("a box inside of another, and boxes without area", () => {
    expect(orientedIou([5, 5, 40, 40, 0.3], [5, 5, 10, 10, 1.2], "polygon")).toBeCloseTo(100 / 1600, 9);
    for (const kind of ["polygon", "probiou"] as const)
      expect(orientedIou([0, 0, 0, 0, 0], [0, 0, 0, 0, 0], kind)).toBeGreaterThanOrEqual(0);
    expect([...nmsOriented([0, 0, 5, NaN, 0, 0, 0, 5, 5, 0], [0.9, 0.8])]).toEqual([1]);
  });

  test("boxes without area share none with a box around them, and no overlap is NaN", () => {
    const box = [254.54, -294.22, 358.27, 137.49, 2.57];
    expect(orientedIou(box, [315.98, -409.65, 0, 0, 2.8], "polygon")).toBe(0);
    expect(orientedIou(box, [254.54, -294.22, 0, 30, 1], "polygon")).toBe(0);
    for (const angle of [-0.6745923701673746, 2.5448817256838083, 0.03118913620710373]) {
      const line = [-19.71843355568126, -13.810871704481542, 0, 27.864748667925596, angle];
      expect(orientedIou(line, line, "probiou")).toBeGreaterThan(0.999);
    }
  });

  test("wide lists: boxes far apart, one that spans all, places beyond any grid", () => {
    const one = [0, 0, 10, 4, 0.3];
    const lists = [
      [...one, 1e9, -1e9, 10, 4, 0.3, 1e9 + 1, -1e9, 10, 4, 0.3, ...one],
      [0, 0, 1e6, 1e6, 0, 500, 500, 1e6, 1e6, 0.01, 9e5, 9e5, 5, 5, 0, 9e5, 9e5, 5, 5, 0],
      [1e308, 0, 10, 4, 0, -1e308, 0, 10, 4, 0, 1e308, 0, 10, 4, 0, -1e308, 0, 10, 4, 0],
    ];
    const kept = lists.map((boxes) => [...nmsOriented(boxes, [0.9, 0.8, 0.7, 0.6], { iou: "polygon" })]);
    expect(kept).toEqual([
      [0, 1],
      [0, 2],
      [0, 1, 2, 3],
    ]);
  });
});

describe("the detections of a decoder", () => {
  const options = {
    family: "boxes",
    classes: 2,
    coordinates: "normalised",
    confidenceThreshold: 0.1,
  } as const;
  const outputs: Outputs = {
    boxes: {
      data: [0, 0, 0.5, 0.5, 0, 0, 0.5, 0.4, 0.6, 0.6, 1, 1, 0.6, 0.6, 1, 0.9],
      dims: [1, 4, 4],
      order: "rows",
    },
    scores: { data: [0.75, 0, 0.25, 0, 0, 0.5, 0.375, 0], dims: [1, 4, 2] },
  };
  const raw = () =>
    createDecoderSync(
      { ...options, rules: { suppress: "none" }, maxDetections: 50 },
      { engine: "ts" },
    ).decode(outputs);

  test("hard is what the decoder does itself", () => {
    const own = createDecoderSync(options, { engine: "ts" }).decode(outputs);
    expect(raw()).toHaveLength(4);
    const left = suppressDetections(raw());
    expect(left.toArray()).toEqual(own.toArray());
    expect([...left.sources]).toEqual([...own.sources.subarray(0, own.length)]);
    const across = createDecoderSync({ ...options, rules: { suppress: "all" } }, { engine: "ts" });
    expect(suppressDetections(raw(), { perClass: false }).toArray()).toEqual(
      across.decode(outputs).toArray(),
    );
    expect(left.copy().toArray()).toEqual(left.toArray());
  });

  test("scores and boxes are those of the method", () => {
    const soft = suppressDetections(raw(), { method: "soft-gaussian" });
    expect(soft).toHaveLength(4);
    expect(soft.at(-1)?.confidence).toBeCloseTo(0.25 * Math.exp(-(0.8 * 0.8) / 0.5), 6);
    expect(soft.at(-1)?.y_max).toBeCloseTo(0.4, 6);
    expect(suppressDetections(raw(), { method: "weighted" }).at(0)?.y_max).toBeCloseTo(0.475, 6);
  });

  test("diou measures in the frame's size", () => {
    // Two boxes that differ along x alone: with a wide frame their centres are farther apart.
    const wide: Outputs = {
      ...outputs,
      boxes: {
        data: [0, 0, 0.5, 0.5, 0.1, 0, 0.6, 0.5, 0, 0, 0, 0, 0, 0, 0, 0],
        dims: [1, 4, 4],
        order: "rows",
      },
    };
    const decoder = createDecoderSync(
      { ...options, rules: { suppress: "none" }, maxDetections: 50 },
      { engine: "ts" },
    );
    const kept = (size?: readonly [number, number]): number =>
      [
        ...suppressDetections(decoder.decode(wide), {
          method: "diou",
          iouThreshold: 0.645,
          ...(size ? { size } : {}),
        }),
      ].filter(({ x_max }) => x_max > 0).length;
    expect(kept([100, 1000])).toBe(1);
    expect(kept([1000, 100])).toBe(2);
    expect(() => kept()).toThrow(
      'size: got none beside method "diou", expected [width, height] of the frame',
    );
  });

  test.each([
    [{ pixelOffset: 1 }, "size: got none beside pixelOffset, expected [width, height] of the frame"],
    [{ boxFormat: "xywh" }, "boxFormat: got an unknown name"],
    [
      { classIds: [0, 0, 0, 0] },
      'classIds: got an unknown name, expected one of method, iouThreshold, iouGate, scoreThreshold, maxDetections, pixelOffset, perClass, size for "hard"',
    ],
    [null, "options: got null"],
    [{ perClass: 1 }, "perClass: got 1, expected true or false"],
    [{ size: [640] }, "size: got [640], expected [width, height] of the frame"],
  ])("refuses %j", (wrong, message) => {
    const call = (): unknown => suppressDetections(raw(), wrong as never);
    expect(call).toThrow(RangeError);
    expect(call).toThrow(message);
  });

  test("takes pixelOffset with a size, and 0 without", () => {
    expect(suppressDetections(raw(), { pixelOffset: 0 })).toHaveLength(3);
    expect(suppressDetections(raw(), { pixelOffset: 1, size: [1000, 1000] })).toHaveLength(3);
  });
});

describe("refusals", () => {
  test.each([
    [{ method: "softer" }, 'method: got "softer", expected one of hard, fast'],
    [{ method: "soft-gaussian", iouThreshold: 0.5 }, "iouThreshold: got an unknown name"],
    [{ method: "hard", sigma: 0.5 }, "expected one of method, iouThreshold, iouGate, scoreThreshold"],
    [{ method: "matrix", sigma: 0 }, "sigma: got 0, expected a number above 0"],
    [{ iouThreshold: 45 }, "iouThreshold: got 45, expected a number in 0..1"],
    [{ iouGate: ">>" }, 'iouGate: got ">>"'],
    [{ classIds: [1] }, "classIds: got 1, expected 2, one for each score"],
    [{ toString: 1 }, "toString: got an unknown name"],
  ])("%j", (options, message) => {
    const call = () => suppress([0, 0, 1, 1, 0, 0, 1, 1], [0.5, 0.4], options as SuppressOptions);
    expect(call).toThrow(RangeError);
    expect(call).toThrow(message);
  });

  test("lengths and other inputs", () => {
    expect(() => suppress([0, 0, 1], [0.5])).toThrow(
      "boxes: got 3 numbers, expected 4, 4 for each of 1 scores",
    );
    expect(() => nmsOriented([0, 0, 1, 1], [0.5])).toThrow("expected 5, 5 for each of 1 scores");
    expect(() => nmsOriented([], [], { iou: "giou" as "polygon" })).toThrow("one of probiou, polygon");
    expect(() => fuse([])).toThrow("models: got []");
    expect(() => fuse([{ boxes: [], scores: [], weight: 0 }])).toThrow("models[0].weight: got 0");
    expect(() => suppressDetections(null as never)).toThrow("detections: got null");
    expect(() => engineNms([], [], { method: "fast" as "hard" })).toThrow("Other methods: suppress(");
  });
});

test("what is no model and what is no options is named", () => {
  const refusals: readonly (readonly [() => unknown, string])[] = [
    [() => fuse([null] as never), "models[0]: got null, expected {boxes, scores}"],
    [
      () => fuse([{ boxes: [0, 0, 1, 1], scores: [1] }], null as never),
      "options: got null, expected an object",
    ],
    [() => nmsOriented([0, 0, 1, 1, 0], [1], null as never), "options: got null, expected an object"],
    [() => nmsOriented([0, 0, 1, 1, 0], [1], 5 as never), "options: got 5, expected an object"],
  ];
  for (const [run, message] of refusals) expect(run).toThrow(message);
});

test("scores that fall to 0 leave their boxes in the order of the rows, however many there are", () => {
  const boxes = Array.from({ length: 300 }, () => [10, 10, 50, 50]).flat();
  const scores = Float32Array.from({ length: 300 }, (_, i) => 0.5 + ((i * 7) % 300) / 1000);
  const best = scores.indexOf(Math.max(...scores));
  const others = [...scores.keys()].filter((row) => row !== best);
  const soft = suppress(boxes, scores, { method: "soft-linear" });
  expect([...soft.indices]).toEqual([best, ...others]);
  expect([...soft.scores]).toEqual([scores[best], ...others.map(() => 0)]);
  expect(suppress(boxes, scores, { method: "soft-linear", maxDetections: 5 }).indices).toHaveLength(5);
});

test("a box whose area is infinite takes no part, and a pixelOffset that makes one is refused", () => {
  const boxes = [0, 0, 10, 10, 0, 0, 10, 9, -1e200, -1e200, 1e200, 1e200];
  for (const method of [
    "hard",
    "soft-gaussian",
    "soft-tensorflow",
    "soft-linear",
    "matrix",
    "weighted",
    "nmw",
    "merge",
  ])
    expect(suppress(boxes, [0.5, 0.4, 0.9], { method } as SuppressOptions).indices, method).not.toContain(2);
  for (const call of [nms, suppress])
    expect(() => call(boxes, [0.5, 0.4, 0.9], { pixelOffset: 1e308 })).toThrow(
      "pixelOffset: got 1e+308, expected a number from 0 to 1000",
    );
});
