/** The gates over raw values at their bounds: the lowest value that passes, and equal classes, wherever they stand. */
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import { engines } from "../support/engines.ts";

const FAR_BELOW = -50;
const bits = new Int32Array(1);
const float = new Float32Array(bits.buffer);

/** Returns the float that lies so many floats above a negative or a positive one. */
function floatsAbove(x: number, n: number): number {
  float[0] = x;
  bits[0] += x < 0 ? -n : n;
  return float[0];
}

/** The scores that a logit may have: core/exp.ts states a relative error below 1e-10, then rounds to f32. */
const scoresOf = (x: number): readonly number[] =>
  [-1e-10, 1e-10].map((error) => Math.fround((1 + error) / (1 + Math.exp(-x))));

describe.each(engines)("%s", (engine) => {
  // Groups of eight cells with one value each: the gate tests eight floats at once.
  test.each([
    ["planes", 1],
    ["planes", 2],
    ["rows", 1],
    ["rows", 2],
  ] as const)("logits about the threshold, %s of %i classes", (order, classes) => {
    const spread = 24;
    const farAbove = [-0, 0, 1, 8, 20, 80];
    const cells = 8 * (2 * spread + 1 + farAbove.length);
    const channels = 4 + classes;
    const decoder = createDecoderSync(
      {
        family: "yolov8",
        classes,
        scores: "logits",
        coordinates: "normalised",
        reading: "class-rows",
        rules: { suppress: "none", multiLabel: false },
        maxDetections: cells,
      },
      { engine },
    );
    const dims = order === "rows" ? [1, cells, channels] : [1, channels, cells];
    for (let k = 1; k < 40; k++) {
      const confidenceThreshold = Math.fround(k / 80 + 0.003);
      decoder.update({ confidenceThreshold });
      const middle = Math.fround(Math.log(confidenceThreshold / (1 - confidenceThreshold)));
      const data = new Float32Array(cells * channels);
      const at = (cell: number, c: number): number =>
        order === "rows" ? cell * channels + c : c * cells + cell;
      const expected: number[] = [];
      for (let cell = 0; cell < cells; cell++) {
        data[at(cell, 0)] = 0.5;
        for (let c = 0; c < classes; c++) data[at(cell, 4 + c)] = FAR_BELOW;
        if (cell % 8 !== k % 8) continue;
        const x = farAbove[(cell >> 3) - (2 * spread + 1)] ?? floatsAbove(middle, (cell >> 3) - spread);
        const [low, high] = scoresOf(x);
        if (low !== high) continue;
        data[at(cell, 3 + classes)] = x;
        if (low > confidenceThreshold) expected.push(cell);
      }
      const found = decoder.decode({ o: { data, dims, order } });
      expect([...found.sources.subarray(0, found.length)].sort((a, b) => a - b)).toEqual(expected);
      expect(expected.length, "cells on both sides of the threshold").toBeGreaterThan(farAbove.length);
      expect(expected.length).toBeLessThan(cells / 8);
    }
  });

  // Beside objectness the best class is looked for once a cell has passed.
  test.each([
    ["planes", "logits"],
    ["planes", "probabilities"],
    ["rows", "logits"],
    ["rows", "probabilities"],
  ] as const)("of equal classes the first, %s of %s", (order, activation) => {
    const classes = 11;
    const channels = 5 + classes;
    const pairs = Array.from({ length: classes }, (_, i) =>
      Array.from({ length: classes - i - 1 }, (_, k) => [i, i + 1 + k]),
    ).flat();
    const cells = pairs.length;
    const decoder = createDecoderSync(
      {
        family: "yolov5",
        classes,
        scores: activation,
        coordinates: "normalised",
        reading: "objectness-rows",
        rules: { suppress: "none" },
        confidenceThreshold: 0.1,
        maxDetections: cells,
      },
      { engine },
    );
    // Logits: positive, zero and negative ones, all with an objectness of 1.
    for (const equal of activation === "logits" ? [1, 0, -0.5] : [0.5, 1]) {
      const data = new Float32Array(cells * channels);
      const at = (cell: number, c: number): number =>
        order === "rows" ? cell * channels + c : c * cells + cell;
      pairs.forEach(([first, second], cell) => {
        data[at(cell, 4)] = activation === "logits" ? 50 : 1;
        for (let c = 0; c < classes; c++) data[at(cell, 5 + c)] = equal - 0.25 - c / 64;
        data[at(cell, 5 + first)] = data[at(cell, 5 + second)] = equal;
      });
      const dims = order === "rows" ? [1, cells, channels] : [1, channels, cells];
      const found = decoder.decode({ o: { data, dims, order } });
      expect(found.length).toBe(cells);
      const ids = new Map([...found.sources.subarray(0, cells)].map((s, i) => [s, found.classIds[i]]));
      expect(pairs.map((_, cell) => ids.get(cell))).toEqual(pairs.map(([first]) => first));
    }
  });

  // The infinite class is the best one, and its score is none: another class must not take its place.
  test.each(["planes", "rows"] as const)("an infinite class drops its cell, %s", (order) => {
    const classes = 11;
    const channels = 5 + classes;
    const data = new Float32Array(classes * channels);
    for (let cell = 0; cell < classes; cell++)
      for (let c = 0; c < channels; c++)
        data[order === "rows" ? cell * channels + c : c * classes + cell] =
          c === 5 + cell ? Infinity : c === 4 ? 1 : c === 5 + ((cell + 5) % classes) ? 0.75 : 0.01;
    const decoder = createDecoderSync(
      { family: "yolov5", classes, coordinates: "normalised", reading: "objectness-rows" },
      { engine },
    );
    const dims = order === "rows" ? [1, classes, channels] : [1, channels, classes];
    expect(decoder.decode({ o: { data, dims, order } }).length).toBe(0);
    expect(decoder.stats.dropped.notFinite).toBe(classes);
  });

  // objectness^0.6 x class^0.4. Networks give probabilities a little below 0: the product of two such is 0.
  test("a negative probability counts as 0 in a power", () => {
    const decoder = createDecoderSync(
      {
        family: "fastestdet",
        classes: 1,
        inputSize: [64, 64],
        confidenceThreshold: 0,
        rules: { gate: ">=", suppress: "none" },
      },
      { engine },
    );
    const scoresOf = (...pairs: [number, number][]): number[] => {
      const data = new Float32Array(6 * 16);
      pairs.forEach(([objectness, probability], cell) => {
        data[cell] = objectness;
        data[5 * 16 + cell] = probability;
      });
      const found = decoder.decode({ o: { data, dims: [1, 6, 4, 4] } });
      return [...found.scores.subarray(0, found.length)];
    };
    // The first frame is checked for probabilities below 0.
    expect(scoresOf([0.5, 0.5])[0]).toBeCloseTo(0.5, 6);
    const [first, ...more] = scoresOf([-0.25, -0.5], [0.5, -0.25], [0.25, 0.5]);
    expect(first).toBeCloseTo(0.25 ** 0.6 * 0.5 ** 0.4, 6);
    expect(new Set(more)).toEqual(new Set([0]));
  });
});
