/**
 * Lists of kept classes in both layouts and every element type, and counts of valid rows. Each cell holds one class, so
 * the answer is plain.
 */
import { describe, expect, test } from "vitest";
import type { ElementType } from "../../src/core/tensor.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import { shareOf } from "../support/engine-shares.ts";
import { engines } from "../support/engines.ts";
import { type Raw, encode } from "../support/seeded-networks.ts";

const TYPES: readonly ElementType[] = ["f32", "f16", "u8", "i8", "i16", "i32"];
const CLASSES = 5;
const CELLS = 84;
/** Values are multiples of a hundredth. */
const SCALE = 0.01;

const written = (type: ElementType, numbers: readonly number[]): { data: Raw; scale?: number } =>
  type === "f32" || type === "f16"
    ? { data: encode(Float64Array.from(numbers), type, undefined, undefined) }
    : { data: encode(Float64Array.from(numbers), type, SCALE, 0), scale: SCALE };

/** Channels of a cell: a small box of its own, and 0.9 for the class that is its index modulo CLASSES. */
const cellOf = (cell: number): number[] => [
  0.05 + 0.07 * (cell % 12),
  0.05 + 0.12 * Math.floor(cell / 12),
  0.03,
  0.03,
  ...Array.from({ length: CLASSES }, (_, c) => (c === cell % CLASSES ? 0.9 : 0.2)),
];
const cells = Array.from({ length: CELLS }, (_, i) => cellOf(i));
const layouts = {
  rows: { numbers: cells.flat(), dims: [1, CELLS, 4 + CLASSES] },
  planes: {
    numbers: Array.from({ length: 4 + CLASSES }, (_, channel) => cells.map((c) => c[channel])).flat(),
    dims: [1, 4 + CLASSES, CELLS],
  },
};
const keeps = [[0], [1], [4], [0, 1], [1, 3], [2, 4], [0, 2, 4], [1, 2, 3], [0, 1, 3, 4], [0, 1, 2, 3, 4]];

describe.each(engines)("%s", (engine) => {
  describe.each(shareOf(engine, TYPES))("%s", (type) => {
    test.each(Object.keys(layouts) as (keyof typeof layouts)[])("%s: kept classes are found", (layout) => {
      const { numbers, dims } = layouts[layout];
      const output = {
        ...written(type, numbers),
        dims,
        type,
        ...(type.includes("f") ? {} : { zeroPoint: 0 }),
      };
      for (const multiLabel of [false, true])
        for (const thresholds of ["one", "each"])
          for (const keep of keeps) {
            const decoder = createDecoderSync(
              {
                family: "yolov8",
                classes: CLASSES,
                coordinates: "normalised",
                reading: "class-rows",
                confidenceThreshold:
                  thresholds === "one" ? 0.5 : Array.from({ length: CLASSES }, (_, c) => 0.4 + 0.05 * c),
                keep,
                rules: { multiLabel },
              },
              { engine },
            );
            const { length, sources, classIds } = decoder.decode({ o: output });
            const found = Array.from({ length }, (_, i) => `${sources[i]}:${classIds[i]}`).sort();
            const expected = cells
              .map((_, i) => [i, i % CLASSES])
              .filter(([, c]) => keep.includes(c))
              .map((pair) => pair.join(":"));
            expect(found, JSON.stringify({ keep, multiLabel, thresholds })).toEqual(expected.sort());
          }
    });
  });

  test.each(["f32", "f16", "i32"] as const)("a count of %s says how many rows are valid", (type) => {
    const rows = 10;
    const boxes = Array.from({ length: rows }, (_, i) => [0.1 * i, 0, 0.1 * i + 0.05, 0.5]).flat();
    const decoder = createDecoderSync(
      {
        family: "tflite-postprocess",
        classes: 3,
        roles: { boxes: "b", classIds: "l", scores: "s", count: "n" },
      },
      { engine },
    );
    for (const count of [0, 1, 7, 9, 10, 11, 200]) {
      const found = decoder.decode({
        b: { data: Float32Array.from(boxes), dims: [1, rows, 4] },
        l: { data: new Float32Array(rows), dims: [1, rows] },
        s: { data: new Float32Array(rows).fill(0.9), dims: [1, rows] },
        n: { data: encode(Float64Array.of(count), type, undefined, undefined), dims: [1], type },
      });
      expect(found.length, String(count)).toBe(Math.min(count, rows));
    }
  });
});
