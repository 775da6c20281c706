/**
 * The formulas of the specification, on values that others published. Then the forms of export that no outside data at
 * hand has: each case says by hand which channel is what, the specification has to read the same from the plan, and the
 * engines have to agree with the specification.
 */
import { describe, expect, test } from "vitest";
import { mulberry32 } from "../../bench/random.ts";
import { expectedDistance } from "../../spec/boxes.ts";
import { half } from "../../spec/element.ts";
import { placeInInput, undoResize } from "../../spec/frame.ts";
import { combine, sigmoid, softmax } from "../../spec/scores.ts";
import { suppresses } from "../../spec/suppress.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import { caffePriors } from "../../src/heads/priors.ts";
import { engines } from "../support/engines.ts";
import { expectSame } from "../support/expect-detections.ts";
import { rowsOf, specify } from "../support/specification.ts";
import type { Row } from "../support/shared-data.ts";

const THRESHOLD = 0.3;
/** A box from its centre, in the unit that `by` divides away. */
function centre(cx: number, cy: number, w: number, h: number, by: readonly [number, number]): number[] {
  return [(cx - w / 2) / by[0], (cy - h / 2) / by[1], (cx + w / 2) / by[0], (cy + h / 2) / by[1]];
}

/** What one cell says: a score for each class, and corners in 0..1. */
interface Cell {
  readonly scores: readonly number[];
  readonly box: readonly number[];
  readonly firstClass?: number;
}

interface Tensor {
  readonly data: Float32Array;
  readonly dims: readonly number[];
}

interface Case {
  readonly name: string;
  readonly config: object;
  /** Seeded values of a tensor: logits about zero, or probabilities, or what `from` and `to` say. */
  readonly make: (draw: (dims: readonly number[], from: number, to: number) => Tensor) => {
    readonly tensors: Record<string, Tensor>;
    readonly cells: readonly Cell[];
  };
  /** Every class of a cell, not the best. */
  readonly multiLabel?: boolean;
}

/** All (column, row) of a map, row by row. */
const grid = (w: number, h: number): [number, number][] =>
  Array.from({ length: w * h }, (_, i) => [i % w, Math.floor(i / w)]);

/** Value of channel `c` at (x, y) of a [1,C,h,w] or [1,h,w,C] tensor. */
const nchw = (t: Tensor, c: number, x: number, y: number): number =>
  t.data[(c * t.dims[2] + y) * t.dims[3] + x];
const nhwc = (t: Tensor, c: number, x: number, y: number): number =>
  t.data[(y * t.dims[2] + x) * t.dims[3] + c];
/** Row `i` of a [1,N,K] tensor. */
const row = (t: Tensor, i: number): number[] => [...t.data.subarray(i * t.dims[2], (i + 1) * t.dims[2])];
/** Column `i` of a [1,K,N] tensor. */
const column = (t: Tensor, i: number): number[] =>
  Array.from({ length: t.dims[1] }, (_, k) => t.data[k * t.dims[2] + i]);
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

const C = 3;
const INPUT: readonly [number, number] = [160, 96];
/** The distances that four distributions of `n` bins mean. */
const sides = (bins: readonly number[], n: number): number[] =>
  range(4).map((k) => expectedDistance(bins.slice(k * n, k * n + n)));

/** Left, top, right, bottom in cells from the middle of a cell. */
function around([x, y]: Place, [l, t, r, b]: readonly number[], w: number, h: number): number[] {
  return [(x + 0.5 - l) / w, (y + 0.5 - t) / h, (x + 0.5 + r) / w, (y + 0.5 + b) / h];
}

type Draw = Parameters<Case["make"]>[0];
type Place = readonly [x: number, y: number];

/** Widths and heights of the maps of INPUT. */
const MAPS = [
  [20, 12],
  [10, 6],
  [5, 3],
] as const;

