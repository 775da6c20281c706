/** Notes on all rows of an end-to-end list: an input size or a format that the rows of low scores contradict. */
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/entries/index.ts";
import { foldersIn, describeShared, readRecording } from "../support/shared-data.ts";
import { join } from "node:path";

type Row = readonly [x: number, y: number, right: number, bottom: number, score: number];

const told = {
  twice: /^all \d+ boxes of .* left upper quarter of the \d+x\d+ input: is that its width and height\?/,
  half: /^\d+ of \d+ boxes of .* centred outside of the \d+x\d+ input: is that its width and height\?$/,
  sizes: /^\d+ of \d+ boxes of .* x_max < x_min .* corner and size, say boxFormat: "xywh"; .* "cxcywh"$/,
  corners: /^all \d+ boxes of .* beyond their (?:centre|corner): say boxFormat: "xyxy" if they are corners$/,
  centres: /\d+ of \d+ boxes of .* over an edge: say boxFormat: "cxcywh"/,
};

function notesOf(config: object, data: Float32Array, rows: number): string {
  const notes: string[] = [];
  const options = { onNote: (note: string) => notes.push(note), confidenceThreshold: 0.25 };
  createDecoderSync({ family: "yolo26", classes: 80, ...config } as never, options).decode({
    output0: { data, dims: [1, rows, 6] },
  });
  return notes.join("\n");
}

/** Returns a list as tensor data: one object, and the rest with low scores. */
const listOf = (count: number, rowAt: (i: number) => Row): Float32Array =>
  Float32Array.from(Array.from({ length: count }, (_, i) => [...rowAt(i), 0]).flat());

/** Rows of 20 x 30 pixels, spread over a picture of these sides. */
const spread =
  (width: number, height: number) =>
  (i: number): Row => {
    const [x, y] = [((i * 37) % 100) * (width / 110), ((i * 61) % 100) * (height / 110)];
    return [x, y, x + 20, y + 30, i === 0 ? 0.9 : 0.001];
  };

describe("an end-to-end list of 120 rows", () => {
  const size = { inputSize: [320, 192] };
  const right = listOf(120, spread(320, 192));

  test("is right in its own size", () => {
    expect(notesOf(size, right, 120)).toBe("");
  });
  test("tells an input of twice, and of half the size", () => {
    expect(notesOf({ inputSize: [640, 384] }, right, 120)).toMatch(told.twice);
    expect(notesOf({ inputSize: [160, 96] }, right, 120)).toMatch(told.half);
  });
  test("tells corners that are read as centre and size, and the other way round", () => {
    expect(notesOf({ ...size, boxFormat: "cxcywh" }, right, 120)).toMatch(told.corners);
    const centres = listOf(120, (i) => {
      const [x, y, x2, y2, score] = spread(320, 192)(i);
      return [(x + x2) / 2, (y + y2) / 2, x2 - x, y2 - y, i === 0 ? 0 : score + 0.5 * Number(i === 1)];
    });
    expect(notesOf(size, centres, 120)).toMatch(told.sizes);
    expect(notesOf({ ...size, boxFormat: "cxcywh" }, centres, 120)).toBe("");
  });
  test("tells centre and size that are read as corner and size, and only those", () => {
    const shifted = (part: number): Float32Array =>
      listOf(120, (i) => {
        const [x, y, x2, y2, score] = spread(320, 192)(i);
        return [x + part * (x2 - x), y + part * (y2 - y), x2 - x, y2 - y, score];
      }).map((value, i) => (i % 6 < 2 ? value * 1.1 : value));
    const xywh = { ...size, boxFormat: "xywh" };
    expect(notesOf(xywh, shifted(0.5), 120)).toMatch(told.centres);
    expect(
      notesOf(
        xywh,
        shifted(0).map((value, i) => (i % 6 < 2 ? value * 0.9 : value)),
        120,
      ),
    ).toBe("");
  });
  test("tells corner and size that are read as corners", () => {
    const sizes = listOf(120, (i) => {
      const [x, y, x2, y2, score] = spread(320, 192)(i);
      return [x, y, x2 - x, y2 - y, score];
    });
    expect(notesOf(size, sizes, 120)).toMatch(told.sizes);
    expect(notesOf({ ...size, boxFormat: "xywh" }, sizes, 120)).toBe("");
  });
  test("tells corners that are read as corner and size, also if a few have no area", () => {
    const xywh = { ...size, boxFormat: "xywh" };
    expect(notesOf(xywh, right, 120)).toMatch(told.corners);
    const flat = right.slice();
    flat[6 * 7 + 2] = flat[6 * 7];
    expect(notesOf(xywh, flat, 120)).toMatch(
      /^\d+ of 120 boxes of .* over an edge: say boxFormat: "xyxy" if they are corners$/,
    );
  });
  test("tells one mistake once, if found objects show it too", () => {
    const found = right.map((value, i) => (i % 6 === 4 ? 0.9 - i / 1000 : value));
    expect(notesOf({ inputSize: [160, 96] }, found, 120)).toMatch(told.half);
    const centres = found.map((value, i) =>
      i % 6 < 2 ? (value + found[i + 2]) / 2 : i % 6 < 4 ? 20 : value,
    );
    expect(notesOf(size, centres, 120)).toMatch(told.sizes);
    expect(notesOf({ ...size, boxFormat: "xywh" }, found, 120)).toMatch(told.corners);
  });
  test("in the order of cells is judged by rows from the whole picture", () => {
    const of7000 = (width: number, height: number) =>
      listOf(7000, (i) => {
        const [x, y] = [(i % 80) / 80, (Math.floor(i / 80) % 88) / 88];
        return [x * width, y * height, x * width + 20, y * height + 20, i === 0 ? 0.9 : 0.001];
      });
    expect(notesOf({ inputSize: [640, 640] }, of7000(640, 640), 7000)).toBe("");
    expect(notesOf({ inputSize: [1280, 1280] }, of7000(640, 640), 7000)).toMatch(told.twice);
  });
  test("of which few rows are filled shows nothing", () => {
    const few = listOf(120, (i) => (i < 60 ? spread(320, 192)(i) : [0, 0, 0, 0, 0]));
    expect(notesOf({ inputSize: [640, 384] }, few, 120)).toBe("");
  });
  test("of which one row stands beyond the middle is in its own size", () => {
    const one = listOf(120, (i) => (i === 5 ? [300, 20, 420, 60, 0.001] : spread(320, 192)(i)));
    expect(notesOf({ inputSize: [640, 384] }, one, 120)).toBe("");
  });
});

