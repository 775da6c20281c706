/** Raw maps with anchors that have points, against the authors' formulas in plain doubles (spec/points.ts). */
import { describe, expect, test } from "vitest";
import { centreOfV5, pointOfV5Face, pointOfV7, sigmoid, sizeOfV5 } from "../../../spec/points.ts";
import type { TypedOptions } from "../../../src/config/types.ts";
import { createDecoderSync } from "../../../src/whole/decoder.ts";
import type { TensorInput } from "../../../src/core/tensor.ts";
import { engines } from "../../support/engines.ts";

const SIZE = [96, 64] as const;
const STRIDES = [8, 16, 32] as const;
/** Three anchors for each map, in pixels. */
const ANCHORS = [
  [10, 13, 16, 30, 33, 23],
  [30, 61, 62, 45, 59, 119],
  [116, 90, 156, 198, 373, 326],
];

/** The order of an anchor's channels. */
interface Layout {
  readonly classes: number;
  readonly values: 2 | 3;
  readonly points: number;
  readonly firstClass: number;
  readonly firstPoint: number;
}
const behindClasses = (classes: number, points: number, values: 2 | 3): Layout => ({
  classes,
  points,
  values,
  firstClass: 5,
  firstPoint: 5 + classes,
});
const FACE: Layout = { classes: 1, points: 5, values: 2, firstClass: 15, firstPoint: 5 };
const channelsOf = ({ classes, points, values }: Layout): number => 5 + classes + points * values;

/** Raw value of a channel: different in each, the same in each run. Objectness passes in one cell of 23. */
function rawAt(layout: Layout, stride: number, anchor: number, cell: number, channel: number): number {
  const wave = Math.sin(stride * 7.1 + anchor * 3.7 + cell * 1.3 + channel * 2.9);
  if (channel === 4) return (cell + anchor) % 23 === 3 ? 2 + wave / 4 : -12;
  if (channel === layout.firstClass + (cell % layout.classes)) return 3 + wave / 4;
  const isClass = channel >= layout.firstClass && channel < layout.firstClass + layout.classes;
  return isClass ? -6 : wave * 1.5;
}

type Order = "NCHW" | "NHWC" | "NAhwK" | "NAKhw";

function tensorsOf(layout: Layout, order: Order): Record<string, TensorInput> {
  const k = channelsOf(layout);
  return Object.fromEntries(
    STRIDES.map((stride) => {
      const [w, h] = SIZE.map((n) => n / stride);
      const data = new Float32Array(3 * k * w * h);
      for (let a = 0; a < 3; a++)
        for (let cell = 0; cell < w * h; cell++)
          for (let c = 0; c < k; c++) {
            const at = {
              NCHW: (a * k + c) * w * h + cell,
              NHWC: cell * 3 * k + a * k + c,
              NAhwK: (a * w * h + cell) * k + c,
              NAKhw: (a * k + c) * w * h + cell,
            }[order];
            data[at] = rawAt(layout, stride, a, cell, c);
          }
      const dims = {
        NCHW: [1, 3 * k, h, w],
        NHWC: [1, h, w, 3 * k],
        NAhwK: [1, 3, h, w, k],
        NAKhw: [1, 3, k, h, w],
      }[order];
      return [`map${stride}`, { data, dims }];
    }),
  );
}

interface Expected {
  readonly score: number;
  readonly classId: number;
  readonly box: readonly number[];
  readonly points: readonly (readonly number[])[];
}