/** Makes a case of three maps: `of` draws the tensors of one, and says how one of its cells is read. */
const onMaps =
  (of: (draw: Draw, w: number, h: number) => [Record<string, Tensor>, (at: Place) => Cell]): Case["make"] =>
  (draw) => {
    const maps = MAPS.map(([w, h]) => [w, h, ...of(draw, w, h)] as const);
    const named = maps.flatMap(([, , own], k) =>
      Object.entries(own).map(([name, t]) => [`${name}_${k}`, t] as const),
    );
    const cells = maps.flatMap(([w, h, , read]) => grid(w, h).map(read));
    return { tensors: Object.fromEntries(named), cells };
  };

const ANCHORS = [
  [
    [30, 40],
    [50, 20],
  ],
  [
    [90, 60],
    [60, 95],
  ],
];

/** Anchors of YOLOv2, in cells. */
const IN_CELLS = [
  [1.2, 2],
  [3, 0.8],
];

const cases: readonly Case[] = [
  {
    name: "yolov4: logits, a grid sensitivity per map, NCHW",
    config: {
      family: "yolov4",
      classes: C,
      inputSize: INPUT,
      anchors: ANCHORS,
      strides: [16, 32],
      scaleXY: [1.05, 1.2],
    },
    make: (draw) => {
      const maps = [draw([1, 2 * (5 + C), 6, 10], -3, 3), draw([1, 2 * (5 + C), 3, 5], -3, 3)];
      const cells = maps.flatMap((m, k) => {
        const s = [1.05, 1.2][k];
        const [, , h, w] = m.dims;
        return ANCHORS[k].flatMap(([aw, ah], a) =>
          grid(w, h).map(([x, y]): Cell => {
            const at = (c: number): number => nchw(m, a * (5 + C) + c, x, y);
            const [bx, by] = [sigmoid(at(0)), sigmoid(at(1))].map((v) => v * s - (s - 1) / 2);
            const objectness = sigmoid(at(4));
            return {
              box: centre(
                ((x + bx) / w) * INPUT[0],
                ((y + by) / h) * INPUT[1],
                Math.exp(at(2)) * aw,
                Math.exp(at(3)) * ah,
                INPUT,
              ),
              scores: range(C).map((c) => objectness * sigmoid(at(5 + c))),
            };
          }),
        );
      });
      return { tensors: { small: maps[1], large: maps[0] }, cells };
    },
  },
  {
    name: "yolov7: [1,A,h,w,5+C] of logits",
    config: { family: "yolov7", classes: C, inputSize: INPUT, anchors: ANCHORS, strides: [16, 32] },
    make: (draw) => {
      const maps = [draw([1, 2, 6, 10, 5 + C], -3, 3), draw([1, 2, 3, 5, 5 + C], -3, 3)];
      const cells = maps.flatMap((m, k) => {
        const [, , h, w] = m.dims;
        return ANCHORS[k].flatMap(([aw, ah], a) =>
          grid(w, h).map(([x, y], i): Cell => {
            const v = [...m.data.subarray((a * w * h + i) * (5 + C), (a * w * h + i + 1) * (5 + C))].map(
              sigmoid,
            );
            return {
              box: centre(
                ((2 * v[0] - 0.5 + x) / w) * INPUT[0],
                ((2 * v[1] - 0.5 + y) / h) * INPUT[1],
                (2 * v[2]) ** 2 * aw,
                (2 * v[3]) ** 2 * ah,
                INPUT,
              ),
              scores: v.slice(5).map((p) => v[4] * p),
            };
          }),
        );
      });
      return { tensors: { a: maps[0], b: maps[1] }, cells };
    },
  },
  {
    name: "yolov2: several classes, softmax over them, anchors in cells",
    config: {
      family: "yolov2",
      classes: C,
      inputSize: INPUT,
      anchors: [IN_CELLS],
      strides: [32],
    },
    make: (draw) => {
      const m = draw([1, 2 * (5 + C), 3, 5], -3, 3);
      const cells = IN_CELLS.flatMap(([aw, ah], a) =>
        grid(5, 3).map(([x, y]): Cell => {
          const v = range(5 + C).map((c) => nchw(m, a * (5 + C) + c, x, y));
          return {
            box: centre(
              x + sigmoid(v[0]),
              y + sigmoid(v[1]),
              Math.exp(v[2]) * aw,
              Math.exp(v[3]) * ah,
              [5, 3],
            ),
            scores: softmax(v.slice(5)).map((p) => p * sigmoid(v[4])),
          };
        }),
      );
      return { tensors: { m }, cells };
    },
  },
  {
    name: "yolox: boxes, objectness and classes in maps of their own",
    config: { family: "yolox", classes: C, inputSize: INPUT },
    make: onMaps((draw, w, h) => {
      const reg = draw([1, 4, h, w], -1, 1);
      const obj = draw([1, 1, h, w], 0, 1);
      const cls = draw([1, C, h, w], 0, 1);
      const read = ([x, y]: Place): Cell => {
        const [tx, ty, tw, th] = range(4).map((c) => nchw(reg, c, x, y));
        return {
          box: centre(x + tx, y + ty, Math.exp(tw), Math.exp(th), [w, h]),
          scores: range(C).map((c) => nchw(obj, 0, x, y) * nchw(cls, c, x, y)),
        };
      };
      return [{ reg, obj, cls }, read];
    }),
  },
  {
    name: "yolov6: distances and classes in maps of their own, NHWC",
    config: { family: "yolov6", classes: C, inputSize: INPUT, scores: "probabilities" },
    make: onMaps((draw, w, h) => {
      const box = draw([1, h, w, 4], 0, 4);
      const cls = draw([1, h, w, C], 0, 1);
      const read = ([x, y]: Place): Cell => {
        const v = range(4).map((c) => nhwc(box, c, x, y));
        return { box: around([x, y], v, w, h), scores: range(C).map((c) => nhwc(cls, c, x, y)) };
      };
      return [{ box, cls }, read];
    }),
  },
  {
    name: "yolov13: distributions and classes in maps of their own",
    config: { family: "yolov13", classes: C, inputSize: INPUT },
    make: onMaps((draw, w, h) => {
      const box = draw([1, 64, h, w], -3, 3);
      const cls = draw([1, C, h, w], -3, 3);
      const read = ([x, y]: Place): Cell => ({
        box: around(
          [x, y],
          sides(
            range(64).map((c) => nchw(box, c, x, y)),
            16,
          ),
          w,
          h,
        ),
        scores: range(C).map((c) => sigmoid(nchw(cls, c, x, y))),
      });
      return [{ box, cls }, read];
    }),
  },
  {
    name: "yolo12: distributions and classes in one map per stride",
    config: { family: "yolo12", classes: C, inputSize: INPUT },
    make: onMaps((draw, w, h) => {
      const m = draw([1, 64 + C, h, w], -3, 3);
      const read = ([x, y]: Place): Cell => {
        const v = range(64 + C).map((c) => nchw(m, c, x, y));
        return { box: around([x, y], sides(v, 16), w, h), scores: v.slice(64).map(sigmoid) };
      };
      return [{ m }, read];
    }),
  },
  {
    name: "nanodet: all strides in one tensor, classes first",
    config: { family: "nanodet", classes: C, inputSize: INPUT },
    make: (draw) => {
      const t = draw([1, 315, C + 32], 0, 1);
      let i = 0;
      const cells = MAPS.flatMap(([w, h]) =>
        grid(w, h).map((at): Cell => {
          const v = row(t, i++);
          return { box: around(at, sides(v.slice(C), 8), w, h), scores: v.slice(0, C) };
        }),
      );
      return { tensors: { output: t }, cells };
    },
  },
  {
    name: "yolo11: planes of a TFLite export, 0..1, transposed",
    config: { family: "yolo11", classes: C, coordinates: "normalised" },
    make: (draw) => {
      const t = draw([1, 315, 4 + C], 0, 1);
      const cells = range(315).map((i): Cell => {
        const [cx, cy, w, h, ...scores] = row(t, i);
        return { box: centre(cx, cy, w, h, [1, 1]), scores };
      });
      return { tensors: { output: t }, cells };
    },
  },
  {
    name: "yolov9: planes of logits",
    config: { family: "yolov9", classes: C, inputSize: INPUT, scores: "logits" },
    make: (draw) => {
      const t = draw([1, 4 + C, 315], -3, 3);
      // boxes of some size: the first four planes are pixels
      t.data.subarray(0, 4 * 315).forEach((v, i) => (t.data[i] = Math.fround((v + 3.1) * 20)));
      const cells = range(315).map((i): Cell => {
        const [cx, cy, w, h, ...logits] = column(t, i);
        return { box: centre(cx, cy, w, h, INPUT), scores: logits.map(sigmoid) };
      });
      return { tensors: { output: t }, cells };
    },
  },
  {
    name: "yolov10: end to end, corner and size",
    config: { family: "yolov10", classes: C, inputSize: INPUT, boxFormat: "xywh" },
    make: (draw) => {
      const t = draw([1, 40, 6], 0, 1);
      const cells = range(40).map((i): Cell => {
        const at = t.data.subarray(i * 6, i * 6 + 6);
        at.set([at[0] * 100, at[1] * 60, 1 + at[2] * 60, 1 + at[3] * 30, at[4], Math.floor(at[5] * C)]);
        const [x, y, w, h, score, label] = at;
        return { box: [x / 160, y / 96, (x + w) / 160, (y + h) / 96], scores: [score], firstClass: label };
      });
      return { tensors: { output: t }, cells };
    },
  },
  {
    name: "detr: softmax, the last class is nothing",
    config: { family: "detr", classes: C },
    make: (draw) => {
      const [logits, boxes] = [draw([1, 60, C + 1], -3, 3), draw([1, 60, 4], 0, 1)];
      const cells = range(60).map((i): Cell => {
        const [cx, cy, w, h] = row(boxes, i);
        return { box: centre(cx, cy, w, h, [1, 1]), scores: softmax(row(logits, i)).slice(0, C) };
      });
      return { tensors: { logits, pred_boxes: boxes }, cells };
    },
  },
  {
    name: "rt-detr: independent classes, the best of all (query, class)",
    config: { family: "detr", classes: C },
    multiLabel: true,
    make: (draw) => {
      const [logits, boxes] = [draw([1, 60, C], -3, 3), draw([1, 60, 4], 0, 1)];
      const cells = range(60).map((i): Cell => {
        const [cx, cy, w, h] = row(boxes, i);
        return { box: centre(cx, cy, w, h, [1, 1]), scores: row(logits, i).map(sigmoid) };
      });
      return { tensors: { logits, pred_boxes: boxes }, cells };
    },
  },
  ...(["probabilities", "logits", "softmax-logits"] as const).map((activation): Case => {
    // a Caffe layout of two layers; its own table of priors
    const priors = caffePriors(INPUT, [
      { width: 5, height: 3, minSize: 20, maxSize: 40, aspectRatios: [2], flip: true },
      { width: 3, height: 2, minSize: 50, aspectRatios: [3], flip: false },
    ]);
    const n = 5 * 3 * 4 + 3 * 2 * 2;
    return {
      name: `ssd: Caffe priors, variances, scores by ${activation}`,
      config: { family: "ssd", classes: C + 1, scores: activation, variances: [0.1, 0.1, 0.2, 0.2], priors },
      make: (draw) => {
        expect(priors).toHaveLength(n * 4);
        const loc = draw([1, n, 4], -2, 2);
        const conf = activation === "probabilities" ? draw([1, n, C + 1], 0, 1) : draw([1, n, C + 1], -3, 3);
        const cells = range(n).map((i): Cell => {
          const [dx, dy, dw, dh] = row(loc, i);
          const [x1, y1, x2, y2] = priors.subarray(i * 4, i * 4 + 4);
          const [pw, ph] = [x2 - x1, y2 - y1];
          const v = row(conf, i);
          const scores =
            activation === "softmax-logits" ? softmax(v) : activation === "logits" ? v.map(sigmoid) : v;
          return {
            box: centre(
              (x1 + x2) / 2 + dx * 0.1 * pw,
              (y1 + y2) / 2 + dy * 0.1 * ph,
              Math.exp(dw * 0.2) * pw,
              Math.exp(dh * 0.2) * ph,
              [1, 1],
            ),
            // the first column is the background
            scores: scores.slice(1),
            firstClass: 1,
          };
        });
        return { tensors: { loc, conf }, cells };
      },
    };
  }),
  {
    name: "boxes: corners in pixels, scores and labels",
    config: {
      family: "boxes",
      inputSize: INPUT,
      roles: { boxes: "boxes", scores: "scores", classIds: "labels" },
    },
    make: (draw) => {
      const [boxes, scores, labels] = [draw([50, 4], 0, 90), draw([50], 0, 1), draw([50], 0, C)];
      labels.data.forEach((v, i) => (labels.data[i] = Math.floor(v)));
      const cells = range(50).map((i): Cell => {
        const [x1, y1, x2, y2] = boxes.data.subarray(i * 4, i * 4 + 4);
        boxes.data.set([x1, y1, x1 + x2, y1 + y2], i * 4);
        const corners = boxes.data.subarray(i * 4, i * 4 + 4);
        return {
          box: [corners[0] / 160, corners[1] / 96, corners[2] / 160, corners[3] / 96],
          scores: [scores.data[i]],
          firstClass: labels.data[i],
        };
      });
      return { tensors: { boxes, scores, labels }, cells };
    },
  },
];

