import { expect, test } from "vitest";
import { parseOpenShape, parseShape } from "../../../src/node/cli/shapes.ts";

test("parses name, shape, type, scale and zero point, and leaves paths alone", () => {
  expect(parseShape("output0:1x84x8400:f32", 0)).toEqual({
    name: "output0",
    dims: [1, 84, 8400],
    type: "f32",
  });
  expect(parseShape("1x84x8400", 3)).toEqual({ name: "output3", dims: [1, 84, 8400], type: "f32" });
  expect(parseShape("Call:0:1x6:uint8:0.5,128", 0)).toEqual({
    name: "Call:0",
    dims: [1, 6],
    type: "u8",
    scale: 0.5,
    zeroPoint: 128,
  });
  expect(parseShape("a:2x2:i8:1e-3", 0)).toEqual({
    name: "a",
    dims: [2, 2],
    type: "i8",
    scale: 0.001,
    zeroPoint: 0,
  });
  expect(parseShape("a.npy", 0)).toBeNull();
  expect(parseShape("C:\\1x2.npy", 0)).toBeNull();
  expect(() => parseShape("a:2x2:i8:-1", 0)).toThrow(/expected a positive number/);
});

test.each([
  ["boxes:Nx5", "boxes", [null, 5], "f32"],
  ["labels:N:i32", "labels", [null], "i32"],
  ["Call:0:?x84x8400:u8", "Call:0", [null, 84, 8400], "u8"],
  ["output0:batchx84xanchors", "output0", [null, 84, null], "f32"],
  ["masks:-1x-1x28x28:f16", "masks", [null, null, 28, 28], "f16"],
])("%s has open sizes", (word, name, dims, type) => {
  expect(parseShape(word, 0)).toBeNull();
  expect(parseOpenShape(word)).toEqual({ name, dims, type });
});

test.each(["model.onnx", "C:model", "C:models/box.npy", "Nx5", "a:heightxwidth", "a:f32"])(
  "%s is rather a path",
  (word) => {
    expect(parseOpenShape(word)).toBeNull();
  },
);
