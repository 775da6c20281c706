/** Values that another tensor than the config's holds: each is told, and its right neighbour is silent. */
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/entries/index.ts";
import type { TensorInput } from "../../src/core/tensor.ts";

function notesOf(config: object, outputs: Record<string, TensorInput>, frames = 1): string {
  const notes: string[] = [];
  const decoder = createDecoderSync(config as never, { onNote: (note) => notes.push(note) });
  for (let i = 0; i < frames; i++) decoder.decode(outputs);
  return notes.join("\n");
}

/** Returns noise in 0..1 that is the same in each run. */
function noise(): () => number {
  let seed = 7;
  return () => (seed = (seed * 16807) % 2147483647) / 2147483647;
}

describe("oriented rows of 2,100 cells", () => {
  const OBB = { family: "yolov8", task: "oriented", classes: 2, inputSize: [320, 320] };
  const rows = (angleOf: (random: number) => number): Record<string, TensorInput> => {
    const random = noise();
    const data = Float32Array.from({ length: 7 * 2100 }, (_, i) => {
      const channel = Math.floor(i / 2100);
      return channel < 2
        ? 320 * random()
        : channel < 4
          ? 20 + 20 * random()
          : channel < 6
            ? 0.001
            : angleOf(random());
    });
    data[4 * 2100 + 7] = 0.9;
    return { output0: { data, dims: [1, 7, 2100] } };
  };
  test("whose angles are results of a sigmoid", () => {
    const told = /the angles of all 2100 cells lie in 0\.\.1.*angleForm: "fractions"/;
    expect(
      notesOf(
        OBB,
        rows((x) => x),
      ),
    ).toMatch(told);
    expect(
      notesOf(
        { ...OBB, angleForm: "fractions" },
        rows((x) => x),
      ),
    ).not.toMatch(told);
  });
  test.each<[string, (x: number) => number]>([
    ["radians", (x) => (x - 0.25) * Math.PI],
    ["a quarter of a turn", (x) => (x * Math.PI) / 2],
    ["one value", () => 0.5],
  ])("whose angles are %s are right", (_, angleOf) => {
    expect(notesOf(OBB, rows(angleOf))).not.toContain("angles of all");
  });
});

describe("bytes", () => {
  const V8 = { family: "yolov8", classes: 2, inputSize: [320, 320], scores: "probabilities" };
  const told = "are those of floats";
  const floats = Float32Array.from({ length: 6 * 2100 }, noise());
  const output = (data: Uint8Array): Record<string, TensorInput> => ({
    output0: { data, dims: [1, 6, 2100], scale: 1 / 255, zeroPoint: 0 },
  });
  const V8B = { ...V8, coordinates: "normalised" };
  test("of floats are told", () => {
    expect(notesOf(V8B, output(new Uint8Array(floats.buffer, 0, 6 * 2100)))).toContain(told);
  });
  test.each<[string, (i: number, random: () => number) => number]>([
    ["noise", (_, random) => 256 * random()],
    ["low scores", (i) => (i % 97 === 0 ? 200 : i % 3)],
  ])("of quantised values are right: %s", (_, byteOf) => {
    const random = noise();
    const data = Uint8Array.from({ length: 6 * 2100 }, (_, i) => byteOf(i, random));
    expect(notesOf(V8B, output(data))).not.toContain(told);
  });
});

describe("a scale", () => {
  const V8 = { family: "yolov8", classes: 2, inputSize: [320, 320], scores: "probabilities" };
  const outputs = (ofBoxes: number, ofScores: number): Record<string, TensorInput> => ({
    boxes: { data: new Int8Array(4 * 2100).fill(4), dims: [1, 4, 2100], scale: ofBoxes, zeroPoint: 0 },
    scores: { data: new Int8Array(2 * 2100), dims: [1, 2, 2100], scale: ofScores, zeroPoint: 0 },
  });
  test.each([
    [12, 1 / 255, /the scale 12 of boxes .* is one step of coordinates, and is 3.75 % of the input/],
    [2.5, 0.3, /the scale 0.3 of scores .* is one step of scores, which lie in 0\.\.1/],
  ])("of %d and %d is told", (ofBoxes, ofScores, told) => {
    expect(notesOf(V8, outputs(ofBoxes, ofScores))).toMatch(told);
  });
  test("that suits both is right", () => {
    expect(notesOf(V8, outputs(2.5, 1 / 255))).not.toContain("one step of");
    // A coarse logit is one of many values.
    expect(notesOf({ ...V8, scores: "logits" }, outputs(2.5, 0.3))).not.toContain("one step of");
  });
});
