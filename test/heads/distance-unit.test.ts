/** RTMDet's maps hold pixels or strides: values tell, an option tells, or both readings are named. */
import { expect, test } from "vitest";
import { createDecoderSync, TensorError, toPixels } from "../../src/entries/index.ts";
import { inspect } from "../../src/entries/node.ts";

const CONFIG = { family: "rtmdet", classes: 2, inputSize: [64, 64] } as const;
const SIDES = [8, 4, 2];

/** Maps at strides 8, 16, 32 with `distance` everywhere, in column 1, row 1 of the middle one a cat. */
const outputsOf = (distance: number): Record<string, { data: Float32Array; dims: number[] }> =>
  Object.fromEntries(
    SIDES.flatMap((n, i) => {
      const scores = new Float32Array(2 * n * n).fill(-9);
      if (i === 1) scores[n * n + n + 1] = 3;
      const boxes = new Float32Array(4 * n * n).fill(distance);
      return [
        [`cls_${n}`, { data: scores, dims: [1, 2, n, n] }],
        [`bbox_${n}`, { data: boxes, dims: [1, 4, n, n] }],
      ];
    }),
  );
const dimsOf = (distance: number): Record<string, { dims: number[] }> =>
  Object.fromEntries(Object.entries(outputsOf(distance)).map(([name, { dims }]) => [name, { dims }]));

/** Expects the point of column 1, row 1 at stride 16, and so many pixels around it. */
function expectAround(distance: number, pixels: number, options: object = {}): void {
  const decoder = createDecoderSync({ ...CONFIG, rules: { clamp: "none" }, ...options });
  const [found, ...others] = decoder.decode(outputsOf(distance)).toArray();
  expect(others).toEqual([]);
  expect(found.class_id).toBe(1);
  const { x_min, y_min, x_max, y_max } = toPixels(found, 64, 64);
  expect([x_min, y_min, x_max, y_max]).toEqual([16 - pixels, 16 - pixels, 16 + pixels, 16 + pixels]);
}

test("the values of the first frame tell, and a note says so if a doubt is left", () => {
  expectAround(40, 40);
  expectAround(1.5, 24);
  for (const [distance, unit, isNoted] of [
    [40, "pixels", false],
    [20, "pixels", true],
    [3.5, "strides", true],
    [1.5, "strides", false],
  ] as const) {
    const notes: string[] = [];
    const decoder = createDecoderSync(CONFIG, { onNote: (note) => notes.push(note) });
    decoder.decode(outputsOf(distance));
    expect(decoder.describe().text).toContain(`from the cell's left upper corner, in ${unit}`);
    expect(notes.some((note) => note.startsWith(`distances taken as ${unit}`))).toBe(isNoted);
  }
});

test("the option tells against the values", () => {
  expectAround(40, 640, { coordinates: "strides" });
  expectAround(1.5, 1.5, { coordinates: "pixels" });
});

test("values between both, or none: both readings are named, with the option", () => {
  for (const distance of [8, 0, NaN]) {
    const decoder = createDecoderSync(CONFIG);
    expect(() => decoder.decode(outputsOf(distance))).toThrow(TensorError);
    expect(() => decoder.decode(outputsOf(distance))).toThrow(
      /in pixels[^]*in strides[^]*coordinates: "pixels"/,
    );
  }
});

test("shapes alone do not tell: a decoder with known outputs waits for values, and inspect names the option", () => {
  const decoder = createDecoderSync(CONFIG, { outputs: dimsOf(0) });
  expect(decoder.decode(outputsOf(40)).length).toBe(1);
  const shapes = Object.entries(dimsOf(0)).map(([name, { dims }]) => ({ name, dims }));
  expect(() => inspect(CONFIG, shapes)).toThrow(/coordinates: "pixels"/);
});

test("pixels need an input size", () => {
  const decoder = createDecoderSync({ family: "rtmdet", classes: 2, coordinates: "pixels" });
  expect(() => decoder.decode(outputsOf(40))).toThrow(/inputSize/);
});

test("no other family has strides, and RTMDet has no 0..1", () => {
  const other = createDecoderSync({
    family: "yolov8",
    classes: 2,
    inputSize: [64, 64],
    coordinates: "strides",
  });
  expect(() => other.decode({ o: { data: new Float32Array(6 * 84), dims: [1, 6, 84] } })).toThrow(
    /coordinates "strides"/,
  );
  const mine = createDecoderSync({ ...CONFIG, coordinates: "normalised" });
  expect(() => mine.decode(outputsOf(40))).toThrow(/"pixels" or "strides"/);
});
