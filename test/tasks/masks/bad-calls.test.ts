/** Calls that are wrong, of the functions beside the decoder: a message says what was found and what was expected. */
import { expect, test } from "vitest";
import type { Frame } from "../../../src/decode/frame.ts";
import { createDecoderSync } from "../../../src/whole/decoder.ts";
import {
  classMap,
  cornersOf,
  fitCorners,
  masksOf,
  orientedIou,
  regularise,
  suppressDetections,
} from "../../../src/entries/index.ts";

/** Returns the detections of a frame with one box, or with none. */
function found(score: number, right = 12, frame?: Frame) {
  const options = { family: "yolo26", inputSize: [16, 8], task: "segment", coordinates: "pixels" } as const;
  const outputs = {
    output0: { data: [0, 0, right, 8, score, 0, 1], dims: [1, 1, 7] },
    output1: { data: [1, 1, 1, 1, -1, 1, 1, -1], dims: [1, 1, 2, 4] },
  };
  return createDecoderSync(options).decode(outputs, frame);
}

test.each([
  ["network", 'options: got "network", expected an object with some of size, rule, threshold'],
  [5, "options: got 5, expected an object"],
  [[], "options: got [], expected an object"],
  [{ treshold: 0.9 }, "treshold: got an unknown name, expected one of size, rule, threshold"],
])("options of a mask: %j", (options, message) => {
  expect(() => found(0.9).mask(0, options as never)).toThrow(message);
});

test("a mask of a frame without detections", () => {
  expect(() => found(0.1).mask(0)).toThrow(
    "mask: got row 0, expected a frame with detections: this one has none",
  );
});

test("a mask of more pixels than a picture can have", () => {
  const decode = (width: number, height: number) => found(0.9, 16, { width, height, resize: "stretch" });
  expect(() => decode(65536, 65536).mask(0)).toThrow(
    'mask: got a box of 65536x65536 pixels, expected at most 1073741824: give a size, "network" or [width, height]',
  );
  expect(() => decode(1e6, 1e6).mask(0)).toThrow(RangeError);
  expect(decode(65536, 65536).mask(0, { size: "network" })).toMatchObject({ width: 16, height: 8 });
  // A long picture is none too large.
  expect(decode(65536, 4).mask(0)).toMatchObject({ width: 65536, height: 4 });
});

test("masksOf without lists", () => {
  const prototypes = { data: [1, 1, -1, -1], dims: [1, 1, 2, 2] };
  expect(() => masksOf(null as never)).toThrow('tensor "prototypes": got undefined');
  expect(() => masksOf({ prototypes, inputSize: [8, 8] } as never)).toThrow("coefficients: got undefined");
});

test.each([null, 5, "x", [1, 2, 3]])("oriented boxes: %j", (bad) => {
  expect(() => regularise(bad as never)).toThrow("expected [cx, cy, width, height, angle]");
  expect(() => cornersOf(bad as never)).toThrow("expected [cx, cy, width, height, angle]");
  expect(() => fitCorners(bad as never)).toThrow("expected four corners [x, y]");
  expect(() => orientedIou([1, 1, 5, 5, 0], bad as never, "probiou")).toThrow(
    /^b: got .*, expected \[cx, cy/,
  );
});

test.each([[[]], [[{ x_min: 0 }]], [structuredClone(found(0.9))]])("suppressDetections: %j", (bad) => {
  expect(() => suppressDetections(bad as never)).toThrow(
    /detections: got .* expected what decode\(\) returned/,
  );
});

test("masksOf with boxes in another format or unit", () => {
  const prototypes = { data: [1, 1, -1, -1], dims: [1, 1, 2, 2] };
  const make = (...boxes: number[]) =>
    masksOf({ prototypes, coefficients: Array<number>(boxes.length / 4).fill(1), boxes, inputSize: [8, 8] });
  expect(make(0, 0, 0, 0)).toHaveLength(1);
  expect(() => make(0, 0, 1, 1, 0.5, 0.5, 0.2, 0.6)).toThrow(
    "box 1: got 0.5, 0.5, 0.2, 0.6, expected corners x_min, y_min, x_max, y_max",
  );
  expect(() => make(40, 30, 90, 80)).toThrow("box 0: got 40, 30, 90, 80, expected 0..1 across the image");
  // A box in pixels may begin at the photo's corner.
  expect(() => make(0, 0, 300, 200)).toThrow("box 0: got 0, 0, 300, 200, expected 0..1 across the image");
  // A normalised box may lie far outside of the photo along one axis, or reach far over its edges along both.
  expect(make(9, 0.2, 9.5, 0.4)[0].area).toBe(0);
  expect(make(-8, -8, 9, 9)).toHaveLength(1);
});

test("sizes that are turned", () => {
  const frame = { width: 160, height: 80, resize: "stretch" } as const;
  const decoder = createDecoderSync({
    family: "yolo26",
    inputSize: [16, 8],
    task: "segment",
    coordinates: "pixels",
  });
  const seen = decoder.decode(
    {
      output0: { data: [0, 0, 12, 8, 0.9, 0, 1], dims: [1, 1, 7] },
      output1: { data: [1, 1, 1, 1, -1, 1, 1, -1], dims: [1, 1, 2, 4] },
    },
    frame,
  );
  expect(() => seen.mask(0, { size: [80, 160] })).toThrow(
    "size: got [80, 160], height and width of the frame, expected [width, height]",
  );
  expect(seen.mask(0, { size: [80, 80] }).size).toEqual([80, 80]);
  const prototypes = { data: [1, 1, -1, -1, 1, 1, -1, -1], dims: [1, 1, 2, 4] };
  expect(() => masksOf({ prototypes, coefficients: [1], boxes: [0, 0, 1, 1], inputSize: [8, 16] })).toThrow(
    "inputSize: got [8, 16] for prototypes of 4 x 2, expected [width, height], not height and width",
  );
});

test("masksOf with a misspelt name, and with texts as numbers", () => {
  const prototypes = { data: [1, 1, -1, -1], dims: [1, 1, 2, 2] };
  const inputs = { prototypes, coefficients: [1], boxes: [0, 0, 1, 1], inputSize: [8, 8] as const };
  expect(() => masksOf({ ...inputs, frames: {} } as never)).toThrow(
    "frames: got an unknown name, expected one of prototypes, coefficients, boxes, inputSize, frame",
  );
  expect(() => masksOf({ ...inputs, coefficients: ["1"] } as never)).toThrow(
    'coefficients[0]: got "1", expected a finite number',
  );
});

test("classMap of one class, and of pixels without a number", () => {
  expect(() => classMap({ data: [1, 2, 3, 4], dims: [1, 1, 2, 2], order: "NCHW" })).toThrow(
    /tensor "scores": got .*, one class, expected two classes or more/,
  );
  for (const [order, dims] of [
    ["NCHW", [1, 2, 1, 2]],
    ["NHWC", [1, 1, 2, 2]],
  ] as const) {
    expect(() => classMap({ data: [NaN, 1, NaN, NaN], dims, order })).toThrow(
      /tensor "scores": got 1 of 2 pixels without a score above -Infinity, expected numbers/,
    );
    // One number is enough: NaN is below it.
    expect(
      classMap({ data: order === "NCHW" ? [NaN, 1, 0, NaN] : [NaN, 0, 1, NaN], dims, order }).data,
    ).toEqual(Uint8Array.of(1, 0));
  }
});