describe("published values", () => {
  const near = (got: readonly number[], expected: readonly number[]): void => {
    expect(got).toHaveLength(expected.length);
    got.forEach((x, i) => expect(x).toBeCloseTo(expected[i], 12));
  };

  test("sigmoid and softmax of known numbers", () => {
    near([0, 2, -2].map(sigmoid), [0.5, 0.8807970779778823, 0.11920292202211755]);
    // ln 1, ln 2, ln 5: shares of eight
    near(softmax([0, Math.LN2, Math.log(5)]), [1 / 8, 2 / 8, 5 / 8]);
    near(softmax([1000, 1000]), [0.5, 0.5]);
  });

  test("the examples of binary16 in IEEE 754", () => {
    const examples = [0x0001, 0x03ff, 0x0400, 0x3555, 0x3c00, 0x7bff, 0x7c00, 0xc000];
    expect(examples.map(half)).toEqual([
      5.960464477539063e-8,
      0.00006097555160522461,
      0.00006103515625,
      0.333251953125,
      1,
      65504,
      Infinity,
      -2,
    ]);
    expect(half(0x7e00)).toBeNaN();
  });

  test("a distribution in two bins means a distance between them", () => {
    near([expectedDistance([-1000, -1000, 0, Math.log(3)])], [2.75]);
  });

  test("FastestDet: objectness^0.6 x class^0.4", () => {
    near([combine("power", 0.5, 0.25)], [0.5 ** 1.4]);
  });

  test("IoU exactly at the threshold: only >= suppresses", () => {
    // 30 of 50 pixels, of which f32 products make more than 0.6
    const box = (right: number) => ({ score: 1, classId: 0, box: [0, 0, right / 64, 10 / 64] as const });
    const rule = { suppress: "all", iouThreshold: 0.6, maxDetections: 9, offset: [0, 0] } as const;
    expect(suppresses(box(5), box(3), { ...rule, iouGate: ">=" })).toBe(true);
    expect(suppresses(box(5), box(3), { ...rule, iouGate: ">" })).toBe(false);
    expect(suppresses(box(0), box(0), { ...rule, iouThreshold: 0, iouGate: ">=" })).toBe(false);
  });

  test("the letterbox of a recording: 451 x 300 into 320 x 320", () => {
    const frame = { width: 451, height: 300, resize: "letterbox" } as const;
    expect(placeInInput(frame, [320, 320])).toEqual([0, 53, 320, 213]);
    near(undoResize([0, 53 / 320, 1, 266 / 320], frame, [320, 320]), [0, 0, 1, 1]);
  });
});

