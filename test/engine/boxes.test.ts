/** Decoded boxes and scores of every element type, by hand: each axis has a factor of its own. */
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import type { TensorInput } from "../../src/core/tensor.ts";
import { shareOf } from "../support/engine-shares.ts";
import { engines } from "../support/engines.ts";

/** A number of these arrays is half an element: scale 0.5. The bits of an f16 are written out. */
const TYPES = {
  f32: Float32Array,
  f16: Uint16Array,
  i8: Int8Array,
  u8: Uint8Array,
  i16: Int16Array,
  i32: Int32Array,
} as const;

/** The bits of an f16 that is no subnormal. */
function halfOf(x: number): number {
  if (x < 0 || Object.is(x, -0)) return 0x8000 | halfOf(-x);
  if (x === 0) return 0;
  const exponent = Math.floor(Math.log2(x));
  return ((exponent + 15) << 10) | ((x / 2 ** exponent - 1) * 1024);
}

function tensor(
  type: keyof typeof TYPES,
  values: readonly number[],
  dims: number[],
  unit: number,
): TensorInput {
  const isFloat = type === "f32" || type === "f16";
  const raw = values.map((x) => (type === "f16" ? halfOf(x) : isFloat ? x : x / unit));
  return { data: TYPES[type].from(raw), dims, type, ...(!isFloat && { scale: unit, zeroPoint: 0 }) };
}

const CELLS = 9;
/** The numbers of a box of 8 x 4 pixels in an input of 64 x 32. Each cell has it half a pixel further to the right. */
const FORMATS = {
  cxcywh: (x: number) => [x + 4, 10, 8, 4],
  xywh: (x: number) => [x, 8, 8, 4],
  xyxy: (x: number) => [x, 8, x + 8, 12],
  yxyx: (x: number) => [8, x, 12, x + 8],
  cycxhw: (x: number) => [10, x + 4, 4, 8],
} as const;
const leftOf = (cell: number): number => 16 + cell / 2;
const cornersOf = (cell: number): number[] => [leftOf(cell) / 64, 8 / 32, (leftOf(cell) + 8) / 64, 12 / 32];

