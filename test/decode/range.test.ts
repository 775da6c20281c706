/** Probabilities outside 0..1 of quantised tensors: the zero point is the usual cause. */
import { expect, test } from "vitest";
import { createDecoderSync } from "../../src/entries/index.ts";
import type { TensorError } from "../../src/core/errors.ts";

const DIMS = [1, 6, 84];
function errorOf(tensor: object): TensorError {
  const decoder = createDecoderSync({ family: "yolov8", classes: 2, inputSize: [64, 64] });
  try {
    decoder.decode({ output0: { dims: DIMS, ...tensor } } as never);
  } catch (e) {
    return e as TensorError;
  }
  throw new Error("nothing was thrown");
}
const bytes = (Kind: Int8ArrayConstructor | Uint8ArrayConstructor, value: number) =>
  new Kind(6 * 84).fill(value);

test.each([
  ["i8", { data: bytes(Int8Array, -100), scale: 1 / 256 }, /zeroPoint, -128 for most probabilities of i8/],
  [
    "i8 with scales of each channel",
    { data: bytes(Int8Array, -100), scale: [1, 1, 1, 1, 0.01, 0.01] },
    /-128/,
  ],
  [
    "u8",
    { data: bytes(Uint8Array, 200), scale: 0.01 },
    /output0 has a scale and zeroPoint 0: give its zeroPoint \(real/,
  ],
] as const)("%s with a scale alone", (_, tensor, message) => {
  const error = errorOf(tensor);
  expect(error.message).toMatch(message);
  expect(error.message).toMatch(/give its zeroPoint.*if the tensor holds logits/);
  expect(error.options).toEqual([{ option: "quantisation" }, { option: "scores", value: "logits" }]);
});
test.each([
  ["floats", { data: new Float32Array(6 * 84).fill(2) }],
  ["a zero point", { data: bytes(Int8Array, -100), scale: 1 / 256, zeroPoint: -12 }],
] as const)("%s are not asked for it", (_, tensor) => {
  expect(errorOf(tensor).message).not.toContain("zeroPoint");
});
