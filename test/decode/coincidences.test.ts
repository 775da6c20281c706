/** Counts of classes, rows and cells that coincide: a right network is read, and a wrong count is told. */
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/entries/index.ts";

const notesOf = (config: object, outputs: object): { rows: { class_id: number }[]; notes: string[] } => {
  const notes: string[] = [];
  const decoder = createDecoderSync(config as never, { onNote: (note) => notes.push(note) });
  return { rows: decoder.decode(outputs as never).toArray(), notes };
};

/** A tensor of small scores with one of 0.9. */
function scores(dims: readonly number[], likely: number): { data: Float32Array; dims: readonly number[] } {
  const count = dims.reduce((n, d) => n * d, 1);
  const data = Float32Array.from({ length: count }, (_, i) => 0.01 + (i % 7) / 1000);
  data[likely] = 0.9;
  return { data, dims };
}

test.each([4, 5, 6, 7])("decoded boxes beside the scores of %i classes are no finished list", (classes) => {
  const boxes = Float32Array.from({ length: 84 * 4 }, (_, i) => 3 + (i % 4 < 2 ? 0 : 9) + (i % 40));
  for (const batch of [[1], []]) {
    const outputs = {
      boxes: { data: boxes, dims: [...batch, 84, 4] },
      scores: scores([...batch, 84, classes], 7 * classes + 2),
    };
    const config = {
      family: "boxes",
      classes,
      inputSize: [64, 64],
      boxFormat: "xyxy",
      coordinates: "pixels",
    };
    expect(notesOf(config, outputs).rows.map((d) => d.class_id)).toEqual([2]);
  }
});

test.each([3, 5, 6])("mmdeploy's list of %i rows beside another output", (rows) => {
  const dets = new Float32Array(rows * 5);
  dets.set([8, 8, 40, 40, 0.9]);
  const outputs = {
    dets: { data: dets, dims: [1, rows, 5] },
    labels: { data: Int32Array.from({ length: rows }, (_, i) => (i === 0 ? 3 : 0)), dims: [1, rows] },
    features: { data: new Float32Array(12), dims: [1, 3, 2, 2] },
  };
  const { rows: found } = notesOf({ family: "mmdeploy", classes: 4, inputSize: [64, 64] }, outputs);
  expect(found.map((d) => d.class_id)).toEqual([3]);
});

test.each(["nanodet", "picodet"])("as many classes as cells in a map: %s", (family) => {
  // An input of 256x320 has 80 cells at stride 32.
  const cells = family === "nanodet" ? [1280, 320, 80] : [1280, 320, 80, 20];
  const outputs = Object.fromEntries(
    cells.flatMap((n, i) => [
      [`cls_${i}`, scores([1, n, 80], i === 0 ? 500 * 80 + 17 : 0)],
      [
        `dis_${i}`,
        { data: Float32Array.from({ length: n * 32 }, (_, k) => (k % 8 === 2 ? 9 : 0)), dims: [1, n, 32] },
      ],
    ]),
  );
  for (const name of Object.keys(outputs).filter((n) => /cls_[1-9]/.test(n)))
    (outputs[name].data as Float32Array)[0] = 0.01;
  const { rows } = notesOf({ family, classes: 80, inputSize: [256, 320] }, outputs);
  expect(rows.map((d) => d.class_id)).toEqual([17]);
});

describe("a count of classes that takes the exporter's confidence for a class", () => {
  /** Maps of YOLOv6 r2: distances, the best score, and the scores of four classes. */
  const outputs = Object.fromEntries(
    [8, 4, 2].map((side) => {
      const n = side * side;
      const data = Float32Array.from({ length: 9 * n }, (_, i) => 1 + (i % side) / 20);
      for (let cell = 0; cell < n; cell++) {
        const each = [0.01, 0.02, 0.03, cell % 5 === 0 ? 0.8 : 0.005];
        [Math.max(...each), ...each].forEach((score, k) => (data[(4 + k) * n + cell] = score));
      }
      return [`output${side}`, { data, dims: [1, 9, side, side] }];
    }),
  );
  test("is told, and the right count is not", () => {
    const config = { family: "yolov6", inputSize: [64, 64] };
    const right = notesOf({ ...config, classes: 4 }, outputs);
    expect(right.rows[0].class_id).toBe(3);
    expect(right.notes).toEqual([]);
    const { notes } = notesOf({ ...config, classes: 5 }, outputs);
    expect(notes.join("\n")).toMatch(/the first of 5 classes of .* is the best of the others in every cell/);
    expect(notes.join("\n")).toContain("say classes: 4");
  });
});
