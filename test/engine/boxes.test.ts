/** Decoded boxes and scores of every element type, by hand: each axis has a factor of its own. */
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/decode/decoder.ts";
import type { TensorInput } from "../../src/core/tensor.ts";
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

/** The bits of a positive f16 that is no subnormal. */
function halfOf(x: number): number {
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
/** Centres, sizes, and what they are as corners, in pixels of an input of 64 x 32. */
const FORMATS = {
  cxcywh: [20, 10, 8, 4],
  xywh: [16, 8, 8, 4],
  xyxy: [16, 8, 24, 12],
  yxyx: [8, 16, 12, 24],
  cycxhw: [10, 20, 4, 8],
} as const;
const CORNERS = [16 / 64, 8 / 32, 24 / 64, 12 / 32];

describe.each(engines)("%s", (engine) => {
  for (const boxType of Object.keys(TYPES) as (keyof typeof TYPES)[])
    for (const order of ["rows", "planes"] as const)
      test.each(Object.entries(FORMATS))(`boxes of ${boxType} in ${order}, %s`, (boxFormat, box) => {
        for (const scoreType of ["f32", "u8"] as const)
          for (const classes of [1, 3]) {
            const inOrder = (channels: number, of: (cell: number, c: number) => number): number[] =>
              Array.from({ length: CELLS * channels }, (_, i) =>
                order === "rows"
                  ? of(Math.floor(i / channels), i % channels)
                  : of(i % CELLS, Math.floor(i / CELLS)),
              );
            const dims = (channels: number): number[] =>
              order === "rows" ? [1, CELLS, channels] : [1, channels, CELLS];
            const found = createDecoderSync(
              {
                family: "yolov8",
                classes,
                inputSize: [64, 32],
                boxFormat: boxFormat as keyof typeof FORMATS,
                reading: "class-rows",
                roles: { boxes: "b", scores: "s" },
              },
              { engine },
            ).decode({
              b: {
                ...tensor(
                  boxType,
                  inOrder(4, (_, c) => box[c]),
                  dims(4),
                  0.5,
                ),
                order,
              },
              s: {
                ...tensor(
                  scoreType,
                  inOrder(classes, (cell, c) => (cell === 5 && c === classes - 1 ? 0.75 : 0.125)),
                  dims(classes),
                  0.125,
                ),
                order,
              },
            });
            expect([...found.boxes.subarray(0, 4 * found.length)]).toEqual(CORNERS);
            expect([found.scores[0], found.classIds[0], found.sources[0]]).toEqual([0.75, classes - 1, 5]);
          }
      });

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
          activation: "sigmoid",
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
});