/** Returns the objects by the formulas alone, the best first. */
function expectedOf(layout: Layout, isFace: boolean): Expected[] {
  const found: Expected[] = [];
  STRIDES.forEach((stride, rank) => {
    const [w, h] = SIZE.map((n) => n / stride);
    for (let a = 0; a < 3; a++)
      for (let cell = 0; cell < w * h; cell++) {
        const raw = (c: number): number => Math.fround(rawAt(layout, stride, a, cell, c));
        const scores = Array.from({ length: layout.classes }, (_, c) => sigmoid(raw(layout.firstClass + c)));
        const score = sigmoid(raw(4)) * Math.max(...scores);
        if (score <= 0.25) continue;
        const place = [cell % w, Math.floor(cell / w)];
        const anchor = [ANCHORS[rank][2 * a], ANCHORS[rank][2 * a + 1]];
        const centre = place.map((at, axis) => centreOfV5(raw(axis), at, stride));
        const size = anchor.map((side, axis) => sizeOfV5(raw(2 + axis), side));
        const pointAt = (axis: number, value: number): number =>
          isFace
            ? pointOfV5Face(value, place[axis], stride, anchor[axis])
            : pointOfV7(value, place[axis], stride);
        found.push({
          score,
          classId: scores.indexOf(Math.max(...scores)),
          box: [...centre.map((c, i) => c - size[i] / 2), ...centre.map((c, i) => c + size[i] / 2)],
          points: Array.from({ length: layout.points }, (_, k) => {
            const first = layout.firstPoint + k * layout.values;
            return [
              pointAt(0, raw(first)),
              pointAt(1, raw(first + 1)),
              layout.values === 3 ? sigmoid(raw(first + 2)) : 1,
            ];
          }),
        });
      }
  });
  return found.sort((a, b) => b.score - a.score);
}

const BASE = { inputSize: SIZE, anchors: ANCHORS } as const;
const CASES: readonly (readonly [string, Layout, boolean, TypedOptions])[] = [
  [
    "YOLOv7-pose, 17 points of three",
    behindClasses(1, 17, 3),
    false,
    { ...BASE, family: "yolov7", task: "pose", classes: 1, keypoints: [17, 3] },
  ],
  [
    "YOLOv5-pose, 4 points of two, three classes",
    behindClasses(3, 4, 2),
    false,
    { ...BASE, family: "yolov5", task: "pose", classes: 3, keypoints: [4, 2] },
  ],
  [
    "YOLOv7-face, 5 points of three",
    behindClasses(1, 5, 3),
    false,
    { ...BASE, family: "yolov7", task: "pose", classes: 1, keypoints: [5, 3] },
  ],
  ["YOLOv5-face", FACE, true, { ...BASE, family: "yolov5-face" }],
];

describe.each(CASES)("%s", (_, layout, isFace, options) => {
  const expected = expectedOf(layout, isFace);

  test.each(["NCHW", "NHWC", "NAhwK", "NAKhw"] as const)(
    "maps %s: boxes, scores and points of all engines",
    (order) => {
      const tensors = tensorsOf(layout, order);
      const results = engines.map((engine) => {
        const decoder = createDecoderSync(options, {
          engine,
          iouThreshold: 1,
          rules: { set: "ultralytics", clamp: "none" },
        });
        const found = decoder.decode(tensors).copy();
        expect(decoder.describe().text).not.toContain("left alone");
        return found;
      });
      const [found, ...others] = results;
      expect(expected.length).toBeGreaterThan(5);
      expect(found.length).toBe(expected.length);
      found.toArray().forEach((d, i) => {
        const e = expected[i];
        expect(d.class_id).toBe(e.classId);
        expect(d.confidence).toBeCloseTo(e.score, 5);
        const corners = [d.x_min * SIZE[0], d.y_min * SIZE[1], d.x_max * SIZE[0], d.y_max * SIZE[1]];
        // f32 has a step of 6e-5 pixels at 1000.
        corners.forEach((x, k) => expect(x).toBeCloseTo(e.box[k], 2));
        expect(d.keypoints).toHaveLength(layout.points);
        d.keypoints?.forEach(({ x, y, confidence }, k) => {
          expect(x * SIZE[0]).toBeCloseTo(e.points[k][0], 3);
          expect(y * SIZE[1]).toBeCloseTo(e.points[k][1], 3);
          expect(confidence).toBeCloseTo(e.points[k][2], 5);
        });
      });
      for (const other of others)
        for (const column of ["boxes", "scores", "keypoints"] as const)
          expect(other[column]).toEqual(found[column]);
    },
  );
});

test("maps of YOLOv5-face without anchors are refused with the option", () => {
  const maps = tensorsOf(FACE, "NCHW");
  expect(() => createDecoderSync({ family: "yolov5-face", inputSize: SIZE }).decode(maps)).toThrow(
    /anchors: got none, one list for each map/,
  );
});
