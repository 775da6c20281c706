/** Right results on which notes cried wolf, and the mistakes that the same checks still tell. */
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/entries/index.ts";
import type { TensorInput } from "../../src/core/tensor.ts";

function notesOf(config: object, outputs: Record<string, TensorInput>, frames = 1): string[] {
  const notes: string[] = [];
  const decoder = createDecoderSync(config as never, { onNote: (note) => notes.push(note) });
  for (let i = 0; i < frames; i++) decoder.decode(outputs);
  return notes;
}

describe("two anchors of a cell, row by row", () => {
  let seed = 7;
  const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647;
  /** Distances that differ between the anchors. `isPlanes`: channels stand first. */
  const outputs = (isPlanes: boolean): Record<string, TensorInput> =>
    Object.fromEntries(
      [
        [8, 12800],
        [16, 3200],
        [32, 800],
      ].flatMap(([stride, rows]) => {
        const score = new Float32Array(rows);
        if (stride === 16) score[101] = 0.9;
        const box = new Float32Array(rows * 4);
        for (let row = 0; row < rows; row++)
          for (let c = 0; c < 4; c++)
            box[isPlanes ? c * rows + row : row * 4 + c] =
              (row % 2 ? 4 : 1) + (isPlanes ? 9 * c : 0) + 0.2 * random();
        const points = Float32Array.from({ length: rows * 10 }, () => random() / 10);
        return [
          [`score_${stride}`, { data: score, dims: [1, rows, 1] }],
          [`bbox_${stride}`, { data: box, dims: [1, rows, 4] }],
          [`kps_${stride}`, { data: points, dims: [1, rows, 10] }],
        ];
      }),
    );
  const SCRFD = { family: "scrfd", inputSize: [640, 640] };
  test("are no wrong order", () => {
    expect(notesOf(SCRFD, outputs(false))).toEqual([]);
  });
  test("a wrong order is told", () => {
    expect(notesOf(SCRFD, outputs(true)).join()).toMatch(
      /neighbouring values of bbox_8.*channels came first/,
    );
  });
});

describe("maps of text", () => {
  const map = (value: number, width: number): Record<string, TensorInput> => {
    const data = new Float32Array(96 * 96);
    for (let y = 10; y < 12; y++) data.fill(value, y * 96 + 10, y * 96 + 10 + width);
    return { maps: { data, dims: [1, 1, 96, 96] } };
  };
  const DBNET = { family: "dbnet", inputSize: [96, 96] };
  test.each([
    [0.976, 2],
    [0.5, 30],
  ])("with a maximum of %d are not all 0", (value, width) => {
    expect(notesOf(DBNET, map(value, width), 40)).toEqual([]);
  });
  test("that are 0 everywhere are told", () => {
    expect(notesOf(DBNET, map(0, 1)).join()).toMatch(
      /every score of maps \[1,1,96,96\] is 0: has the network run/,
    );
  });
});

describe("frames that stay empty below the threshold", () => {
  const rows = (score: number): Record<string, TensorInput> => {
    const data = Float32Array.from({ length: 84 * 2100 }, (_, i) => (i % 97) / 9700);
    [100, 100, 50, 50, score].forEach((v, c) => (data[c * 2100 + 777] = v));
    return { output0: { data, dims: [1, 84, 2100] } };
  };
  const list = (score: number): Record<string, TensorInput> => ({
    output0: { data: Float32Array.from([10, 10, 50, 60, score, 3]), dims: [1, 1, 6] },
  });
  const V8 = { family: "yolov8", classes: 80, inputSize: [320, 320] };
  test.each([
    [1, 0.93],
    [0.95, 0.4],
    [0.5, 0.45],
  ])("threshold %d, best score %d", (confidenceThreshold, score) => {
    const told = /nothing passed the threshold [\d.]+ in 30 frames.*Lower confidenceThreshold/;
    for (const outputs of [rows(score), list(score)]) {
      expect(notesOf({ ...V8, confidenceThreshold }, outputs, 40).join()).toMatch(told);
      expect(notesOf({ ...V8, confidenceThreshold }, outputs, 20).join()).not.toMatch(told);
    }
  });
  test.each([
    [0.5, 0.2],
    [0.25, 0.1],
    [0.9, 0.1],
  ])("threshold %d and a best score of %d may be an empty scene", (confidenceThreshold, score) => {
    const told =
      /in 30 frames.*\(class 0|3, cell \d+\): an empty scene gives such scores\. If objects are there/;
    for (const outputs of [rows(score), list(score)]) {
      expect(notesOf({ ...V8, confidenceThreshold }, outputs, 40).join()).toMatch(told);
      expect(notesOf({ ...V8, confidenceThreshold }, outputs, 29).join()).not.toMatch(/nothing passed/);
    }
  });
  test("an empty scene is no news after something was found", () => {
    const notes: string[] = [];
    const decoder = createDecoderSync(V8 as never, { onNote: (note) => notes.push(note) });
    decoder.decode(rows(0.9));
    for (let i = 0; i < 100; i++) decoder.decode(rows(0.1));
    expect(notes.join()).not.toMatch(/nothing passed/);
  });
});
