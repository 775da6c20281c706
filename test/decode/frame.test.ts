/** Where a frame may lie in the network's input. */
import { expect, test } from "vitest";
import { type Frame, checkFrame } from "../../src/decode/frame.ts";

const at = (placed: readonly [number, number, number, number], width = 6, height = 640): Frame => ({
  width,
  height,
  resize: "letterbox",
  placed,
});

test("an image that is a pixel wide in the input is placed there; one of a pixel is a place in 0..1", () => {
  expect(() => checkFrame(at([31, 0, 1, 64]), [64, 64])).not.toThrow();
  expect(() => checkFrame(at([0, 31, 64, 1], 640, 6), [64, 64])).not.toThrow();
  expect(() => checkFrame(at([0, 0, 1, 1], 640, 640), [64, 64])).toThrow(/placed/);
});
