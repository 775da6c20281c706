/** The note on the storage order, for tensors that a plan leaves out. */
import { expect, test } from "vitest";
import { createDecoderSync } from "../../src/entries/index.ts";

test("objectness in a tensor of its own, which depthai does not read for YOLOv6 r1, is left alone", () => {
  const [width, height] = [128, 128];
  const map = (channels: number, fill: number) => ({
    data: new Float32Array(channels * 256).fill(fill),
    dims: [1, channels, 16, 16],
  });
  const outputs = { box: map(4, 0), obj: map(1, 0), cls: map(2, 0) };
  outputs.cls.data.set([0.75], 256 + 2 * 16 + 1);
  const decoder = createDecoderSync({
    family: "yolov6r1",
    classes: 2,
    inputSize: [width, height],
    rules: "depthai",
    roles: { boxes: "box", objectness: "obj", scores: "cls" },
  });
  const [found] = decoder.decode(outputs);
  expect(found).toMatchObject({ class_id: 1, confidence: 0.75, x_min: 4 / width, y_min: 12 / height });
});
