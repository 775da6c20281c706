/** Files of projects that are known by the names of their outputs. */
import { expect, test } from "vitest";
import { createDecoderSync, readModel } from "../../../src/entries/index.ts";
import { input, output } from "../../support/model-files.ts";
import { onnxFile } from "../../support/onnx.ts";

test.each([
  [
    "centernet",
    "centernet",
    [output("hm", 1, 80, 16, 16), output("wh", 1, 2, 16, 16), output("reg", 1, 2, 16, 16)],
  ],
  [
    "face-det-lite",
    "qualcomm",
    [output("heatmap", 1, 1, 8, 8), output("bbox", 1, 4, 8, 8), output("landmark", 1, 10, 8, 8)],
  ],
  [
    "mask-rcnn",
    "torchvision",
    [output("boxes", 7, 4), output("labels", 7), output("scores", 7), output("masks", 7, 1, 28, 28)],
  ],
  [
    "rtmdet-ins",
    "mmdeploy",
    [output("dets", 1, 9, 5), output("labels", 1, 9), output("masks", 1, 9, 64, 64)],
  ],
  ["dbnet", "paddle", [output("sigmoid_0.tmp_0", 1, 1, 64, 64)]],
  ["rtmo", "mmdeploy", [output("dets", "batch", "n", 5), output("keypoints", "batch", "n", 17, 3)]],
  ["rtmpose", "mmdeploy", [output("simcc_x", "batch", 17, 128), output("simcc_y", "batch", 17, 128)]],
])("%s", async (family, exporter, outputs) => {
  const model = await readModel(onnxFile({ inputs: [input(1, 3, 64, 64)], outputs }));
  expect([model.options.family, model.exporter, model.missing]).toEqual([family, exporter, []]);
});

test("EAST's map of scores stands beside geometry, so it is no map of DBNet", async () => {
  const outputs = [output("sigmoid_0.tmp_0", 1, 1, 16, 16), output("tmp_2", 1, 8, 16, 16)];
  const model = await readModel(onnxFile({ inputs: [input(1, 3, 64, 64)], outputs }));
  expect(model.options.family).toBeUndefined();
});

test("RTMO's keypoints are those of its output", async () => {
  const outputs = [output("dets", 1, 50, 5), output("keypoints", 1, 50, 14, 3)];
  const model = await readModel(onnxFile({ inputs: [input(1, 3, 64, 64)], outputs }));
  expect(model.options.keypoints).toEqual([14, 3]);
});

test.each([
  ["open, as torch 1.13 leaves it", ["rows", "cols", "four"]],
  ["stated", ["N", 300, 4]],
])("RT-DETR with its post-processor: the last dimension of the boxes is %s", async (_, dims) => {
  const model = await readModel(
    onnxFile({
      inputs: [input("N", 3, 64, 64), { name: "orig_target_sizes", type: "int64", dims: ["N", 2] }],
      outputs: [output("labels", "N", 300), output("boxes", ...dims), output("scores", "N", 300)],
    }),
  );
  expect([model.options.family, model.exporter, model.missing]).toEqual(["rtdetr", "dfine", []]);
});

test("RF-DETR for segmentation has other rows than mmdeploy", async () => {
  const outputs = [output("dets", 1, 9, 4), output("labels", 1, 9, 91), output("masks", 1, 9, 16, 16)];
  const model = await readModel(onnxFile({ inputs: [input(1, 3, 64, 64)], outputs }));
  expect(model.options.family).toBe("rfdetr");
  // 91 columns are 91 classes, or 90 and one that was never trained.
  expect(model.missing).toMatchObject([{ path: "classes", option: "labels" }]);
  expect(() => createDecoderSync(model)).toThrow(
    'the option labels, "coco91" for weights of COCO, or classes',
  );
  for (const options of [{ labels: "coco91" }, { classes: 91 }] as const)
    expect(createDecoderSync(model, options).describe().text).toContain("a map of 16x16 for each query");
});
