/** Five networks' own files: against ONNX Runtime, the recordings, and the answers that a decoder must give. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { InferenceSession } from "onnxruntime-node";
import { expect, test } from "vitest";
import { createDecoderSync, readModel } from "../../src/entries/index.ts";
import { expectSame } from "../support/expect-detections.ts";
import { uniformRule } from "../support/recorded-networks.ts";
import { describeShared, readRecording } from "../support/shared-data.ts";

const PHOTOS = ["astronaut", "chelsea", "coffee"];

describeShared("model files of real networks", (data) => {
  const file = (name: string): Buffer => readFileSync(join(data, "models", `${name}.onnx`));
  const recorded = join(data, "recorded");

  test.each([
    "yolox_nano",
    "FastestDet",
    "nanodet_m_320",
    "version-RFB-320",
    "version-RFB-320_without_postprocessing",
  ])("%s: names, shapes and types are those of ONNX Runtime, and of the recording", async (name) => {
    const bytes = file(name);
    const model = await readModel(bytes);
    const session = await InferenceSession.create(bytes, { logSeverityLevel: 3 });
    const theirs = (list: typeof session.inputMetadata): unknown =>
      list.map((v) => (v.isTensor ? { name: v.name, type: v.type, dims: v.shape } : v.name));
    const ours = (list: typeof model.inputs): unknown =>
      list.map((v) => ({ name: v.name, type: v.type.replace("f32", "float32"), dims: v.dims }));
    expect(ours(model.inputs)).toEqual(theirs(session.inputMetadata));
    expect(ours(model.outputs)).toEqual(theirs(session.outputMetadata));
    const { outputs, preprocess } = readRecording(recorded, name, "astronaut").meta;
    const shapes = (list: readonly { name: string; shape: unknown }[]): unknown[] =>
      list.map(({ name: output, shape }) => `${output} ${String(shape)}`).sort();
    expect(shapes(model.outputs.map((v) => ({ name: v.name, shape: v.dims })))).toEqual(shapes(outputs));
    expect(model.inputSize).toEqual([preprocess.inputWidth, preprocess.inputHeight]);
  });

  test.each(["yolox_nano", "nanodet_m_320"].flatMap((name) => PHOTOS.map((photo) => [name, photo] as const)))(
    "%s needs no option: %s has the detections that the formulas give",
    async (name, photo) => {
      const model = await readModel(file(name));
      const { tensors, expected } = readRecording(recorded, name, photo);
      const decoder = createDecoderSync(model, uniformRule);
      expectSame(decoder.decode(tensors).toArray(), expected ?? []);
      expect(expected?.length).toBeGreaterThan(0);
    },
  );

  test.each(["FastestDet", "version-RFB-320", "version-RFB-320_without_postprocessing"])(
    "%s states no family, and says so",
    async (name) => {
      const model = await readModel(file(name));
      expect(model.missing.map(({ path }) => path)).toEqual(["family"]);
      expect(() => createDecoderSync(model)).toThrow("expected the option family");
    },
  );

  test("with the options that are missing, FastestDet has the detections that the formulas give", async () => {
    const decoder = createDecoderSync(await readModel(file("FastestDet")), {
      ...uniformRule,
      family: "fastestdet",
      classes: 80,
    });
    const { tensors, expected } = readRecording(recorded, "FastestDet", "coffee");
    expectSame(decoder.decode(tensors).toArray(), expected ?? []);
  });
});
