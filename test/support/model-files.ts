/** Small model files as exporters write them, and what is expected of all readers. */
import { ConfigError } from "../../src/core/errors.ts";
import { type Model, readModel } from "../../src/entries/index.ts";
import { withZip } from "./archives.ts";
import { type Node, type Value, onnxFile } from "./onnx.ts";
import { type TfliteTensor, tfliteFile } from "./tflite.ts";

/** Metadata as Ultralytics' exporter has them, in Python's words. */
export const ultralyticsMetadata = {
  description: "Ultralytics YOLO11n model trained on coco8.yaml",
  author: "Ultralytics",
  date: "2026-01-05T12:00:00.000000",
  version: "8.3.40",
  license: "AGPL-3.0 License (https://ultralytics.com/license)",
  docs: "https://docs.ultralytics.com",
  stride: "32",
  task: "detect",
  batch: "1",
  imgsz: "[64, 64]",
  names: `{0: 'person', 1: "driver's hat"}`,
  args: "{'batch': 1, 'half': False, 'dynamic': False, 'simplify': True, 'opset': None, 'nms': False}",
};

export const input = (...dims: readonly (number | string)[]): Value => ({
  name: "images",
  type: "float32",
  dims,
});
export const output = (name: string, ...dims: readonly (number | string)[]): Value => ({
  name,
  type: "float32",
  dims,
});

/** An ONNX export of Ultralytics: two classes, 64 x 64 pixels, 84 cells. */
export const ultralyticsOnnx = (
  metadata: Readonly<Record<string, string>> = {},
  outputs: readonly Value[] = [output("output0", 1, 6, 84)],
  images: Value = input(1, 3, 64, 64),
): Uint8Array<ArrayBuffer> =>
  onnxFile({
    inputs: [images],
    outputs,
    metadata: { ...ultralyticsMetadata, ...metadata },
    producer: ["pytorch", "2.5.1"],
  });

/** The same metadata as JSON, as the zip behind a TFLite export has them. */
export const ultralyticsJson = (metadata: object = {}): string =>
  JSON.stringify({
    ...ultralyticsMetadata,
    stride: 32,
    imgsz: [64, 64],
    names: { 0: "person", 1: "driver's hat" },
    args: { nms: false },
    ...metadata,
  });

export const picture: TfliteTensor = { name: "images", type: "float32", shape: [1, 64, 64, 3] };

/** A TFLite export of Ultralytics. */
export const ultralyticsTflite = (
  tensor: Partial<TfliteTensor> = {},
  metadata: object = {},
  images: TfliteTensor = picture,
): Uint8Array<ArrayBuffer> => {
  const found: TfliteTensor = { name: "Identity", type: "float32", shape: [1, 6, 84], ...tensor };
  return withZip(tfliteFile({ inputs: [images], outputs: [found] }), [
    { name: "metadata.json", text: ultralyticsJson(metadata) },
  ]);
};

/** An export of YOLOX. */
export const yoloxOnnx = (
  nodes: readonly Node[] = [],
  rows = 84,
  images = input(1, 3, 64, 64),
): Uint8Array<ArrayBuffer> => onnxFile({ inputs: [images], outputs: [output("output", 1, rows, 7)], nodes });

/** Returns what is wrong with a file, as sentences. */
export async function problemsOf(bytes: Uint8Array): Promise<string> {
  const read: Model | Error = await readModel(bytes).catch((e: Error) => e);
  if (!(read instanceof ConfigError)) throw new Error(`got ${JSON.stringify(read)}, expected a ConfigError`);
  return read.message;
}