test("300 queries of centres and sizes that are read as corner and size are told", () => {
  const notes: string[] = [];
  const dets = new Float32Array(1200);
  for (let i = 0; i < 300; i++) dets.set([((i * 37) % 300) / 320, ((i * 61) % 300) / 320, 0.4, 0.3], 4 * i);
  const labels = { data: new Float32Array(600).fill(-4), dims: [1, 300, 2] };
  const network = { family: "rfdetr", classes: 2, inputSize: [64, 64], boxFormat: "xywh" } as const;
  createDecoderSync(network, { onNote: (note) => notes.push(note) }).decode({
    dets: { data: dets, dims: [1, 300, 4] },
    labels,
  });
  expect(notes.join("\n")).toMatch(told.centres);
});

describeShared("a recorded YOLO26", (data) => {
  const root = join(data, "recorded");
  test.each(foldersIn(root, "yolo26n_640"))("%s: no note, and a note on each mistake", (photo) => {
    const { tensors } = readRecording(root, "yolo26n_640", photo);
    const notes = (config: object): string => notesOf(config, Object.values(tensors)[0].data, 300);
    expect(notes({ inputSize: [640, 640] })).toBe("");
    expect(notes({ inputSize: [1280, 1280] })).toMatch(told.twice);
    expect(notes({ inputSize: [320, 320] })).toMatch(told.half);
    expect(notes({ inputSize: [640, 640], boxFormat: "cxcywh" })).toMatch(told.corners);
    const rows = Float32Array.from(Object.values(tensors)[0].data);
    // The same rows as corner and size, and as centre and size.
    const written = (part: number): string => {
      const all = rows.slice();
      for (let i = 0; i < all.length; i += 6)
        for (let k = i; k < i + 2; k++) {
          all[k + 2] -= all[k];
          all[k] += part * all[k + 2];
        }
      return notesOf({ inputSize: [640, 640], boxFormat: "xywh" }, all, 300);
    };
    expect(written(0)).toBe("");
    expect(written(0.5)).toMatch(told.centres);
  });
});