describe("forms of export", () => {
  test.each(cases)("$name", ({ name, config, make, multiLabel }) => {
    const random = mulberry32([...name].reduce((seed, c) => seed * 31 + c.charCodeAt(0), 7));
    const { tensors, cells } = make((dims, from, to) => {
      const n = dims.reduce((a, b) => a * b, 1);
      return { dims, data: Float32Array.from({ length: n }, () => from + (to - from) * random()) };
    });
    const expected = cells.flatMap(({ scores, box: [x_min, y_min, x_max, y_max], firstClass = 0 }): Row[] => {
      const best = scores.indexOf(Math.max(...scores));
      return scores.flatMap((confidence, c) =>
        confidence > THRESHOLD && (multiLabel === true || c === best)
          ? [{ class_id: firstClass + c, confidence, x_min, y_min, x_max, y_max }]
          : [],
      );
    });
    // some pass, some do not, and none is so near that rounding decides
    expect(expected.length).toBeGreaterThan(5);
    expect(expected.length).toBeLessThan(cells.length * (multiLabel === true ? C : 1));
    const nearest = Math.min(...cells.flatMap((c) => c.scores.map((s) => Math.abs(s - THRESHOLD))));
    expect(nearest).toBeGreaterThan(1e-6);
    const options = {
      confidenceThreshold: THRESHOLD,
      rules: { suppress: "none", clamp: "none", maxCandidates: 0 },
      maxDetections: 5000,
    } as const;
    const specified = rowsOf(specify(config, options, tensors)[0]);
    // a plan holds prior boxes in f32
    expectSame(specified, expected, 1e-7);
    for (const engine of engines) {
      const decoder = createDecoderSync(config, { engine, ...options });
      expectSame(decoder.decode(tensors).toArray(), specified, 1e-5);
    }
  });
});

