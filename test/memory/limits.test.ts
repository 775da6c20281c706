/** How far a tensor may go before it is taken for a mistake: what stands just inside each limit, and just outside. */
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import { engines } from "../support/engines.ts";

/** One row of corners with a score. */
const decode = (config: object, corner: number, engine: (typeof engines)[number]): number =>
  createDecoderSync(
    {
      family: "yolov8",
      classes: 1,
      inputSize: [64, 64],
      boxFormat: "xyxy",
      reading: "class-rows",
      ...config,
    },
    { engine },
  ).decode([{ data: Float32Array.of(0, 0, corner, corner, 0.75), dims: [1, 1, 5], order: "rows" }]).length;

describe.each(engines)("%s", (engine) => {
  test("coordinates up to 16 may be 0..1, of a box that is many images wide; beyond they are pixels", () => {
    const config = { coordinates: "normalised" };
    expect(decode(config, 16, engine)).toBe(1);
    expect(() => decode(config, 16 + 2 ** -19, engine)).toThrow(
      'got box coordinates up to 16, expected 0..1; if they are pixels, say coordinates: "pixels"',
    );
  });

  test("boxes that end beyond two pixels may be pixels; within them they are 0..1", () => {
    const config = { coordinates: "pixels" };
    expect(decode(config, 2.125, engine)).toBe(1);
    expect(() => decode(config, 2, engine)).toThrow(
      'got boxes within 2 pixels of the corner, expected pixels of a 64x64 input; if they are 0..1, say coordinates: "normalised"',
    );
    // each side by its own length
    expect(() => decode({ ...config, inputSize: [64, 32] }, 2, engine)).toThrow("got boxes within 2 pixels");
    expect(() => decode({ ...config, inputSize: [32, 64] }, 2, engine)).toThrow("got boxes within 2 pixels");
  });

  test("scores in steps below a half tell something, in steps of a half nothing", () => {
    const config = { family: "yolov8", classes: 1, inputSize: [64, 64] };
    const dims = (channels: number): number[] => [1, channels, 84];
    const make = (scale: number): number =>
      createDecoderSync(config, { engine }).decode({
        box: { data: new Float32Array(4 * 84).fill(16), dims: dims(4) },
        cls: { data: Uint8Array.of(2, ...new Uint8Array(83)), dims: dims(1), scale, zeroPoint: 0 },
      }).length;
    // twice 0.499 is a score below 1
    expect(make(0.499)).toBe(1);
    expect(() => make(0.5)).toThrow(
      "scale 0.5 and zero point 0 (values 0..127.5 in steps of 0.5), expected a scale that tells scores between 0 and 1 apart",
    );
  });
});
