/** Refusals of tensors that were transposed, of half floats as integers, and of COCO's ids beside its 80 names. */
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/entries/index.ts";

const filled = (dims: readonly number[]) => ({
  data: new Float32Array(dims.reduce((n, d) => n * d, 1)).fill(0.1),
  dims,
});
const SIZE = { inputSize: [640, 640] } as const;
function messageOf(config: object, dims: { readonly [name: string]: readonly number[] }): string {
  const outputs = Object.fromEntries(Object.entries(dims).map(([name, each]) => [name, filled(each)]));
  try {
    createDecoderSync({ ...SIZE, ...config } as never).decode(outputs as never);
    return "";
  } catch (e) {
    return (e as Error).message;
  }
}

describe("exchanged axes", () => {
  const RTDETR = { family: "rtdetr", classes: 80 };
  test.each([
    [RTDETR, { logits: [1, 80, 300], pred_boxes: [1, 300, 4] }, "logits [1,300,80]"],
    [RTDETR, { logits: [1, 300, 80], pred_boxes: [1, 4, 300] }, "pred_boxes [1,300,4]"],
    [RTDETR, { logits: [1, 80, 300], pred_boxes: [1, 4, 300] }, "logits [1,300,80], pred_boxes [1,300,4]"],
    [{ family: "dfine" }, { logits: [1, 80, 300], pred_boxes: [1, 300, 4] }, "logits [1,300,80]"],
    [
      { family: "rfdetr", classes: 91 },
      { labels: [1, 91, 300], dets: [1, 4, 300] },
      "labels [1,300,91], dets",
    ],
    [{ family: "yolo26", classes: 80 }, { output0: [1, 6, 300] }, "output0 [1,300,6]"],
  ])("%o %o", (config, dims, told) => {
    const message = messageOf(config, dims);
    expect(message).toContain(`with the last two axes exchanged, ${told}`);
    expect(message).not.toMatch(/family "|would be of/);
  });
  test.each([
    [{ family: "rtdetr" }, { logits: [1, 300, 80], pred_boxes: [1, 300, 4] }],
    [{ family: "yolov8", classes: 30 }, { output0: [1, 84, 8400] }],
    [{ family: "yolov5", classes: 80 }, { output0: [1, 84, 8400] }],
  ])("are none in %o %o", (config, dims) => {
    expect(messageOf(config, dims)).toMatch(/^got (?!.*exchanged)/);
  });
});

describe("COCO's 80 names beside its own ids", () => {
  test.each([
    ["detr", { logits: [1, 100, 92], pred_boxes: [1, 100, 4] }, 'labels: "coco91" names these'],
    ["rtdetr", { logits: [1, 300, 91], pred_boxes: [1, 300, 4] }, 'labels: "coco91" names these'],
    ["yolov8", { output0: [1, 94, 8400] }, 'labelsOf("coco91").slice(1) names these'],
  ])("%s", (family, dims, told) => {
    expect(messageOf({ family, labels: "coco80" }, dims)).toContain(told);
    expect(messageOf({ family, labels: Array.from({ length: 80 }, (_, i) => `c${i}`) }, dims)).not.toContain(
      "coco91",
    );
  });
});

test("half floats in arrays of integers", () => {
  const decode = (tensor: object) => () =>
    createDecoderSync({ family: "yolov8", classes: 2, inputSize: [64, 64] }).decode({
      output0: { dims: [1, 6, 84], ...tensor },
    } as never);
  const told = /bits of half floats are of type "float16"/;
  const bits = new Uint16Array(6 * 84).fill(0x2000);
  expect(decode({ data: new Int16Array(bits.buffer) })).toThrow(told);
  expect(decode({ data: bits, type: "float32" })).toThrow(told);
  expect(decode({ data: bits, type: "uint16" })).toThrow(told);
  expect(decode({ data: new Int16Array(bits.buffer), type: "float16" })).not.toThrow();
  expect(decode({ data: new Int8Array(6 * 84) })).not.toThrow(told);
});

describe("keypoints that fit", () => {
  const messageFor = (
    keypoints: readonly number[],
    dims: readonly number[],
    family = "yolov8",
    classes = 1,
  ): string => messageOf({ family, classes, task: "pose", keypoints }, { output0: dims });
  test.each([
    [[17, 2], [1, 56, 8400], "[17, 3]"],
    [[16, 3], [1, 56, 8400], "[17, 3]"],
    [[5, 3], [1, 15, 8400], "[5, 2]"],
  ])("%o for %o", (keypoints, dims, fitting) => {
    expect(messageFor(keypoints, dims)).toContain(`with keypoints: ${fitting} these would fit`);
  });
  test("a finished list", () => {
    expect(messageFor([17, 2], [1, 300, 57], "yolo26")).toContain("with keypoints: [17, 3] these would fit");
  });
  test("rows with an objectness, in a family that also has rows without one", () => {
    const message = messageFor([17, 2], [1, 8400, 58], "yolo26", 2);
    expect(message).toContain("with keypoints: [17, 3] these would fit");
  });
});
