/** Decoders of FOMO, CenterNet and face_det_lite: forms of tensors, rules, frames, and bad input. */
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../../src/entries/index.ts";
import type { TypedOptions } from "../../../src/config/types.ts";
import type { TensorInput } from "../../../src/core/tensor.ts";
import { engines } from "../../support/engines.ts";

const f32 = (dims: readonly number[], fill = 0): { data: Float32Array; dims: readonly number[] } => ({
  data: new Float32Array(dims.reduce((n, d) => n * d, 1)).fill(fill),
  dims,
});

/** A map of FOMO, [1,h,w,C+1], with some cells set: x, y, class id, value. */
function fomoMap(
  [width, height]: readonly [number, number],
  classes: number,
  cells: readonly (readonly [x: number, y: number, classId: number, value: number])[],
): { data: Float32Array; dims: readonly number[] } {
  const map = f32([1, height, width, classes + 1]);
  for (const [x, y, classId, value] of cells) map.data[(y * width + x) * (classes + 1) + 1 + classId] = value;
  return map;
}

const fomo: TypedOptions = { family: "fomo", classes: 2, inputSize: [96, 96] };

describe("FOMO", () => {
  test("channels first and last are the same, in three engines", () => {
    const last = fomoMap([12, 12], 2, [
      [3, 4, 0, 0.9],
      [3, 4, 1, 0.75],
      [9, 9, 1, 0.5],
    ]);
    const first = f32([1, 3, 12, 12]);
    for (let cell = 0; cell < 144; cell++)
      for (let c = 0; c < 3; c++) first.data[c * 144 + cell] = last.data[cell * 3 + c];
    for (const engine of engines) {
      const rows = [last, first].map((map) => createDecoderSync(fomo, { engine }).decode({ map }).toArray());
      expect(rows[0].map((d) => [d.class_id, Math.fround(d.confidence)])).toEqual([
        [0, Math.fround(0.9)],
        [1, 0.75],
        // A cell at the threshold passes.
        [1, 0.5],
      ]);
      expect(rows[1]).toEqual(rows[0]);
    }
  });

  test("labels and thresholds may begin with the background, which the ids leave out", () => {
    const map = fomoMap([12, 12], 2, [
      [3, 4, 0, 0.75],
      [9, 9, 1, 0.5],
    ]);
    const labels = ["background", "cat", "dog"];
    const found = createDecoderSync({
      family: "fomo",
      inputSize: [96, 96],
      labels,
      confidenceThreshold: [0, 0.7, 0.6],
    }).decode({ map });
    expect([...found]).toMatchObject([{ class_id: 0, label: "cat" }]);
  });

  test("the shape tells the classes, and the letterbox is undone", () => {
    const decoder = createDecoderSync({ family: "fomo", inputSize: [96, 96] });
    const found = decoder.decode(fomoMap([12, 12], 4, [[6, 6, 3, 0.8]]), {
      width: 200,
      height: 100,
      resize: "letterbox",
    });
    expect(found.length).toBe(1);
    const [{ class_id, x_min, y_min, y_max }] = found;
    // Cell 6 begins in the middle of the input, and of the image. The image is 48 pixels high there: six cells.
    expect([class_id, x_min, y_min]).toEqual([3, 0.5, 0.5]);
    expect(y_max).toBeCloseTo(0.5 + 1 / 6, 6);
  });

  test("every image of a batch", () => {
    const map = f32([2, 12, 12, 3]);
    map.data[1] = 0.9;
    map.data[144 * 3 + 144 * 3 - 1] = 0.8;
    const [a, b] = createDecoderSync(fomo).decodeBatch({ map });
    expect([a.at(0)?.class_id, b.at(0)?.class_id, b.at(0)?.x_max]).toEqual([0, 1, 1]);
  });

  test("a map as wide as it has channels needs its order", () => {
    const options: TypedOptions = { family: "fomo", classes: 11, inputSize: [96, 96] };
    const map = fomoMap([12, 12], 11, [[3, 4, 7, 0.9]]);
    expect(() => createDecoderSync(options).decode({ map })).toThrow("the tensor's order settles it");
    const found = createDecoderSync(options).decode({ map: { ...map, order: "NHWC" } });
    expect(found.toArray().map((d) => [d.class_id, d.x_min])).toEqual([[7, 0.25]]);
  });

  test("describe says how cells are grouped", () => {
    const decoder = createDecoderSync({ ...fomo, cellGroups: "enclosing" });
    decoder.decode(fomoMap([12, 12], 2, []));
    expect(decoder.describe().text).toContain(
      "cells: a 12x12 map of 2 classes, each group of cells that touch in its enclosing box. Only centres have a meaning",
    );
  });

  test.each<[string, TypedOptions, TensorInput, string]>([
    ["a class too few", fomo, f32([1, 12, 12, 2]), "[1,h,w,3], the background and 2 classes of each cell"],
    [
      "a map of another input",
      { ...fomo, inputSize: [96, 48] },
      f32([1, 12, 12, 3]),
      "of an input 96x48 (width x height)",
    ],
    ["logits", fomo, f32([1, 12, 12, 3], 4), "if the tensor holds logits"],
    ["no map", fomo, f32([1, 432]), "[1,h,w,3]"],
  ])("%s is refused", (_, options, map, message) => {
    expect(() => createDecoderSync(options).decode({ map })).toThrow(message);
  });

  test("NaN passes nothing and hides nothing, and is noted", () => {
    const notes: string[] = [];
    const decoder = createDecoderSync(fomo, { onNote: (note) => notes.push(note) });
    const map = fomoMap([12, 12], 2, [[5, 5, 1, 0.9]]);
    map.data[(5 * 12 + 5) * 3 + 1] = NaN;
    expect(
      decoder
        .decode({ map })
        .toArray()
        .map((d) => d.class_id),
    ).toEqual([1]);
    expect(notes.join()).toContain("NaN");
  });

  test("an option of another task is refused", () => {
    expect(() => createDecoderSync({ ...fomo, keypoints: [5, 2] })).toThrow('task "pose"');
    expect(() => createDecoderSync({ ...fomo, cellGroups: "sdk" as "enclosing" })).toThrow(
      "one of edge-impulse, enclosing",
    );
  });
});