test("a softmax is refused where the classes are independent", () => {
  const decoder = createDecoderSync({
    family: "yolov8",
    classes: C,
    inputSize: INPUT,
    scores: "softmax-logits",
  });
  const tensor = { data: new Float32Array(7 * 315), dims: [1, 7, 315] };
  expect(() => decoder.decode([tensor])).toThrow(
    'got scores "softmax-logits", expected "probabilities" or "logits": the classes of yolov8 as class-rows are independent',
  );
});

test.each(engines)("classes that stand infinitely far below pass no threshold, not even 0: %s", (engine) => {
  for (const n of [1, 3, 4, 8, 17])
    for (const [type, low, two] of [
      ["f32", -Infinity, 2],
      ["f16", 0xfc00, 0x4000],
    ] as const)
      for (const rules of [{}, { multiLabel: true }]) {
        const logits = new (type === "f32" ? Float32Array : Uint16Array)(2 * (n + 1)).fill(low);
        // "nothing" in both rows; in the second, a class too
        logits[n] = logits[2 * n + 1] = two;
        logits[2 * n] = two;
        const decoder = createDecoderSync(
          { family: "detr", classes: n, scores: "softmax-logits", confidenceThreshold: 0 },
          { engine, rules: { gate: ">=", ...rules } },
        );
        const boxes = Float32Array.of(0.5, 0.5, 0.2, 0.2, 0.5, 0.5, 0.2, 0.2);
        const found = decoder.decode({
          boxes: { data: boxes, dims: [1, 2, 4], order: "rows" },
          scores: { data: logits, dims: [1, 2, n + 1], order: "rows" },
        });
        expect(found.at(0)).toMatchObject({ class_id: n - 1, confidence: 0.5 });
        expect(new Set(found.sources.subarray(0, found.length))).toEqual(new Set([1]));
      }
});

