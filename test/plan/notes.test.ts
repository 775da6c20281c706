/** Notes of a plan: what is odd in its shapes, at the bounds of what is usual. */
import { expect, test } from "vitest";
import type { DecoderOptions } from "../../src/config/types.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import type { PlanDescription } from "../../src/plan/describe.ts";

type Shapes = Readonly<Record<string, readonly number[]>>;

function notesOf(config: object, shapes: Shapes): readonly string[] {
  const outputs = Object.fromEntries(Object.entries(shapes).map(([name, dims]) => [name, { dims }]));
  const decoder = createDecoderSync(config, { engine: "ts", outputs } as DecoderOptions);
  return (decoder.describe().json as PlanDescription).notes;
}

test("an input of 64 x 64 has 84 cells: one row each, or one for each of two, three or five anchors", () => {
  const config = { family: "yolov5", classes: 2, inputSize: [64, 64], reading: "objectness-rows" };
  const notes = (rows: number): readonly string[] => notesOf(config, { o: [1, rows, 7] });
  for (const anchors of [1, 2, 3, 5]) expect(notes(84 * anchors), String(anchors)).toEqual([]);
  for (const rows of [83, 4 * 84, 6 * 84])
    expect(notes(rows)).toEqual([
      `${rows} rows are not the cells of a 64x64 input at the usual strides: is that its size?`,
    ]);
});

test("maps of unusual strides: the note names the input that would have the usual ones", () => {
  const notes = (...sides: readonly number[]): readonly string[] =>
    notesOf(
      { family: "yolov5", classes: 2, inputSize: [128, 64], anchors: sides.map((n) => [[100 / n, 101 / n]]) },
      Object.fromEntries(sides.map((n) => [`o${n}`, [1, 7, n / 2, n]])),
    );
  const of = (widths: string, strides: string, input: string): string =>
    `maps ${widths} cells wide have the strides ${strides} in a 128x64 input, and yolov5 usually has 8, 16, 32: ` +
    `is the input ${input}? The option strides settles it`;
  expect(notes(16, 8, 4)).toEqual([]);
  expect(notes(16, 8, 4, 2)).toEqual([]);
  expect(notes(32, 16, 8, 4)).toEqual([]);
  expect(notes(8, 4)).toEqual([]);
  expect(notes(32, 16)).toEqual([of("32, 16", "4, 8", "512x256")]);
  expect(notes(32, 16, 8)).toEqual([of("32, 16, 8", "4, 8, 16", "256x128")]);
  // A map alone has no other one to compare with.
  expect(notes(32)).toEqual([of("32", "4", "of this size")]);
  expect(notes(64, 32, 16, 8)).toEqual([of("64, 32, 16, 8", "2, 4, 8, 16", "512x256")]);
});

test("names of roles that no output has are listed, six at most", () => {
  const boxes = Array.from({ length: 7 }, (_, i) => `n${i}`);
  const config = { family: "yolov5", classes: 2, inputSize: [64, 64], reading: "objectness-rows" };
  expect(notesOf({ ...config, roles: { boxes } }, { o: [1, 84, 7] })).toEqual([
    "roles name none of these outputs: n0, n1, n2, n3, n4, n5, ...",
  ]);
  expect(notesOf({ ...config, roles: { boxes: boxes.slice(0, 6) } }, { o: [1, 84, 7] })).toEqual([
    "roles name none of these outputs: n0, n1, n2, n3, n4, n5",
  ]);
});

test("roles of which one output is lacking are refused", () => {
  const config = { family: "yolov5", classes: 2, inputSize: [64, 64], roles: { boxes: "o", scores: "t" } };
  expect(() => notesOf(config, { o: [1, 84, 7] })).toThrow(
    "roles: got outputs o [1,84,7], expected t among them",
  );
});