const centernet: TypedOptions = { family: "centernet", classes: 2, inputSize: [64, 32] };

/** hm, wh and reg of 16 x 8 cells. */
const maps = (): Record<"hm" | "wh" | "reg", ReturnType<typeof f32>> => ({
  hm: f32([1, 2, 8, 16], -9),
  wh: f32([1, 2, 8, 16], 2),
  reg: f32([1, 2, 8, 16], 0.25),
});

describe("CenterNet", () => {
  test("peaks of each class, best first by their logits", () => {
    const { hm, wh, reg } = maps();
    // The neighbour of a peak is none. Two logits whose sigmoid is 1 in f32 keep their order.
    hm.data.set([20, 18], 2 * 16 + 5);
    hm.data[2 * 16 + 9] = 19;
    hm.data[128 + 2 * 16 + 6] = 3;
    for (const engine of engines) {
      const found = createDecoderSync(centernet, { engine }).decode({ hm, wh, reg });
      expect(found.toArray().map((d) => [d.class_id, Math.round(d.x_min * 64 * 4) / 4])).toEqual([
        [0, (5 + 0.25 - 1) * 4],
        [0, (9 + 0.25 - 1) * 4],
        [1, (6 + 0.25 - 1) * 4],
      ]);
    }
  });

  test("a list without names is in the order of the export; roles name other outputs", () => {
    const { hm, wh, reg } = maps();
    hm.data[2 * 16 + 5] = 3;
    const list = createDecoderSync(centernet).decode([hm, wh, reg]).toArray();
    const named = createDecoderSync({ ...centernet, roles: { scores: "c", boxes: ["b", "a"] } });
    expect(named.decode({ a: reg, b: wh, c: hm }).toArray()).toEqual(list);
    expect(list.length).toBe(1);
  });

  test("without offsets a centre is the middle of its cell", () => {
    const { hm, wh } = maps();
    hm.data[2 * 16 + 5] = 3;
    const [{ x_min }] = createDecoderSync(centernet).decode({ hm, wh });
    expect(x_min * 64).toBeCloseTo((5.5 - 1) * 4, 4);
  });

  test("an offset that is NaN drops its object with a note", () => {
    const notes: string[] = [];
    const { hm, wh, reg } = maps();
    hm.data[2 * 16 + 5] = 3;
    reg.data[2 * 16 + 5] = NaN;
    const decoder = createDecoderSync(centernet, { onNote: (note) => notes.push(note) });
    expect(decoder.decode({ hm, wh, reg }).length).toBe(0);
    expect(notes.join()).toContain("offsets of centres are NaN or infinite");
  });

  test("a missing map, a transposed one and another count are refused", () => {
    const { hm, wh, reg } = maps();
    const message = "hm [1,2,h,w] + wh [1,2,h,w] + reg [1,2,h,w], a quarter of the input";
    expect(() => createDecoderSync(centernet).decode({ hm, reg })).toThrow(message);
    expect(() => createDecoderSync({ ...centernet, inputSize: [32, 64] }).decode({ hm, wh, reg })).toThrow(
      message,
    );
    expect(() => createDecoderSync({ ...centernet, classes: 3 }).decode({ hm, wh, reg })).toThrow(
      "hm [1,3,h,w]",
    );
  });
});

describe("face_det_lite", () => {
  /** heatmap, bbox and landmark of 8 x 4 cells with two faces, `apart` cells from each other. */
  function faces(apart: number): Record<string, TensorInput> {
    const heatmap = f32([1, 1, 4, 8], -9);
    heatmap.data[8 + 1] = 2;
    heatmap.data[8 + 1 + apart] = 1;
    const landmark = f32([1, 10, 4, 8]);
    landmark.data.fill(0.5, 5 * 32, 6 * 32);
    return { heatmap, bbox: f32([1, 4, 4, 8], 2), landmark };
  }
  const options: TypedOptions = { family: "face-det-lite", inputSize: [64, 32] };

  test("five x first, then five y", () => {
    const [{ keypoints }] = createDecoderSync(options).decode(faces(5));
    expect(keypoints?.length).toBe(5);
    expect([keypoints?.[0].x, keypoints?.[0].y, keypoints?.[1].y]).toEqual([1 / 8, 1.5 / 4, 1 / 4]);
  });

  test("faces suppress each other above an IoU of 0.2, by default", () => {
    // Boxes of 32 pixels, 16 apart: IoU (17 x 33) / (2 x 33 x 33 - 17 x 33) = 0.35 with the legacy pixel.
    expect(createDecoderSync(options).decode(faces(2)).length).toBe(1);
    expect(createDecoderSync({ ...options, iouThreshold: 0.4 }).decode(faces(2)).length).toBe(2);
    expect(createDecoderSync({ ...options, rules: { suppress: "none" } }).decode(faces(2)).length).toBe(2);
  });

  test("maps of different sizes are refused", () => {
    expect(() => createDecoderSync(options).decode({ ...faces(5), bbox: f32([1, 4, 8, 4]) })).toThrow(
      "heatmap [1,1,h,w] + bbox [1,4,h,w] + landmark [1,10,h,w]",
    );
  });
});
