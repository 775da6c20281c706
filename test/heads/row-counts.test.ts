/** The count of rows that a decoder adds to a list is told by its field: an output may have any name. */
import { expect, it } from "vitest";
import { createDecoderSync } from "../../src/whole/decoder.ts";

it.each(["cells", "cells (rows)", "rows of cells"])("rows of cells named %j are no counted list", (name) => {
  const outputs = { [name]: { dims: [1, 25200, 7], type: "f32" } } as const;
  const decoder = createDecoderSync({ family: "yolov7", classes: 2, inputSize: [640, 640] }, { outputs });
  expect(decoder.describe().text).toContain("reading: objectness-rows");
});
