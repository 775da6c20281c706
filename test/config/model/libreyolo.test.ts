/** LibreYOLO's YOLO9: planes of corners, as the file's metadata says. */
import { expect, test } from "vitest";
import { createDecoder, readModel } from "../../../src/entries/index.ts";
import { input, output } from "../../support/model-files.ts";
import { onnxFile } from "../../support/onnx.ts";

const METADATA = {
  model_family: "yolo9",
  task: "detect",
  nb_classes: "2",
  names: '{"0": "person", "1": "cat"}',
  imgsz_h: "64",
  imgsz_w: "64",
};
const fileOf = (metadata: { [key: string]: string }): Uint8Array =>
  onnxFile({ inputs: [input(1, 3, 64, 64)], outputs: [output("output", 1, 6, 84)], metadata });

test("the file needs no other option, and its boxes are corners", async () => {
  const model = await readModel(fileOf(METADATA));
  expect(model.missing).toEqual([]);
  expect(model).toMatchObject({ exporter: "libreyolo", task: "detect", names: ["person", "cat"] });
  const decoder = await createDecoder(model);
  const data = new Float32Array(6 * 84);
  [22, 4, 42, 28, 0.1, 0.72].forEach((value, channel) => (data[channel * 84 + 10] = value));
  const [found, ...others] = decoder.decode({ output: { data, dims: [1, 6, 84] } }).toArray();
  expect(others).toEqual([]);
  expect(found).toMatchObject({
    label: "cat",
    x_min: 22 / 64,
    y_min: 4 / 64,
    x_max: 42 / 64,
    y_max: 28 / 64,
  });
});

test("a file for masks, or of another network of LibreYOLO, asks for the family", async () => {
  for (const other of [{ task: "segment" }, { model_family: "ec" }]) {
    const model = await readModel(fileOf({ ...METADATA, ...other }));
    expect(model.options.boxFormat).toBe(undefined);
  }
});
