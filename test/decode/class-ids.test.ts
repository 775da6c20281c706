/** Class ids from a column: the nearest whole number, in every engine. */
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/entries/index.ts";
import { engines } from "../support/engines.ts";

/** Steps of an int8 export of YOLOv10. Source: ultralytics/ultralytics#15845. */
const SCALE = 0.310794;
const IDS = [2, 5, 16, 79];

describe.each(engines)("%s", (engine) => {
  const ids = (column: object, classes = 80) => {
    const notes: string[] = [];
    const decoder = createDecoderSync(
      { family: "tflite-postprocess", classes, roles: { boxes: "b", classIds: "c", scores: "s" } },
      { engine, onNote: (note) => notes.push(note) },
    );
    const boxes = Float32Array.from(IDS.flatMap((_, i) => [i * 0.2, 0.1, i * 0.2 + 0.1, 0.3]));
    const found = decoder.decode({
      b: { data: boxes, dims: [1, 4, 4] },
      c: { dims: [1, 4], ...column } as never,
      s: { data: Float32Array.of(0.9, 0.8, 0.7, 0.6), dims: [1, 4] },
    });
    return { ids: found.toArray().map((d) => d.class_id), notes };
  };

  test("bytes with a scale", () => {
    const data = Uint8Array.from(IDS, (id) => Math.round(id / SCALE));
    expect(ids({ data, scale: SCALE, zeroPoint: 0 })).toEqual({ ids: IDS, notes: [] });
  });

  test("floats a little beside whole numbers, and below 0", () => {
    expect(ids({ data: Float32Array.of(1.98, 5.02, 15.9999, -0.01) })).toEqual({
      ids: [2, 5, 16, 0],
      notes: [],
    });
  });

  test("two classes in fractions of a byte", () => {
    const data = Uint8Array.of(0, 254, 255, 1);
    expect(ids({ data, scale: 1 / 256, zeroPoint: 0 }, 2).ids).toEqual([0, 1, 1, 0]);
  });

  test("a fraction far from a whole number gets a note", () => {
    const { notes } = ids({ data: Float32Array.of(2, 5.4, 16, 79) });
    expect(notes).toEqual([
      "class id 5.4 is no whole number, and is rounded: does the column hold class ids?",
    ]);
  });

  test("an id beyond the class count gets a note, unless one background class explains it", () => {
    const data = Float32Array.of(2, 5, 16, 79);
    expect(ids({ data }, 79).notes).toEqual([]);
    expect(ids({ data: Float32Array.of(0, 5, 16, 79) }, 79).notes).toEqual([
      "class 79 was found, and there are 79 classes: are they those of this network?",
    ]);
    expect(ids({ data }, 78).notes).toEqual([
      "class 79 was found, and there are 78 classes: are they those of this network?",
    ]);
  });
});

test("steps that skip classes are refused", () => {
  const decoder = createDecoderSync({ family: "yolov10", classes: 80, coordinates: "normalised" });
  const data = new Int8Array(6 * 20);
  expect(() => decoder.decode([{ data, dims: [1, 20, 6], scale: 1.5, zeroPoint: 0 }])).toThrow(
    /a scale that tells|steps of 1/,
  );
});
