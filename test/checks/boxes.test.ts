/** Notes on finished lists whose boxes are no corners, in frames after the first. */
import { expect, test } from "vitest";
import { createDecoderSync } from "../../src/entries/index.ts";

/** Returns the notes after frames with one box of 50 x 60 each. `places`: x and y of the corner of each box. */
function notesOf(places: readonly number[], isCorners = false): string {
  const notes: string[] = [];
  const decoder = createDecoderSync(
    { family: "yolo26", classes: 80, inputSize: [640, 640] },
    { onNote: (note) => notes.push(note) },
  );
  for (const x of places) {
    const data = Float32Array.from([x, x, isCorners ? x + 50 : 50, isCorners ? x + 60 : 60, 0.9, 3]);
    decoder.decode([{ data, dims: [1, 1, 6] }]);
  }
  return notes.join("\n");
}

const NEAR = [10, 20, 30];

test("corner and size, the first frames near the left upper corner", () => {
  expect(notesOf([...NEAR, 300, 10, 400, 500])).toMatch(
    /^3 boxes of the first 7 frames with any have x_max < x_min .* say boxFormat: "xywh"/,
  );
  expect(notesOf([...NEAR, 300, 400])).toBe("");
});
test("corners, and boxes that come later than the first hundred frames, are not told", () => {
  const late = [...Array<number>(100).fill(20), 300, 300, 300];
  expect(notesOf(late)).toBe("");
  expect(notesOf([...NEAR, 300, 400, 500, 500], true)).toBe("");
});
