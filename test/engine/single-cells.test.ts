/**
 * One cell that passes among cells that do not, at every place of a tensor: what the gates skip in groups, whatever the
 * element type, the layout and the sign of the raw threshold.
 */
import { describe, expect, test } from "vitest";
import type { ElementType } from "../../src/core/tensor.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import { shareOf } from "../support/engine-shares.ts";
import { engines } from "../support/engines.ts";
import { encode } from "../support/seeded-networks.ts";

const TYPES: readonly ElementType[] = ["f32", "f16", "u8", "i8", "i16", "i32"];
const CELLS = 84;

/** Scores and boxes in tensors of their own; `first` is the class value of all cells but one. */
const config = (
  classes: number,
  scores: "logits" | "probabilities",
  confidenceThreshold: number,
): object => ({
  family: "boxes",
  classes,
  coordinates: "normalised",
  roles: { boxes: "b", scores: "s" },
  scores,
  confidenceThreshold,
  rules: { suppress: "none" },
});
const boxes = {
  data: Float32Array.from({ length: 4 * CELLS }, (_, i) => (i % 4 < 2 ? 0.25 : 0.75)),
  dims: [1, CELLS, 4],
};
/** Values that fail and pass: probabilities, logits around a threshold below 0, and around one above 0. */
const levels = [
  { name: "probabilities", scores: "probabilities", threshold: 0.5, fails: 0.25, passes: 0.75 },
  { name: "negative logits", scores: "logits", threshold: 0.25, fails: -3, passes: -0.5 },
  { name: "positive logits", scores: "logits", threshold: 0.75, fails: 0.5, passes: 2.5 },
] as const;

/** A tensor of scores, or of boxes and scores in planes, whose cells lie side by side. */
const FORMS = {
  rows: {
    more: {},
    first: 0,
    dims: (channels: number) => [1, CELLS, channels],
    at: (cell: number, channel: number, channels: number) => cell * channels + channel,
  },
  planes: {
    more: { family: "yolov8", reading: "class-rows", inputSize: [64, 64], roles: undefined },
    first: 4,
    dims: (channels: number) => [1, channels, CELLS],
    at: (cell: number, channel: number) => channel * CELLS + cell,
  },
} as const;

describe.each(engines)("%s", (engine) => {
  for (const [form, { more, first, dims, at }] of Object.entries(FORMS))
    describe.each(shareOf(engine, TYPES))(`${form} of %s`, (type) => {
      for (const { name, scores, threshold, fails, passes } of levels)
        for (const classes of [1, 2, 9])
          test(`${name}, ${classes} classes`, () => {
            const isFloat = type === "f32" || type === "f16";
            const [scale, zeroPoint] = isFloat ? [1, 0] : [0.03125, type === "u8" ? 100 : 0];
            const decoder = createDecoderSync({ ...config(classes, scores, threshold), ...more }, { engine });
            const channels = first + classes;
            for (let cell = 0; cell < CELLS; cell++) {
              const numbers = new Float64Array(CELLS * channels).fill(fails);
              numbers.fill(0.5, 0, first * CELLS);
              numbers[at(cell, first + (cell % classes), channels)] = passes;
              const data = encode(numbers, type, scale, zeroPoint);
              const tensor = { data, dims: dims(channels), type, ...(!isFloat && { scale, zeroPoint }) };
              const found = decoder.decode(form === "rows" ? { b: boxes, s: tensor } : { o: tensor });
              expect([...found.sources.subarray(0, found.length)], `cell ${cell}`).toEqual([cell]);
              expect(found.classIds[0]).toBe(cell % classes);
            }
          });
    });

  test("rows of one class, whose scores lie apart", () => {
    const decoder = createDecoderSync(
      { family: "yolov8", classes: 1, coordinates: "normalised", reading: "class-rows" },
      { engine },
    );
    for (let cell = 0; cell < CELLS; cell++) {
      const data = Float32Array.from({ length: 5 * CELLS }, (_, i) =>
        i % 5 < 4 ? 0.5 : i === 5 * cell + 4 ? 0.9 : 0.1,
      );
      const found = decoder.decode({ o: { data, dims: [1, CELLS, 5], order: "rows" } });
      expect([...found.sources.subarray(0, found.length)], `cell ${cell}`).toEqual([cell]);
    }
  });

  test("a cell whose classes are all NaN is none, even if its box has values that would pass", () => {
    for (const rule of ["product", "class"] as const)
      for (const type of ["f32", "f16"] as const) {
        const decoder = createDecoderSync(
          {
            family: "yolov8",
            classes: 3,
            coordinates: "normalised",
            reading: "class-rows",
            rules: { score: rule },
            keep: [0, 2],
          },
          { engine },
        );
        const row = (score: number): number[] => [0.9, 0.9, 0.9, 0.9, score, score, score];
        const numbers = Float64Array.from([...row(NaN), ...row(0.8), ...row(NaN)]);
        const found = decoder.decode({
          o: { data: encode(numbers, type, 1, 0), dims: [1, 3, 7], order: "rows", type },
        });
        expect([...found.sources.subarray(0, found.length)]).toEqual([1]);
        expect(found.classIds[0]).toBe(0);
      }
  });
});
