/** Words for values in errors. */
import { expect, test } from "vitest";
import { show } from "../../src/core/tensor.ts";

test.each([
  [{}, "an object"],
  [new ArrayBuffer(4), "an ArrayBuffer"],
  [new Error("of a caller"), "an Error"],
  [new Date(0), "a Date"],
  [new Map(), "a Map"],
])("%o is shown with its article", (value, words) => {
  expect(show(value)).toBe(words);
});