test.each(engines)(
  "rt-detr in one tensor: the best class of a query, in two the best pairs: %s",
  (engine) => {
    const rows = Float32Array.of(0.5, 0.5, 0.2, 0.2, 0.75, 0.875, 0.25, 0.25, 0.2, 0.2, 0.5, 0.125);
    const config = { family: "detr", classes: 2, inputSize: [64, 64] } as const;
    const one = createDecoderSync(config, { engine }).decode([
      { data: rows, dims: [1, 2, 6], order: "rows" },
    ]);
    expect(one.toArray().map((d) => [d.class_id, d.confidence])).toEqual([
      [1, 0.875],
      [0, 0.5],
    ]);
    const part = (from: number, to: number) => ({
      data: Float32Array.from([...rows.subarray(from, to), ...rows.subarray(6 + from, 6 + to)]),
      dims: [1, 2, to - from],
      order: "rows" as const,
    });
    const two = createDecoderSync({ ...config, scores: "probabilities" }, { engine }).decode({
      boxes: part(0, 4),
      scores: part(4, 6),
    });
    expect(two.toArray().map((d) => [d.class_id, d.confidence])).toEqual([
      // Two queries make two detections, here both of the first query.
      [1, 0.875],
      [0, 0.75],
    ]);
  },
);

test("scales go by the order of TensorFlow's box channels, y x h w", () => {
  const d = createDecoderSync({
    family: "ssd",
    classes: 1,
    background: false,
    scales: [10, 4, 5, 2],
    priors: Float32Array.of(0.5, 0.25, 0.2, 0.4), // ycenter xcenter h w
  });
  const boxes = { data: Float32Array.of(1, 1, 1, 1), dims: [1, 1, 4] };
  const scores = { data: Float32Array.of(0.9), dims: [1, 1, 1] };
  const [found] = d.decode({ boxes, scores }).toArray();
  const box = centre(0.25 + 0.4 / 4, 0.5 + 0.2 / 10, 0.4 * Math.exp(1 / 2), 0.2 * Math.exp(1 / 5), [1, 1]);
  [found.x_min, found.y_min, found.x_max, found.y_max].forEach((v, i) => expect(v).toBeCloseTo(box[i], 6));
});

