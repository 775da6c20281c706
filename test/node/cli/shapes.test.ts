import { expect, test } from "vitest";
import { parseShape } from "../../../src/node/cli/shapes.ts";

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
