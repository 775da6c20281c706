/** NaN and infinite values in what masks are made of: nobody gets an empty mask without a word. */
import { describe, expect, test } from "vitest";
import { createDecoderSync, labelMap, masksOf } from "../../../src/entries/index.ts";
import type { Detections } from "../../../src/decode/detections.ts";
import { engines } from "../../support/engines.ts";

const COEFFICIENTS = "coefficients of a mask are NaN or infinite: no pixel that is NaN is set";
const PROTOTYPES = "prototypes of a mask are NaN or infinite: no pixel that is NaN is set";

const FINITE = [1, 1, 1, 1, -1, 1, 1, -1];

/** Decodes a frame with one box, x1 y1 x2 y2 score class and a coefficient. Notes are collected as they are told. */
function decodeOne(
  engine: "simd" | "scalar" | "ts",
  coefficient: number,
  prototypes: number[],
  notes: string[] = [],
): { found: Detections; notes: string[]; description: () => string } {
  const decoder = createDecoderSync(
    { family: "yolo26", inputSize: [16, 8], task: "segment", coordinates: "pixels" },
    { engine, onNote: (note) => notes.push(note) },
  );
  const found = decoder.decode({
    output0: { data: [0, 0, 12, 8, 0.9, 0, coefficient], dims: [1, 1, 7] },
    output1: { data: prototypes, dims: [1, 1, 2, 4] },
  });
  return { found, notes, description: () => decoder.describe().text };
}

const withValue = (place: number, value: number): number[] => FINITE.map((v, i) => (i === place ? value : v));

describe.each(engines)("%s", (engine) => {
  test.each([NaN, Infinity, -Infinity])("a coefficient of %f", (value) => {
    const { found, notes, description } = decodeOne(engine, value, withValue(4, 0));
    expect(notes).toEqual([]);
    found.mask(0, { size: "prototype" });
    expect(notes).toEqual([COEFFICIENTS]);
    expect(description()).toContain(COEFFICIENTS);
    // One note for each kind: a program that draws every frame is not told again.
    found.mask(0, { size: "network" });
    expect(notes).toEqual([COEFFICIENTS]);
  });

  test.each([NaN, Infinity, -Infinity])("a prototype value of %f, wherever it stands in the box", (value) => {
    for (const place of [0, 1, 2, 4, 5, 6]) {
      const { found, notes } = decodeOne(engine, 1, withValue(place, value));
      found.mask(0, { size: "prototype" });
      expect(notes).toEqual([PROTOTYPES]);
    }
  });

  test("values outside of the box are not read", () => {
    const { found, notes } = decodeOne(engine, 1, withValue(3, NaN));
    found.mask(0, { size: "prototype" });
    expect(notes).toEqual([]);
  });

  test.each(["input", "input_crop_first", "sigmoid_input", "sigmoid_input_crop_first"] as const)(
    "rule %s",
    (rule) => {
      const { found, notes } = decodeOne(engine, 1, withValue(1, NaN));
      found.mask(0, { size: "network", rule });
      expect(notes).toEqual([PROTOTYPES]);
    },
  );

  test("copies and label maps tell too", () => {
    const one = decodeOne(engine, 1, withValue(1, NaN));
    labelMap(one.found.copy());
    expect(one.notes).toEqual([PROTOTYPES]);
    const other = decodeOne(engine, NaN, FINITE);
    labelMap(other.found);
    expect(other.notes).toEqual([COEFFICIENTS]);
  });

  test("masksOf refuses them", () => {
    const make = (coefficient: number, data: number[], box = 1) =>
      masksOf(
        {
          prototypes: { data, dims: [1, 1, 2, 4] },
          coefficients: [coefficient],
          boxes: [0, 0, box, 1],
          inputSize: [16, 8],
        },
        { engine },
      );
    expect(make(1, FINITE)[0].area).toBeGreaterThan(0);
    expect(() => make(NaN, FINITE)).toThrow("coefficients[0]: got NaN, expected a finite number");
    expect(() => make(1e39, FINITE)).toThrow("coefficients[0]: got 1e+39, expected a finite number");
    expect(() => make(1, FINITE, NaN)).toThrow("boxes[2]: got NaN, expected a finite number");
    expect(() => make(1, withValue(7, NaN))).toThrow(
      'tensor "prototypes": got NaN or infinite values, expected finite ones',
    );
  });
});