describe.each(engines)("a threshold beyond every number of the type passes nothing: %s", (engine) => {
  test.each([
    ["i8", 127, 0, -128],
    ["u8", 255, 128, 0],
  ] as const)("%s", (type, top, zeroPoint, bottom) => {
    // depthai-nodes asks the objectness for itself and scores by the class alone, so that nothing behind the gate asks
    // again
    const [side, cells] = [10, 100];
    const config = {
      family: "yolov2",
      classes: 2,
      inputSize: [320, 320],
      anchors: [10, 10, 20, 20, 30, 30, 40, 40, 50, 50],
    } as const;
    const scale = 0.625 / (top - zeroPoint);
    for (const order of ["NCHW", "NHWC"] as const) {
      const data = type === "i8" ? new Int8Array(35 * cells) : new Uint8Array(35 * cells);
      for (let a = 0; a < 5; a++)
        for (let p = 0; p < cells; p++)
          // objectness and the first class as high as they go, the second as low
          for (const [channel, raw] of [
            [4, top],
            [5, top],
            [6, bottom],
          ] as const) {
            const c = a * 7 + channel;
            data[order === "NCHW" ? c * cells + p : p * 35 + c] = raw;
          }
      const dims = order === "NCHW" ? [1, 35, side, side] : [1, side, side, 35];
      const output = { dims, type, scale, zeroPoint, order };
      const found = (confidenceThreshold: number): number => {
        const d = createDecoderSync(
          { ...config, confidenceThreshold },
          { engine, outputs: [output], rules: { set: "depthai-nodes", suppress: "none" } },
        );
        d.decode([{ ...output, data }]);
        return d.stats.candidates;
      };
      expect(found(sigmoid(0.625) - 1e-3)).toBe(5 * cells);
      expect(found(sigmoid(0.625) + 1e-3)).toBe(0);
    }
  });
});