describe.each(engines)("%s", (engine) => {
  for (const boxType of Object.keys(TYPES) as (keyof typeof TYPES)[])
    for (const order of ["rows", "planes"] as const)
      test.each(shareOf(engine, Object.entries(FORMATS)))(
        `boxes of ${boxType} in ${order}, %s`,
        (boxFormat, boxAt) => {
          const inOrder = (channels: number, of: (cell: number, c: number) => number): number[] =>
            Array.from({ length: CELLS * channels }, (_, i) =>
              order === "rows"
                ? of(Math.floor(i / channels), i % channels)
                : of(i % CELLS, Math.floor(i / CELLS)),
            );
          const dims = (channels: number): number[] =>
            order === "rows" ? [1, CELLS, channels] : [1, channels, CELLS];
          const boxes = inOrder(4, (cell, c) => boxAt(leftOf(cell))[c]);
          // One cell alone, and all: engines take several boxes at once.
          for (const passing of [[5], [...Array(CELLS).keys()]])
            for (const scoreType of ["f32", "u8"] as const)
              for (const classes of [1, 3]) {
                const scores = inOrder(classes, (cell, c) =>
                  passing.includes(cell) && c === classes - 1 ? 0.75 : 0.125,
                );
                const found = createDecoderSync(
                  {
                    family: "yolov8",
                    classes,
                    inputSize: [64, 32],
                    boxFormat: boxFormat as keyof typeof FORMATS,
                    reading: "class-rows",
                    roles: { boxes: "b", scores: "s" },
                    rules: { suppress: "none" },
                  },
                  { engine },
                ).decode({
                  b: { ...tensor(boxType, boxes, dims(4), 0.5), order },
                  s: { ...tensor(scoreType, scores, dims(classes), 0.125), order },
                });
                const n = found.length;
                expect([...found.sources.subarray(0, n)]).toEqual(passing);
                expect([...found.boxes.subarray(0, 4 * n)]).toEqual(passing.flatMap(cornersOf));
                expect([...found.scores.subarray(0, n)]).toEqual(passing.map(() => 0.75));
                expect([...found.classIds.subarray(0, n)]).toEqual(passing.map(() => classes - 1));
              }
        },
      );

  // The step from score to score is twice that of elements side by side.
  test.each(["f32", "f16", "i8", "u8", "i16", "i32"] as const)(
    "one class of %s beside a background",
    (type) => {
      const scores = Array.from({ length: 2 * CELLS }, (_, i) =>
        i % 2 === 0 ? 0.875 : i === 13 ? 0.75 : 0.125,
      );
      const d = createDecoderSync(
        {
          family: "ultraface",
          scores: "probabilities",
          boxFormat: "xyxy",
          roles: { boxes: "b", scores: "s" },
        },
        { engine },
      );
      const one = d.decode({
        b: {
          data: new Float32Array(4 * CELLS).map((_, i) => [0.25, 0.25, 0.375, 0.375][i % 4]),
          dims: [1, CELLS, 4],
        },
        s: tensor(type, scores, [1, CELLS, 2], 0.125),
      });
      expect(one.length).toBe(1);
      expect([one.scores[0], one.sources[0]]).toEqual([0.75, 6]);
    },
  );

  // Classes are folded in groups of planes. Each cell is sure of another class.
  test.each(shareOf(engine, Object.keys(TYPES) as (keyof typeof TYPES)[]))(
    "logits of many classes of %s",
    (type) => {
      for (const classes of [2, 3, 5, 8, 9, 16, 17, 40, 80])
        for (const order of ["rows", "planes"] as const)
          // Above and below the logit 0, and 0 itself. A byte without a sign holds none below it.
          for (const [best, confidenceThreshold] of type === "u8"
            ? [[3, 0.75]]
            : [
                [3, 0.75],
                [0, 0.25],
                [-0.5, 0.25],
              ]) {
            const at = (cell: number, c: number): number =>
              order === "rows" ? cell * (4 + classes) + c : c * classes + cell;
            const values = new Array<number>(classes * (4 + classes)).fill(0);
            for (let cell = 0; cell < classes; cell++)
              for (let c = 0; c < classes; c++) values[at(cell, 4 + c)] = cell === c ? best : best - 2.5;
            const dims = order === "rows" ? [1, classes, 4 + classes] : [1, 4 + classes, classes];
            const found = createDecoderSync(
              {
                family: "yolov8",
                classes,
                scores: "logits",
                coordinates: "normalised",
                reading: "class-rows",
                confidenceThreshold,
                rules: { suppress: "none" },
              },
              { engine },
            ).decode({ o: { ...tensor(type, values, dims, 0.5), order } });
            const n = found.length;
            const what = `${classes} classes in ${order}, ${best}`;
            expect([...found.sources.subarray(0, n)], what).toEqual([...Array(classes).keys()]);
            expect([...found.classIds.subarray(0, n)], what).toEqual([...Array(classes).keys()]);
          }
    },
  );

  // The kernel has at most 16 groups of planes: those of so many classes hold 24 planes each.
  test.each(["f32", "f16", "i8"] as const)("logits of 300 classes of %s, in planes", (type) => {
    const classes = 300;
    const cells = 25;
    const classOf = (cell: number): number => cell * 12 + (cell % 12);
    for (const best of [3, 0, -0.5]) {
      const values = new Array<number>(cells * (4 + classes)).fill(best - 2.5).fill(0, 0, 4 * cells);
      for (let cell = 0; cell < cells; cell++) values[(4 + classOf(cell)) * cells + cell] = best;
      const found = createDecoderSync(
        {
          family: "yolov8",
          classes,
          scores: "logits",
          coordinates: "normalised",
          reading: "class-rows",
          confidenceThreshold: best > 0 ? 0.75 : 0.25,
          rules: { suppress: "none" },
        },
        { engine },
      ).decode({ o: { ...tensor(type, values, [1, 4 + classes, cells], 0.5), order: "planes" } });
      const ids = Array.from({ length: cells }, (_, cell) => classOf(cell));
      expect([...found.classIds.subarray(0, found.length)]).toEqual(ids);
    }
  });

  test.each(["f32", "f16"] as const)("of -0 and 0 the first, as they are equal: %s", (type) => {
    const classes = 5;
    const pairs = Array.from({ length: classes }, (_, i) =>
      Array.from({ length: i }, (_, k) => [k, i]),
    ).flat();
    for (const order of ["rows", "planes"] as const)
      for (const [first, second] of [
        [-0, 0],
        [0, -0],
      ]) {
        const at = (cell: number, c: number): number =>
          order === "rows" ? cell * (4 + classes) + c : c * pairs.length + cell;
        const values = new Array<number>(pairs.length * (4 + classes)).fill(0);
        pairs.forEach(([a, b], cell) => {
          for (let c = 0; c < classes; c++) values[at(cell, 4 + c)] = c === a ? first : c === b ? second : -2;
        });
        const dims = order === "rows" ? [1, pairs.length, 4 + classes] : [1, 4 + classes, pairs.length];
        const found = createDecoderSync(
          {
            family: "yolov8",
            classes,
            scores: "logits",
            coordinates: "normalised",
            reading: "class-rows",
            rules: { suppress: "none" },
          },
          { engine },
        ).decode({ o: { ...tensor(type, values, dims, 1), order } });
        expect([...found.classIds.subarray(0, found.length)]).toEqual(pairs.map(([a]) => a));
      }
  });
});
